"""Where the weights of a model may come from: every format behind the shape of a checkpoint."""
