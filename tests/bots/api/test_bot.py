"""bots.api.bot: the public surface, and the example of its documentation."""

import textwrap
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from arena.bots.api import bot as module
from arena.bots.api.bot import Bot, Clock, Match, ask, begin
from arena.bots.engines.from_file import bot_class
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe


def test_the_example_of_the_documentation_plays(tmp_path: Path) -> None:
    doc = module.__doc__ or ""
    example = textwrap.dedent(doc[doc.index("    from arena.bots.api.bot") : doc.index("Positions are")])
    file = tmp_path / "first.py"
    file.write_text(example)
    bot = bot_class(str(file))()
    begin(bot, Match(TicTacToe(), Player.MAXIE))
    bot.prepare()
    assert ask(bot, bot.game.start(), Clock(1.0), Event()) == 0


def test_a_bot_that_cannot_choose_is_no_bot() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Bot()  # type: ignore[abstract]


def test_a_bot_needs_no_init_of_its_base() -> None:
    class Own(Bot):
        def __init__(self) -> None:
            self.count = 0

        def choose(self, position: Any, clock: Clock) -> Any:
            self.count += 1
            return self.stopped

    bot = Own()
    assert not bot.stopped
    begin(bot, Match(TicTacToe(), Player.MINNIE, threads=3))
    assert (bot.seat, bot.threads, bot.game.name, bot.thinking) == (Player.MINNIE, 3, "tictactoe", None)
    stop = Event()
    stop.set()
    assert ask(bot, None, Clock(1.0), stop) is True
