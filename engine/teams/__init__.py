"""Teams: several models that answer one message together, step by step."""
