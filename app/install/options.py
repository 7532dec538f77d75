"""How packages are reached: mirror, proxy, or a folder of wheels. In a file of its own: needed before the engine."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path

from app.install.launch import write_whole


@dataclass(frozen=True)
class Options:
    """All '' by default: then uv's own index is asked, and the system's proxy used.

    mirror: address of a package index. torch: address of a page or a folder with torch's builds. proxy: address.
    wheels: a folder with all wheels; then nothing is downloaded.
    """

    mirror: str = ""
    torch: str = ""
    proxy: str = ""
    wheels: str = ""

    def environment(self) -> dict[str, str]:
        """The environment that uv is started with: the variables of this process, and what is set here."""
        made = {**os.environ, "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
        if self.mirror:
            made["UV_DEFAULT_INDEX"] = self.mirror
        if self.torch:
            made["UV_FIND_LINKS"] = self.torch
        if self.proxy:
            made |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.proxy)
        return made


def load(path: Path) -> Options:
    """What is kept at `path`; the defaults where that cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        known = {f.name: kept[f.name] for f in dataclasses.fields(Options) if isinstance(kept.get(f.name), str)}
    except (OSError, ValueError, AttributeError):
        return Options()
    return Options(**known)


def save(options: Options, path: Path) -> None:
    """Keep them. Raises OSError."""
    write_whole(path, dataclasses.asdict(options))
