"""`underhill-cli token`: the token of an account on a hub, for models with a licence to accept; kept in the keyring."""

from __future__ import annotations

import argparse
import getpass
import json
import sys

from engine.cli.hub import connected
from engine.errors import Kind, UnderhillError
from engine.hub.remote import tokens
from engine.hub.remote.client import Hub


def run(args: argparse.Namespace) -> int:
    """Ask for a token, try it, keep it; or forget it."""
    with connected(args) as hub:
        if args.forget:
            said = "It is forgotten." if tokens.forget(hub.endpoint) else "There was none."
            print(json.dumps({"endpoint": hub.endpoint, "kept": False}) if args.json else said)
            return 0
        token = (getpass.getpass(f"Token for {hub.endpoint}: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
        if not token:
            raise UnderhillError(Kind.BAD_REQUEST, "No token was given.", "Paste it, or give it on standard input.")
        with Hub(hub.endpoint, hub.proxy, hub.offline, tokens.Token(token)) as tried:
            name = tried.account()
        tokens.keep(hub.endpoint, token)
    print(json.dumps({"endpoint": hub.endpoint, "kept": True, "account": name}) if args.json else f"Kept for {name}.")
    return 0
