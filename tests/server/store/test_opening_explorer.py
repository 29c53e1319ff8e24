"""Opening explorer, compared with a count over all positions of all matches."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from arena.games.catalogue import make_game
from arena.games.riskless import RisklessPosition
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result, format_record_line
from arena.server.store import opening_explorer
from arena.server.store.archive import ImportResult
from arena.server.store.database import Engine
from arena.server.store.opening_explorer import MAX_CONTINUATIONS, Continuation, find_continuations
from testkit.stored_records import import_record_lines
from tests.match.recorded import random_record

SETUP: dict[str, Any] = make_game_on_map("riskless", "path4").setup()
GAME: Any = make_game("riskless", SETUP | {"ply_limit": 6})
"""Riskless on path4, drawn after six plies."""
ENDINGS = (
    Result("maxie", EndReason.RESIGNATION),
    Result("minnie", EndReason.RESIGNATION),
    Result(None, EndReason.SERVER_FAULT),
)


def make_random_matches(game: Any, count: int) -> list[tuple[Record, list[Any]]]:
    """Return random matches, each with its positions. A quarter are drawn, and the others end one ply earlier as in ENDINGS."""
    records = []
    for seed in range(count):
        drawn = seed % 4 == 0
        record, positions = random_record(game, seed, None if drawn else 5)
        started = f"2026-11-20T12:00:{seed:02}Z"
        record = structs.replace(record, match=f"{game.map.name}-{seed}", started=started)
        if not drawn:
            record = structs.replace(record, result=ENDINGS[seed % 4 - 1])
        records.append((record, positions))
    return records


async def import_matches(engine: Engine, *found: tuple[Record, list[Any]]) -> None:
    lines = [format_record_line(record).encode() for record, _ in found]
    assert await import_record_lines(engine, lines, counts_rated_matches=True) == ImportResult(
        added_count=len(lines)
    )


def count_continuations(
    found: list[tuple[Record, list[Any]]], position: RisklessPosition
) -> set[Continuation]:
    moves: dict[str, list[int]] = {}
    for record, positions in found:
        if record.result.reason is EndReason.SERVER_FAULT:
            continue
        for at, each in zip(positions, record.moves, strict=False):
            if at == position:
                text = GAME.move_to_text(GAME.move_from_data(each.move))
                seat = ("maxie", None, "minnie").index(record.result.winner)
                moves.setdefault(text, [0, 0, 0])[seat] += 1
    return {Continuation(move, *results) for move, results in moves.items()}


async def test_the_moves_from_a_position_are_counted_however_it_was_reached(engine: Engine) -> None:
    found = make_random_matches(GAME, 40)
    await import_matches(engine, *found, *make_random_matches(make_game_on_map("riskless", "m1"), 1))
    positions = {position for _, reached in found for position in reached}
    assert len(positions) > 20
    for position in positions:
        answer = await find_continuations(engine, GAME, position)
        assert answer.examined_match_count == 30, "void matches and matches on another map do not count"
        assert len(answer.moves) <= MAX_CONTINUATIONS
        assert set(answer.moves) == count_continuations(found, position)
        counts = [each.maxie_win_count + each.draw_count + each.minnie_win_count for each in answer.moves]
        assert counts == sorted(counts, reverse=True)


async def test_only_the_newest_matches_are_examined(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_explorer, "MAX_REPLAYED_MATCHES", 4)
    found = make_random_matches(GAME, 12)
    await import_matches(engine, *found)
    answer = await find_continuations(engine, GAME, GAME.start())
    assert answer.examined_match_count == 3, "one of the four is void"
    assert set(answer.moves) == count_continuations(found[-4:], GAME.start())


async def test_a_match_on_another_version_of_the_map_is_ignored(engine: Engine) -> None:
    ((record, positions),) = make_random_matches(GAME, 1)
    await import_matches(engine, (record, positions))
    older: Any = make_game("riskless", SETUP | {"ply_limit": 7})
    assert (await find_continuations(engine, older, older.start())).moves == []
