"""What *Learn more* says about a setting, in a few sentences below its help."""

from __future__ import annotations

from collections.abc import Mapping

from app.i18n.translate import tr_noop

_SCORES = tr_noop(
    "Each expert that a token chooses has a score: 0 is most important, 1 least. Experts that are in memory "
    "run at the best precision held there; the thresholds decide for those that have to be read from disk."
)
LEARN_MORE: Mapping[str, str] = {
    "temperature": tr_noop(
        "At 0 the same question gets the same answer. Around 0.7 suits most chats; above 1.5 most models lose"
        " the thread."
    ),
    "top_p": tr_noop("Lower values avoid unlikely words. At 1 every word can be chosen."),
    "min_p": tr_noop("0.05 drops words that are less than 5% as likely as the likeliest. At 0 none are dropped."),
    "repetition_penalty": tr_noop(
        "Try 1.05 to 1.15 where a model repeats itself. Higher values harm code and lists, which repeat words"
        " by nature."
    ),
    "dial": tr_noop(
        "Experts that matter little for a token can run at lower precision or be skipped, which saves disk "
        "reads. KL is how far answers move from Exact: 0 is no difference, below 0.01 hardly noticeable. "
        "Where all experts fit in memory, each quality runs at full precision."
    ),
    "t1": _SCORES,
    "t2": _SCORES,
    "tier": tr_noop("Fewer bits need less memory and less reading, but every answer loses some quality."),
    "low": tr_noop("Used by Balanced, Fast and HOBBIT for experts that score between T1 and T2."),
    "cache_aware_routing": tr_noop(
        "Saves disk reads where a model has many similar experts. The most important expert of each token is never "
        "replaced, and one that is replaced again and again is read after all. Measure quality now finds what it costs."
    ),
    "policy": tr_noop(
        "HOBBIT weighs recency, frequency, precision and distance. LRU and LFU drop what was used longest ago"
        " or least. The other two follow the papers they are named after. Recordings compares all of them on "
        "your own chats."
    ),
    "policy_weights": tr_noop("Fitted weights are found on this model while it is idle, and suit it best."),
    "speculation": tr_noop(
        "Quotes, lists and code that is changed a little come faster: words that followed the same words before are "
        "checked together. It pauses where guesses are wrong or checking takes too long, and works where all experts "
        "are in memory."
    ),
    "prefetch": tr_noop(
        "Reading ahead fills time in which the disk would do nothing. It pauses where it does not pay."
    ),
    "prefetch_depth": tr_noop(
        "3 keeps the disk busiest. Guesses get worse with each layer: choose 1 where many prefetched experts "
        "are wasted."
    ),
    "cache_fraction": tr_noop(
        "Experts in memory are used at once; others are read from disk first. Automatic keeps as many as the "
        "memory limit allows."
    ),
    "memory_gb": tr_noop(
        "Automatic takes what is free now, less 2 GB for other programs. A lower limit leaves them more and "
        "makes answers slower where fewer experts fit. It holds for the whole app."
    ),
    "context_length": tr_noop(
        "The model sees the system prompt, the chat, attachments and its answer, together up to this many "
        "tokens. In longer chats the oldest messages are left out. Automatic keeps memory for experts."
    ),
    "mode": tr_noop(
        "With CPU + GPU both compute experts of the same layer. Auto takes it where it is expected to be "
        "faster, and keeps to the CPU where it was not."
    ),
}
