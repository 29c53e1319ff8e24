"""Reports of ratings and seasons to the core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from arena.rating.glicko import GlickoRating
from arena.server.core.effects import SaveFinishedMatch
from arena.server.core.inputs import Input, RatingChanged, SeasonClosed
from arena.server.shell.rating_updater import RatingUpdater
from arena.server.store.aggregates.ratings import load_rating_rows
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.database import open_store, redirect_transactions, run_in_transaction
from arena.server.store.journal.journal import open_journal
from tests.server.played import MAXIE_WINS, day, events, store_match


class RecordingShell:
    """Shell that only records its inputs."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []

    def add_effect_handler(self, _kind: type[Any], _call: Callable[[Any], None]) -> None:
        pass

    def submit(self, input: Input) -> None:
        self.inputs.append(input)

    def pop_inputs(self) -> list[Input]:
        """Return the inputs since the last call."""
        inputs, self.inputs = self.inputs, []
        return inputs


async def test_a_closed_season_is_reported_and_later_matches_are_rated_anew(database: str) -> None:
    shell: Any = RecordingShell()
    async with open_store(database) as engine, open_journal(engine, "arena") as journal:
        await store_match(engine, day(1), events(MAXIE_WINS))
        ratings = RatingUpdater(journal.engine, shell)
        await ratings.update_ratings()
        (anna, bert) = shell.pop_inputs()
        assert (anna.bot_name, bert.bot_name) == ("anna", "bert")
        await store_match(engine, day(2), events(MAXIE_WINS))
        await run_in_transaction(engine, partial(close_season, season_name="spring"))
        await ratings.update_ratings()
        assert shell.pop_inputs() == [SeasonClosed("tictactoe")]
        record = await store_match(engine, day(3), events(MAXIE_WINS))
        ratings.schedule_rating_update(SaveFinishedMatch(record, is_rated=True))
        await ratings.update_ratings()
        assert shell.pop_inputs() == [
            RatingChanged("tictactoe", row.bot, GlickoRating(row.rating, row.deviation))
            for row in await load_rating_rows(engine, "tictactoe")
        ]
        await ratings.update_ratings()
        assert shell.pop_inputs() == []
        # a new updater reports no season that was closed before it started
        await RatingUpdater(journal.engine, shell).update_ratings()
        assert shell.pop_inputs() == []


async def test_matches_are_counted_once_the_store_is_available_again(database: str) -> None:
    shell: Any = RecordingShell()
    async with open_store(database) as engine, open_journal(engine, "arena") as journal:
        await store_match(engine, day(1), events(MAXIE_WINS))
        failures = iter([ConnectionError()])

        async def write_later(operation: Callable[[sa.Connection], Any]) -> Any:
            for failure in failures:
                raise failure
            return await journal.run_in_transaction(operation)

        ratings = RatingUpdater(redirect_transactions(engine, write_later), shell)
        with pytest.raises(ConnectionError):
            await ratings.update_ratings()
        assert shell.pop_inputs() == []
        await ratings.update_ratings()
        assert len(shell.pop_inputs()) == 2
