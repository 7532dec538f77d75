"""The op graph of one decode token: what every layer adds to it, and what runs it."""
