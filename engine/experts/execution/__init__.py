"""Running the experts of a layer call: one token, or many."""
