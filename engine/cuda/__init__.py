"""NVIDIA graphics cards through the driver's own library: no toolkit, no torch for CUDA, nothing to download."""
