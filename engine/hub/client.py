"""A connection to one hub: `huggingface_hub` for what it knows, plain ranged requests for bytes.

Answers that are held whole are limited in length and time, whatever the other side sends.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
from huggingface_hub import HfApi, hf_hub_url, set_client_factory
from huggingface_hub.constants import is_offline_mode
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from huggingface_hub.utils import build_hf_headers

from engine import limits, settings
from engine.errors import Kind, UnderhillError
from engine.hub import errors, tokens
from engine.library.entries import TokenState
from engine.translatable import Translatable, msg, quoted


class AnswerBudget:
    """Limits of one answer: its bytes, its time, its least rate.

    arrived: called with the number of bytes of each piece, it raises HubError where it is enough.
    """

    def __init__(self, url: str, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._url, self._left, self._clock = url, max_bytes, clock
        self._begun = clock()
        self._had = 0

    def arrived(self, count: int) -> None:
        """SERVER_ERROR: it goes on and on. NO_NETWORK: it comes so slowly that its end is not to be waited for."""
        self._left -= count
        self._had += count
        if self._left < 0:
            raise errors.nonsense(self._url, msg("an answer without end"))
        took = self._clock() - self._begun
        # A timeout of httpx counts from byte to byte: a server that sends one every 29 seconds would never meet it.
        if took > limits.ANSWER_SECONDS or (took > limits.SILENCE_SECONDS and self._had < limits.LEAST_PACE * took):
            raise errors.slow(self._url)


class BoundedBody(httpx2.SyncByteStream):
    """The body of a response, as it comes: read by the library itself, which would read it without end."""

    def __init__(self, body: httpx2.SyncByteStream, pace: AnswerBudget) -> None:
        self._body, self._pace = body, pace

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            self._pace.arrived(len(piece))
            yield piece

    def close(self) -> None:
        self._body.close()


def bound_redirection(response: httpx2.Response) -> None:
    """A hook: what comes with a redirection, and is read before that is followed, is as short as any other answer."""
    if response.has_redirect_location and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = BoundedBody(response.stream, AnswerBudget(str(response.url), limits.ANSWER_BYTES))


def whole(response: httpx2.Response) -> httpx2.Response:
    """The same answer, its body read and unpacked. Raises HubError; httpx2.RequestError as reading it does."""
    url = str(response.url)
    pace, data = AnswerBudget(url, limits.ANSWER_BYTES), bytearray()
    try:
        for piece in response.iter_bytes():
            pace.arrived(len(piece))
            data += piece
    except httpx2.DecodingError as cause:
        raise errors.nonsense(url, msg("bytes that cannot be unpacked")) from cause
    finally:
        response.close()
    headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _OF_THE_WAY]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=bytes(data),
        request=response.request,
        extensions=response.extensions,
        history=response.history,
        default_encoding="utf-8",
    )


_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")  # true of the bytes that came, not of these


DEFAULT = "https://huggingface.co"
CONNECT = 10.0  # seconds to wait for a connection
NAME = "underhill"
_REPO = re.compile(r"[\w.-]+(/[\w.-]+)?")
_PAGE = re.compile(r"https?://[^/]+/(?P<name>[\w.-]+/[\w.-]+)")
# what reading a page raises that is no hub's answer
_NOT_AN_ANSWER = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
_asking = threading.Lock()  # huggingface_hub has one session for all; a hub lends it its own while it asks


class Hub:
    """One hub, by its address. Use it in a `with` statement. Every method raises UnderhillError."""

    def __init__(
        self, endpoint: str, proxy: str = "", offline: bool = False, token: tokens.HubToken | None = None
    ) -> None:
        """token: None looks it up."""
        if not re.match(r"https?://[^/\s]+", endpoint) or not _is_url(endpoint):
            raise _bad(
                msg("{shown} isn't a hub URL.", shown=limits.shown(endpoint)),
                msg("It starts with https://."),
            )
        self.endpoint = endpoint.rstrip("/")
        self.proxy = proxy
        self.offline = offline
        self.sends_whole = False  # whether it has answered a question for a part of a file with all of it
        self._given = token
        self._session: _Session | None = None
        # One session, whichever thread asks first; not held while anything is asked.
        self._opening = threading.Lock()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        with self._opening:
            if self._session is not None:
                self._session.close()
                self._session = None

    @property
    def token(self) -> tokens.HubToken:
        """What this hub knows the user by; looked up once, and only when something is asked."""
        if self._given is None:
            self._given = tokens.read(self.endpoint)
        return self._given

    def page(self, repo: str) -> str:
        """Where a person reads about a model."""
        return f"{self.endpoint}/{repo}"

    def url(self, repo: str, commit: str, name: str) -> str:
        """Where a file is fetched."""
        return hf_hub_url(checked(repo), name, revision=commit, endpoint=self.endpoint)

    @contextmanager
    def asking(self, repo: str = "") -> Iterator[HfApi]:
        """huggingface_hub's API, with every failure inside as ours. Read lazy answers within."""
        if self.offline:
            raise errors.offline()
        # False and not None, for which huggingface_hub would look for a token of its own, such as that of its login.
        api = HfApi(self.endpoint, token=self.token.value or False, library_name=NAME, library_version=_version())
        # Around the factory and all that is asked with it: huggingface_hub keeps one session for the process, and
        # another thread's factory would replace it in the middle.
        with _asking:
            set_client_factory(self._new_session)
            try:
                yield api
            except HfHubHTTPError as cause:
                raise self._refused(cause.response, repo) from cause
            except HFValidationError as cause:
                raise _bad(
                    msg("{repo} isn't a model name.", repo=quoted(repo)), msg("Names look like owner/model.")
                ) from cause
            except _NOT_AN_ANSWER as cause:
                raise errors.nonsense(self.endpoint, msg("something that is not a hub's answer")) from cause

    def account(self) -> str:
        """Whose token this is, by name."""
        with self.asking() as api:
            return str(api.whoami()["name"])

    @contextmanager
    def stream(self, url: str, repo: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx2.Response]:
        """GET, the body not read yet. The token goes to the hub, and not where the hub sends us on to."""
        if self.offline:
            raise errors.offline()
        # The slash belongs to it: https://hub.example.evil begins with https://hub.example, and would be sent the
        # token.
        own = url.startswith(self.endpoint + "/")
        token = (self.token.value or False) if own else False
        sent = build_hf_headers(token=token, library_name=NAME, library_version=_version())
        # as stored: a range of compressed bytes would mean nothing
        with self._open().stream("GET", url, headers={**sent, "Accept-Encoding": "identity", **(headers or {})}) as r:
            if r.status_code >= 300:  # also a redirection to nowhere
                raise self._refused(r, repo)
            try:
                yield r
            except httpx2.TransportError as cause:
                raise errors.unreachable(cause, str(r.url), self._proxy_of(str(r.url))) from cause

    def read(
        self, repo: str, commit: str, name: str, start: int = 0, stop: int | None = None, *, most: int = 0
    ) -> bytes:
        """Bytes start..stop of a file, or all of a small one, which has `most` bytes at most."""
        url = self.url(repo, commit, name)
        most = most if stop is None else stop - start
        ranged = {} if stop is None else {"Range": f"bytes={start}-{stop - 1}"}
        data = bytearray()
        with self.stream(url, repo, ranged) as response:
            if (page := errors.instead(response, name)) is not None:
                raise page
            whole = response.status_code == 200 and stop is not None  # it knows no ranges
            self.sends_whole |= whole
            skip = start if whole else 0
            # A hub without ranges sends what comes before as well; the rest of the file it may go on sending, up to
            # this.
            pace = AnswerBudget(url, skip + most + limits.ANSWER_BYTES)
            for piece in response.iter_raw():
                pace.arrived(len(piece))
                data += piece[skip:]
                skip = max(0, skip - len(piece))
                if len(data) > most or (stop is not None and len(data) == most):
                    break
        if stop is None and len(data) > most:
            raise errors.nonsense(url, msg("an impossibly long {name}", name=name))
        if stop is not None and len(data) < most:
            # a whole answer that is shorter than the file is another file; a part that is too short ended early
            raise errors.not_a_file(str(response.url), name) if whole else errors.cut(url)
        return bytes(data[:most])

    def _refused(self, response: httpx2.Response, repo: str) -> errors.HubError:
        return errors.refused(response, repo, self.endpoint, self.token.value, self.token.note)

    def _open(self) -> _Session:
        with self._opening:
            if self._session is None:
                self._session = self._new_session()
            return self._session

    def _new_session(self) -> _Session:
        try:
            return _Session(self)
        except (ValueError, httpx2.InvalidURL) as cause:
            raise _bad(
                msg("{proxy} isn't a proxy URL.", proxy=quoted(self.proxy)), msg("It starts with http://.")
            ) from cause

    def _proxy_of(self, url: str) -> str:
        """The proxy between here and there, as the session finds it."""
        if self.proxy:
            return self.proxy
        parts = httpx2.URL(url)
        if proxy_bypass(parts.host):
            return ""
        found = getproxies()
        return found.get(parts.scheme) or found.get("all") or ""


