"""The window in other languages: marking texts, choosing a language, and the files that translators work with."""
