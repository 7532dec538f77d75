"""The heart: which expert lives where, at which precision, and who fetches it."""
