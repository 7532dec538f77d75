"""What the bytes of an expert record mean: where each lies, and how codes stand for weights."""
