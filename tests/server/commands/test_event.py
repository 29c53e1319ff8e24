"""`arena event`: errors and output of the commands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from msgspec.structs import replace

from arena.games.core import Player
from arena.match.referee_events import PlayerReady, RefereeEvent
from arena.protocol.messages import EventPhase
from arena.server.core.event_state import EventPlan, EventState
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import open_store
from tests.bots.command_line import Result, arena, fails
from tests.server.core.test_events import plan
from tests.server.played import MAXIE_WINS, NO_SHOW, day, events, insert_event, store_match


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--rating", "1800-1200"), "--rating: 1800-1200 contains no rating; write the lower bound first"),
        (("--rating", "1800"), "--rating: write 1200-1800, 1500- or -1800, not '1800'"),
        (("--at", "soon"), "'soon' is not a time"),
        (("--at", "2020-01-01 20:00"), "--at: 2020-01-01 20:00 is in the past; give a later time"),
        (("--at", "9999-12-31 23:59", "--zone", "Pacific/Honolulu"), "is more than ten years ahead"),
        (
            ("--closes", "2027-01-01 19:55"),
            "--closes: write a time of day, such as 19:55, not '2027-01-01 19:55'",
        ),
        (("--invite", " , "), "--invite: name at least one bot"),
        (("--invite", "ada,b\nc"), "'b\\nc' is not a valid name"),
        (("--every", "month"), "--every: must be day or week, not 'month'"),
        (("--zone", "Berlin"), "no time zone is called 'Berlin'"),
        (("--format", "league"), "--format: must be one of"),
        (("--format", "arena", "--for", "2s"), "--for: an arena event must last between 1 minute and 1 day"),
        (("--map", "nowhere"), "--map: "),
    ],
)
def test_an_invalid_event_is_a_usage_error(words: tuple[str, ...], why: str) -> None:
    at = () if "--at" in words else ("--at", "20:00")
    fails(why, 2, "event", "new", "cup", *at, *words)


def test_an_event_with_a_full_date_cannot_be_repeated() -> None:
    at = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d} 20:00"
    fails("--every: a repeated event has no date", 2, "event", "new", "cup", "--at", at, "--every", "week")


def test_an_unknown_bot_cannot_be_entered(database: str) -> None:
    assert arena("token", "create", "anna", "--db", database).code == 0

    def refuses(message: str, bot: str) -> None:
        fails(message, 1, "event", "enter", "cup", bot, "--db", database)

    refuses("""no bot is called 'ana'; did you mean "anna"?\n""", "ana")
    refuses("no bot is called 'zoe': connect it, or create a token for it, first\n", "zoe")


def show(
    database: str,
    plan: EventPlan,
    bots: tuple[str, ...],
    matches: Sequence[tuple[str, str, Sequence[tuple[int, RefereeEvent]]]],
) -> Result:
    """Store a running event with finished matches (Maxie, Minnie, events), and return the output of `arena event show`."""

    async def fill() -> None:
        async with open_store(database) as engine:
            await insert_event(engine, EventState(plan, "running", bots))
            for number, (maxie, minnie, happened) in enumerate(matches):
                await store_match(
                    engine, day(1 + number), happened, maxie=maxie, minnie=minnie, event=plan.event_name
                )
            await add_new_matches_to_aggregates(engine)

    anyio.run(fill)
    return arena("event", "show", plan.event_name, "--db", database)


@pytest.mark.parametrize(
    ("series", "phase", "options", "why"),
    [
        ("", "open", (), "an event called cup already exists: choose another name"),
        ("", "open", ("--every", "day"), "an event called cup already exists: choose another name"),
        ("", "over", (), "an event called cup already exists: choose another name"),
        ("weekly", "open", ("--every", "week"), "a series called weekly already exists: choose another name"),
        ("weekly", "over", (), "a series called weekly already exists: choose another name"),
    ],
)
def test_the_name_of_another_event_or_series_is_refused(
    series: str, phase: EventPhase, options: tuple[str, ...], why: str, database: str
) -> None:
    store_event(database, EventState(replace(plan(), series_name=series), phase))
    fails(why, 1, "event", "new", series or "cup", "--at", "20:00", *options, "--db", database)


def test_a_series_may_have_the_name_of_a_finished_one(database: str) -> None:
    store_event(database, EventState(replace(plan(), series_name="weekly"), "over"))
    words = ("event", "new", "weekly", "--at", "20:00", "--every", "week", "--db", database)
    assert arena(*words).code == 0


def store_event(database: str, state: EventState) -> None:
    async def fill() -> None:
        async with open_store(database) as engine:
            await insert_event(engine, state)

    anyio.run(fill)


def cells(shown: Result) -> list[list[str]]:
    return [re.split(r"\s*\|\s*", line)[1:4] for line in shown.stdout.splitlines()[2:]]


def test_the_table_has_all_entries_and_the_start_time(database: str) -> None:
    bots = ("anna", "bert", "carl")
    shown = show(database, plan("arena", duration_minutes=1), bots, [("anna", "bert", events(MAXIE_WINS))])
    assert "cup: running, arena, began at 1970-01-01T00:01:00Z, 1 matches played" in shown.stderr
    assert cells(shown) == [["1", "anna", "1"], ["2", "bert", "0"], ["-", "carl", "0"]]


def test_a_cancelled_event_has_the_reason(database: str) -> None:
    store_event(database, replace(EventState(plan(), "cancelled"), cancel_reason="too few bots"))
    shown = arena("event", "show", "cup", "--db", database)
    assert "cup: cancelled (too few bots), swiss, planned for 1970-01-01T00:01:00Z, 0 matches" in shown.stderr
    (listed,) = json.loads(arena("event", "list", "--db", database, "--json", "-").stdout)
    assert (listed["state"], listed["cancel_reason"]) == ("cancelled", "too few bots")


def test_points_of_walkovers_count_in_a_round_robin(database: str) -> None:
    opened, late = events((), NO_SHOW)
    walkover = [opened, (opened[0] + 1, PlayerReady(Player.MAXIE)), late]
    played = [("anna", "bert", events(MAXIE_WINS)), *[("carl", "bert", walkover)] * 2]
    shown = show(database, plan("round-robin"), ("anna", "bert", "carl"), played)
    assert cells(shown) == [["1", "carl", "2"], ["2", "anna", "1"], ["3", "bert", "0"]]
