"""What lists show beside models: folders, deleted models, what other apps have. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelFolder:
    """A folder that models live in. bytes: free and total of its disk; models: of all stores in it.

    there: False while its disk is not connected; `problem` then says so, and what was in it is not forgotten.
    first: new models go there. own: the one in Underhill's data folder, which cannot be taken away.
    """

    path: str
    there: bool
    first: bool
    own: bool
    writable: bool
    free: int = 0
    total: int = 0
    models: int = 0
    deleted: int = 0  # bytes that emptying its trash would free
    problem: str = ""


@dataclass(frozen=True)
class DeletedModel:
    """A model in the trash. deleted_at: seconds since 1970; expires: when it is removed for good."""

    name: str
    folder: str
    nbytes: int
    deleted_at: float
    expires: float


@dataclass(frozen=True)
class AdoptedModel:
    """A store of a folder that was imported as it is: where it went, or why it did not."""

    name: str
    path: str = ""
    problem: str = ""
    action: str = ""


@dataclass(frozen=True)
class FoundModel:
    """A model that another app keeps on this computer.

    app: 'Hugging Face', 'LM Studio', 'Ollama', …  path: what to import; name: what to call it. format: 'safetensors' or
    'gguf'. template: whether it comes with a chat template.
    quantization: as the files say it; '' where they do not. can_open: whether Underhill can import it; else `why_not`.
    """

    app: str
    title: str
    name: str
    path: str
    format: str
    nbytes: int
    architecture: str = ""
    quantization: str = ""
    experts: int = 0
    repo: str = ""
    revision: str = ""
    template: bool = False
    can_open: bool = False
    why_not: str = ""
