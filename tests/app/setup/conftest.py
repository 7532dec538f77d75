"""Fixtures of installing."""

from tests.app.install.publisher import publisher, scripts_are_programs

__all__ = ["publisher", "scripts_are_programs"]
