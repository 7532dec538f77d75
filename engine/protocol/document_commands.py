"""Commands about documents that chats search: files and folders, called by their paths."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol.commands import Command


@dataclass(frozen=True)
class IndexDocuments(Command):
    """Bring the indexes of files and folders up to date, with Progress. Done.result: tuple[IndexedDocuments, ...].

    What has been read is found by its words at once; by its meaning once it is encoded, which rests while anything is
    answered. One that was stopped, or killed, goes on where it ended when it is sent again.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True)
class FindPassages(Command):
    """Find passages for a question, with Progress while documents have to be read first. Done.result: FoundPassages.

    tokens: that the passages may take together; 0: a share of the loaded model's context.
    """

    paths: tuple[str, ...]
    question: str
    tokens: int = 0


@dataclass(frozen=True)
class TidyDocuments(Command):
    """Delete the indexes of all but these files and folders. Done.result: how many went."""

    keep: tuple[str, ...]


@dataclass(frozen=True)
class EmbedTexts(Command):
    """Give texts vectors whose inner product says how near two are in meaning, as documents are searched by.

    It rests while a person waits for an answer. Done.result: Embeddings.
    """

    texts: tuple[str, ...]
