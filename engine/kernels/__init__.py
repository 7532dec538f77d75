"""Expert arithmetic from packed planes: native C, and the torch reference that is its oracle."""
