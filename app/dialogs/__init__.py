"""Dialogs about Underhill itself."""
