"""Prompts that are kept: texts with variables, put into the message field by "/"."""
