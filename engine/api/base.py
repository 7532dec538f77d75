"""What every command and every event has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """id: unique, chosen by the sender."""

    id: str


@dataclass(frozen=True)
class Event:
    """id: that of the command it belongs to; empty for Telemetry, PlanChanged, ModelChanged and TransferChanged."""

    id: str
