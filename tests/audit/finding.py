"""What one examination found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """found: measured values by name, of types that JSON knows. ok: whether all of them are as promised."""

    ok: bool
    found: dict[str, Any] = field(default_factory=dict)
