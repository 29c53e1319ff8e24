"""A search that looks leaves up: what it finds is what the table tells, and what is not told is searched as ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.probe import codes_of, make_look, unpacked
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.compiled.tictactoe_kernel import tictactoe_kernel
from arena.bots.search.values import ESTIMATE_LIMIT, WIN
from arena.games.core import MAXIE, Player
from arena.games.riskless import Armies, Riskless
from arena.lab.solving.solver import Solver
from arena.maps.generators import ring
from arena.maps.loader import load_map
from arena.solved.boards import Boards
from arena.solved.solution import Solution, solution_of
from arena.solved.table import Table
from tests.lab.solving.maps import small

PATH = Riskless(load_map("path4"))


def solution() -> Solution:
    found = solution_of(PATH)
    assert found is not None
    return found


@pytest.fixture
def make() -> Iterator[Callable[..., Searcher[Any, Any]]]:
    made: list[Searcher[Any, Any]] = []

    def build(game: Any = PATH, **settings: Any) -> Searcher[Any, Any]:
        made.append(Searcher(game, weights_for(game, "features"), Settings(table_mb=1, **settings)))
        return made[-1]

    yield build
    for searcher in made:
        searcher.close()


def random_positions(count: int, seed: int) -> list[Armies]:
    """Boards in play; some are near the ply limit, where a slow win is none."""
    rng = Random(seed)
    found: list[Armies] = []
    while len(found) < count:
        ply = rng.choice((0, PATH.map.ply_limit - rng.randint(1, 20)))
        position = Armies(tuple(rng.randint(-10, 10) for _ in range(4)), rng.choice(list(Player)), ply)
        if any(position.armies) and PATH.outcome(position) is None:
            found.append(position)
    return found


@pytest.mark.parametrize("threads", [1, 3])
def test_the_codes_of_all_boards_are_those_of_the_boards_that_stand_for_them(
    threads: int, tmp_path: Path
) -> None:
    map = small(ring(4), 3, 8)
    Solver(Boards.of(map), tmp_path / "part", 1, lambda _: None).solve(tmp_path / "it")
    table = Table(tmp_path / "it")
    codes, game = codes_of(unpacked(table, threads)), Riskless(map)
    asked = 0
    for number in range(table.boards.count):
        board = table.boards.board(number)
        if any(board) and game.outcome(Armies(board, MAXIE, 0)) is None:
            asked += 1
            assert codes[number] == table.code(table.boards.representative(board))
    assert asked == table.header.totals.open


def test_a_search_that_looks_up_leaves_finds_the_truth_at_once(make: Callable[..., Any]) -> None:
    """At depth 1 already, with the plies to the end, and as far as the ply limit lets it."""
    known, searcher = solution(), make(pieces=64)
    decided = 0
    for position in random_positions(150, 6):
        truth, best = known.best(position)
        first = next(report for report in searcher.deepen(position, max_depth=3) if report.depth == 1)
        assert first.move in best
        value = first.value * position.player.sign
        if truth.plies is None:
            assert abs(value) <= ESTIMATE_LIMIT
        else:
            decided += 1
            assert value == truth.value.sign * (WIN - truth.plies)
    assert decided > 100


def test_one_table_of_positions_serves_all_plies_of_a_match(make: Callable[..., Any]) -> None:
    """What was stored far from the ply limit says nothing near it, where a slow win is none."""
    known, searcher = solution(), make(pieces=64, exact=True)
    turned = 0
    for position in random_positions(40, 9):
        early, late = position._replace(ply=0), position._replace(ply=PATH.map.ply_limit - 5)
        for each in (early, late):
            truth = known.truth(each)
            value = list(searcher.deepen(each, max_depth=5))[-1].value * each.player.sign
            assert (value > ESTIMATE_LIMIT) - (value < -ESTIMATE_LIMIT) == truth.value.sign, each
        turned += known.truth(early) != known.truth(late)
    assert turned > 3


def test_leaves_with_more_pieces_than_it_is_told_are_estimated(make: Callable[..., Any]) -> None:
    none, some, every = make(exact=True), make(exact=True, pieces=1), make(exact=True, pieces=64)
    nothing = some_alike = all_alike = 0
    for position in random_positions(60, 3):
        values = [list(each.deepen(position, max_depth=1))[-1].value for each in (none, some, every)]
        nothing += values[0] == values[2]
        some_alike += values[0] == values[1]
        all_alike += values[1] == values[2]
    assert nothing < min(some_alike, all_alike) < 60


def test_where_there_is_no_table_it_searches_as_ever(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m2"))
    one, other = make(game, exact=True), make(game, exact=True, pieces=64)
    first, second = (list(each.deepen(game.start(), max_depth=4)) for each in (one, other))
    assert first == second


def test_only_the_moves_that_it_is_given_are_searched_at_the_root(make: Callable[..., Any]) -> None:
    """Their best is found whatever was left out, and nothing of it is kept for the position as a whole."""
    searcher, fresh = make(exact=True), make(exact=True)
    rng = Random(5)

    def last(chosen: Any, position: Armies, moves: Any = None) -> Any:
        return list(chosen.deepen(position, max_depth=3, moves=moves))[-1]

    left_out = 0
    for position in random_positions(40, 8):
        moves = PATH.moves(position)
        sign = position.player.sign
        alone = {move: sign * last(fresh, position, [move]).value for move in moves}
        some = [move for move in moves if rng.random() < 0.5] or [moves[-1]]
        found = last(searcher, position, some)
        whole = last(fresh, position)
        most = max(alone[move] for move in some)
        left_out += whole.move not in some
        assert (found.move, sign * found.value) == (next(m for m in some if alone[m] == most), most), position
        again = last(searcher, position)
        assert (again.value, again.move) == (whole.value, whole.move), position
    assert left_out > 5


def test_a_kernel_that_tells_no_number_has_no_truth() -> None:
    with pytest.raises(ValueError, match="tells no number of a board"):
        make_look(tictactoe_kernel(), truthful=True)
