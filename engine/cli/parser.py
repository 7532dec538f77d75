"""Commands and options of `underhill-cli`."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence

from engine import settings
from engine.generation.formats.declaration import LEVELS

VERBOSE = "tell on standard error what is done; no words of chats are among it"


def version() -> str:
    """Its number."""
    from importlib import metadata  # takes as long as a whole command line

    try:
        return metadata.version("underhill")
    except metadata.PackageNotFoundError:  # run straight from a checkout
        return "(not installed)"


def parser() -> argparse.ArgumentParser:
    """The whole command line; a command's module is only imported once it runs."""
    top = argparse.ArgumentParser(
        prog="underhill-cli", description="Run Mixture-of-Experts chat models bigger than this computer's memory."
    )
    top.add_argument("--version", action=_Version, help="show the version and exit")
    top.add_argument("--verbose", action="store_true", help=VERBOSE)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _chat(commands.add_parser("chat", help="chat in the terminal, or answer one prompt"))
    _teams(commands.add_parser("teams", help="teams of models that answer together: list, import, export, delete"))
    _serve(commands.add_parser("serve", help="answer other programs on this computer, by HTTP"))
    _search(commands.add_parser("search", help="find models on a hub"))
    _pull(commands.add_parser("pull", help="download a model from a hub, and import it"))
    _token(commands.add_parser("token", help="save an access token for a hub"))
    _import(commands.add_parser("import", help="import a checkpoint, a GGUF file, or models from another computer"))
    _list(commands.add_parser("list", help="the models in the library"))
    _rm(commands.add_parser("rm", help="delete a model of the library, or what an interrupted import left of it"))
    _restore(commands.add_parser("restore", help="restore a deleted model"))
    _trash(commands.add_parser("trash", help="list deleted models"))
    _mv(commands.add_parser("mv", help="move a model to another folder or disk"))
    _rename(commands.add_parser("rename", help="show a model under another name"))
    _folders(commands.add_parser("folders", help="list and change the model folders"))
    found = commands.add_parser("found", help="find models of other apps on this computer")
    _command(found, "library.run_found", model=False)
    _info(commands.add_parser("info", help="show a model, or this computer"))
    _eval(commands.add_parser("eval", help="KL divergence against Exact on a text, and perplexity"))
    _verify(commands.add_parser("verify", help="verify a model's files"))
    _probe(commands.add_parser("probe", help="measure this computer: memory, disk, kernels, graphics cards"))
    _plan(commands.add_parser("plan", help="memory, precision and expected speed of a model here"))
    _calibrate(commands.add_parser("calibrate", help="find a model's thresholds T1 and T2, and what its dials cost"))
    _lower(commands.add_parser("lower", help="make a model smaller: robust experts keep 2 or 4 bits"))
    _trace(commands.add_parser("trace", help="replay recorded routing through cache policies"))
    return top


class _Version(argparse.Action):
    """Looked up when somebody asks: that takes as long as a whole command line."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:

        print(f"Underhill {version()}")
        parser.exit()


def _command(
    p: argparse.ArgumentParser,
    function: str | Callable[[argparse.Namespace], str],
    *,
    model: bool = True,
    as_json: bool = True,
) -> None:
    """function: which one to call, as module.name of this package, or who chooses it."""
    if model:
        p.add_argument("model", metavar="MODEL", help="a path, a name from the library, or builtin")
    p.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help=VERBOSE)
    if as_json:
        p.add_argument("--json", action="store_true", help="print one JSON object and nothing else on standard output")

    def run(args: argparse.Namespace) -> int:
        from engine.hardware import control_groups

        control_groups.require_least_memory()
        module, _, name = (function if isinstance(function, str) else function(args)).partition(".")
        return int(getattr(importlib.import_module(f"engine.cli.{module}"), name)(args) or 0)

    p.set_defaults(run=run)


def _settings(p: argparse.ArgumentParser, among: tuple[settings.Setting, ...]) -> None:
    """Options from the declaration, so that the terminal and the window offer the same."""
    for s in among:
        shown = "" if s.default in (None, "") else f" (default: {_plainly(s.default)})"
        choices = f" One of: {', '.join(s.choices)}." if s.choices else ""
        p.add_argument(
            "--" + s.name.replace("_", "-"),
            default=None,
            metavar="on|off" if s.kind == "bool" else s.kind.upper(),
            help=(s.help + choices + shown).replace("%", "%%"),
        )


def _plainly(value: settings.Value) -> str:
    """As it would be typed."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def given(args: argparse.Namespace, among: tuple[settings.Setting, ...]) -> dict[str, settings.Value]:
    """The settings named on the command line, checked, the others at their defaults."""
    named = {s.name: getattr(args, s.name) for s in among if getattr(args, s.name) is not None}
    return settings.validated(named, among)


