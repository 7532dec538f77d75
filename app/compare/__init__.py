"""One question to two models, or to two qualities of one, side by side."""
