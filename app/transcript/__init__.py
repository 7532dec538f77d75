"""The conversation: a scrolling page that lays out and paints only what is in sight."""
