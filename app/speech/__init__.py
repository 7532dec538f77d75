"""Reads answers aloud: their text without marks, and the voice of the system."""
