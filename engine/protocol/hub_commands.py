"""Commands about a model hub: search, account, downloads, and the settings that all models share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.protocol.commands import Command


@dataclass(frozen=True)
class ReadSettings(Command):
    """Done.result: dict of all settings.SHARED (hub and library), as they are kept."""


@dataclass(frozen=True)
class KeepSettings(Command):
    """Keep some of settings.SHARED, in force at once. Done.result: as of ReadSettings.

    Gone offline, what is on its way from a hub is halted, and nothing is sent any more.
    """

    settings: dict[str, Any]


@dataclass(frozen=True)
class AskToken(Command):
    """Whether there is a token for the hub of the settings; the token itself is never told. Done.result: TokenState."""


@dataclass(frozen=True)
class KeepToken(Command):
    """Try a token at the hub of the settings, then keep it in the keyring. Done.result: the account's name."""

    token: str = field(repr=False)


@dataclass(frozen=True)
class ForgetToken(Command):
    """Take the token of the hub of the settings out of the keyring. Done.result: False where there was none."""


@dataclass(frozen=True)
class ListCatalogue(Command):
    """Models that people run today, the smallest first, with pills. Nothing is sent. Done.result: tuple[HubModel, ...].

    settings: names of settings.ENGINE, under which is judged what fits.
    """

    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchModels(Command):
    """Look on the hub for models that Underhill opens, the most downloaded first. Done.result: SearchPage, with pills.

    Before it comes Listed, without. page: from 0; further ones are of the same search. settings: as of ListCatalogue.
    """

    words: str
    page: int = 0
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DescribeModel(Command):
    """All that is known of a model on the hub before it is here. Done.result: ModelDetails.

    Fails as pulling it would. gguf: as of PullModel. settings: as of ListCatalogue.
    """

    repo: str
    revision: str = "main"
    gguf: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PullModel(Command):
    """Put a model on its way from the hub into the library. Done.result: Transfer, which TransferChanged then tells of.

    name: '' takes the repository's. top: 4, 8 or 16; 0: what suits it.
    keep_source: keep what was downloaded beside what is made of it.
    gguf: part of the name of one of its GGUF models; '' takes safetensors where there are some, else what suits `top`.
    """

    repo: str
    name: str = ""
    top: int = 0
    revision: str = "main"
    keep_source: bool = False
    gguf: str = ""


@dataclass(frozen=True)
class ListTransfers(Command):
    """All that is on its way, also what was when Underhill was closed or killed. Done.result: tuple[Transfer, ...]."""


@dataclass(frozen=True)
class PauseTransfer(Command):
    """Halt a transfer; what has arrived stays. Done.result: Transfer."""

    transfer: str


@dataclass(frozen=True)
class ResumeTransfer(Command):
    """Let a transfer go on that is paused or failed. Done.result: Transfer."""

    transfer: str


@dataclass(frozen=True)
class CancelTransfer(Command):
    """Take a transfer from the list: with what has arrived, unless `keep`; of a finished one the model stays.

    Done.result: Transfer. What is to be removed goes in the background.
    """

    transfer: str
    keep: bool = False
