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
from engine.translatable import NO_TEXT, Translatable, joined, msg

BUSY_CODES = (408, 425, 429, 500, 502, 503, 504)  # worth another try after a while
SIGN_IN = 511  # said by a network, not by a hub (RFC 6585, section 6)
_NO_ROUTE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
_HOW = msg("(in the settings, or with `underhill-cli token`)")
_LATER = msg("Try again later.")
_DIGITS = re.compile(r"[0-9]+")
_SIGN_IN = msg("In a hotel or on a train, sign in to the network in a browser first, and try again.")
_PAGES = ("text/html", "application/xhtml+xml")  # what no file of a model is
_MESSAGES = ("application/json", "application/problem+json")  # nor one of weights


class HubError(UnderhillError):
    """retry: trying again may help. after: seconds that the other side asks to wait first."""

    def __init__(
        self,
        kind: Kind,
        sentence: Translatable,
        action: Translatable = NO_TEXT,
        *,
        retry: bool = False,
        after: float | None = None,
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
        action = msg("{action} What has arrived is kept.", action=e.action)
        raise HubError(e.kind, e.sentence, action, retry=e.retry, after=e.after) from e


# ---- no answer -------------------------------------------------------------------------------------------------


def offline() -> HubError:
    """OFFLINE: by the setting, or by what the environment says to all programs that use a hub."""
    if is_offline_mode():
        action = msg(
            "The variable HF_HUB_OFFLINE says so: take it away and start Underhill again to search and download."
        )
    else:
        action = msg("Switch that off in the settings to search and download.")
    return HubError(Kind.OFFLINE, msg("Underhill is set to stay offline."), action)


def unreachable(cause: Exception, url: str, proxy: str = "") -> HubError:
    """NO_NETWORK for whatever the transport raised. proxy: the address of the proxy in between, where there is one."""
    host, by_proxy = _host(url), _host(proxy) if proxy else ""
    reasons = list(_chain(cause))
    if isinstance(cause, httpx2.ProxyError):
        return _network(
            msg(
                "The proxy {by_proxy} refused the connection to {host} ({cause}).",
                by_proxy=by_proxy,
                host=host,
                cause=cause,
            ),
            msg("Check the proxy setting."),
        )
    if isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return _network(
            msg("{host} has stopped answering.", host=host), msg("Check the connection, and try again."), retry=True
        )
    if isinstance(cause, httpx2.TimeoutException):
        who = msg("The proxy {by_proxy}", by_proxy=by_proxy) if by_proxy else host
        return _network(
            msg("{who} could not be reached in time.", who=who), msg("Check the connection, and try again."), retry=True
        )
    if any(isinstance(r, ssl.SSLError) for r in reasons):
        return _network(
            msg("The certificate of {host} is not one that this computer trusts.", host=host),
            msg(
                "{sign_in} Else check the computer's clock. Where a proxy reads along, name its certificate in "
                "SSL_CERT_FILE.",
                sign_in=_SIGN_IN,
            ),
        )
    if any(isinstance(r, socket.gaierror) for r in reasons):
        who = msg("of the proxy {by_proxy}", by_proxy=by_proxy) if by_proxy else host
        return _network(
            msg("The address {who} cannot be found.", who=who),
            msg("Check that this computer is online, and the address."),
            retry=True,
        )
    if any(isinstance(r, OSError) and r.errno in _NO_ROUTE for r in reasons):
        return _network(msg("This computer has no network."), msg("Connect it, and try again."), retry=True)
    if isinstance(cause, httpx2.ConnectError):
        who, what = (
            (msg("The proxy {by_proxy}", by_proxy=by_proxy), msg("the proxy setting"))
            if by_proxy
            else (host, msg("the connection"))
        )
        return _network(
            msg("{who} does not accept a connection.", who=who),
            msg("Check {what}, or try again later.", what=what),
            retry=True,
        )
    return cut(url)


def slow(url: str) -> HubError:
    """NO_NETWORK: an answer comes by drops."""
    return _network(
        msg("{host} answers too slowly.", host=_host(url)), msg("Check the connection, or try again later."), retry=True
    )


def cut(url: str) -> HubError:
    """NO_NETWORK: the connection ended before everything was there."""
    return _network(msg("The connection to {host} was cut.", host=_host(url)), msg("Try again."), retry=True)


def _network(sentence: Translatable, action: Translatable, *, retry: bool = False) -> HubError:
    return HubError(Kind.NO_NETWORK, sentence, action, retry=retry)


# ---- a refusal ------------------------------------------------------------------------------------------------------


def refused(response: httpx2.Response, repo: str, endpoint: str, token: str, note: Translatable = NO_TEXT) -> HubError:
    """What an answer of 400 or more means. token: the one that was sent, or ''. note: why there is none."""
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    host, page = _host(str(response.request.url)), f"{endpoint}/{repo}"
    # A lent address that has run out; the hub gives another one, so trying again helps where it would not with the
    # hub's own.
    if host != _host(endpoint) and status < 500 and status not in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            msg("{host}, where the hub keeps its files, refused ({status}).", host=host, status=status),
            _LATER,
            retry=True,
        )
    if status == 416:
        name = urlsplit(str(response.request.url)).path.rsplit("/", 1)[-1]
        return HubError(
            Kind.SERVER_ERROR,
            msg("{name} is shorter on {host} than its list of files says.", name=name, host=host),
            msg("The hub contradicts itself; try again later, or at another hub."),
        )
    if code == "GatedRepo" and not token:
        return HubError(
            Kind.NO_ACCESS,
            msg("{repo} is only given to people with an account who have accepted its licence.", repo=repo),
            joined(
                " ", (msg("Accept it at {page} and give Underhill a token of yours {how}.", page=page, how=_HOW), note)
            ),
        )
    if code == "GatedRepo" or (status == 403 and repo and token):
        return HubError(
            Kind.NO_ACCESS,
            msg("Your account may not have {repo} yet.", repo=repo),
            msg("Accept its licence at {page}; where the makers decide by hand, wait for their answer.", page=page),
        )
    if code == "RevisionNotFound":
        return HubError(
            Kind.NOT_FOUND,
            msg("{repo} has no such revision.", repo=repo),
            msg("See {page} for those there are.", page=page),
        )
    if code == "EntryNotFound":
        name = urlsplit(str(response.request.url)).path.rsplit("/", 1)[-1]
        return HubError(
            Kind.NOT_FOUND,
            msg("{repo} has no file {name}.", repo=repo, name=name),
            msg("See {page} for those there are.", page=page),
        )
    if code == "RepoNotFound" or (status == 404 and repo):
        return HubError(
            Kind.NOT_FOUND,
            msg("There is no model {repo} on {host}, or it is private.", repo=repo, host=host),
            msg("Check the name; for a private model, give Underhill a token of yours {how}.", how=_HOW),
        )
    if status == 401:
        if token:
            return HubError(
                Kind.NO_ACCESS,
                msg("{host} does not accept the token it was given.", host=host),
                msg("Give Underhill a new one {how}.", how=_HOW),
            )
        return HubError(
            Kind.NO_ACCESS,
            msg("{host} asks for a token.", host=host),
            joined(" ", (msg("Give Underhill a token of yours {how}.", how=_HOW), note)),
        )
    if status == SIGN_IN:
        return _network(msg("This network wants you to sign in before it lets anything through."), _SIGN_IN)
    if status == 429:
        after = _seconds(response)
        if after is None or after < 1:
            wait = msg("Wait some minutes")
        elif after <= 120:
            wait = msg("Wait {after} seconds", after=f"{after:.0f}")
        else:
            wait = msg("Wait {ceil} minutes", ceil=math.ceil(after / 60))
        return HubError(
            Kind.SERVER_ERROR,
            msg("{host} has had too many requests from here.", host=host),
            msg("{wait} and try again; with a token of an account, more are allowed.", wait=wait),
            retry=True,
            after=after,
        )
    if status >= 500 or status in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            msg("{host} has a problem of its own (error {status}).", host=host, status=status),
            _LATER,
            retry=status in BUSY_CODES,
            after=_seconds(response),
        )
    return HubError(
        Kind.SERVER_ERROR,
        msg("{host} refused ({status}).", host=host, status=status),
        msg("Check the address of the hub in the settings."),
    )