def _who_chats(args: argparse.Namespace) -> str:
    """A team needs the service, which a model alone need not wait for: 0.2 s to import."""
    from engine.teams.definition import PREFIX

    return "team.run_chat" if args.model.startswith(PREFIX) else "chat.run_chat"


def _chat(p: argparse.ArgumentParser) -> None:
    _command(p, _who_chats, model=False)
    p.add_argument(
        "model", metavar="MODEL", nargs="?", default="builtin", help="a path, a name, team:NAME, or builtin (default)"
    )
    p.add_argument("--team-model", metavar="MODEL", help="asked by a team's steps that name none (default: builtin)")
    p.add_argument("--prompt", metavar="TEXT", help="answer this one prompt and leave ('-' reads standard input)")
    p.add_argument("--system", metavar="TEXT", help="system prompt")
    p.add_argument(
        "--documents",
        metavar="PATH",
        action="append",
        default=[],
        help="search this file or folder at each question, and show what was found; may be repeated",
    )
    p.add_argument(
        "--image",
        dest="images",
        metavar="FILE",
        action="append",
        default=[],
        help="a PNG, JPEG or WebP that goes with the first question, for models that read images; may be repeated",
    )
    p.add_argument("--greedy", action="store_true", help="always the likeliest token (temperature 0)")
    p.add_argument("--trace", metavar="FILE", help="record which experts were used, for `underhill-cli trace`")
    p.add_argument("--timeline", metavar="FILE", help="record what was read and computed when, for ui.perfetto.dev")
    p.add_argument("--stop", metavar="TEXT", action="append", default=[], help="stop at this text; may be repeated")
    p.add_argument(
        "--thinking",
        metavar="LEVEL",
        choices=LEVELS,
        help=f"how much to think before answering, one of {', '.join(LEVELS)}; the nearest that the model has is taken",
    )
    _settings(p, settings.SAMPLING)
    _settings(p, settings.ENGINE)


def _teams(p: argparse.ArgumentParser) -> None:
    _command(p, "team.run_teams", model=False)
    p.description = "Lists the teams, which `underhill-cli chat team:NAME` and programs can ask like a model."
    p.add_argument("--import", dest="imported", metavar="FILE", help="add the team of a file")
    p.add_argument("--export", nargs=2, metavar=("NAME", "FILE"), help="write a team to a file, to share it")
    p.add_argument("--delete", metavar="NAME", help="delete a team; one that comes with Underhill is restored")


def _serve(p: argparse.ArgumentParser) -> None:
    _command(p, "serve.run_serve", model=False, as_json=False)
    p.description = (
        "Answers requests in the words of OpenAI's API, with the models of the library, until Ctrl+C. Only programs on "
        "this computer can ask, unless another address is given, which needs a key."
    )
    p.add_argument(
        "model", metavar="MODEL", nargs="?", default="", help="open this one at once (default: when asked for)"
    )
    p.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    p.add_argument("--port", type=_port, default=settings.SERVER_PORT.default, metavar="N",
                   help=f"default: {settings.SERVER_PORT.default}; 0 takes a free one")  # fmt: skip
    p.add_argument(
        "--key", metavar="KEY", default="",
        help="programs have to show this key; '-' reads it from standard input, where no list of processes shows it "
        "(default: $UNDERHILL_KEY, or the one in the keyring, if any)",
    )  # fmt: skip
    p.add_argument("--keep-key", action="store_true", help="keep that key in the keyring; without one, remove it there")
    p.add_argument("--allow-origin", metavar="URL", action="append", default=[],
                   help="let the web page at this address ask, too; may be repeated")  # fmt: skip
    _settings(p, settings.ENGINE)


def _port(text: str) -> int:
    if not 0 <= (value := int(text)) <= 65535:
        raise ValueError(text)
    return value


