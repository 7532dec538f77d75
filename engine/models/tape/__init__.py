"""One decode token through native ops: what every layer records, and who plays it."""
