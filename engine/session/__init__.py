"""One loaded model: prompt in, tokens out."""

from engine.session.session import Session

__all__ = ["Session"]
