"""The layers of a decoder and what they are made of: attention in its variants, feed-forward, norms, states."""
