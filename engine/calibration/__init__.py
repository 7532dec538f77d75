"""Measures and teaches a loaded model: precision presets, policy weights, predictors, fewer bits; in idle time, too."""
