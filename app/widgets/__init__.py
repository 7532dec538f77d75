"""General widgets and helpers that several parts of the window use."""
