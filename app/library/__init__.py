"""The page of models: those that are here, those one could get, those on their way."""
