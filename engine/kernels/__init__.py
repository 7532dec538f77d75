"""One call runs one layer's experts from packed codes: native C."""
