"""The engine behind a queue: commands in on any thread, events out."""

from engine.service.service import Service

__all__ = ["Service"]
