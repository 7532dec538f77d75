"""The conversation as it is seen: a list that lays out and paints only what is in sight."""
