"""How much is taken of files, configs and hubs that others wrote: declared here once, and asked before any work begins.

Each is far above what any published model has, and low enough that a reader which is given as much ends within seconds
and takes less than a gigabyte.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

# ---- what a model may count; the largest that are published are named ------------------------------------------------

LAYERS = 1024  # Llama 3.1 405B has 126
EXPERTS = 1 << 16  # of a layer; Kimi K2 has 384
HEADS = 1 << 16  # of a layer; DeepSeek V3 has 128
VOCABULARY = 1 << 22  # Gemma has 262,144 tokens
ENTRIES_OF_NGRAMS = 1 << 28  # of a table of token sequences; Qwen4 has 20 million
WIDTH = 1 << 24  # rows or columns of a matrix
POSITIONS = 1 << 28  # Llama 4 Scout has 10,485,760
LABELS = 1 << 16  # of a classifier: configs name them, nothing here counts them
COUNT = 1 << 20  # of whatever else a config counts
WHOLE = 1 << 63  # any number of a config
NESTING, ENTRIES = 64, 1 << 20  # of a config: objects and lists within each other, and all values together
PARAMETERS = 1 << 44  # 17.6 trillion

# ---- what is read of a file ------------------------------------------------------------------------------------------

TENSORS = 1 << 20  # Kimi K2 has 140,000 as it is published, a packed one four times as many
DIMENSIONS = 16  # of a tensor; stacked experts have 3
HEADER_BYTES = 32 << 20  # of a safetensors file
GGUF_HEADER_BYTES = 64 << 20  # metadata and tensor table; a vocabulary of 256 k takes about 10 MB
GGUF_TENSORS = 1 << 17  # files from before 2024-04 hold each expert by itself
GGUF_KEYS = 1 << 14  # files have some 40
GGUF_VALUES = 1 << 22  # of all arrays together; tokens, merges, scores and types of 262,144 tokens are 1.3 million
CONFIG_BYTES = 4 << 20  # packed models list every module in theirs
INDEX_BYTES = 32 << 20  # model.safetensors.index.json
MANIFEST_BYTES = 32 << 20  # of a store; that of Kimi K2 takes 2 MB
ARRAYS_BYTES = 256 << 20  # of what was recorded and learnt of a model, unpacked
NOTE_BYTES = 8 << 20  # what Underhill keeps in JSON: settings, transfers, what was measured
COMPANION_BYTES = 256 << 20  # of a tokenizer or another file beside the weights
TEXT_BYTES = 64 << 20  # of a text to measure a model on
FILE_BYTES = 1 << 44  # of one file of a model: 17.6 TB

# ---- documents that chats search ------------------------------------------------------------------------------------

DOCUMENT_FILES, DOCUMENT_DEPTH = 20_000, 32  # of one folder, and how deep; links to folders are not followed
DOCUMENT_LOOKED_AT = 200_000  # names in a folder and those below, before no more are looked at
DOCUMENT_TEXT_BYTES = 64 << 20  # of one file; the Bible has four million
DOCUMENT_PDF_BYTES = 256 << 20  # of one file
DOCUMENT_PDF_SECONDS = 600.0  # for all pages of one file
DOCUMENT_PASSAGES = 200_000  # of one folder; their vectors take 150 MB
DOCUMENT_LEFT_OUT = 200  # files left out that are named

# ---- pictures in chats -----------------------------------------------------------------------------------------------

PICTURE_BYTES = 32 << 20  # of one file; photos have 3 to 15 MB
PICTURE_PIXELS = 64_000_000  # of one; decoded they take 3 or 4 bytes each, and as much again on their way
PICTURE_SECONDS = 30.0  # until one is decoded; a large photo takes a second
PICTURES_KEPT = 128  # decoded ones that are kept, for when they have to be looked at (again): 2 to 3 MB each

# ---- what a hub may answer -------------------------------------------------------------------------------------------

ANSWER_BYTES = 16 << 20  # of one answer to a question; files are bounded by what they are
ANSWERS = 64  # pages of one list
ANSWER_SECONDS = 300.0  # that a whole answer may take
SILENCE_SECONDS = 30.0  # without a byte; and before an answer has to come as fast as this:
LEAST_PACE = 2048  # bytes a second on average
WAIT_SECONDS = 86_400.0  # that a hub may ask to wait

# ---- what programs may ask of the local server -----------------------------------------------------------------------

BODY_BYTES = 48 << 20  # of one request, most of it images
BODY_SECONDS = 30.0  # until it has come
REQUEST_HEAD_BYTES, REQUEST_HEAD_SECONDS = 64 << 10, 10.0  # of its headers, and until they have come
CONNECTIONS = 128  # open at once
WAITING_REQUESTS = 32  # that wait for an answer or get one
ANSWER_SECONDS_AT_MOST = 7200.0  # that one request may take, waiting included; a long answer at 1 token/s takes an hour
ASKED_MESSAGES = 4096  # of one request
STOP_TEXTS = 16  # of one request
TEXT_CHARACTERS = 8 << 20  # of all its messages; a million tokens are about four million
EMBEDDED_TEXTS = 2048  # of one request; OpenAI's own limit
ASKED_IMAGES, ASKED_IMAGE_BYTES = 40, 20 << 20  # of one request, and bytes of each

# ---- what a request may ask of an answer -----------------------------------------------------------------------------

TOOLS = 256  # that may be called; agents offer some dozens
SCHEMA_NESTING, SCHEMA_ENTRIES = 32, 1 << 14  # of a JSON schema: objects and lists within each other; values together
SCHEMA_TEXT = 1 << 16  # characters of one text in a schema, such as a pattern

# ---- teams -----------------------------------------------------------------------------------------------------------

TEAM_BYTES = 1 << 18  # of a team's file; twelve steps with long texts take 100 kB
TEAMS = 200  # that are kept
TEAM_STEPS = 12
TEAM_CONDITIONS, TEAM_CHOICES, TEAM_HOLES = 8, 12, 8  # of a step; choices it may pick from, texts put into its own
TEAM_VALUES, TEAM_VALUE = 50, 200  # texts a condition looks for; characters of each, and of a model's name
TEAM_NAME, TEAM_ID_BYTES = 60, 180  # characters of a team's or step's name; bytes within a file's name
TEAM_TEXT = 8000  # characters of what a step tells a model

# ---- endpoints: servers that a person names, which answer as models do ----------------------------------------------

ENDPOINTS = 64  # that are kept
ENDPOINT_NAME, ENDPOINT_TEXT = 60, 2000  # characters of a name; of an address, a model's name or a path
ENDPOINT_BYTES = 32 << 20  # of one answer as it comes
ENDPOINT_LINE = 1 << 20  # bytes of one line of it
ENDPOINT_SILENCE = 600.0  # seconds without a byte: a long prompt on a busy server takes minutes
ENDPOINT_MODELS = 1000  # that one lists

# ---- tool servers ----------------------------------------------------------------------------------------------------

TOOL_SERVERS = 32  # that are kept
TOOL_WORDS = 200  # arguments and variables of one
TOOL_LINE = 4 << 20  # bytes of one message
TOOL_DESCRIPTION = 20_000  # characters of what a server says of one tool
TOOL_RESULT = 60_000  # characters of a result that the model reads; some 15,000 tokens
TOOL_STARTING, TOOL_CALLING = 30.0, 300.0  # seconds that a start, and a call, may take

_BY_NAME: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), most)
    for pattern, most in (
        (r"ngram_vocab", ENTRIES_OF_NGRAMS),
        (r"vocab", VOCABULARY),
        (r"position|context_length|seq_len", POSITIONS),
        (r"labels?$", LABELS),
        (r"(size|dim|rank|width|length)s?$", WIDTH),
        (r"heads?$", HEADS),
        (r"(layers?|depths?|blocks|block_count|pattern)$", LAYERS),
        (r"experts?($|_)|_top_?k$|^top_?k|^moe_k$", EXPERTS),
        (r"^(n|num)_|_count$", COUNT),
    )
)


# The first pattern that is found in a name decides: ngram_vocab stands before vocab for that reason.
def most_of(name: str) -> int:
    """The largest number that is taken for what a config or metadata calls so."""
    return next((most for pattern, most in _BY_NAME if pattern.search(name)), WHOLE)


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse a config that counts more of anything than there is of it in any model, or is endless itself.

    Raises UnderhillError(BROKEN_FILE). Before anything is built by it: a loop over so many layers would not end.
    """
    left = ENTRIES
    # A list and not recursion: its depth is the untrusted part. An object is counted before its values are unfolded, so
    # that a large one is refused without being walked.
    within: list[tuple[str, Any, int]] = [("", config, 0)]
    while within:
        name, value, depth = within.pop()
        left -= 1
        if isinstance(value, Mapping | list):
            if depth > NESTING or len(value) > left:
                raise _wrong(msg("it holds more than any model's does"))
            inner = value.items() if isinstance(value, Mapping) else ((name, one) for one in value)
            within += ((str(key), one, depth + 1) for key, one in inner)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            most = most_of(name)
            if abs(value) > most and (most < WHOLE or isinstance(value, int)):  # a bound may be infinite
                raise _wrong(
                    msg(
                        "{name} is {shown}, and no model has more than {most}",
                        name=name,
                        shown=shown(value),
                        most=f"{most:,}",
                    )
                )


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a JSON schema that is nested deeper, or larger, than any that an answer is held to.

    Raises UnderhillError(BAD_REQUEST). Before a parser sees it, which follows the nesting on its stack.
    """
    left = SCHEMA_ENTRIES
    within: list[tuple[Any, int]] = [(schema, 0)]
    while within:
        value, depth = within.pop()
        left -= 1
        inner = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
        texts = [value, *value] if isinstance(value, Mapping) else [value]
        if depth > SCHEMA_NESTING or len(inner) > left:
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("The schema holds more than can be followed, or is nested too deep.")
            )
        if any(isinstance(text, str) and len(text) > SCHEMA_TEXT for text in texts):
            raise UnderhillError(Kind.BAD_REQUEST, msg("A text in the schema is too long."))
        within += ((one, depth + 1) for one in inner)


def shown(value: Any) -> str:
    """A value for a sentence, which is not to be as long as whoever wrote the value likes."""
    return _BRIEF.repr(value)


def _wrong(what: str) -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE, msg("The model's config.json is wrong: {what}.", what=what), msg("Choose another model.")
    )


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 60
