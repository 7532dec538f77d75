"""The C library: how it is built and loaded, and what of it is not the kernels: checksums, I/O, cache, op graph."""
