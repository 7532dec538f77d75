"""Pictures in a prompt: decoded, looked at by the model's own vision tower, and put where tokens of text would be."""
