"""`underhill-cli chat --image`: a model that reads images answers, and every other case is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cli import images
from engine.convert.importer import import_checkpoint
from tests.engine.cli.test_cli import found, run
from tests.engine.models.vision import seeing_gemma as gemma

pytestmark = pytest.mark.long

ASKED = ("--prompt", "w10 w11", "--greedy", "--max-tokens", "4", "--threads", "1")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gemma")
    gemma.checkpoint(gemma.model(), folder / "checkpoint")
    return import_checkpoint(folder / "checkpoint", folder / "seeing", top=8)


def files(folder: Path) -> tuple[str, str]:
    for name, image in (("one.png", gemma.picture(1)), ("other.jpg", gemma.picture(2, 40, 90, "JPEG"))):
        (folder / name).write_bytes(image)
    return str(folder / "one.png"), str(folder / "other.jpg")


def test_two_images_go_with_the_question(
    home: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = files(tmp_path)
    plain = found(capsys, "chat", str(store), *ASKED)
    seen = found(capsys, "chat", str(store), "--image", one, "--image", other, *ASKED)
    assert seen["stats"]["prompt_tokens"] == plain["stats"]["prompt_tokens"] + 65 + 62
    assert seen["token_ids"]


def test_a_model_that_reads_none_says_so(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "chat", "builtin", "--image", files(tmp_path)[0], *ASKED)
    assert code
    assert not out
    assert "This model can't read images.\nChoose a model that can" in err


def test_what_is_no_image_is_told(home: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.png").write_text("words", encoding="utf-8")
    code, _, err = run(capsys, "chat", str(store), "--image", str(tmp_path / "text.png"), *ASKED)
    assert code
    assert "The image can't be read." in err


def test_a_wrong_name_is_told_before_a_model_is_loaded(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, said in ((tmp_path / "none.png", "none.png no longer exists."), (tmp_path, "is a folder.")):
        code, _, err = run(capsys, "chat", "no such model", "--image", str(path), *ASKED)
        assert code
        assert said in err
    monkeypatch.setattr(images, "PICTURE_BYTES", 100)
    code, _, err = run(capsys, "chat", "no such model", "--image", files(tmp_path)[0], *ASKED)
    assert code
    assert "one.png is too large" in err


def test_a_team_takes_none(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "chat", "team:draft", "--image", files(tmp_path)[0], *ASKED)
    assert code
    assert "A team takes no images in the terminal." in err
