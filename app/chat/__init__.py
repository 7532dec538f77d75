"""The open chat without its widgets: its messages, answers on their way, drafts and tokens."""
