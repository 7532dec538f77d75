"""What the driver of a graphics card refuses, as errors a person can act on."""

from __future__ import annotations

from engine.errors import Kind, UnderhillError
from engine.translatable import Translatable, msg

# CUresult, by the names in cuda.h without CUDA_ERROR_.
OUT_OF_MEMORY, NOT_READY = 2, 600
_OLD_DRIVER = (34, 35, 209, 222)  # STUB_LIBRARY, INSUFFICIENT_DRIVER, NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION
_NOT_LOADED = (803, 804)  # SYSTEM_DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED_ON_DEVICE
_COMPILER = (200, 218, 221, 223)  # INVALID_IMAGE, INVALID_PTX, JIT_COMPILER_NOT_FOUND, JIT_COMPILATION_DISABLED
_TAKEN = (46, 802)  # DEVICE_UNAVAILABLE, SYSTEM_NOT_READY
# DEINITIALIZED, NO_DEVICE, INVALID_DEVICE, INVALID_CONTEXT, CONTEXT_IS_DESTROYED, ECC_UNCORRECTABLE, NVLINK,
# ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, faults of the hardware, TIMEOUT, UNKNOWN: no context can be used after them.
_LOST = (4, 100, 101, 201, 709, 214, 220, 700, 702, *range(710, 720), 909, 999)

_PROCESSOR = msg("Update the driver, or set “Compute device” to CPU.")


class CardError(UnderhillError):
    """A graphics card or its driver said no. code: the CUresult; 0: the driver was not even reached."""

    def __init__(self, sentence: Translatable, action: Translatable, code: int = 0) -> None:
        super().__init__(Kind.OUT_OF_MEMORY if code == OUT_OF_MEMORY else Kind.CARD, sentence, action)
        self.code = code

    def __reduce__(self) -> tuple[type[CardError], tuple[Translatable, Translatable, int]]:  # type: ignore[override]
        return type(self), (self.sentence, self.action, self.code)


def no_driver() -> CardError:
    """There is no driver that computes."""
    return CardError(
        msg("No NVIDIA GPU driver found."),
        msg("Install NVIDIA's driver, or set “Compute device” to CPU."),
    )


def old_driver(function: str) -> CardError:
    """It lacks a function that even old drivers have."""
    return CardError(msg("The GPU driver is too old: it has no {function}.", function=function), _PROCESSOR)


def refused(function: str, code: int) -> CardError:
    """What a function of the driver returned, other than 0."""
    if code == OUT_OF_MEMORY:
        return CardError(
            msg("Not enough GPU memory."),
            msg("Close other apps that use the GPU, or set “Compute device” to CPU."),
            code,
        )
    if code in _OLD_DRIVER:
        sentence, action = msg("The GPU driver is too old."), _PROCESSOR
    elif code in _NOT_LOADED:
        sentence = msg("The GPU driver was updated but isn't in use yet.")
        action = msg("Restart the computer.")
    elif code in _COMPILER:
        sentence, action = msg("The GPU driver can't load the kernels for this card."), _PROCESSOR
    elif code in _TAKEN:
        sentence = msg("The GPU is in use by another app.")
        action = msg("Close that app, or set “Compute device” to CPU.")
    elif code in _LOST:
        sentence = msg("The GPU stopped working ({code}).", code=code)
        action = msg("Reload the model. If it happens again, update the driver or restart the computer.")
    else:
        sentence = msg("The GPU driver failed: {function} returned {code}.", function=function, code=code)
        action = _PROCESSOR
    return CardError(sentence, action, code)
