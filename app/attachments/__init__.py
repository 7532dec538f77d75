"""Files that go with a message: what of them a model can read."""
