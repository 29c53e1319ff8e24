import os
from pathlib import Path

import pytest

from arena.bots.commands.bot_settings import BadBotSettings, BotSettings, read_settings, validate_settings
from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import TimeControl

FULL = """\
engine = "my_bot.py"
url = "wss://arena.example"
name = "mine"
token-file = "token"
matches = 2
games = 10
for = "8h"
game = ["riskless"]
map = ["italy", "world"]
tc = ["10+0.1"]
reconnect = 5
isolate = true
log = "mine.log"
"""


def write_file(folder: Path, text: str) -> Path:
    (folder / "token").write_text("s3cret\n")
    file = folder / "bot.toml"
    file.write_text(text)
    return file


def test_a_file_and_the_options_give_equal_settings(tmp_path: Path) -> None:
    assert read_settings(write_file(tmp_path, FULL)) == BotSettings(
        engine=str(tmp_path / "my_bot.py"),
        url="wss://arena.example",
        name="mine",
        token_file="token",
        token="s3cret",
        concurrency=2,
        max_matches=10,
        play_duration="8h",
        games=("riskless",),
        maps=("italy", "world"),
        time_controls=("10+0.1",),
        max_reconnect_attempts=5,
        isolate=True,
        log=tmp_path / "mine.log",
        state=tmp_path,
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("engine = 3", "engine"),
        ('token = "x"', 'token: unknown key; did you mean "token-'),
        ('gmae = ["riskless"]', 'gmae: unknown key; did you mean "game"'),
        ("zzz = 1", "zzz: unknown key; choose from engine, exec"),
        ("matches = 0", r"bot\.toml:1: matches: expected a whole number >= 1$"),
        ('matches = "two"', r"bot\.toml:1: matches: expected a whole number, got a string$"),
        ('games = "two"', r"bot\.toml:1: games: expected a whole number, got a string$"),
        ("engine = 3", r"bot\.toml:1: engine: expected a string, got a whole number$"),
        ("game = [1]", r"bot\.toml:1: game: expected a string, got a whole number$"),
        ("verbose = 1", r"bot\.toml:1: verbose: expected true or false, got a whole number$"),
        ("engine = ", "Invalid value"),
        ('token-file = "none"', "token-file: cannot read"),
        ('token-env = "NO_SUCH_VARIABLE"', "the environment variable NO_SUCH_VARIABLE is not set"),
        ('token-env = "A"\ntoken-file = "token"', "not both"),
    ],
)
def test_an_error_in_the_file_names_it(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadBotSettings, match=why) as wrong:
        read_settings(write_file(tmp_path, text))
    assert "bot.toml" in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_token_may_be_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MINE", "t\r\n")
    assert read_settings(write_file(tmp_path, 'token-env = "MINE"')).token == "t"


def test_a_challenge_has_the_first_game_map_and_time_control() -> None:
    settings = validate_settings(
        BotSettings(
            challenge="bob", games=("tictactoe", "riskless"), time_controls=("0.10/move", "10"), casual=True
        )
    )
    assert settings.make_challenge() == Challenge(
        "bob", game="tictactoe", map="italy", time_control=TimeControl(100, per_move=True), rated=False
    )
    assert settings.time_controls == ("0.1/move", "10+0")
    assert validate_settings(BotSettings()).make_challenge() is None


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (BotSettings(games=("chess",)), "no game is called 'chess'"),
        (BotSettings(time_controls=("soon",)), "--tc: 'soon' is not a time control"),
        (BotSettings(play_duration="soon"), "--for: .*30s, 10m, 2h, or ever"),
        (BotSettings(casual=True), "--casual works only with --challenge"),
    ],
)
def test_a_filter_that_fits_nothing_is_refused(settings: BotSettings, why: str) -> None:
    with pytest.raises(BadBotSettings, match=why):
        validate_settings(settings)


def test_a_text_instead_of_a_list_is_a_list_of_one(tmp_path: Path) -> None:
    settings = read_settings(write_file(tmp_path, 'game = "riskless"\nmap = "italy"\ntc = "1+0"'))
    assert (settings.games, settings.maps, settings.time_controls) == (("riskless",), ("italy",), ("1+0",))


def test_a_game_in_a_file_is_found_beside_the_settings(tmp_path: Path) -> None:
    settings = read_settings(write_file(tmp_path, 'game = ["tictactoe", "nim.py:Nim"]\nengine = "greedy"'))
    assert settings.games == ("tictactoe", str(tmp_path / "nim.py:Nim"))
    assert settings.engine == "greedy"


def test_a_wrong_setting_of_a_file_is_reported_with_the_file() -> None:
    with pytest.raises(BadBotSettings, match=r"^bot\.toml: tc: 'soon' is not a time control"):
        validate_settings(BotSettings(time_controls=("soon",)), "bot.toml: {}".format)
