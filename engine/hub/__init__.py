"""Models that are not here yet: searching a hub, looking at what a model is, and fetching it."""
