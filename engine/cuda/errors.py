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

_PROCESSOR = msg("Update the driver, or set the mode to cpu.")


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
        msg("No driver of an NVIDIA graphics card was found."),
        msg("Install NVIDIA's driver, or set the mode to cpu."),
    )


def old_driver(function: str) -> CardError:
    """It lacks a function that even old drivers have."""
    return CardError(
        msg("The driver of the graphics card is too old: it has no {function}.", function=function), _PROCESSOR
    )


def refused(function: str, code: int) -> CardError:
    """What a function of the driver returned, other than 0."""
    if code == OUT_OF_MEMORY:
        return CardError(
            msg("The graphics card has no memory left for this."),
            msg("Close other programs that use the card, or set the mode to cpu."),
            code,
        )
    if code in _OLD_DRIVER:
        sentence, action = msg("The driver of the graphics card is too old for Underhill's kernels."), _PROCESSOR
    elif code in _NOT_LOADED:
        sentence = msg("The driver of the graphics card was updated and is not in use yet.")
        action = msg("Restart the computer.")
    elif code in _COMPILER:
        sentence, action = msg("The driver could not make Underhill's kernels ready for this card."), _PROCESSOR
    elif code in _TAKEN:
        sentence = msg("The graphics card cannot be used now: another program has it for itself.")
        action = msg("Close that program, or set the mode to cpu.")
    elif code in _LOST:
        sentence = msg("The graphics card has stopped working for Underhill ({code}).", code=code)
        action = msg("Load the model again. If it happens again, update the driver or restart the computer.")
    else:
        sentence = msg(
            "The driver of the graphics card refused: {function} returned {code}.", function=function, code=code
        )
        action = _PROCESSOR
    return CardError(sentence, action, code)
