"""The expert runtime: which experts are cached and at which precision, how they are loaded, and how they are run."""
