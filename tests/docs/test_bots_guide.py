"""docs/bots.md: its bots play, its commands exist, and its names are those of the package."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from random import Random

import pytest

from arena.bots.api.bot import Match
from arena.bots.client.local_match import LocalMatch
from arena.bots.engines.registry import make_engine
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.timecontrol import TimeControl
from testkit.tools import skip_without
from tests.bots.command_line import arena

PAGE = (Path(__file__).parents[2] / "docs" / "bots.md").read_text(encoding="utf-8")
BOTS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^arena .*$", PAGE, re.MULTILINE)


def play(file: Path, game: AnyGame, seat: Player) -> None:
    """Play a whole match of the bot in a file against the first legal move."""
    control = TimeControl(100, per_move=True)
    local = LocalMatch(make_engine(str(file)).make_bot, Match(game, seat, time_control=control))
    while game.outcome(local.position) is None:
        if game.player(local.position) is seat:
            local.play_bot_move()
        else:
            local.play_move(game.moves(local.position)[0])
    local.end_and_close_bot()


@pytest.mark.parametrize("seat", Player)
@pytest.mark.parametrize("name", sorted(BOTS.keys() - {"front.py"}))
def test_a_bot_of_the_guide_plays_tictactoe(name: str, seat: Player, tmp_path: Path) -> None:
    if name == "fast.py":
        skip_without("numba")
    file = tmp_path / name
    file.write_text(BOTS[name], encoding="utf-8")
    play(file, make_game_on_map("tictactoe"), seat)


def test_a_bot_of_the_guide_plays_riskless(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(BOTS["mine.py"], encoding="utf-8")
    play(file, make_game_on_map("riskless", "path4"), Player.MAXIE)


def test_the_twenty_lines_beat_random(tmp_path: Path) -> None:
    file = tmp_path / "front.py"
    file.write_text(BOTS["front.py"], encoding="utf-8")
    game, dice = make_game_on_map("riskless", "italy"), Random(1)
    won = 0
    for seat in [*Player] * 3:
        local = LocalMatch(
            make_engine(str(file)).make_bot, Match(game, seat, time_control=TimeControl(100, per_move=True))
        )
        while local.result is None:
            if game.player(local.position) is seat:
                local.play_bot_move()
            else:
                local.play_move(dice.choice(game.moves(local.position)))
        won += local.result.winner == seat
        local.end_and_close_bot()
    assert won >= 5


def test_there_are_examples() -> None:
    assert set(BOTS) == {"first.py", "deep.py", "mine.py", "fast.py", "front.py"}
    assert len(COMMANDS) >= 3


@pytest.mark.slow
def test_the_three_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but pip's; that one has no example of its own to run without a network."""
    monkeypatch.chdir(tmp_path)
    _, *three = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0].splitlines()
    assert [line.split()[1] for line in three] == ["new", "match"]
    for line in three:
        result = arena(*shlex.split(line)[1:])
        assert result.code == 0, result
    assert "my_bot" in result.stdout
