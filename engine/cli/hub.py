"""The hub that a command talks to: what its options name, else what is kept, else what the environment says."""

from __future__ import annotations

import argparse

from engine import settings
from engine.hub.client import Hub, connect
from engine.library import settings_file


def connected(args: argparse.Namespace) -> Hub:
    """Nothing is sent yet. Raises UnderhillError(BAD_REQUEST, BROKEN_FILE)."""
    named = {s.name: value for s in settings.HUB if (value := getattr(args, s.name)) is not None}
    return connect({**settings_file.hub(), **named})
