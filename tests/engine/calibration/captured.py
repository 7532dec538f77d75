"""Routing of some texts, captured as the idle tasks capture it."""

from __future__ import annotations

from collections.abc import Iterable

from engine.calibration.routing_capture import BYTES, RoutingCapture
from engine.experts.predictors import TraceView
from engine.session.loaded_model import LoadedModel


def capture_routing(model: LoadedModel, texts: Iterable[list[int]], tokens: int, most: int = BYTES) -> TraceView:
    """At least `tokens` of the texts, or all there are. Raises what reading an expert raises."""
    seen = RoutingCapture(model, most)
    with model.exactly():
        for ids in texts:
            if seen.tokens >= min(tokens, seen.max_tokens):
                break
            with seen.watching(ids):
                model.context.run_through(ids)
    found = seen.view()
    if found is None:
        raise ValueError("there is no text to capture")
    return found
