"""How the server does, in the text format of Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

from engine.server.bridge import EngineBridge

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
MEDIA_TYPE = _TEXT


def metrics(bridge: EngineBridge, refused: int, connections: int) -> str:
    """refused: requests that the guard has turned away. connections: open now."""
    seen, open_now = bridge.counters, bridge.requests
    waiting = sum(one.state == "waiting" for one in open_now)
    lines: list[str] = []

    def told(name: str, kind: str, help_text: str, *values: tuple[str, float]) -> None:
        lines.append(f"# HELP underhill_{name} {help_text}")
        lines.append(f"# TYPE underhill_{name} {kind}")
        lines.extend(f"underhill_{name}{labels} {value:g}" for labels, value in values)

    told(
        "requests_total", "counter", "Requests for an answer, by how they ended.",
        ('{outcome="answered"}', seen.answered), ('{outcome="failed"}', seen.failed),
        ('{outcome="cancelled"}', seen.cancelled), ('{outcome="overload"}', seen.refused),
        ('{outcome="forbidden"}', refused),
    )  # fmt: skip
    told("requests_waiting", "gauge", "Requests that wait for their turn.", ("", waiting))
    told("requests_running", "gauge", "Requests that are being answered.", ("", len(open_now) - waiting))
    told("connections", "gauge", "Connections that are open.", ("", connections))
    told(
        "tokens_total", "counter", "Tokens of prompts, those of them that were not read again, and of answers.",
        ('{kind="prompt"}', seen.prompt_tokens), ('{kind="reused"}', seen.reused_tokens),
        ('{kind="answer"}', seen.answer_tokens),
    )  # fmt: skip
    told("answer_seconds_total", "counter", "Seconds from request to end of all answers.", ("", seen.seconds))
    return "\n".join(lines) + "\n"
