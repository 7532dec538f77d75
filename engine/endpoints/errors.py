"""What goes wrong between here and an endpoint, each as its own sentence with its own next step."""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2

from engine import limits
from engine.endpoints.definition import Endpoint
from engine.errors import Kind, UnderhillError
from engine.hub import errors
from engine.translatable import NO_TEXT, Translatable, joined, msg

_SAID = 300  # characters of what a server says of an error
_KEY = msg("Edit the endpoint to enter its key.")
_AGAIN = msg("Check that the server runs, then send your message again.")


def unreachable(cause: Exception, endpoint: Endpoint) -> UnderhillError:
    """NO_NETWORK for whatever the transport raised."""
    reasons = list(_chain(cause))
    untrusted = next((r for r in reasons if isinstance(r, ssl.SSLCertVerificationError)), None)
    if untrusted is not None:
        return UnderhillError(
            Kind.NO_NETWORK,
            msg("The certificate of {host} isn't trusted ({why}).", host=endpoint.host, why=untrusted.verify_message),
            msg("If the server has a certificate authority of its own, choose its file in the endpoint."),
        )
    if any(isinstance(r, ssl.SSLError) for r in reasons):
        return UnderhillError(
            Kind.NO_NETWORK, msg("No encrypted connection with {host}.", host=endpoint.host),
            msg("Check whether its address starts with https:// or http://."),
        )  # fmt: skip
    if isinstance(cause, httpx2.ReadTimeout):
        minutes = round(limits.ENDPOINT_SILENCE / 60)
        return UnderhillError(
            Kind.NO_NETWORK, msg("{host} sent nothing for {minutes} min.", host=endpoint.host, minutes=minutes), _AGAIN
        )
    if isinstance(cause, httpx2.ConnectError | httpx2.TimeoutException | httpx2.ProxyError):
        return errors.unreachable(cause, endpoint.url)
    return cut(endpoint)


def cut(endpoint: Endpoint) -> UnderhillError:
    """NO_NETWORK: the answer came to no end."""
    return UnderhillError(
        Kind.NO_NETWORK, msg("{host} closed the connection before its answer ended.", host=endpoint.host), _AGAIN
    )


def nonsense(endpoint: Endpoint, what: Translatable) -> UnderhillError:
    """SERVER_ERROR: what no such server answers; `what` completes 'HOST answered with'."""
    return UnderhillError(
        Kind.SERVER_ERROR, msg("Unexpected answer from {host}: {what}.", host=endpoint.host, what=what),
        msg("Check the address; most end in /v1."),
    )  # fmt: skip


def failed(endpoint: Endpoint, said: str) -> UnderhillError:
    """SERVER_ERROR: it tells of an error in the middle of an answer."""
    return UnderhillError(Kind.SERVER_ERROR, msg("{host} ended the answer with an error.", host=endpoint.host),
                          _quoted(said))  # fmt: skip


def refused(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, has_key: bool) -> UnderhillError:
    """The error for a status other than 200."""
    host, said = endpoint.host, _quoted(message_of(body))

    def error(kind: Kind, sentence: Translatable, action: Translatable = NO_TEXT) -> UnderhillError:
        return UnderhillError(kind, sentence, joined(" ", [part for part in (said, action) if part]))

    if status in (401, 403):
        sentence = msg("{host} rejected the key.", host=host) if has_key else msg("{host} needs a key.", host=host)
        return error(Kind.NO_ACCESS, sentence, _KEY)
    if status == 404:
        return error(
            Kind.NOT_FOUND,
            msg("{host} has no model {model}, or nothing at this address.", host=host, model=endpoint.model or "…"),
            msg("Edit the endpoint to check both; most addresses end in /v1."),
        )
    if status == 429:
        return error(Kind.SERVER_ERROR, msg("Too many requests to {host}.", host=host), _wait(headers))
    if status >= 500:
        sentence = msg("Server error at {host} ({status}).", host=host, status=status)
        return error(Kind.SERVER_ERROR, sentence, _wait(headers))
    if 300 <= status < 400:
        target = headers.get("Location", "")[:_SAID]
        return error(
            Kind.SERVER_ERROR, msg("{host} sends requests on to {target}.", host=host, target=target or "…"),
            msg("If you trust that address, enter it instead: your key is not sent there by itself."),
        )  # fmt: skip
    return error(Kind.BAD_REQUEST, msg("{host} refused the request ({status}).", host=host, status=status))


def message_of(body: bytes) -> str:
    """What a server says of an error, in whichever of the usual forms; ''."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        while isinstance(found, dict) and name in found:
            found = found[name]
    return " ".join(found.split())[:_SAID] if isinstance(found, str) else ""


def _quoted(said: str) -> Translatable:
    return msg("It says: {said}.", said=said.rstrip(".")) if said else NO_TEXT


def _wait(headers: Mapping[str, str]) -> Translatable:
    """What Retry-After asks for, as seconds or as a date."""
    text, seconds = headers.get("Retry-After", "").strip(), 0.0
    if text.isdecimal() and text.isascii() and len(text) < 9:
        seconds = float(text)
    elif text:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError, TypeError):
            seconds = 0.0
    if not 1 <= seconds <= limits.WAIT_SECONDS:
        return msg("Try again later.")
    if seconds <= 120:
        return msg("Wait {after} s, then try again.", after=math.ceil(seconds))
    return msg("Wait {ceil} min, then try again.", ceil=math.ceil(seconds / 60))


def _chain(cause: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
