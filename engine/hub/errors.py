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
_HOW = msg("in Settings")
_LATER = msg("Try again later.")
_DIGITS = re.compile(r"[0-9]+")
_SIGN_IN = msg("If this network needs a sign-in, do it in a browser.")
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
        action = msg("{action} The download so far is kept.", action=e.action)
        raise HubError(e.kind, e.sentence, action, retry=e.retry, after=e.after) from e


# ---- no answer -------------------------------------------------------------------------------------------------


def offline() -> HubError:
    """OFFLINE: by the setting, or by what the environment says to all programs that use a hub."""
    if is_offline_mode():
        action = msg("HF_HUB_OFFLINE is set. Remove it and restart the app.")
    else:
        action = msg("Turn it off in Settings.")
    return HubError(Kind.OFFLINE, msg("Offline mode is on."), action)


def unreachable(cause: Exception, url: str, proxy: str = "") -> HubError:
    """NO_NETWORK for whatever the transport raised. proxy: the address of the proxy in between, where there is one."""
    host, by_proxy = _host(url), _host(proxy) if proxy else ""
    reasons = list(_chain(cause))
    if isinstance(cause, httpx2.ProxyError):
        return _network(
            msg(
                "Proxy {by_proxy} refused the connection to {host} ({cause}).",
                by_proxy=by_proxy,
                host=host,
                cause=cause,
            ),
            msg("Check the proxy URL."),
        )
    if isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return _network(
            msg("{host} isn't responding.", host=host), msg("Check the connection, then try again."), retry=True
        )
    if isinstance(cause, httpx2.TimeoutException):
        who = msg("Proxy {by_proxy}", by_proxy=by_proxy) if by_proxy else host
        return _network(
            msg("{who} isn't responding.", who=who), msg("Check the connection, then try again."), retry=True
        )
    if any(isinstance(r, ssl.SSLError) for r in reasons):
        return _network(
            msg("The certificate of {host} isn't trusted.", host=host),
            msg(
                "{sign_in} Otherwise check the clock. Behind a proxy, set SSL_CERT_FILE.",
                sign_in=_SIGN_IN,
            ),
        )
    if any(isinstance(r, socket.gaierror) for r in reasons):
        who = msg("of proxy {by_proxy}", by_proxy=by_proxy) if by_proxy else host
        return _network(
            msg("Can't find the address {who}.", who=who),
            msg("Check the internet connection and the address."),
            retry=True,
        )
    if any(isinstance(r, OSError) and r.errno in _NO_ROUTE for r in reasons):
        return _network(msg("No internet connection."), msg("Connect, then try again."), retry=True)
    if isinstance(cause, httpx2.ConnectError):
        who, what = (
            (msg("Proxy {by_proxy}", by_proxy=by_proxy), msg("the proxy setting"))
            if by_proxy
            else (host, msg("the connection"))
        )
        return _network(
            msg("{who} refused the connection.", who=who),
            msg("Check {what}, or try again later.", what=what),
            retry=True,
        )
    return cut(url)


def slow(url: str) -> HubError:
    """NO_NETWORK: an answer comes by drops."""
    return _network(
        msg("{host} is too slow.", host=_host(url)), msg("Check the connection, or try again later."), retry=True
    )


def cut(url: str) -> HubError:
    """NO_NETWORK: the connection ended before everything was there."""
    return _network(msg("The connection to {host} was lost.", host=_host(url)), msg("Try again."), retry=True)


def _network(sentence: Translatable, action: Translatable, *, retry: bool = False) -> HubError:
    return HubError(Kind.NO_NETWORK, sentence, action, retry=retry)


# ---- a refusal ------------------------------------------------------------------------------------------------------


def refused(response: httpx2.Response, repo: str, endpoint: str, token: str, note: Translatable = NO_TEXT) -> HubError:
    """What an answer of 400 or more means. token: the one that was sent, or ''. note: why there is none."""
    status, host = response.status_code, _host(str(response.request.url))
    # A lent address that has run out; the hub gives another one, so trying again helps where it would not with the
    # hub's own.
    if host != _host(endpoint) and status < 500 and status not in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            msg("{host} refused the download ({status}).", host=host, status=status),
            _LATER,
            retry=True,
        )
    if status == 416:
        return HubError(
            Kind.SERVER_ERROR,
            msg("{name} is incomplete on {host}.", name=_file_name(response), host=host),
            msg("Try again later or use another hub."),
        )
    page = f"{endpoint}/{repo}"
    by_repo = _no_access(response, repo, page, token, note) or _not_found(response, repo, page)
    return by_repo or _refused_by_host(response, token, note)


def _no_access(response: httpx2.Response, repo: str, page: str, token: str, note: Translatable) -> HubError | None:
    """NO_ACCESS: a repository whose licence has to be accepted first. None: it is something else."""
    gated = response.headers.get("X-Error-Code") == "GatedRepo"
    if gated and not token:
        return HubError(
            Kind.NO_ACCESS,
            msg("Sign-in required: {repo} has a license to accept.", repo=repo),
            joined(" ", (msg("Accept it at {page}, then add a token {how}.", page=page, how=_HOW), note)),
        )
    if gated or (response.status_code == 403 and repo and token):
        return HubError(
            Kind.NO_ACCESS,
            msg("Your account has no access to {repo} yet.", repo=repo),
            msg("Accept its license at {page}. Access may need approval by its makers.", page=page),
        )
    return None


