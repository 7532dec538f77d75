"""Loads of experts from disk: the readers, the loads in flight, and the queue of a layer call."""
