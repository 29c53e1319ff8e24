"""Reports of ratings and seasons to the core."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio

from arena.clock import TimeSource
from arena.rating.glicko import Rating
from arena.server.core.inputs import Input, RatingChanged, SeasonClosed
from arena.server.shell.rating_updater import RatingUpdater
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.aggregates.standings import load_standings
from arena.server.store.database import make_transaction_writer, open_store
from arena.server.store.journal.journal import open_journal
from tests.server.played import MAXIE_WINS, day, events, keep


class Inputs:
    """A shell that only remembers what it is given."""

    def __init__(self) -> None:
        self.given: list[Input] = []

    def add_effect_handler(self, _kind: type[Any], _call: Callable[[Any], None]) -> None:
        pass

    def submit(self, given: Input) -> None:
        self.given.append(given)

    def news(self) -> list[Input]:
        """Return what has been given since the last call."""
        news, self.given = self.given, []
        return news


class Turns(TimeSource):
    """A clock whose sleepers wake when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self._asleep = anyio.Event()
        self._awake = anyio.Event()

    def sleep(self, _seconds: float) -> Coroutine[Any, Any, None]:
        self._asleep.set()
        return self._awake.wait()

    async def asleep(self) -> None:
        """Wait until somebody sleeps."""
        await self._asleep.wait()

    async def turn(self) -> None:
        """Wake the sleeper, and wait until it sleeps again."""
        self._asleep, awake = anyio.Event(), self._awake
        self._awake = anyio.Event()
        awake.set()
        await self._asleep.wait()


async def test_a_closed_season_ends_the_ratings_of_its_game_and_later_ones_count_anew(database: str) -> None:
    shell: Any = Inputs()
    clock = Turns()
    async with (
        open_store(database) as engine,
        open_journal(engine, "arena") as journal,
        anyio.create_task_group() as tasks,
    ):
        await keep(engine, day(1), events(MAXIE_WINS))
        ratings = RatingUpdater(engine, journal, shell, clock)
        tasks.start_soon(ratings.run)
        await clock.asleep()
        (anna, bert) = shell.news()
        assert (anna.name, bert.name) == ("anna", "bert")
        await keep(engine, day(2), events(MAXIE_WINS))
        await make_transaction_writer(engine)(partial(close_season, name="spring"))
        await clock.turn()
        assert shell.news() == [SeasonClosed("tictactoe")]
        await keep(engine, day(3), events(MAXIE_WINS))
        ratings.schedule_update()
        await clock.turn()
        assert shell.news() == [
            RatingChanged("tictactoe", row.bot, Rating(row.rating, row.deviation))
            for row in await load_standings(engine, "tictactoe")
        ]
        await clock.turn()
        assert shell.news() == []
        # one that starts now has the bots of this season, and is told of no other
        again = RatingUpdater(engine, journal, shell, after := Turns())
        tasks.start_soon(again.run)
        await after.asleep()
        assert shell.news() == []
        tasks.cancel_scope.cancel()
