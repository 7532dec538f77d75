"""What the page of figures asks, with which commands, and what of their JSON its tables show: the one list of both."""

from __future__ import annotations

from dataclasses import dataclass

PROGRAM = "python -m tests.benchmarks."
QWEN3, QWEN3_LARGE = "qwen3/store-8", "qwen3-24x128/store-4"  # below the folder of prepared models
PAIR, PAIR_LARGE = (QWEN3, "qwen3/qwen3-Q4_0.gguf"), (QWEN3_LARGE, "qwen3-24x128/qwen3-24x128-Q4_0.gguf")


@dataclass(frozen=True)
class Column:
    """heading: with its unit. path: of the value in a row, parts separated by dots. scale: what it is multiplied by.
    optional: some rows have none."""

    heading: str
    path: str
    scale: float = 1.0
    optional: bool = False


@dataclass(frozen=True)
class Run:
    """One command and what is kept of it.

    arguments: behind PROGRAM. needs: prepared models that it would else make. timed: its figures are of time, so that
    it waits for other programs' rest; those of bytes and bits are the same on a busy machine.
    """

    name: str
    arguments: str
    label: str = ""
    needs: tuple[str, ...] = ()
    timed: bool = True

    @property
    def command(self) -> str:
        """As one types it."""
        return PROGRAM + self.arguments


@dataclass(frozen=True)
class Plot:
    """One line for each of `lines`, columns of the table, over column `x`. wanted: most that each exponent may be."""

    x: Column
    lines: tuple[Column, ...]
    wanted: tuple[float, ...]
    y: str  # title of the axis


@dataclass(frozen=True)
class Question:
    """One section.

    rows: path of a list or an object of rows; "a|b": these values of the answer; "": the whole answer is one row.
    labels: paths in a row of a list that name it; a row of an object is named by its key. first: heading of the names.
    """

    title: str
    about: str
    runs: tuple[Run, ...]
    columns: tuple[Column, ...]
    rows: str = ""
    labels: tuple[str, ...] = ()
    first: str = ""
    plot: Plot | None = None


_BESIDE = (
    Column("ours, tokens/s", "ours"), Column("llama.cpp, tokens/s", "peer"), Column("ratio", "ratio"),
    Column("roof, GB/s", "roof"),
)  # fmt: skip
_DECODED = (*_BESIDE, Column("ours of the roof", "of_roof"), Column("llama.cpp of the roof", "peer_of_roof"))
_UNDER_LIMIT = (
    Column("hits, %", "hit_rate", 100), Column("ours, tokens/s", "ours"),
    Column("llama.cpp, 128 KiB, tokens/s", "peer"), Column("ratio", "ratio"),
    Column("ours then, tokens/s", "ours_default"), Column("llama.cpp, own read-ahead, tokens/s", "peer_default"),
    Column("ratio", "ratio_default"),
    Column("of the floor", "of_floor"), Column("of `together`", "of_together"),
    Column("disk, GB/s", "roof.disk"),
)  # fmt: skip
_PER_PASS = (
    Column("ours, ms a pass", "ours"), Column("llama.cpp, ms a pass", "peer"), Column("ratio", "ratio"),
    Column("times the floor", "of_floor"),
)  # fmt: skip
_MIXED = (
    Column("ours, µs", "ours"), Column("torch, µs", "peer"), Column("ratio", "ratio"),
    Column("reading the bytes, µs", "roof"), Column("of the roof", "of_roof"), Column("GB/s", "gb_s"),
)  # fmt: skip
_DISK = "ablation --dials exact,balanced --shape qwen3 --limit 0.5 --stream text --set dense=auto"
_POLICIES = ("hobbit", "lru", "lru_layer", "lfu", "edgemoe", "activation")


def _growth(
    axis: str, title: str, about: str, *, x: Column, lines: tuple[Column, ...], wanted: tuple[float, ...],
    beside: tuple[Column, ...] = (),
) -> Question:  # fmt: skip
    run = Run(f"growth-{axis}", f"growth --axis {axis} --json")
    plot = Plot(x, lines, wanted, "milliseconds")
    return Question(title, about, (run,), (*lines, *beside), "rows", (x.path,), x.heading, plot)


_TOKEN, _PROMPT = Column("a token, ms", "token_ms"), Column("a prompt, ms", "prompt_ms")

