"""Pictures of requests: files in base64, in a data URL or bare. Nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from engine import limits
from engine.server.http import RequestRefused

# What OpenAPI says of content that may have pictures.
CONTENT = (
    "A text, or parts of it. A part of a user's message may be a PNG, JPEG or WebP image, as a data: URL or base64."
)
IMAGES = "PNG, JPEG or WebP files in base64."
_TEXTS = ("text", "input_text", "output_text", "refusal")


def content_of(content: str | Sequence[dict[str, Any]] | None, param: str) -> tuple[str, tuple[bytes, ...]]:
    """Text and pictures of a user's message, in OpenAI's or Anthropic's words. Raises RequestRefused."""
    if content is None or isinstance(content, str):
        return content or "", ()
    texts: list[str] = []
    images: list[bytes] = []
    for part in content:
        match part:
            case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
                images.append(from_url(url, param))
            case {"type": "input_image", "image_url": str(url)}:
                images.append(from_url(url, param))
            case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
                images.append(from_base64(data, param))
            case {"type": "image_url" | "input_image" | "image"}:
                raise RequestRefused(400, "An image is sent in the request itself, in base64. None is fetched.", param)
            case _:
                texts.append(_text(part, param, "Only text and images can be sent."))
    return "".join(texts), tuple(images)


def text_of(content: str | Sequence[dict[str, Any]] | None, param: str = "messages") -> str:
    """The text of a message that has no pictures. Raises RequestRefused for them, for sounds and files."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(_text(part, param, "Only messages of the user can have images.") for part in content)


def _text(part: dict[str, Any], param: str, refusal: str) -> str:
    text = part.get("text", part.get("refusal"))
    if part.get("type") not in _TEXTS or not isinstance(text, str):
        raise RequestRefused(400, refusal, param)
    return text


def from_url(url: str, param: str) -> bytes:
    """The picture of a data URL. Raises RequestRefused, also for any other: this server fetches nothing."""
    head, comma, data = url.partition(",")
    if not head[:5].lower() == "data:" or not comma:
        raise RequestRefused(400, "An image is sent as a data: URL. This server fetches none from an address.", param)
    if not head.lower().endswith(";base64"):
        raise RequestRefused(400, "The data: URL of an image is in base64.", param)
    return from_base64(data, param)


def from_base64(data: str, param: str) -> bytes:
    """The bytes of a PNG, JPEG or WebP file. Raises RequestRefused."""
    if len(data) > limits.ASKED_IMAGE_BYTES * 4 // 3 + 4:
        raise RequestRefused(400, f"An image is longer than {limits.ASKED_IMAGE_BYTES:,} bytes.", param)
    try:
        found = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RequestRefused(400, "An image is not in base64.", param) from None
    webp = found[:4] == b"RIFF" and found[8:12] == b"WEBP"
    if not webp and not found.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        raise RequestRefused(400, "Images are PNG, JPEG or WebP.", param)
    return found