def _seconds(response: httpx2.Response) -> float | None:
    """Retry-After in seconds, as a number; dates are not sent by hubs."""
    text = response.headers.get("Retry-After", "").strip()
    if not _DIGITS.fullmatch(text):
        return None
    return float(text) if len(text) < 9 else WAIT_SECONDS  # a server that asks for years is not waited for


# ---- what arrives is not what was promised --------------------------------------------------------------------------


def nonsense(url: str, what: str) -> HubError:
    """SERVER_ERROR: an answer that no hub gives; `what` completes 'HOST answered with'."""
    return HubError(
        Kind.SERVER_ERROR,
        msg("{host} answered with {what}.", host=_host(url), what=what),
        msg("Check the address of the hub; in a hotel or on a train, sign in to the network in a browser first."),
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
        msg("{host} answered with a page of its own where {name} should be.", host=_host(url), name=name),
        msg("{sign_in} If you have signed in, check the address of the hub.", sign_in=_SIGN_IN),
    )


def no_ranges(url: str) -> HubError:
    """SERVER_ERROR: a model cannot be imported while it arrives from there."""
    return HubError(
        Kind.SERVER_ERROR,
        msg("{host} gives whole files only, no parts of them.", host=_host(url)),
        msg("Download the files first, and import them then: `underhill-cli pull --keep-source`."),
    )


