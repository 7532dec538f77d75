"""Writes short chats with correct answers: the project's own training, calibration and evaluation text."""
