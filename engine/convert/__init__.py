"""Checkpoint to store: which tensors are experts, and their import, quantized expert by expert, resumable at each."""
