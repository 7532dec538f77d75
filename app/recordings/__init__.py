"""Recordings: which experts tokens chose, what other cache policies would make of it, and what one token took."""