def other_size(name: str, promised: int, sent: int) -> HubError:
    """SERVER_ERROR: the hub's list and its files disagree."""
    return HubError(
        Kind.SERVER_ERROR,
        msg(
            "{name} should have {promised} bytes, and {sent} are offered.",
            name=name,
            promised=f"{promised:,}",
            sent=f"{sent:,}",
        ),
        msg("The hub contradicts itself; try again later, or at another hub."),
    )


def damaged_there(sentence: Translatable) -> HubError:
    """BROKEN_FILE: what tells what a model is was asked for twice, and was wrong twice; nothing of it is here yet."""
    return HubError(
        Kind.BROKEN_FILE,
        sentence,
        msg("Try again, through another network if you can. If it stays so, choose another copy of the model."),
    )


def damaged(name: str) -> HubError:
    """BROKEN_FILE: all bytes are there, and they are not the right ones."""
    return HubError(
        Kind.BROKEN_FILE,
        msg("{name} arrived damaged, twice: its checksum is not the one that the hub names.", name=name),
        msg("That file was thrown away. Try again, through another network or hub if it keeps happening."),
    )


def changed(name: str) -> HubError:
    """CHANGED: the hub has put something else in this file's place."""
    return HubError(
        Kind.CHANGED,
        msg("{name} has changed on the hub since the download began.", name=name),
        msg("Start the download again: it keeps the files that are still the same."),
    )


def disk_full(folder: str, missing: int | None = None) -> HubError:
    """DISK_FULL; missing: bytes that would have to be freed, where that is known."""
    room = (
        msg("Free {value} MB there", value=f"{max(1, -(-missing // 10**6)):,}")
        if missing
        else msg("Free some space there")
    )
    return HubError(
        Kind.DISK_FULL,
        msg("There is not enough space for this on the disk of {folder}.", folder=folder),
        msg("{room} and try again.", room=room),
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An exception and what led to it."""
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
