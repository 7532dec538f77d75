"""One question to two models, or to two qualities or presets of one, side by side."""
