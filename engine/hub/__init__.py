"""Models in: checkpoints, import into a store, the local library."""
