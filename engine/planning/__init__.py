"""What of a model goes where, and how fast it will be: plans from figures of the computer and of the model."""
