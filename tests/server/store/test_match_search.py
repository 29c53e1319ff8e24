"""Searches with every combination of terms, compared with a test of each match."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa

from arena.protocol.codes import EndReason
from arena.server.store import match_search
from arena.server.store.database import Engine
from arena.server.store.finished_matches import MatchSummary
from arena.server.store.match_search import (
    SearchFilter,
    find_opening_key,
    load_head_to_head_scores,
    search_matches,
)
from arena.server.store.schema import crosses, matches

BOTS, MAPS, EVENTS, OPENINGS = ("anna", "bert", "carl"), ("m2", "usa"), ("e", "f"), ("aaaa", "bbbb", None)
COUNT = 120


@pytest.fixture
async def stored_rows(engine: Engine) -> list[dict[str, object]]:
    """Store finished matches of a few bots, and one match in progress. Return their rows."""
    chance = Random(5)
    rows: list[dict[str, object]] = []
    for number in range(1, COUNT + 1):
        maxie, minnie = chance.choice(BOTS), chance.choice(BOTS)
        winner = chance.choice(("maxie", "minnie", None))
        game = chance.choice(("riskless", "riskless", "tictactoe"))
        rows.append(
            {
                "number": number,
                "match": f"{number:032x}",
                "event": chance.choice(EVENTS),
                "game": game,
                "maxie": maxie,
                "minnie": minnie,
                "terms": "",
                "started": "2026-11-20T12:00:00.000Z",
                # Some end at the same time, so that their numbers decide the order.
                "finished": None if number == COUNT else f"2026-11-20T13:00:{number // 3:02}.000Z",
                "arrival": number,
                "map": chance.choice(MAPS) if game == "riskless" else "",
                "time_control": "1+0",
                "plies": 9,
                "winner": winner,
                "reason": "armies" if winner else chance.choice(("ply_limit", "server_fault")),
                "detail": "",
                "opening": chance.choice(OPENINGS),
            }
        )
    async with engine.begin() as connection:
        await connection.execute(sa.insert(matches), rows)
    return rows


def is_match(row: dict[str, object], wanted: SearchFilter) -> bool:
    if row["finished"] is None:
        return False
    players = {row["maxie"], row["minnie"]}
    if wanted.opponent:
        # A bot that plays itself is its own opponent.
        if sorted((wanted.bot, wanted.opponent)) != sorted((str(row["maxie"]), str(row["minnie"]))):
            return False
    elif wanted.bot and wanted.bot not in players:
        return False
    for name in ("map", "game", "event", "opening"):
        if getattr(wanted, name) and row[name] != getattr(wanted, name):
            return False
    won = {row["maxie"] if row["winner"] == "maxie" else row["minnie"]} if row["winner"] else set()
    lost = {row["minnie"] if row["winner"] == "maxie" else row["maxie"]} if row["winner"] else set()
    match wanted.result:
        case "":
            return True
        case "won":
            return wanted.bot in won
        case "lost":
            return wanted.bot in lost
        case "drawn":
            return row["winner"] is None and row["reason"] != "server_fault"
        case "maxie" | "minnie":
            return row["winner"] == wanted.result
    return row["reason"] == wanted.result


def list_combinations() -> Iterator[SearchFilter]:
    for bot, opponent, map, game, event, opening in itertools.product(
        ("", "anna"), ("", "bert"), ("", "usa"), ("", "riskless"), ("", "e"), ("", "aaaa")
    ):
        if opponent and not bot:
            continue
        results = ("maxie", "drawn", "armies", *(("won", "lost") if bot else ()))
        for result in ("", *results):
            yield SearchFilter(bot, opponent, map, game, event, opening, result)


async def find_all(engine: Engine, wanted: SearchFilter, limit: int) -> list[MatchSummary]:
    """Return all matches that fit, from all pages."""
    found: list[MatchSummary] = []
    cursor = None
    while True:
        page = await search_matches(engine, wanted, limit, cursor)
        assert len(page.matches) <= limit
        found += page.matches
        if page.next_cursor is None:
            return found
        time, _, match = page.next_cursor.partition("|")
        cursor = time, match


async def test_every_combination_of_terms_finds_the_matches_that_fit_newest_first(
    engine: Engine, stored_rows: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_search, "MAX_MATCHES_EXAMINED_PER_SEARCH", 50)
    newest = sorted(stored_rows, key=lambda row: (str(row["finished"]), row["number"]), reverse=True)
    everything = list(list_combinations())
    for wanted in Random(7).sample(everything, 80):
        expected = [row["match"] for row in newest if is_match(row, wanted)]
        assert [each.match for each in await find_all(engine, wanted, 20)] == expected, wanted


async def test_a_search_examines_no_more_matches_than_allowed(
    engine: Engine, stored_rows: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_search, "MAX_MATCHES_EXAMINED_PER_SEARCH", 10)
    page = await search_matches(engine, SearchFilter(result=EndReason.CRASH.value), 5)
    assert page.matches == []
    assert page.next_cursor is not None
    newest = sorted(
        (row for row in stored_rows if row["finished"]), key=lambda row: (str(row["finished"]), row["number"])
    )
    assert page.next_cursor.endswith(str(newest[-10]["match"]))
    page = await search_matches(engine, SearchFilter(), len(newest))
    assert (len(page.matches), page.next_cursor) == (len(newest), None)


async def test_the_score_of_one_bot_against_another_is_listed_by_game(engine: Engine) -> None:
    rows = [
        {"game": game, "bot": "anna", "opponent": other, "wins": wins, "draws": 1, "losses": 2}
        for game, other, wins in (("riskless", "bert", 3), ("tictactoe", "bert", 4), ("riskless", "carl", 9))
    ]
    async with engine.begin() as connection:
        await connection.execute(sa.insert(crosses), rows)
    assert [(each.game, each.wins) for each in await load_head_to_head_scores(engine, "anna", "bert")] == [
        ("riskless", 3),
        ("tictactoe", 4),
    ]
    assert await load_head_to_head_scores(engine, "bert", "dora") == []


async def test_the_opening_key_of_a_match_is_found(
    engine: Engine, stored_rows: list[dict[str, object]]
) -> None:
    for row in stored_rows[:5]:
        assert await find_opening_key(engine, str(row["match"])) == row["opening"]
    assert await find_opening_key(engine, "none") is None


async def test_every_search_reads_an_index_in_order(
    engine: Engine, stored_rows: list[dict[str, object]]
) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL reads a small table as a whole")
    statements: list[tuple[str, Any]] = []
    sa.event.listen(
        engine.sync_engine, "before_cursor_execute", lambda *given: statements.append((given[2], given[3]))
    )
    for wanted, index in {
        SearchFilter(): "finished",
        SearchFilter(game="tictactoe"): "game",
        SearchFilter("anna"): "maxie",
        SearchFilter("anna", game="tictactoe"): "maxie",
        SearchFilter("anna", "bert"): "pair",
        SearchFilter("anna", map="usa"): "maxie",
        SearchFilter(map="usa"): "map",
        SearchFilter(opening="aaaa", map="m2"): "opening",
        SearchFilter(event="e", bot="anna"): "event",
        SearchFilter(result="armies"): "finished",
    }.items():
        for before in (None, ("2026-11-20T13:00:30.000Z", "0" * 32)):
            statements.clear()
            await search_matches(engine, wanted, 5, before)
            reads = []
            for statement, given in [each for each in statements if each[0].startswith("SELECT")]:
                async with engine.connect() as connection:
                    plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)).all()
                reads += [row.detail for row in plan if " matches " in f"{row.detail} "]
            # The chosen matches are then read by their numbers, the primary key.
            index_reads = [line for line in reads if "INTEGER PRIMARY KEY" not in line]
            assert all("INDEX ix_matches_" in line for line in index_reads), (wanted, reads)
            assert any(f"INDEX ix_matches_{index}" in line for line in index_reads), (wanted, reads)
