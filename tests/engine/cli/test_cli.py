"""The commands as scripts use them: one JSON object, exit codes, sentences on standard error."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load, save_file

from engine.cli.main import main
from engine.cli.parser import parser
from engine.experts.policies import DEFAULT

pytestmark = pytest.mark.long

MODEL = Path(__file__).resolve().parents[3] / "resources" / "builtin" / "model"


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main(args)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def found(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    """The one JSON object of a command that worked."""
    code, out, err = run(capsys, *args, "--json")
    assert code == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def chat(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    return found(
        capsys, "chat", "builtin", "--prompt", "Hello!", "--greedy", "--max-tokens", "12", "--threads", "1", *args
    )


def test_chat_prints_what_scripts_rely_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = chat(capsys, "--dial", "exact", "--cache-fraction", "1.0")
    assert set(answer) == {"text", "token_ids", "stats"}
    assert answer["text"]
    stats = answer["stats"]
    assert {"hits", "misses", "bytes_read", "precision", "peak_rss"} < set(stats)
    assert {"prompt_tokens_per_second", "decode_tokens_per_second"} < set(stats)
    assert stats["peak_rss"] > 1e8
    quarter = chat(capsys, "--dial", "exact", "--cache-fraction", "0.25")
    assert quarter["token_ids"] == answer["token_ids"]
    assert quarter["stats"]["misses"] > stats["misses"]


def test_verbose_logs_to_standard_error_and_leaves_out_what_is_said(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("chat", "builtin", "--prompt", "Hello, zebrafish!", "--greedy", "--max-tokens", "12", "--threads", "1")
    code, out, err = run(capsys, *asked, "--json", "--verbose")
    assert code == 0, err
    said = json.loads(out)
    assert "INFO engine.session.stats [MainThread] Opened builtin: family qwen3_moe" in err
    assert "Answered: " in err
    assert not [words for words in ("zebrafish", said["text"]) if words in err]
    for verbose in (True, False):  # before the command as well, and where it fails; and no longer than it is asked for
        code, _, err = run(capsys, *["--verbose"][: int(verbose)], "info", "nonesuch")
        assert code == 1
        assert (" ERROR engine.cli.main [MainThread] not_a_model" in err) == verbose
        assert "No model named nonesuch" in err


def test_a_level_of_thinking_that_the_model_does_not_have_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = main(["chat", "--prompt", "Hi", "--max-tokens", "2", "--thinking", "high"])
    assert said == 0
    assert "[this model has no thinking levels]" in capsys.readouterr().err


def test_a_prompt_may_come_from_standard_input(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hello!"))
    piped = found(capsys, "chat", "--prompt", "-", "--greedy", "--max-tokens", "12", "--threads", "1")
    assert piped["text"] == chat(capsys)["text"]


def test_a_conversation_in_the_terminal_remembers_and_shows_its_statistics(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    lines = "/stats\nMy name is Anna.\n/stats\nWhat is my name?\n/new\n/nonsense\n\n/exit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    code, out, err = run(capsys, "chat", "--greedy", "--max-tokens", "20", "--threads", "1")
    assert code == 0
    assert "No answer yet." in err
    assert "hits" in err
    assert "New chat." in err
    assert err.count("Commands: /new") == 2
    assert len([line for line in out.splitlines() if line.strip()]) >= 2


def test_info_knows_computer_and_model(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = found(capsys, "info", "builtin")
    assert everything["computer"]["cores"] >= 1
    kernels = everything["computer"]["kernels"]
    assert "kernels" in kernels["reason"]
    assert str(kernels["threads"]) in kernels["reason"]
    assert everything["model"]["moe_layers"] == 6
    qualities = {q["tier"]: q["relative_error"] for q in everything["model"]["quality"]}
    assert qualities[2] > qualities[4] > qualities[8] > 0
    assert "model" not in found(capsys, "info")


def test_list_plan_and_calibrate(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [m["name"] for m in found(capsys, "list")] == ["builtin"]
    plan = found(capsys, "plan", "builtin", "--cache-fraction", "0.5")
    whole = found(capsys, "plan", "builtin")
    assert 0 < plan["cache_bytes"] < whole["cache_bytes"]
    assert {mode["mode"]: mode["speed"] for mode in plan["modes"]}[plan["mode"]] == plan["speed"]
    assert plan["calibration"] is None or plan["calibration"]["dials"]
    measured = found(capsys, "calibrate", "builtin", "--cache-fraction", "0.3", "--threads", "1")
    cuts = {dial: (cost["t1"], cost["t2"]) for dial, cost in measured["dials"].items()}
    assert 0 <= cuts["fast"][0] < cuts["balanced"][0] < cuts["balanced"][1] <= 1
    costs = {dial: (cost["here"]["kl"], cost["worst"]["kl"]) for dial, cost in measured["dials"].items()}
    assert 0 < costs["balanced"][0] < costs["fast"][0]
    assert 0 < costs["balanced"][1] < costs["fast"][1] < 0.05
    assert found(capsys, "list")[0]["calibration"] == measured
    assert found(capsys, "plan", "builtin")["calibration"] == measured
    balanced = chat(capsys, "--dial", "balanced", "--cache-fraction", "0")["stats"]["precision"]
    total = sum(balanced.values())
    assert 0.3 < balanced["8"] / total < 0.85
    assert balanced["2"] > 0


def test_eval_gives_perplexity_and_divergence(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Hello! How are you? I am fine, thank you. " * 8, encoding="utf-8")
    results = {
        tier: found(capsys, "eval", "builtin", "--text", str(text), "--dial", "exact", "--tier", tier, "--threads", "1")
        for tier in ("8", "4", "2")
    }
    assert results["8"]["kl_to_exact"] == 0
    assert results["8"]["perplexity"] == results["8"]["exact_perplexity"]
    assert 0 < results["4"]["kl_to_exact"] < results["2"]["kl_to_exact"]
    assert results["2"]["tokens"] > 50
    lossy = found(
        capsys, "eval", "builtin", "--text", str(text), "--dial", "fast", "--cache-fraction", "0", "--max-tokens", "40"
    )
    assert lossy["tokens"] == 40
    assert lossy["kl_to_exact"] > 0
    assert lossy["precision"]["skipped"] > 0


def test_import_reports_each_tier(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = found(capsys, "import", str(MODEL), "--name", "imported", "--top", "4")
    assert card["tiers"] == [2, 4]
    code, out, _ = run(capsys, "import", str(MODEL), "--name", "in-words", "--top", "8")
    assert code == 0
    assert "bits per weight" in out
    shutil.rmtree(home / "models" / "imported")
    shutil.rmtree(home / "models" / "in-words")


def broken(tmp_path: Path, change: str) -> Path:
    """A copy of the built-in checkpoint with one thing wrong."""
    folder = tmp_path / "checkpoint"
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = folder / "model.safetensors"
    match change:
        case "empty folder":
            shutil.rmtree(folder)
            folder.mkdir()
        case "dense model":
            config.update(model_type="qwen3", architectures=["Qwen3ForCausalLM"])
        case "unknown family":
            config.update(model_type="who_knows")
        case "no weights":
            weights.unlink()
        case "cut weights":
            weights.write_bytes(weights.read_bytes()[:-1000])
        case "wrong dtype":
            tensors = load(weights.read_bytes())
            tensors = {k: v.to(dtype=__import__("torch").int32) if "experts.3." in k else v for k, v in tensors.items()}
            save_file(tensors, weights)
        case "malicious header":
            weights.write_bytes((2**62).to_bytes(8, "little") + weights.read_bytes()[8:])
        case "no config":
            (folder / "config.json").unlink()
        case "more experts a token than there are":
            config["num_experts_per_tok"] = 1000
        case "unknown rope":
            config["rope_scaling"] = {"rope_type": "madeup", "factor": 2.0}
        case "no tokenizer":
            (folder / "tokenizer.json").unlink()
        case "broken template":
            (folder / "chat_template.jinja").write_text("{% for %}", encoding="utf-8")
        case "config is not JSON":
            (folder / "config.json").write_text("{", encoding="utf-8")
            return folder
    if (folder / "config.json").exists():
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ("empty folder", {"not_a_model"}),
        ("no config", {"not_a_model"}),
        ("config is not JSON", {"broken_file", "not_a_model"}),
        ("dense model", {"unsupported_model"}),
        ("unknown family", {"unsupported_model"}),
        ("no weights", {"missing_file", "not_a_model"}),
        ("cut weights", {"broken_file"}),
        ("wrong dtype", {"broken_file", "unsupported_model"}),
        ("malicious header", {"broken_file"}),
        ("more experts a token than there are", {"unsupported_model"}),
        ("unknown rope", {"unsupported_model"}),
        ("no tokenizer", {"broken_file", "unsupported_model"}),
        ("broken template", {"broken_file"}),
    ],
)
def test_bad_models_are_refused_with_a_sentence_and_never_listed_as_ready(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, change: str, kinds: set[str]
) -> None:
    code, out, err = run(capsys, "import", str(broken(tmp_path, change)), "--name", "bad", "--json")
    error = json.loads(out)["error"]
    assert code == 1
    assert error["kind"] in kinds
    assert error["sentence"] in err
    assert "Traceback" not in err
    listed = {m["name"]: m for m in found(capsys, "list")}
    assert [name for name, m in listed.items() if m["state"] == "ready"] == ["builtin"]
    if "bad" in listed:  # what was wrong showed only after something had been written
        assert (listed["bad"]["state"], error["sentence"] in listed["bad"]["problem"]) == ("unfinished", True)
        assert run(capsys, "rm", "bad")[0] == 0


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("chat", "no-such-model", "--prompt", "x"), 1, "No model named"),
        (("chat", "--json"), 2, "--json answers one prompt"),
        (("chat", "--prompt", "x", "--temperature", "hot"), 2, "Temperature can't be"),
        (("chat", "--prompt", "x", "--cache-fraction", "2"), 2, "percentage from 0% to 100%"),
        (("eval", "builtin", "--text", "/no/such/file"), 1, "doesn't exist"),
        (("chat", "--prompt", "x", "--seed", "1" * 5000), 2, "Seed can't be"),
        (("chat", "--prompt", "word " * 5000), 1, "Message too long"),
    ],
)
def test_wrong_use_is_told_apart_from_failure(
    home: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], code: int, words: str
) -> None:
    got, out, err = run(capsys, *args)
    assert got == code
    assert words in err + out


@pytest.mark.parametrize("option", [("--window", "1"), ("--window", "x"), ("--max-tokens", "0")])
def test_numbers_that_make_no_sense_are_wrong_use(capsys: pytest.CaptureFixture[str], option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["eval", "builtin", "--text", "x", *option])
    assert error.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_what_the_system_refuses_is_a_sentence_and_a_defect_shows_its_details(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> tuple[int, str, str]:
        def cards() -> None:
            raise error

        monkeypatch.setattr("engine.library.library.prepare", lambda *_: None)
        monkeypatch.setattr("engine.library.library.listing", cards)
        return run(capsys, "list", "--json")

    code, out, err = fail(PermissionError(13, "Permission denied", "/locked"))
    assert (code, json.loads(out)["error"]["kind"]) == (1, "disk_error")
    assert "/locked" in err
    assert "Traceback" not in err
    code, out, err = fail(ZeroDivisionError("oops"))
    assert (code, json.loads(out)["error"]["kind"]) == (1, "internal")
    assert "ZeroDivisionError: oops" in err


def test_output_in_a_pipe_is_utf8_whatever_the_system_writes() -> None:
    code = "from engine.cli.main import main; main(['trace', 'replay', '/no/such']); print('\\U0001f600')"
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, cwd=MODEL.parents[2], capture_output=True)
    assert ended.stdout.decode("utf-8").strip() == "\U0001f600"


def test_a_reader_that_has_gone_is_no_defect(home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "engine.cli", "list"]
    ended = subprocess.run(
        command, cwd=MODEL.parents[2], stdout=writer, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")


class GonePipe(io.StringIO):
    """Standard output in Windows, once its reader has gone: EINVAL, as bpo-35754 tells."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def fileno(self) -> int:
        return self._file

    def flush(self) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")


