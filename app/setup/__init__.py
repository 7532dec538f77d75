"""The page on which the first start of an installed Underhill gets its engine."""
