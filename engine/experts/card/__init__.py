"""Experts on a graphics card: which lie there, who computes what, and the calls that use both at once."""
