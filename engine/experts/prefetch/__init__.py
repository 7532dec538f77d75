"""Reading experts before they are asked for: what is expected, what came of it, and whether it pays."""
