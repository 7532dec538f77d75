"""Code of others on input of others, in a process that may take only so long and so much memory, and can be killed."""

from engine.sandbox.process import (
    SandboxedFunction,
    SandboxFailure,
    SandboxMemory,
    SandboxStopped,
    SandboxTimeout,
    out_of_memory,
    pids,
    stoppable,
)

__all__ = [
    "SandboxFailure",
    "SandboxMemory",
    "SandboxStopped",
    "SandboxTimeout",
    "SandboxedFunction",
    "out_of_memory",
    "pids",
    "stoppable",
]
