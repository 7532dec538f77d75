"""The lean decoder, one small function per family, and the compatibility backend over transformers."""