def _not_found(response: httpx2.Response, repo: str, page: str) -> HubError | None:
    """NOT_FOUND: no such repository, revision or file. None: it is something else."""
    code = response.headers.get("X-Error-Code", "")
    if code == "RevisionNotFound":
        return HubError(
            Kind.NOT_FOUND,
            msg("{repo} has no such revision.", repo=repo),
            msg("Available revisions: {page}", page=page),
        )
    if code == "EntryNotFound":
        return HubError(
            Kind.NOT_FOUND,
            msg("{repo} has no file {name}.", repo=repo, name=_file_name(response)),
            msg("Available files: {page}", page=page),
        )
    if code == "RepoNotFound" or (response.status_code == 404 and repo):
        return HubError(
            Kind.NOT_FOUND,
            msg("No model {repo} on {host}, or it is private.", repo=repo, host=_host(str(response.request.url))),
            msg("Check the name. For a private model, add a token {how}.", how=_HOW),
        )
    return None


def _refused_by_host(response: httpx2.Response, token: str, note: Translatable) -> HubError:
    """What the status says by itself, whichever repository was asked for."""
    status, host = response.status_code, _host(str(response.request.url))
    if status == 401:
        if token:
            return HubError(
                Kind.NO_ACCESS,
                msg("{host} rejected the token.", host=host),
                msg("Add a new token {how}.", how=_HOW),
            )
        return HubError(
            Kind.NO_ACCESS,
            msg("{host} needs a token.", host=host),
            joined(" ", (msg("Add a token {how}.", how=_HOW), note)),
        )
    if status == SIGN_IN:
        return _network(msg("This network needs a sign-in."), msg("Sign in with a browser."))
    if status == 429:
        return _too_many_requests(host, _seconds(response))
    if status >= 500 or status in BUSY_CODES:
        return HubError(
            Kind.SERVER_ERROR,
            msg("Server error at {host} ({status}).", host=host, status=status),
            _LATER,
            retry=status in BUSY_CODES,
            after=_seconds(response),
        )
    return HubError(
        Kind.SERVER_ERROR,
        msg("{host} refused the request ({status}).", host=host, status=status),
        msg("Check the model hub URL in Settings."),
    )


def _too_many_requests(host: str, after: float | None) -> HubError:
    if after is None or after < 1:
        wait = msg("Wait some minutes")
    elif after <= 120:
        wait = msg("Wait {after} s", after=f"{after:.0f}")
    else:
        wait = msg("Wait {ceil} min", ceil=math.ceil(after / 60))
    return HubError(
        Kind.SERVER_ERROR,
        msg("Too many requests to {host}.", host=host),
        msg("{wait}, then try again. A token allows more.", wait=wait),
        retry=True,
        after=after,
    )


def _file_name(response: httpx2.Response) -> str:
    return urlsplit(str(response.request.url)).path.rsplit("/", 1)[-1]


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
        msg("Unexpected answer from {host}: {what}.", host=_host(url), what=what),
        msg("Check the model hub URL. If this network needs a sign-in, do it in a browser."),
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
        msg("{host} returned a web page instead of {name}.", host=_host(url), name=name),
        msg("{sign_in} Otherwise check the model hub URL.", sign_in=_SIGN_IN),
    )


def no_ranges(url: str) -> HubError:
    """SERVER_ERROR: a model cannot be imported while it arrives from there."""
    return HubError(
        Kind.SERVER_ERROR,
        msg("{host} doesn't support partial downloads.", host=_host(url)),
        msg("Use another hub."),
    )


def other_size(name: str, promised: int, sent: int) -> HubError:
    """SERVER_ERROR: the hub's list and its files disagree."""
    return HubError(
        Kind.SERVER_ERROR,
        msg(
            "{name} has the wrong size: {sent} bytes instead of {promised}.",
            name=name,
            promised=f"{promised:,}",
            sent=f"{sent:,}",
        ),
        msg("Try again later or use another hub."),
    )


def damaged_there(sentence: Translatable) -> HubError:
    """BROKEN_FILE: what tells what a model is was asked for twice, and was wrong twice; nothing of it is here yet."""
    return HubError(
        Kind.BROKEN_FILE,
        sentence,
        msg("Try again on another network, or choose another copy of the model."),
    )


def damaged(name: str) -> HubError:
    """BROKEN_FILE: all bytes are there, and they are not the right ones."""
    return HubError(
        Kind.BROKEN_FILE,
        msg("The download of {name} is damaged (wrong checksum).", name=name),
        msg("Try again. If it keeps happening, use another network or hub."),
    )


def changed(name: str) -> HubError:
    """CHANGED: the hub has put something else in this file's place."""
    return HubError(
        Kind.CHANGED,
        msg("{name} changed on the hub during the download.", name=name),
        msg("Start the download again. Unchanged files are kept."),
    )


def disk_full(folder: str, missing: int | None = None) -> HubError:
    """DISK_FULL; missing: bytes that would have to be freed, where that is known."""
    room = msg("Free {value} MB", value=f"{max(1, -(-missing // 10**6)):,}") if missing else msg("Free some space")
    return HubError(
        Kind.DISK_FULL,
        msg("Not enough disk space in {folder}.", folder=folder),
        msg("{room}, then try again.", room=room),
    )


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An exception and what led to it."""
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
