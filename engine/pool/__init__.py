"""Several models under one memory budget."""
