"""Everything that can go wrong between here and a hub, each as its own sentence with its own next step."""

from __future__ import annotations

import errno
import math
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2
from huggingface_hub.constants import is_offline_mode

from engine.errors import Kind, UnderhillError
from engine.limits import WAIT_SECONDS

BUSY_CODES = (408, 425, 429, 500, 502, 503, 504)  # worth another try after a while
SIGN_IN = 511  # said by a network, not by a hub (RFC 6585, section 6)
_NO_ROUTE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
_HOW = "(in the settings, or with `underhill-cli token`)"
_LATER = "Try again later."
_DIGITS = re.compile(r"[0-9]+")
_SIGN_IN = "In a hotel or on a train, sign in to the network in a browser first, and try again."
_PAGES = ("text/html", "application/xhtml+xml")  # what no file of a model is
_MESSAGES = ("application/json", "application/problem+json")  # nor one of weights


class HubError(UnderhillError):
    """retry: trying again may help. after: seconds that the other side asks to wait first."""

    def __init__(
        self, kind: Kind, sentence: str, action: str = "", *, retry: bool = False, after: float | None = None
    ) -> None:
        super().__init__(kind, sentence, action)
        self.retry = retry
        self.after = after


# ---- what is left of it ---------------------------------------------------------------------------------------------

_PASSING = (Kind.NO_NETWORK, Kind.SERVER_ERROR, Kind.NO_ACCESS, Kind.DISK_FULL, Kind.DISK_ERROR)


@contextmanager
def noting(arrived: Callable[[], int]) -> Iterator[None]:
    """An error that ends a download here says that what has arrived is kept, where that is so. arrived: bytes of it."""
    try:
        yield
    except HubError as e:
        if e.kind not in _PASSING or not arrived():
            raise
        action = f"{e.action} What has arrived is kept."
        raise HubError(e.kind, e.sentence, action, retry=e.retry, after=e.after) from e


# ---- nobody answers -------------------------------------------------------------------------------------------------


def offline() -> HubError:
    """OFFLINE: by the setting, or by what the environment says to all programs that use a hub."""
    if is_offline_mode():
        action = "The variable HF_HUB_OFFLINE says so: take it away and start Underhill again to search and download."
    else:
        action = "Switch that off in the settings to search and download."
    return HubError(Kind.OFFLINE, "Underhill is set to stay offline.", action)


def unreachable(cause: Exception, url: str, proxy: str = "") -> HubError:
    """NO_NETWORK for whatever the transport raised. proxy: the address of the proxy in between, where there is one."""
    host, by_proxy = _host(url), _host(proxy) if proxy else ""
    reasons = list(_chain(cause))
    if isinstance(cause, httpx2.ProxyError):
        return _network(f"The proxy {by_proxy} refused the connection to {host} ({cause}).", "Check the proxy setting.")
    if isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return _network(f"{host} has stopped answering.", "Check the connection, and try again.", retry=True)
    if isinstance(cause, httpx2.TimeoutException):
        who = f"The proxy {by_proxy}" if by_proxy else host
        return _network(f"{who} could not be reached in time.", "Check the connection, and try again.", retry=True)
    if any(isinstance(r, ssl.SSLError) for r in reasons):
        return _network(
            f"The certificate of {host} is not one that this computer trusts.",
            f"{_SIGN_IN} Else check the computer's clock. Where a proxy reads along, name its certificate in "
            "SSL_CERT_FILE.",
        )
    if any(isinstance(r, socket.gaierror) for r in reasons):
        who = f"of the proxy {by_proxy}" if by_proxy else host
        return _network(
            f"The address {who} cannot be found.", "Check that this computer is online, and the address.", retry=True
        )
    if any(isinstance(r, OSError) and r.errno in _NO_ROUTE for r in reasons):
        return _network("This computer has no network.", "Connect it, and try again.", retry=True)
    if isinstance(cause, httpx2.ConnectError):
        who, what = (f"The proxy {by_proxy}", "the proxy setting") if by_proxy else (host, "the connection")
        return _network(f"{who} does not accept a connection.", f"Check {what}, or try again later.", retry=True)
    return cut(url)


def slow(url: str) -> HubError:
    """NO_NETWORK: an answer comes by drops."""
    return _network(f"{_host(url)} answers too slowly.", "Check the connection, or try again later.", retry=True)


def cut(url: str) -> HubError:
    """NO_NETWORK: the connection ended before everything was there."""
    return _network(f"The connection to {_host(url)} was cut.", "Try again.", retry=True)


def _network(sentence: str, action: str, *, retry: bool = False) -> HubError:
    return HubError(Kind.NO_NETWORK, sentence, action, retry=retry)


# ---- a refusal ------------------------------------------------------------------------------------------------------


