"""Blunders of bots, counted with the tables of solved maps."""

from __future__ import annotations

from msgspec.structs import replace

from arena.games.riskless import Riskless
from arena.ladder.reports.blunders import BlunderReport, count_blunders
from arena.maps.loader import load_map
from arena.protocol.record import Record, RecordedMove
from arena.solved.solution import load_solution
from arena.solved.solved_value import SolvedResult
from tests.server.matches import record


def make_record(map: str, plies: int, *, opening: int = 0) -> Record:
    """Return the record of a match in which both bots always play the last legal move."""
    game = Riskless(load_map(map))
    position = game.start()
    moves: list[RecordedMove] = []
    while len(moves) < plies and game.outcome(position) is None:
        move = game.moves(position)[-1]
        moves.append(RecordedMove(list(move), 1.0, opening=len(moves) < opening))
        position = game.play(position, move)
    finished = record(f"{plies:032x}", maxie="a", minnie="b", winner="maxie", game="riskless")
    return replace(finished, setup=game.setup(), moves=moves)


def count_by_comparison(record: Record) -> dict[str, int]:
    """Return the number of blunders of each bot, by comparing the value of each move with those of all legal moves."""
    game = Riskless(load_map("path4"))
    solution = load_solution(game)
    assert solution is not None
    lost, position = {"a": 0, "b": 0}, game.start()
    for each in record.moves:
        known = dict(solution.list_move_values(position))
        move = game.move_from_data(each.move)
        best = max(known.values(), key=lambda truth: truth.sort_key).result
        name = "a" if position.player.value == "maxie" else "b"
        lost[name] += known[move].result is not best and best is not SolvedResult.LOSS and not each.opening
        position = game.play(position, move)
    return lost


def test_blunders_are_those_moves_that_made_the_value_worse() -> None:
    record = make_record("path4", 30)
    found = count_blunders(["a", "b"], [record, record])
    right = count_by_comparison(record)
    assert sum(right.values()) > 0
    assert {each.bot: each.lost_wins + each.lost_draws for each in found} == {
        bot: 2 * number for bot, number in right.items()
    }
    assert all(each.matches == 2 and each.blunders_per_match == right[each.bot] for each in found)
    assert sum(each.moves for each in found) == 2 * len(record.moves)


def test_openings_are_no_blunders_and_unsolved_maps_have_no_report() -> None:
    record = make_record("path4", 30, opening=30)
    assert count_blunders(["a", "b"], [record]) == [
        BlunderReport("a", 1, 0, 0, 0),
        BlunderReport("b", 1, 0, 0, 0),
    ]
    assert count_blunders(["a", "b"], [make_record("world", 6)]) == []
