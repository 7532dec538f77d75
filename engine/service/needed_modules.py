"""What the workers of the service import before the first command that is none of LIGHT, one thread at a time."""

from __future__ import annotations

from engine import protocol

NEEDS = (
    "engine.library.external_models", "engine.library.listing", "engine.library.relocation",
    "engine.hub.client", "engine.hub.control", "engine.hub.download", "engine.hub.errors",
    "engine.hub.tokens", "engine.models.decoder", "engine.service.model_memory", "engine.service.model_records",
    "engine.service.memory_split", "engine.service.pool", "engine.session",
    "engine.calibration.idle_tasks",
    "engine.calibration.lowering_search", "engine.library.computer", "engine.hub.listings",
    "engine.library.fit_estimates", "engine.library.preflight", "engine.hub.pull", "engine.store.verify",
)  # fmt: skip
LIGHT = (protocol.Watch, protocol.Shutdown)  # commands that need none of those
