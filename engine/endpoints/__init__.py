"""Endpoints: OpenAI-compatible servers that a person names, which answer as models do, on another computer."""
