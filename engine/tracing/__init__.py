"""Routing recorder, and replay of a recorded trace through any policy."""