GROWTH = (
    _growth(
        "context", "How does time grow with the context?",
        "A small random model, all in memory. Decoding reads every earlier token once: at most linear. A prompt of n "
        "tokens weighs n² pairs: at most quadratic.",
        x=Column("tokens of context", "context"), lines=(_TOKEN, _PROMPT), wanted=(1.0, 2.0),
    ),
    _growth(
        "experts", "How does time grow with the number of experts?",
        "The same with 8 to 512 experts a layer, of which a token takes four: only the router grows.",
        x=Column("experts a layer", "experts"), lines=(_TOKEN, _PROMPT), wanted=(1.0, 1.0),
    ),
    _growth(
        "layers", "How does time grow with the number of layers?", "The same with 2 to 64 layers.",
        x=Column("layers", "layers"), lines=(_TOKEN, _PROMPT), wanted=(1.0, 1.0),
    ),
    _growth(
        "batch", "How does time grow with the tokens of a pass?",
        "The same with 1 to 16 tokens in one pass, as answers at once and checked drafts have them.",
        x=Column("tokens in a pass", "rows"), lines=(Column("a pass, ms", "pass_ms"),), wanted=(1.0,),
    ),
    _growth(
        "size", "How does opening grow with the size of a model?",
        "Stores of 1 to 100 GB whose files have holes where experts would be: reading the manifest and planning are "
        "measured, not the reading of experts.",
        x=Column("GB", "gb"),
        lines=(Column("opening the store, ms", "open_ms"), Column("planning, ms", "plan_ms")),
        wanted=(1.0, 1.0),
    ),
    _growth(
        "memory", "How does time grow as memory shrinks?",
        "A small random model with all of its experts in memory, then less and less, down to a tenth; the rest is read "
        "from disk. x: how many times what memory holds all experts are. The steepest step is the first, from reading "
        "nothing to reading anything, which no exponent over all shows.",
        x=Column("times the memory", "times"),
        lines=(_TOKEN,), wanted=(1.0,), beside=(Column("hits, %", "hit_rate", 100),),
    ),
)  # fmt: skip

