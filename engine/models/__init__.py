"""The lean decoder, one small file per family, and the compatibility backend over transformers."""
