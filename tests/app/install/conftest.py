"""Fixtures of installing."""

from tests.app.install.publisher import publisher

__all__ = ["publisher"]
