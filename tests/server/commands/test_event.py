"""`arena event`: what the commands refuse, and what they tell."""

from __future__ import annotations

import re

import anyio
import pytest
import sqlalchemy as sa

from arena.server.core.event_state import EventState
from arena.server.store.aggregates.counting import refresh
from arena.server.store.database import open_store
from arena.server.store.events import EVENT, event_row
from arena.server.store.schema import ladders
from tests.bots.command_line import arena, fails
from tests.server.core.test_events import plan
from tests.server.played import MAXIE_WINS, day, events, keep


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--rating", "1800-1200"), "--rating: no rating is in 1800-1200: write the lower bound first"),
        (("--rating", "1800"), "--rating: write 1200-1800, 1500- or -1800, not '1800'"),
        (("--at", "soon"), "'soon' is not a time"),
        (("--at", "2020-01-01 20:00"), "--at: 2020-01-01 20:00 is over"),
        (("--every", "month"), "--every: must be day or week, not 'month'"),
        (("--zone", "Berlin"), "no time zone is called 'Berlin'"),
        (("--format", "league"), "--format: must be one of"),
        (("--format", "arena", "--for", "2s"), "--for: must be from 1 minute to 1 day"),
        (("--map", "nowhere"), "--map: "),
    ],
)
def test_what_is_no_event_is_bad_usage(words: tuple[str, ...], why: str) -> None:
    at = () if "--at" in words else ("--at", "20:00")
    fails(why, 2, "event", "new", "cup", *at, *words)


def test_the_table_has_all_entries_and_says_when_the_event_began(database: str) -> None:
    async def fill() -> None:
        async with open_store(database) as engine:
            state = EventState(plan("arena", minutes=1), "running", ("anna", "bert", "carl"))
            row = event_row(state) | {"kind": EVENT, "server": "", "named": True}
            async with engine.begin() as connection:
                await connection.execute(sa.insert(ladders).values(**row))
            await keep(engine, day(1), events(MAXIE_WINS), event="cup")
            await refresh(engine)

    anyio.run(fill)
    told = arena("event", "show", "cup", "--db", database)
    assert "cup: running, arena, began at 1970-01-01T00:01:00Z, 1 matches played" in told.stderr
    cells = [re.split(r"\s*\|\s*", line)[1:4] for line in told.stdout.splitlines()[2:]]
    assert cells == [["1", "anna", "1"], ["2", "bert", "0"], ["-", "carl", "0"]]
