"""What can be made to go wrong on the way, request by request."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Fault:
    """Applies to requests whose path contains `match`, `times` times (None: for ever).

    status, headers: refuse with these. cut: close after so many bytes of the body. stall: seconds of silence before
    the body; with `cut`, after those bytes. rate: bytes a second. corrupt: flip a bit of the body. extra: say so many
    bytes more in all than there are. whole: ignore ranges. page: answer with this, called page_type. etag: name this
    checksum.
    """

    match: str = ""
    times: int | None = None
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    stall: float = 0.0
    rate: float = 0.0
    corrupt: bool = False
    extra: int = 0
    whole: bool = False
    page: str = ""
    page_type: str = "text/html"
    etag: str = ""

    def take(self, path: str, sends_on: bool) -> bool:
        """Whether it applies to this request; counts. sends_on: the answer has no body, only another address."""
        of_body = self.cut is not None or self.rate or self.corrupt or self.extra or self.whole
        if self.match not in path or self.times == 0 or (sends_on and of_body):
            return False
        if self.times is not None:
            self.times -= 1
        return True
