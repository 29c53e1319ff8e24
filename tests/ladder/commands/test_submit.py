"""`arena submit`: zip files are kept and listed without a container engine. tests/docs checks one in a real container."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.bots.command_line import arena, fails
from tests.bots.engines.test_submission import zipped

pytestmark = pytest.mark.smoke


def list_submissions() -> list[dict[str, object]]:
    result = arena("submit", "list", "--json", "-")
    assert result.code == 0, result
    data = json.loads(result.stdout)
    assert isinstance(data, list)
    return data


def test_a_submission_is_kept_under_its_name_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list_submissions() == []
    file = zipped(tmp_path / "bot.zip")
    result = arena("submit", "add", file, "--name", "camel")
    assert result.code == 0, result
    assert 'submit = "submissions/camel.zip"' in result.stdout
    assert (tmp_path / "submissions" / "camel.zip").read_bytes() == file.read_bytes()
    assert arena("submit", "add", file).code == 0
    assert [(each["name"], each["runs"]) for each in list_submissions()] == [
        ("bot", "python3 bot.py --hard"),
        ("camel", "python3 bot.py --hard"),
    ]
    assert sorted(each.name for each in (tmp_path / "submissions").iterdir()) == ["bot.zip", "camel.zip"]


def test_a_submission_is_replaced_only_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "submissions" / "camel.zip"
    first = zipped(tmp_path / "camel.zip")
    assert arena("submit", "add", first).code == 0
    before = kept.read_bytes()
    second = zipped(tmp_path / "second.zip", {"bot.toml": 'exec = "./goat"'})
    fails("submissions/camel.zip already exists", 1, "submit", "add", second, "--name", "camel")
    assert kept.read_bytes() == before
    assert arena("submit", "add", second, "--name", "camel", "--replace").code == 0
    assert [each["runs"] for each in list_submissions()] == ["./goat"]


def test_a_submission_for_which_the_disk_has_no_room_is_not_kept(tmp_path: Path) -> None:
    file, folder = zipped(tmp_path / "bot.zip"), tmp_path / "submissions"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.copyfile", fail_with_full_disk)
        fails(f"cannot write {folder / 'bot.zip'}: No space", 1, "submit", "add", file, "--folder", folder)
    assert list(folder.iterdir()) == []


def fail_with_full_disk(source: Path, _target: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source))


def test_an_invalid_submission_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fails("none.zip cannot be read: No such file or directory", 1, "submit", "add", "none.zip")
    fails(
        "bot.toml: not found at the top level",
        1,
        "submit",
        "add",
        zipped(tmp_path / "bot.zip", {"bot.py": ""}),
    )
    fails(f"{tmp_path} is a folder: give a zip file", 1, "submit", "add", tmp_path, "--name", "camel")
    good = zipped(tmp_path / "good.zip")
    fails(f"--folder: {good} is not a folder", 2, "submit", "add", good, "--folder", good)
    for name in ("../camel", ".camel", "a/b", "x" * 49):
        fails("--name: ", 2, "submit", "add", zipped(tmp_path / "good.zip"), "--name", name)
    assert not (tmp_path / "submissions").exists()


def test_a_broken_file_is_listed_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "broken.zip").write_text("no zip file")
    shutil.copy(zipped(tmp_path / "good.zip"), tmp_path / "submissions")
    broken, good = list_submissions()
    assert broken["runs"] == ""
    assert "not a valid zip file" in str(broken["problem"])
    assert good["runs"]
    assert good["sha256"]
    assert not good["problem"]
    assert "not a valid zip file" in arena("submit", "list").stdout


def test_a_failed_check_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fails("submissions/camel.zip does not exist", 2, "submit", "check", "camel")
    file = zipped(tmp_path / "camel.zip")
    fails("'--privileged' is not a valid image", 1, "submit", "check", file, "--image=--privileged")
    monkeypatch.setenv("PATH", str(tmp_path))
    fails("a container needs Docker or Podman", 1, "submit", "check", file)
