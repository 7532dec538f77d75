"""One call runs one layer's experts from packed codes: native C, with a torch reference as oracle and fallback."""