def _search(p: argparse.ArgumentParser) -> None:
    _command(p, "hub.run_search", model=False)
    p.add_argument(
        "words",
        metavar="WORDS",
        nargs="*",
        help="part of a model's name, such as qwen3 or gpt-oss; without any, a choice of models that people run today",
    )
    p.description = (
        "Lists models with how each would run on this computer as it is now: In memory, From disk, Slow (below 2 "
        "tok/s) or Too large; the speed to expect, and the size on disk. --json has the sentences and numbers."
    )
    p.add_argument("--limit", type=_at_least(1), default=20, metavar="N", help="list at most so many (default: 20)")
    _settings(p, settings.HUB)


def _pull(p: argparse.ArgumentParser) -> None:
    _command(p, "hub.run_pull", model=False)
    p.description = (
        "Looks at a model, says how it would run here, and imports it while it arrives. Interrupted in whatever way, "
        "the same command goes on where it was."
    )
    p.add_argument("repo", metavar="REPO", help="the model's name on the hub: owner/model")
    p.add_argument("--revision", metavar="NAME", default="main", help="a branch, tag or commit (default: main)")
    p.add_argument("--name", metavar="NAME", default="", help="name in the library (default: the model's)")
    p.add_argument(
        "--top", type=int, choices=(4, 8, 16), default=0,
        help="bits stored per expert weight (default: 8, or those of the source, unchanged, where it has about 4)",
    )  # fmt: skip
    p.add_argument(
        "--gguf", metavar="NAME", default="",
        help="which of a repository's GGUF models, by part of its name: Q4_K_M (default: safetensors where there are "
        "some, else what suits --top)",
    )  # fmt: skip
    p.add_argument(
        "--keep-source", action="store_true", help="download all files first, and keep them beside the model"
    )
    _tolerance(p)
    _settings(p, settings.HUB)


def _token(p: argparse.ArgumentParser) -> None:
    _command(p, "hub.run_token", model=False)
    p.description = "Asks for the token (or reads it from standard input), tries it, and keeps it in the keyring."
    p.add_argument("--forget", action="store_true", help="take it out of the keyring instead")
    _settings(p, settings.HUB)


