"""How each family of models thinks, answers, calls tools and ends: one declaration per family, read in one way."""
