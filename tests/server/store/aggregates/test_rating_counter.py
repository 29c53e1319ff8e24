from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.messages import LiveMatch
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.rating.glicko import Rating
from arena.server.store.aggregates.counting import Counted, Write
from arena.server.store.aggregates.rating_counter import PAUSE_SECONDS, RatingCounter
from arena.server.store.aggregates.standings import ratings_of
from arena.server.store.database import StoreError, open_store
from arena.server.store.journal.writer import open_writer
from tests.server.databases import Postgresql
from tests.server.played import FAILS, MAXIE_WINS, MINNIE_WINS, day, events, keep


@asynccontextmanager
async def running(engine: AsyncEngine, write: Write | None = None) -> AsyncIterator[RatingCounter]:
    async with anyio.create_task_group() as tasks:
        rating_counter = RatingCounter(engine, write)
        tasks.start_soon(rating_counter.run)
        yield rating_counter
        tasks.cancel_scope.cancel()


async def until_rated(rating_counter: RatingCounter, bot: str, rating: float) -> None:
    with anyio.fail_after(20):
        while rating_counter.rating("tictactoe", bot) != rating:
            await anyio.sleep(0.02)


async def until_moved(rating_counter: RatingCounter, bot: str) -> None:
    with anyio.fail_after(20):
        while rating_counter.rating("tictactoe", bot) == Rating().rating:
            await anyio.sleep(0.02)


async def test_the_book_has_what_is_in_the_store_and_follows_what_finishes(database: str) -> None:
    async with open_store(database) as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        async with running(engine) as rating_counter:
            assert rating_counter.rating("tictactoe", "anna") == Rating().rating
            await until_moved(rating_counter, "anna")
            first = await ratings_of(engine, "tictactoe", ["anna", "bert"])
            assert rating_counter.rating("tictactoe", "anna") == first["anna"].rating > 1500
            assert rating_counter.rating("tictactoe", "bert") == first["bert"].rating < 1500
            assert rating_counter.rating("riskless", "anna") == 1500
            for maxie, minnie in (("carl", "anna"), ("bert", "dora")):
                rating_counter.note(
                    await keep(engine, day(2), events(MINNIE_WINS), maxie=maxie, minnie=minnie), rated=True
                )
            with anyio.fail_after(20):
                while (
                    rating_counter.rating("tictactoe", "dora") == 1500
                    or rating_counter.rating("tictactoe", "carl") == 1500
                ):
                    await anyio.sleep(0.02)
            for bot, rating in (
                await ratings_of(engine, "tictactoe", ["anna", "bert", "carl", "dora"])
            ).items():
                assert rating_counter.rating("tictactoe", bot) == rating.rating


async def test_a_match_of_another_server_is_counted_by_whoever_is_first_and_known_to_both(
    database: str,
) -> None:
    async with open_store(database) as engine, running(engine) as one, running(engine) as other:
        for number, (maxie, minnie) in enumerate((("anna", "bert"), ("carl", "dora"))):
            record = await keep(engine, day(number + 1), events(MAXIE_WINS), maxie=maxie, minnie=minnie)
            live = LiveMatch(
                record.match, "e", record.game, record.players, TimeControl.parse("1+0"), 5, rated=True
            )
            one.note(record, rated=True)
            other.note_elsewhere(live)
            other.note_elsewhere(replace(live, match="unrated", players=Players("emil", "fred"), rated=False))
            for counter in (one, other):
                await until_moved(counter, maxie)
            assert other.rating(record.game, maxie) == one.rating(record.game, maxie) > 1500
            assert other.rating(record.game, minnie) == one.rating(record.game, minnie) < 1500


async def test_a_match_that_was_counted_before_it_was_noted_is_not_looked_up(tmp_path: Path) -> None:
    looked: list[str] = []
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine, open_writer(engine) as writer:
        # Counting is the writer's; what the engine itself is asked for, the event loop pays for.
        sa.event.listen(engine.sync_engine, "before_cursor_execute", lambda *told: looked.append(told[2]))
        early = await keep(engine, day(1), events(MAXIE_WINS))
        async with running(engine, writer.write) as rating_counter:
            await until_moved(rating_counter, "anna")
            looked.clear()
            rating_counter.note(early, rated=True)
            for number, bot in enumerate(("carl", "dora"), 2):  # when dora's is counted, carl's is done with
                rating_counter.note(
                    await keep(engine, day(number), events(MAXIE_WINS), maxie=bot), rated=True
                )
                await until_moved(rating_counter, bot)
    assert looked
    assert not [statement for statement in looked if "standings" in statement]


async def test_a_server_that_stops_while_it_counts_complains_of_nothing(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:

        async def closed(_work: object) -> Counted:
            tasks.cancel_scope.cancel()
            raise StoreError("the journal is closed")

        tasks.start_soon(RatingCounter(engine, closed).run)
    assert not caplog.records


async def test_a_void_match_moves_nobody(database: str) -> None:
    async with open_store(database) as engine, running(engine) as rating_counter:
        rating_counter.note(await keep(engine, day(1), events((4,), FAILS)), rated=True)
        rating_counter.note(await keep(engine, day(2), events(MAXIE_WINS), minnie="carl"), rated=True)
        await until_rated(rating_counter, "anna", (await _soon(engine, "anna")).rating)
        assert rating_counter.rating("tictactoe", "bert") == 1500


async def _soon(engine: AsyncEngine, bot: str) -> Rating:
    with anyio.fail_after(20):
        while (found := (await ratings_of(engine, "tictactoe", [bot]))[bot]) == Rating():
            await anyio.sleep(0.02)
    return found


async def test_a_database_that_is_down_makes_the_ratings_wait(
    own_postgresql: Postgresql, caplog: pytest.LogCaptureFixture
) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine:
        record = await keep(engine, day(1), events(MAXIE_WINS))
        await anyio.to_thread.run_sync(own_postgresql.stop)
        async with running(engine) as rating_counter:
            rating_counter.note(record, rated=True)
            with anyio.fail_after(20):
                while "the ratings wait" not in caplog.text:
                    await anyio.sleep(0.02)
            await anyio.to_thread.run_sync(own_postgresql.start)
            with anyio.fail_after(20 + PAUSE_SECONDS):
                while rating_counter.rating("tictactoe", "anna") == 1500:
                    await anyio.sleep(0.02)
