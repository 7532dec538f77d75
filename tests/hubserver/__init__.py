"""A model hub on loopback: what `huggingface_hub` calls, answered as the real one answers, and as badly as wished."""

from tests.hubserver.faults import Fault
from tests.hubserver.repos import Repo
from tests.hubserver.server import HubServer

__all__ = ["Fault", "HubServer", "Repo"]
