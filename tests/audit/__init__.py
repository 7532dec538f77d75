"""One module a promise: `fNN_name.py` examines it through the product's own face and says what it found."""
