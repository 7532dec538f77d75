"""The expert cache, and the table of its addresses for the C kernels."""