class _Session(httpx2.Client):
    """Waits no longer than it should, and says what went wrong in our words, also where huggingface_hub asks."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(
            follow_redirects=True,
            timeout=httpx2.Timeout(limits.SILENCE_SECONDS, connect=CONNECT),
            proxy=hub.proxy or None,
            event_hooks={"response": [bound_redirection]},
        )
        self._hub = hub
        self._answers = 0

    def send(self, request: httpx2.Request, *, stream: bool = False, **how: Any) -> httpx2.Response:
        timeouts = request.extensions.get("timeout")
        # huggingface_hub builds some requests with no timeout at all, which would wait for a silent server without end.
        if timeouts is None or all(limit is None for limit in timeouts.values()):
            request.extensions["timeout"] = self.timeout.as_dict()
        url = str(request.url)
        if not stream:
            # A list comes in pages, each naming the next: a hub that always names one more would never be done.
            self._answers += 1
            if self._answers > limits.ANSWERS:
                raise errors.nonsense(url, msg("an answer without end"))
        try:
            response = super().send(request, stream=True, **how)
        except httpx2.TransportError as cause:
            raise errors.unreachable(cause, url, self._hub._proxy_of(url)) from cause
        except httpx2.TooManyRedirects as cause:
            raise errors.nonsense(url, msg("an endless chain of redirections")) from cause
        if response.status_code in errors.BUSY_CODES:  # huggingface_hub would wait for it, and nobody could stop that
            response.close()
            raise self._hub._refused(response, "")
        try:
            return response if stream else whole(response)
        except httpx2.TransportError as cause:
            raise errors.unreachable(cause, url, self._hub._proxy_of(url)) from cause


def connect(chosen: Mapping[str, Any]) -> Hub:
    """The hub that these values of settings.HUB and the environment name. Nothing is sent yet.

    Raises UnderhillError(BAD_REQUEST).
    """
    values = settings.validated(chosen, settings.HUB)
    endpoint = str(values["endpoint"]).strip() or os.environ.get("HF_ENDPOINT", "").strip() or DEFAULT
    return Hub(endpoint, str(values["proxy"]).strip(), bool(values["offline"]) or is_offline_mode())


def checked(repo: str) -> str:
    """The name of a model as hubs have them, or UnderhillError(BAD_REQUEST)."""
    if not _REPO.fullmatch(repo) or ".." in repo:
        page = _PAGE.match(repo)
        action = (
            msg("The model of that address is called {page}.", page=page["name"])
            if page
            else msg("Names look like owner/model.")
        )
        raise _bad(msg("{repo} isn't a model name.", repo=quoted(repo)), action)
    return repo


def _is_url(text: str) -> bool:
    try:
        return bool(httpx2.URL(text).host)
    except (httpx2.InvalidURL, ValueError):
        return False


def _version() -> str:
    """What the hub is told beside the name."""
    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:  # run straight from a checkout
        return "0"


def _bad(sentence: Translatable, action: Translatable) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence, action)


def accept_token(hub: Hub, value: str) -> str:
    """Try a token, then keep it in the keyring; whose it is. Raises UnderhillError; a token that fails is not kept."""
    value = value.strip()
    if not value:
        raise UnderhillError(Kind.BAD_REQUEST, msg("No token given."), msg("Paste it."))
    if not value.isascii() or not value.isprintable() or " " in value:
        raise UnderhillError(Kind.BAD_REQUEST, msg("This isn't a token."), msg("Copy it again, the token only."))
    with Hub(hub.endpoint, hub.proxy, hub.offline, tokens.HubToken(value)) as tried:
        name = tried.account()
    tokens.keep(hub.endpoint, value)
    return name


def token_state(hub: Hub) -> TokenState:
    """Whether there is a token for this hub, and where; nothing is sent."""
    if tokens.given():
        return TokenState(hub.endpoint, tokens.VARIABLE)
    found = tokens.read(hub.endpoint)
    return TokenState(hub.endpoint, "keyring" if found.value else "", found.note)
