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
    "top_k": tr_noop(
        "Leave it at 0 unless the model's makers advise a number: Top P and Min P adapt to how sure the model is, "
        "a fixed number doesn't."
    ),
    "min_p": tr_noop("0.05 drops words that are less than 5% as likely as the likeliest. At 0 none are dropped."),
    "repetition_penalty": tr_noop(
        "Try 1.05 to 1.15 where a model repeats itself. Higher values harm code and lists, which repeat words"
        " by nature."
    ),
    "seed": tr_noop(
        "Answers are drawn at random. Automatic draws each one differently; with a number, the same question gets the "
        "same draws. Under Balanced and Fast the answer can still differ, since experts in memory run more precisely."
    ),
    "max_tokens": tr_noop(
        "A token is about three quarters of an English word, so 1,024 tokens are about 750 words. Thinking counts. "
        "An answer that reaches the limit can be continued."
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
        "checked together. Some models also predict the next words themselves, which needs memory when they are "
        "loaded. It pauses where guesses are wrong or checking takes too long, and works where all experts are in "
        "memory."
    ),
    "prefetch": tr_noop(
        "Reading ahead fills time in which the disk would do nothing. It pauses where it does not pay."
    ),
    "predictor": tr_noop(
        "Gates are the model's own: they are asked early what they would choose. Tables learn which experts follow "
        "which tokens, layers or paths. Auto combines gates and the token table and suits most models. While experts "
        "are prefetched, a line below says how well."
    ),
    "prefetch_depth": tr_noop(
        "3 keeps the disk busiest. Guesses get worse with each layer: choose 1 where many prefetched experts "
        "are wasted."
    ),
    "prefetch_width": tr_noop(
        "Automatic prefetches as many as a token uses in a layer. With more, fewer needed ones are missed and more are "
        "wasted."
    ),
    "remember_routing": tr_noop(
        "Beside the model, on this computer, it keeps how often experts were used and with which tokens, without their "
        "order. The model then opens with the experts that your chats use most, and prefetches better."
    ),
    "cache_fraction": tr_noop(
        "Experts in memory are used at once; others are read from disk first. Automatic keeps as many as the "
        "memory limit allows."
    ),
    "memory_gb": tr_noop(
        "Automatic takes what is free now, less 2 GB for other apps. A lower limit leaves them more and "
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
    "card": tr_noop(
        "Only for computers with more than one NVIDIA GPU. Their driver numbers them, mostly with the fastest first."
    ),
    "readers": tr_noop(
        "An SSD is faster when it is asked for several things at once, and 4 suits most. More threads take time from "
        "computing."
    ),
    "direct_io": tr_noop(
        "Copies in the file cache take memory that experts could have. Auto measures both ways and uses the file cache "
        "only where it is much faster."
    ),
    "threads": tr_noop(
        "Automatic uses one thread for each core, and leaves out slow cores where they don't help. Fewer threads make "
        "answers slower and leave more of the CPU to other apps."
    ),
    "dense": tr_noop(
        "Auto mostly uses 8-bit, which loses hardly anything. Small models keep float32, and 4-bit is used only where "
        "the model would not fit otherwise. Fewer bits leave more memory for experts."
    ),
    "kv_cache": tr_noop(
        "The KV cache is what the model keeps of the chat so far. 8-bit is almost as good as bf16 and leaves more "
        "memory for experts or a longer chat. Auto never uses it under Exact."
    ),
    "activations": tr_noop(
        "Activations are the numbers that pass from layer to layer. Auto rounds them, under Exact too: that costs far "
        "less than 4-bit experts do."
    ),
    "endpoint": tr_noop(
        "Leave it empty for Hugging Face. A mirror has the same models at another address, and gets a token of its own."
    ),
    "proxy": tr_noop("Leave it empty to use the system's proxy."),
    "offline": tr_noop(
        "Chats, the models on this computer and the local server keep working. Endpoints and tool servers on other "
        "computers are not asked."
    ),
    "import_battery": tr_noop(
        "An import keeps all cores busy for minutes. One that waits resumes once the computer is plugged in or charged "
        "above this level."
    ),
    "server_port": tr_noop("It is part of the server address, so change it in your apps, too."),
    "server_reach": tr_noop(
        "By default, no other computer can reach the server. On the local network it asks for a key, but others there "
        "could read what is sent."
    ),
    "server_start": tr_noop("If off, you turn the server on yourself, and it runs until you close the app."),
}