def refused(response: httpx2.Response, repo: str, endpoint: str, token: str, note: str = "") -> HubError:
    """What an answer of 400 or more means. token: the one that was sent, or ''. note: why there is none."""
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    host, page = _host(str(response.request.url)), f"{endpoint}/{repo}"
    if host != _host(endpoint) and status < 500 and status not in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            f"{host}, where the hub keeps its files, refused ({status}).",
            _LATER,
            retry=True,
        )
    if status == 416:
        name = urlsplit(str(response.request.url)).path.rsplit("/", 1)[-1]
        return HubError(
            Kind.SERVER_ERROR,
            f"{name} is shorter on {host} than its list of files says.",
            "The hub contradicts itself; try again later, or at another hub.",
        )
    if code == "GatedRepo" and not token:
        return HubError(
            Kind.NO_ACCESS,
            f"{repo} is only given to people with an account who have accepted its licence.",
            f"Accept it at {page} and give Underhill a token of yours {_HOW}. {note}".strip(),
        )
    if code == "GatedRepo" or (status == 403 and repo and token):
        return HubError(
            Kind.NO_ACCESS,
            f"Your account may not have {repo} yet.",
            f"Accept its licence at {page}; where the makers decide by hand, wait for their answer.",
        )
    if code == "RevisionNotFound":
        return HubError(Kind.NOT_FOUND, f"{repo} has no such revision.", f"See {page} for those there are.")
    if code == "EntryNotFound":
        name = urlsplit(str(response.request.url)).path.rsplit("/", 1)[-1]
        return HubError(Kind.NOT_FOUND, f"{repo} has no file {name}.", f"See {page} for those there are.")
    if code == "RepoNotFound" or (status == 404 and repo):
        return HubError(
            Kind.NOT_FOUND,
            f"There is no model {repo} on {host}, or it is private.",
            f"Check the name; for a private model, give Underhill a token of yours {_HOW}.",
        )
    if status == 401:
        if token:
            return HubError(
                Kind.NO_ACCESS,
                f"{host} does not accept the token it was given.",
                f"Give Underhill a new one {_HOW}.",
            )
        return HubError(
            Kind.NO_ACCESS, f"{host} asks for a token.", f"Give Underhill a token of yours {_HOW}. {note}".strip()
        )
    if status == SIGN_IN:
        return _network("This network wants you to sign in before it lets anything through.", _SIGN_IN)
    if status == 429:
        after = _seconds(response)
        if after is None or after < 1:
            wait = "Wait some minutes"
        elif after <= 120:
            wait = f"Wait {after:.0f} seconds"
        else:
            wait = f"Wait {math.ceil(after / 60)} minutes"
        return HubError(
            Kind.SERVER_ERROR,
            f"{host} has had too many requests from here.",
            f"{wait} and try again; with a token of an account, more are allowed.",
            retry=True,
            after=after,
        )
    if status >= 500 or status in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            f"{host} has a problem of its own (error {status}).",
            _LATER,
            retry=status in BUSY_CODES,
            after=_seconds(response),
        )
    return HubError(Kind.SERVER_ERROR, f"{host} refused ({status}).", "Check the address of the hub in the settings.")


def _seconds(response: httpx2.Response) -> float | None:
    """Retry-After in seconds, as a number; dates are not sent by hubs."""
    text = response.headers.get("Retry-After", "").strip()
    if not _DIGITS.fullmatch(text):
        return None
    return float(text) if len(text) < 9 else WAIT_SECONDS  # whoever asks for years is not waited for


# ---- what arrives is not what was promised --------------------------------------------------------------------------


def nonsense(url: str, what: str) -> HubError:
    """SERVER_ERROR: an answer that no hub gives; `what` completes 'HOST answered with'."""
    return HubError(
        Kind.SERVER_ERROR,
        f"{_host(url)} answered with {what}.",
        "Check the address of the hub; in a hotel or on a train, sign in to the network in a browser first.",
    )


def instead(response: httpx2.Response, name: str) -> HubError | None:
    """SERVER_ERROR where a page or a message of somebody's stands in a file's place: seen by its type. None: it may be
    the file.
    """
    said = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if response.status_code != 206 and (said in _PAGES or (said in _MESSAGES and not name.endswith(".json"))):
        return not_a_file(str(response.url), name)
    return None


def not_a_file(url: str, name: str) -> HubError:
    """SERVER_ERROR: whoever answers at this address has something else where a model's file should be."""
    return HubError(
        Kind.SERVER_ERROR,
        f"{_host(url)} answered with a page of its own where {name} should be.",
        f"{_SIGN_IN} If you have signed in, check the address of the hub.",
    )


def no_ranges(url: str) -> HubError:
    """SERVER_ERROR: a model cannot be imported while it arrives from there."""
    return HubError(
        Kind.SERVER_ERROR,
        f"{_host(url)} gives whole files only, no parts of them.",
        "Download the files first, and import them then: `underhill-cli pull --keep-source`.",
    )


def other_size(name: str, promised: int, sent: int) -> HubError:
    """SERVER_ERROR: the hub's list and its files disagree."""
    return HubError(
        Kind.SERVER_ERROR,
        f"{name} should have {promised:,} bytes, and {sent:,} are offered.",
        "The hub contradicts itself; try again later, or at another hub.",
    )


def damaged_there(sentence: str) -> HubError:
    """BROKEN_FILE: what tells what a model is was asked for twice, and was wrong twice; nothing of it is here yet."""
    return HubError(
        Kind.BROKEN_FILE,
        sentence,
        "Try again, through another network if you can. If it stays so, choose another copy of the model.",
    )


def damaged(name: str) -> HubError:
    """BROKEN_FILE: all bytes are there, and they are not the right ones."""
    return HubError(
        Kind.BROKEN_FILE,
        f"{name} arrived damaged, twice: its checksum is not the one that the hub names.",
        "That file was thrown away. Try again, through another network or hub if it keeps happening.",
    )


def changed(name: str) -> HubError:
    """CHANGED: the hub has put something else in this file's place."""
    return HubError(
        Kind.CHANGED,
        f"{name} has changed on the hub since the download began.",
        "Start the download again: it keeps the files that are still the same.",
    )


def disk_full(folder: str, missing: int | None = None) -> HubError:
    """DISK_FULL; missing: bytes that would have to be freed, where that is known."""
    room = f"Free {max(1, -(-missing // 10**6)):,} MB there" if missing else "Free some space there"
    return HubError(
        Kind.DISK_FULL,
        f"There is not enough space for this on the disk of {folder}.",
        f"{room} and try again.",
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An exception and what led to it."""
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
