from __future__ import annotations

import random
from collections import Counter

import pytest
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.referee import SEAT_BY_PLAYER
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.standings import make_standings
from arena.server.store import queries
from arena.server.store.aggregates.event_tables import (
    BOTS_IN_PARTIAL_EVENT_TABLE,
    MAX_BOTS_IN_FULL_EVENT_TABLE,
    EventMatchCount,
    list_events_with_matches,
    load_event_scores,
)
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.ladders import claim_ladder
from arena.server.store.queries import load_event_table
from testkit.stored_records import import_record_lines
from tests.properties import seeds
from tests.server.core.test_event import begin_event
from tests.server.matches import record
from tests.server.played import KINDS, day, events, insert_event, store_match
from tests.server.store.test_archive import encode_line


@pytest.mark.parametrize("seed", seeds(2))
async def test_the_stored_table_equals_one_made_from_all_records(engine: AsyncEngine, seed: int) -> None:
    chance = random.Random(seed)
    played: dict[str, list[Record]] = {"one": [], "two": []}
    for _ in range(25):
        maxie, minnie = chance.sample(["anna", "bert", "carl"], 2)
        event = chance.choice(sorted(played))
        rated = chance.random() < 0.5
        kept = await store_match(
            engine,
            day(1),
            chance.choice([*KINDS, events((4, 4))]),
            maxie=maxie,
            minnie=minnie,
            event=event,
            rated=rated,
        )
        played[event].append(kept)
        if chance.random() < 0.3:
            await add_new_matches_to_aggregates(engine)
    await add_new_matches_to_aggregates(engine)
    for event, records in played.items():
        found = await load_event_table(engine, event)
        assert found is not None
        bots = sorted({bot for each in records for bot in (each.players.maxie, each.players.minnie)})
        assert found.rows == make_standings(bots, records)
        assert found.counted_match_count == len(records)
        scored: Counter[tuple[str, str]] = Counter()
        for each in found.cross_scores:
            scored[each.bot, each.opponent] = each.wins
        assert sum(scored.values()) == sum(row.wins for row in found.rows)
    listed = [EventMatchCount(event, len(played[event])) for event in ("two", "one")]
    assert await list_events_with_matches(engine, 50) == listed
    assert await list_events_with_matches(engine, 1) == listed[:1]
    assert await load_event_table(engine, "three") is None


async def test_the_table_of_an_event_with_a_plan_has_all_its_bots(engine: AsyncEngine) -> None:
    names = [f"bot {number:03}" for number in range(MAX_BOTS_IN_FULL_EVENT_TABLE + 2)]
    pairs = list(zip(names[::2], names[1::2], strict=True))
    lines = [encode_line(record(f"{maxie} wins", maxie=maxie, minnie=minnie)) for maxie, minnie in pairs]
    plan = {
        "game": "tictactoe",
        "maps": [],
        "setups": [{}],
        "bots": dict.fromkeys(names, ""),
        "format": "swiss",
        "rounds": 1,
        "time control": "2+0.1",
        "seed": 1,
    }
    await claim_ladder(engine, "elsewhere", "ladder", "test", "auto", plan)
    assert (await import_record_lines(engine, lines)).added_count == len(lines)
    await add_new_matches_to_aggregates(engine)
    found = await load_event_table(engine, "test")
    assert found is not None
    assert sorted(row.bot for row in found.rows) == names
    assert sum(row.points for row in found.rows) == len(pairs)


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "knockout"])
async def test_the_table_has_the_ranks_and_points_that_the_event_tells_its_bots(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    event, chance = begin_event(format, 4, round_count=1), random.Random(5)
    await insert_event(engine, event.state)
    lines = []
    while due := event.list_due_matches():
        winner = chance.choice(list(SEAT_BY_PLAYER.values()))
        reason = EndReason.RESIGNATION if chance.random() < 0.5 else EndReason.NO_SHOW
        kept = record(
            event.record_match_start(due[0]),
            maxie=due[0].maxie,
            minnie=due[0].minnie,
            winner=winner,
            reason=reason,
        )
        lines.append(encode_line(replace(kept, event="cup")))
        event.record_match_result(kept.match, kept.result)
    assert (await import_record_lines(engine, lines)).added_count == len(lines)
    await add_new_matches_to_aggregates(engine)
    if format == "round-robin":  # its table must be made without the results of single matches
        monkeypatch.delattr(queries, "read_finished_matches_of_event")
    table = await load_event_table(engine, "cup")
    assert table is not None
    assert {row.bot: (row.rank, row.points) for row in table.rows} == {
        bot: event.compute_place(bot) for bot in event.state.entered_bots
    }
    assert [row.rank for row in table.rows] == sorted(row.rank for row in table.rows)


async def test_a_large_table_has_only_the_bots_with_the_most_matches(engine: AsyncEngine) -> None:
    names = [f"bot {number:03}" for number in range(MAX_BOTS_IN_FULL_EVENT_TABLE + 20)]
    lines = [
        encode_line(record(f"{name} {n}", maxie="anna", minnie=name))
        for name in names
        for n in range(1 + (name in names[:9]))
    ]
    assert (await import_record_lines(engine, lines)).added_count == len(lines)
    await add_new_matches_to_aggregates(engine)
    found = await load_event_scores(engine, "test", includes_all_bots=False)
    assert found is not None
    assert found.match_count == len(lines)
    assert len(found.bots) == BOTS_IN_PARTIAL_EVENT_TABLE
    assert {"anna", *names[:9]} <= set(found.bots)
    assert sum(times for _, times in found.result_counts) == BOTS_IN_PARTIAL_EVENT_TABLE - 1 + 9
