"""The engine without a window: `underhill-cli`."""

from engine.cli.main import main

__all__ = ["main"]
