"""Loads of experts from disk: the readers, the loads in flight, and who asks for what."""
