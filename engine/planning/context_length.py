"""How many tokens of context a plan has, where room for them is taken from experts."""

from __future__ import annotations

from engine.translatable import Translatable, msg

STEP = 256  # tokens that a length which just leaves all experts in memory is a multiple of
SHORT = 8192  # tokens below which a chat is too short to be worth that
ENOUGH = 32768  # tokens where experts are read from disk in any case: every answer pays for room that lies empty


def tokens_of_context(
    wanted: int, least: int, room: int, beside: int, per_token: int, *, asked: bool, why: list[Translatable]
) -> int:
    """Tokens: `wanted` by the user (asked) or the most that the model takes, or fewer, which is said; at least `least`.

    room: bytes for context and experts beyond the fewest, while a prompt is computed. beside: of them, what all experts
    that are wanted leave between prompts; negative where they do not fit. per_token: bytes of a token.

    What was asked for may take experts' place, up to half of the room. What was not asked for leaves them theirs where
    that gives SHORT tokens; where it does not, it is ENOUGH.
    """
    per_token = max(1, per_token)
    half = room // 2 // per_token
    free = min(beside, room) // per_token
    if wanted <= free:
        return wanted
    if asked:
        found = max(least, min(wanted, max(half, free)))
        if found < wanted:
            why.append(
                msg(
                    "Context: {found} tokens instead of {wanted}, to leave memory for experts.",
                    found=f"{found:,}",
                    wanted=f"{wanted:,}",
                )
            )
        return found
    stays = beside >= SHORT * per_token
    found = max(least, min(wanted, free // STEP * STEP if stays else min(half, ENOUGH)))
    if found < wanted:
        reason = msg("to keep all experts in memory") if stays else msg("to leave memory for experts")
        why.append(
            msg(
                "Context: {found} of {wanted} tokens, {reason}. You can raise it in Settings.",
                found=f"{found:,}",
                wanted=f"{wanted:,}",
                reason=reason,
            )
        )
    return found