def test_a_reader_that_has_gone_is_no_defect_in_windows_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with (tmp_path / "output").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", GonePipe(file.fileno()))
        assert main(["list"]) == 1
        os.write(file.fileno(), b"nobody reads this")
    assert capsys.readouterr().err == ""
    assert (tmp_path / "output").read_bytes() == b""


def test_another_invalid_argument_is_told(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    def refuse(_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("engine.cli.library.run_list", refuse)
    assert main(["list"]) == 1
    assert "Invalid argument" in capsys.readouterr().err


def test_routing_is_recorded_and_replayed(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "routing.npz")
    said = chat(capsys, "--trace", file)
    plot = tmp_path / "plot.svg"
    found_ = found(capsys, "trace", "replay", file, "--dial", "exact", "--plot", str(plot))
    assert (found_["layers"], found_["sequences"]) == (6, 1)
    assert found_["tokens"] >= len(said["token_ids"])
    assert found_["expert_bytes"]["coarse"] < found_["expert_bytes"]["full"]
    rates = {(r["share"], r["policy"]): r["hit_rate"] for r in found_["replays"]}
    assert {share for share, _ in rates} == {0.125, 0.25, 0.5, 0.75}
    assert all(rates[share, "belady"] >= rates[share, policy] for share, policy in rates)
    assert set(found_["predictors"]) == {"tokens", "coactivation", "paths", "eam", "blend"}
    assert all(0 <= p["recall_k"]["1"] <= p["recall_2k"]["1"] <= 1 for p in found_["predictors"].values())
    assert plot.read_text(encoding="utf-8").startswith("<svg")
    code, out, _ = run(capsys, "trace", "replay", file, "--dial", "balanced", "--cache", "0.3", "--tokens", "5")
    assert code == 0
    assert "30 % cached" in out
    assert all(word in out for word in ("Hit rate", "Miss penalty", "Read from disk", "belady", "bound", "hobbit"))
    assert run(capsys, "trace", "replay", "/no/such/trace")[0] == 1
    assert run(capsys, "trace", "replay", file, "--tokens", "5", "--plot", "/no/such/folder/p")[0] == 1
    with pytest.raises(SystemExit):
        run(capsys, "trace", "replay", file, "--cache", "1.5")


def test_a_disk_that_refuses_the_trace_does_not_end_the_chat(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = ("--trace", "/no/such/folder/t")
    code, out, err = run(capsys, "chat", "--json", "--prompt", "x", "--max-tokens", "2", *trace)
    assert code == 1
    assert json.loads(out)["token_ids"]
    assert err.count(f"cannot be written to {Path('/no/such/folder/t')}") == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO("Hello\nAnd again\n"))
        code, out, err = run(capsys, "chat", "--max-tokens", "2", *trace)
    assert code == 0
    assert err.count("cannot be written") == 1


def test_a_timeline_is_recorded(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "timeline.json"
    said = chat(capsys, "--timeline", str(file), "--cache-fraction", "0.25")
    events = [e for e in json.loads(file.read_text(encoding="utf-8"))["traceEvents"] if e["ph"] == "X"]
    read = sum(e["args"]["bytes"] for e in events if e["cat"] == "reads")
    # A read that was under way when the answer ended stands in one of them alone.
    assert read == pytest.approx(said["stats"]["bytes_read"], rel=0.05)
    assert read > 0
    assert {e["cat"] for e in events} == {"attention and router", "experts", "reads", "waits for the disk"}
    command = ("chat", "--prompt", "x", "--max-tokens", "2", "--timeline", str(tmp_path / "no" / "folder"))
    code, _, err = run(capsys, *command)
    assert code == 1
    assert "The timeline cannot be written" in err


def test_the_cache_policy_is_fitted_to_a_model(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    from engine.calibration import policy_fit

    monkeypatch.setattr(policy_fit, "fit_share", lambda replayer, share, smaller, known: DEFAULT.at(share))
    kept = home / "models" / "builtin" / "policy.json"
    try:
        assert found(capsys, "calibrate", "builtin", "--fit-policy")["fast"]["0.75"] == list(DEFAULT.at(0.75).rounded)
        assert kept.exists()
        code, out, _ = run(capsys, "calibrate", "builtin", "--fit-policy")
        assert (code, out.count("balanced")) == (0, 4)
    finally:
        kept.unlink(missing_ok=True)


def test_verify_names_what_is_damaged(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert found(capsys, "verify", "builtin") == {"damaged": [], "action": ""}
    store = tmp_path / "store"
    shutil.copytree(home / "models" / "builtin", store)
    file = sorted(store.glob("experts-*"))[1]
    with file.open("r+b") as data:
        data.seek(40_000)
        byte = data.read(1)
        data.seek(40_000)
        data.write(bytes([byte[0] ^ 1]))
    code, out, err = run(capsys, "verify", str(store))
    assert code == 1
    assert "expert" in out
    assert err.splitlines()[-1] == "Import it again."  # all that is damaged has been named


def test_rm_deletes_a_model_of_the_library(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    for name in ("mine", "yours", "half.partial"):
        (tmp_path / "models" / name).mkdir(parents=True)
    assert found(capsys, "rm", "mine", "--now") == {"deleted": "mine", "restorable": False}
    assert run(capsys, "rm", "half")[0] == 0
    assert os.listdir(tmp_path / "models") == ["yours"]
    code, _, err = run(capsys, "rm", "mine")
    assert (code, "No model named mine" in err) == (1, True)
    assert run(capsys, "rm", "../models")[0] == 2
    assert os.listdir(tmp_path / "models") == ["yours"]


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    names = "chat search pull token import list info eval plan calibrate trace verify rm restore trash mv folders found"
    for command in names.split():
        with pytest.raises(SystemExit) as end:
            parser().parse_args([command, "--help"])
        assert end.value.code == 0
        assert "usage: underhill-cli " + command in capsys.readouterr().out


def test_it_says_which_version_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("Underhill ")


def test_probe_prints_what_was_measured(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.hardware.machine import DiskPoint
    from engine.hardware.rates import Rates
    from engine.library import computer

    rates = Rates(4e10, 1, (DiskPoint(1 << 20, 4, True, 3e9),), {4: 0.9}, {64: 1e12})
    monkeypatch.setattr(computer, "PATIENCE", 0.0)  # whatever runs beside the tests
    monkeypatch.setattr(computer, "probe_fully", lambda *arguments: rates)
    monkeypatch.setattr(computer, "keep", lambda *arguments: None)
    seen = found(capsys, "probe", "--again")
    assert seen["machine"]["cores"] >= 1
    assert seen["processor"]["name"]
    code, out, _ = run(capsys, "probe", "--again")
    assert code == 0
    assert "free" in out
