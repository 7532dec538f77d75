"""`underhill-cli token`: the token of an account on a hub, for models with a licence to accept; kept in the keyring."""

from __future__ import annotations

import argparse
import getpass
import json
import sys

from engine.cli.hub import connected
from engine.hub import tokens
from engine.hub.client import accept_token


def run(args: argparse.Namespace) -> int:
    """Ask for a token, try it, keep it; or forget it."""
    with connected(args) as hub:
        if args.forget:
            said = "It is forgotten." if tokens.forget(hub.endpoint) else "There was none."
            print(json.dumps({"endpoint": hub.endpoint, "kept": False}) if args.json else said)
            return 0
        token = getpass.getpass(f"Token for {hub.endpoint}: ") if sys.stdin.isatty() else sys.stdin.readline()
        name = accept_token(hub, token)
    print(json.dumps({"endpoint": hub.endpoint, "kept": True, "account": name}) if args.json else f"Kept for {name}.")
    return 0