QUESTIONS = (
    Question(
        "How fast is a model in memory beside llama.cpp?",
        "Qwen3-30B-A3B's widths cut to 12 layers, experts of 4 bits, one token at a time; the other weights as the app "
        "chooses by itself, and of 4 bits.",
        (
            Run("decode-auto", "decode --shape qwen3 --tier 4 --dense auto --json", "the app's own choice", PAIR),
            Run("decode-int4", "decode --shape qwen3 --tier 4 --dense int4 --json", "other weights of 4 bits", PAIR),
        ),
        _DECODED,
    ),
    Question(
        "How long does the second core wait?",
        "The same model without the peer: the share of a token's time in which threads but the model's own had nothing "
        "to compute.",
        (Run("idle", "decode --shape qwen3 --tier 4 --dense auto --alone --json", "", (QWEN3,)),),
        (
            Column("tokens/s", "ours"), Column("roof, GB/s", "roof"), Column("of the roof", "of_roof"),
            Column("waits, %", "idle", 100),
        ),
    ),
    Question(
        "How fast are several tokens in one pass?",
        "The same model, beside the peer; the floor reads the other weights once, and once each expert that is chosen.",
        (Run("decode-rows", "decode --shape qwen3 --tier 4 --dense auto --rows 1,2,4,8,16 --json", "", PAIR),),
        _PER_PASS, "rows", (), "tokens in a pass",
    ),
    Question(
        "How fast is a prompt beside llama.cpp?",
        "The same model, each prompt the start of a new sequence.",
        (
            Run("prompt-512", "decode --shape qwen3 --tier 4 --dense auto --prompt 512 --json", "512 tokens", PAIR),
            Run("prompt-4096", "decode --shape qwen3 --tier 4 --dense auto --prompt 4096 --json", "4,096 tokens", PAIR),
        ),
        _BESIDE,
    ),
    Question(
        "How fast is a model bigger than memory beside llama.cpp?",
        "Qwen3-30B-A3B's widths cut to 24 layers, 8.5 GB at 4 bits, under a limit of so much of it, uniform tokens. "
        "How: [benchmarks-offloading.md](benchmarks-offloading.md#how-they-are-measured).",
        (
            Run("offload-50", "offload --shape qwen3 --limit 0.5 --set dense=auto --json", "50 %", PAIR_LARGE),
            Run("offload-25", "offload --shape qwen3 --limit 0.25 --set dense=auto --json", "25 %", PAIR_LARGE),
        ),
        _UNDER_LIMIT, first="memory",
    ),
    Question(
        "What does each part bring?",
        "The same model under half of its bytes; each row has all that is above it.",
        (Run("ablation", "ablation --shape qwen3 --limit 0.5 --set dense=auto --json", "", (QWEN3_LARGE,)),),
        (
            Column("tokens/s", "ours"), Column("the first row beside it", "peer", optional=True),
            Column("ratio", "ratio", optional=True), Column("hits, %", "hit_rate", 100, optional=True),
            Column("the first 16 tokens, tokens/s", "first"),
        ),
        "rows", ("name",), "each row adds",
    ),
    Question(
        "What do the presets bring?",
        "The same, the presets interleaved.",
        (
            Run("presets", "ablation --dials exact,balanced,fast --shape qwen3 --limit 0.5 --set dense=auto --json", "",
                (QWEN3_LARGE,)),
        ),
        (
            Column("tokens/s", "ours"), Column("times Exact", "times_exact"), Column("hits, %", "hit_rate", 100),
            Column("coarse or skipped, %", "coarse", 100), Column("MB missed a token", "missed_bytes", 1e-6),
            Column("of the floor", "of_floor"),
        ),
        "exact|balanced|fast", (), "preset",
    ),
    Question(
        "What does another disk change?",
        "The same, tokens drawn as words are in a text, on a RAM disk and on a disk held to 0.5 GB/s. What a RAM disk "
        "brings the processor copies, which a real one does not ask of it.",
        (
            Run("disk-ram", f"{_DISK} --disk ram --json", "RAM disk", (QWEN3_LARGE,)),
            Run("disk-own", f"{_DISK} --json", "its own", (QWEN3_LARGE,)),
            Run("disk-sata", f"{_DISK} --disk sata --json", "0.5 GB/s", (QWEN3_LARGE,)),
        ),
        (
            Column("tokens/s", "ours"), Column("times Exact", "times_exact"), Column("hits, %", "hit_rate", 100),
            Column("MB missed a token", "missed_bytes", 1e-6), Column("the disk is busy, %", "disk_busy", 100),
            Column("gives meanwhile, GB/s", "disk_given"), Column("of the floor", "of_floor"),
            Column("of `together`", "of_together"),
        ),
        "exact|balanced", (), "disk, preset",
    ),
    Question(
        "What does each preset cost?",
        "KL divergence of the built-in model from all experts at 4 bits, and how many times fewer bytes are read than "
        "under Exact (replayed, uniform routing, 40 % in memory).",
        (Run("dials", "dials --bits 4 --json", timed=False),),
        (
            Column("KL, every expert missing", "costs.4.0.kl"), Column("half in memory", "costs.4.1.kl"),
            Column("a quarter", "costs.4.2.kl"), Column("times fewer bytes", "reads.uniform.0"),
        ),
        "rows", ("name",), "preset",
    ),
    Question(
        "What does precision cost?",
        "The built-in model beside plain transformers in float32 on held-out chats.",
        (Run("precision", "precision --tokens 2000 --only experts --json", timed=False),),
        (Column("KL", "kl"), Column("perplexity", "perplexity"), Column("rise, %", "rise", 100)),
        "rows", ("what",), "",
    ),
    Question(
        "What do drafts bring?",
        "Prompt lookup, the answer given, all in memory.",
        (Run("drafts", "drafts --shape qwen3 --tier 4 --json", "", (QWEN3,)),),
        (
            Column("without, tokens/s", "without"), Column("with, tokens/s", "with_drafts"), Column("ratio", "ratio"),
            Column("wanted", "bar"), Column("right, %", "accepted", 100),
        ),
        "copy|edit|other", (), "the answer",
    ),
    Question(
        "What does multi-token prediction bring?",
        "Qwen3.5-35B-A3B's widths cut to 16 layers, three of four recurrent, all in memory. The answer is given, and "
        "by lot so many of the model's guesses are replaced with it; in the last row drafts come from the prompt.",
        (Run("mtp", "mtp --json", "", ("qwen35/store-4",)),),
        (
            Column("without, tokens/s", "without"), Column("with, tokens/s", "with_drafts"), Column("ratio", "ratio"),
            Column("wanted", "bar"),
        ),
        "rows", (), "guesses",
    ),
    Question(
        "How fast are several answers at once?",
        "Four prompts of 24 tokens, answered with 48 each.",
        (
            Run("answers-all", "answers_at_once --shape qwen3 --share 1 --peer --json", "all in memory", PAIR),
            Run("answers-half", "answers_at_once --shape qwen3 --share 0.5 --json", "half of the experts", (QWEN3,)),
        ),
        (
            Column("one after another, tokens/s", "one_after_another"), Column("at once, tokens/s", "at_once"),
            Column("ratio", "ratio"), Column("wanted", "bar"),
            Column("llama.cpp at once, tokens/s", "peer", optional=True),
            Column("ours by it", "peer_ratio", optional=True),
        ),
    ),
    Question(
        "How near are kernels to the memory's roof?",
        "Packed weights that one call computes for one token.",
        (Run("kernel", "kernel --json"),),
        (
            Column("GB/s", "gb_s"), Column("roof, GB/s", "roof_gb_s"), Column("of the roof", "of_roof"),
            Column("µs a call", "call_us"),
        ),
        "rows", (), "matrices, bits",
    ),
    Question(
        "How fast are token mixers?",
        "One token, one layer, medians, beside torch on the same tensors.",
        (
            Run("mixers-attention", "mixers --mixer attention --json", "attention"),
            Run("mixers-mla", "mixers --mixer mla --json", "latent attention"),
            Run("mixers-deltanet", "mixers --mixer deltanet --json", "Gated DeltaNet"),
        ),
        _MIXED, "rows", (), "heads, key heads, width; context",
    ),
    Question(
        "What does a layer cost beside its products?",
        "A Qwen3-MoE of 48 layers and tiny widths, µs a layer and token, one thread.",
        (Run("layer", "layer --json"), Run("layer-compat", "layer --compat --json")),
        (Column("median", "median"), Column("p10", "p10"), Column("p90", "p90")),
        "us per layer per token", (), "",
    ),
    Question(
        "What does each cache policy read?",
        "Replayed under Exact: by how many percent its misses are above the fewest possible (Belady).",
        (Run("policies", "policies --tokens 2048 --dials exact --json", timed=False),),
        tuple(Column(name, f"policies.{name}.gap", 100) for name in _POLICIES),
        "rows", ("trace", "cache"), "trace, share cached",
    ),
    Question(
        "How well are experts predicted?",
        "Share of the experts a layer chose that were among the 4 (k) or 8 (2k) expected most; the built-in model.",
        (Run("predictors", "predictors --json", timed=False),),
        (
            Column("next layer, k, %", "recall_k.1", 100), Column("2k, %", "recall_2k.1", 100),
            Column("2 ahead, %", "recall_k.2", 100), Column("3 ahead, %", "recall_k.3", 100),
            Column("wasted, %", "wasted", 100, optional=True),
        ),
        "predictors", (), "predictor",
    ),
    Question(
        "How soon is the window there?",
        "Seconds from the start of the process, medians.",
        (Run("startup", "startup --json"),),
        (
            Column("usable, cold-ish", "cold-ish usable.0"), Column("usable, warm", "warm usable.0"),
            Column("the model open, cold-ish", "cold-ish model open.0"), Column("warm", "warm model open.0"),
            Column("wanted", "bar"),
        ),
    ),
    Question(
        "What does the window cost the engine?",
        "Decoding with all panels open beside the same engine without, in turns.",
        (Run("window", "window --json"),),
        (
            Column("slowdown, %", "slowdown", 100), Column("its resolution, %", "resolution", 100),
            Column("rise of processor time, %", "rise", 100), Column("the window's part of all cores, %",
            "window_share_of_cores", 100), Column("tokens/s without", "alone_tokens_per_second"),
        ),
    ),
    Question(
        "How well are several models served?",
        "Twelve models in chains, in memory that holds a quarter of them (CoServe).",
        (Run("coserve", "coserve --json"),),
        (
            Column("answers/s", "throughput"), Column("openings of a model", "switches"),
            Column("deciding, % of the time", "scheduling", 100),
        ),
        "ways", (), "way",
    ),
    *GROWTH,
)  # fmt: skip
RUNS = {run.name: (question, run) for question in QUESTIONS for run in question.runs}
