"""arena.bot_file: accounts in bot.toml files, and the errors of invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.bot_file import BotAccount, read_bot_account
from arena.toml_file import BadTomlFile


def write_file(folder: Path, text: str) -> Path:
    file = folder / "bot.toml"
    file.write_text(text)
    return file


def test_the_account_of_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    monkeypatch.setenv("MINE", "other")
    begin = 'engine = "x.py"\nurl = "ws://h"\nname = "mine"\n'
    assert read_bot_account(write_file(tmp_path, begin)) == BotAccount("ws://h", "mine", "")
    assert read_bot_account(write_file(tmp_path, begin + 'token-file = "token"')).token == "s3cret"
    assert read_bot_account(write_file(tmp_path, begin + 'token-env = "MINE"')).token == "other"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('url = "ws://h"', "name is missing"),
        ('name = "n"', "url is missing"),
        ("url = 3", "url: must be a string, not 3"),
        ("url = ", "Invalid value"),
    ],
)
def test_an_error_names_the_file(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadTomlFile, match=why) as raised:
        read_bot_account(write_file(tmp_path, text))
    assert "bot.toml" in str(raised.value)
