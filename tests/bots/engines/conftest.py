"""Fixture that creates the bots of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from arena.bots.api.bot import Bot, Ending, Match, assign_match
from arena.bots.engines.registry import make_engine
from arena.games.core import AnyGame, Player

MakeBot = Callable[..., Bot]


@pytest.fixture
def make_bot() -> Iterator[MakeBot]:
    """Return a function that creates the bot of an engine for a match, `make_bot(spec, game, seat)`.

    The match of each bot ends after the test.
    """
    bots: list[Bot] = []

    def make(spec: str, game: AnyGame, seat: Player = Player.MAXIE) -> Bot:
        bot = make_engine(spec).make_bot()
        assign_match(bot, Match(game, seat, threads=2))
        bots.append(bot)
        bot.prepare()
        return bot

    yield make
    for bot in bots:
        bot.ended(Ending(None, None, "enough", 0, None))