def _import(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_import", model=False)
    p.add_argument(
        "path",
        metavar="SOURCE",
        help="a folder of config.json and safetensors files, or a GGUF file; a model of Underhill from another "
        "computer, or a folder of them; or the name of an unfinished import, to go on with",
    )
    p.add_argument("--name", metavar="NAME", default="", help="name in the library (default: the source's)")
    p.add_argument(
        "--top", type=int, choices=(4, 8, 16), default=0,
        help="bits stored per expert weight (default: 8, or those of the source, unchanged, where it has about 4)",
    )  # fmt: skip
    _tolerance(p)
    _settings(p, (settings.IMPORT_BATTERY,))


def _tolerance(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--tolerance", type=_percent, metavar="P",
        help="let robust experts keep 2 or 4 bits, so that the loss rises by P per cent at most (edgemoe)",
    )  # fmt: skip


def _list(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_list", model=False)
    p.description = "Lists the models of the library, how each runs on this computer as it is now, and what is wrong."


def _rm(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_rm", model=False)
    p.description = "Deletes without asking: into the trash, where `underhill-cli restore` finds it for a week."
    p.add_argument("name", metavar="MODEL", help="name in the library; builtin is rebuilt at its next use")
    p.add_argument("--now", action="store_true", help="off the disk at once, instead of into the trash for a week")


def _restore(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_restore", model=False)
    p.add_argument("name", metavar="MODEL", help="the name it had; the one that was deleted last comes back")
    p.add_argument("--as", dest="as_name", metavar="NAME", default="", help="give it another name")


def _trash(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_trash", model=False)
    p.add_argument("--empty", action="store_true", help="remove everything in it for good")


def _mv(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_mv", model=False)
    p.description = "Copies, compares the copy with the model's checksums, and only then removes the old one."
    p.add_argument("name", metavar="MODEL", help="name in the library")
    p.add_argument(
        "folder", metavar="FOLDER", help="one of `underhill-cli folders`; the one it is in takes half a move back"
    )


def _rename(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_rename", model=False)
    p.description = "Changes the name that people see; commands and programs go on using the one in the library."
    p.add_argument("name", metavar="MODEL", help="name in the library")
    p.add_argument("title", metavar="NAME", help="the name to show; MODEL again shows the one in the library")


def _folders(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_folders", model=False)
    p.add_argument("--add", metavar="FOLDER", help="let models live there; models that are in it are in the library")
    p.add_argument("--first", metavar="FOLDER", help="the same, and new models go there")
    p.add_argument("--forget", metavar="FOLDER", help="take it out of the library; what is in it stays on the disk")


def _info(p: argparse.ArgumentParser) -> None:
    _command(p, "computer.run_info", model=False)
    p.description = "Says what this computer has and, with a model, what that is and what each of its precisions takes."
    p.add_argument("model", metavar="MODEL", nargs="?", default=None, help="a path, a name, or builtin")


def _lower(p: argparse.ArgumentParser) -> None:
    _command(p, "precision.run_lower")
    p.description = (
        "Ranks experts by what it costs to run them with 2 bits, lowers the most robust first until perplexity on "
        "calibration text has risen by the tolerance, and puts the result in the model's place without quantizing "
        "again. The original goes to the trash."
    )
    p.add_argument("--name", metavar="NAME", default="", help="make another model of this name; MODEL stays as it is")
    p.add_argument("--restore", action="store_true", help="put the original back, which waits in the trash")
    p.add_argument("--tolerance", type=_percent, default=2.0, metavar="P", help="per cent (default: 2)")
    p.add_argument("--measure", action="store_true", help="rank by the loss of every expert alone: slow, and exact")


def _percent(text: str) -> float:
    if not 0 <= (value := float(text)) <= 100:
        raise ValueError(text)
    return value


def _at_least(low: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < low:
            raise argparse.ArgumentTypeError(f"{value} is less than {low}")
        return value

    return whole


def _eval(p: argparse.ArgumentParser) -> None:
    _command(p, "precision.run_eval")
    p.description = (
        "KL divergence against Exact on a text, and perplexity. A lossy dial is measured with the smallest cache, "
        "which is the most it can cost, unless --cache-fraction says otherwise."
    )
    p.add_argument("--text", metavar="FILE", required=True, help="text, or JSON lines of chats (.jsonl)")
    p.add_argument("--window", type=_at_least(2), default=512, metavar="N", help="tokens seen at a time (default: 512)")
    p.add_argument("--max-tokens", type=_at_least(1), default=None, metavar="N", help="score at most so many tokens")
    _settings(p, settings.ENGINE)


def _verify(p: argparse.ArgumentParser) -> None:
    _command(p, "library.run_verify")
    p.description = "Reads every byte of a model and compares it with its checksums. Exit code 1: something is damaged."


def _probe(p: argparse.ArgumentParser) -> None:
    _command(p, "computer.run_probe", model=False)
    p.add_argument("--again", action="store_true", help="measure again (about 15 seconds)")


def _plan(p: argparse.ArgumentParser) -> None:
    _command(p, "computer.run_plan")
    p.description = "Says where a model would go on this computer under these settings, how fast it should be, and why."
    _settings(p, settings.ENGINE)


def _calibrate(p: argparse.ArgumentParser) -> None:
    _command(p, "precision.run_calibrate")
    p.description = (
        "Finds T1 and T2 of the precision dials on calibration text, and measures what each dial costs against Exact: "
        "were every expert missing, and with the cache of these settings. Kept with the model."
    )
    p.add_argument(
        "--fit-policy",
        action="store_true",
        help="instead, fit the cache policy's weights to this model's routing; a minute or more, used when next loaded",
    )
    _settings(p, settings.ENGINE)


def _trace(p: argparse.ArgumentParser) -> None:
    kinds = p.add_subparsers(required=True, metavar="WHAT")
    replay = kinds.add_parser("replay", help="what every cache policy would have read, beside the best possible")
    _command(replay, "trace.run_trace", model=False)
    replay.add_argument("file", metavar="FILE", help="written by `underhill-cli chat --trace FILE`")
    replay.add_argument(
        "--dial",
        choices=("recorded", *settings.ALL["dial"].choices),
        default="recorded",
        help="the dial to replay under: that of the recording (default), or another at the model's own thresholds",
    )
    replay.add_argument(
        "--cache",
        type=_share,
        nargs="+",
        default=[0.125, 0.25, 0.5, 0.75],
        metavar="SHARE",
        help="cache sizes as shares of all experts (default: 0.125 0.25 0.5 0.75)",
    )
    replay.add_argument("--tokens", type=_at_least(1), default=None, metavar="N", help="replay only the first N tokens")
    replay.add_argument(
        "--one-by-one",
        action="store_true",
        help="as if every token, of prompts too, had gone through by itself, as answers do",
    )
    replay.add_argument("--plot", metavar="FILE", help="also write a plot, as SVG")


def _share(text: str) -> float:
    value = float(text)
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1")
    return value


_share.__name__ = "share"
