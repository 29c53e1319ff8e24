"""The Python interface of the compiled search: stops, limits, one table for a whole match, and errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, parse_spec
from arena.bots.compiled.availability import has_compiled_search
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.engines.implementations import choose_implementation
from arena.games.basics import Outcome
from arena.games.core import AnyGame, Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.maps.loader import load_map
from arena.solved.board_numbers import find_board_numbering
from tests.bots.compiled.positions import make_random_map, make_random_position

PATH = Riskless(load_map("path4"))
PLAYS = {"as it plays": {}, "exact": {"exact": True}}


def make_stop(number: int) -> Callable[[], bool]:
    """Return a stop function that returns True from a certain call on."""
    left = iter(range(number))
    return lambda: next(left, None) is None


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("way", PLAYS)
def test_a_stop_at_any_moment_leaves_a_legal_move_and_a_sound_table(
    make: Callable[..., Any], threads: int, way: str
) -> None:
    game = Riskless(load_map("m2"))
    rng = random.Random(threads)
    searcher = make(game, threads=threads, **PLAYS[way])
    fresh = make(game, exact=True)
    position = game.start()
    for moment in range(40):
        limits: dict[str, Any] = {"max_nodes": rng.randrange(1, 40_000)}
        if moment % 2:
            limits = {"stop": make_stop(rng.randrange(12))}
        reports = list(searcher.deepen(position, **limits))
        last = reports[-1]
        assert all(report.is_depth_finished for report in reports[1:-1])
        after = position
        for move in last.line:
            after = game.play(after, move)
        assert last.line[0] == last.move
        if way == "exact" and moment % 8 == 0:
            # the table entries of stopped searches must not change the result of the next search
            left = list(searcher.deepen(position, max_depth=5))[-1]
            clean = list(fresh.deepen(position, max_depth=5))[-1]
            assert (left.value, left.move) == (clean.value, clean.move)
        position = game.play(position, last.move)
        if game.outcome(position):
            position = game.start()


def test_pauses_for_the_stop_function_change_nothing(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m2"))
    calls = iter(range(10**6))
    paused = list(make(game).deepen(game.start(), stop=lambda: next(calls) < 0, max_nodes=30_000))
    assert paused == list(make(game).deepen(game.start(), max_nodes=30_000))
    assert 5 <= next(calls) <= 10


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_stop_function_ends_the_search(make: Callable[..., Any], threads: int) -> None:
    game = Riskless(load_map("m2"))
    searcher = make(game, threads=threads)
    with pytest.raises(ZeroDivisionError):
        list(searcher.deepen(game.start(), stop=lambda: bool(1 // 0)))
    assert list(searcher.deepen(game.start(), max_depth=3))[-1].depth == 3


def test_a_stop_before_the_first_node(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m2"))
    reports = list(make(game).deepen(game.start(), stop=lambda: True))
    assert reports[0].depth == 0
    assert reports[0].move == game.moves(game.start())[0]
    assert reports[-1].move in game.moves(game.start())


@pytest.mark.parametrize("threads", [1, 2])
def test_a_node_limit_ends_the_search_near_it(make: Callable[..., Any], threads: int) -> None:
    game = Riskless(load_map("world"))
    searcher = make(game, threads=threads)
    list(searcher.deepen(game.start(), max_nodes=50_000))
    # a thread adds its nodes to the total at every 32nd inner node, and an inner node has at most some hundred leaves
    assert searcher.nodes + 20_000 >= 50_000
    assert searcher.nodes < 50_000 + threads * 32 * 200


def test_one_search_with_a_window_is_a_bound_or_the_value(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m1"))
    searcher = make(game, exact=True)
    value, nodes = searcher.search(game.start(), 6, -(10**6), 10**6)
    assert nodes > 0
    low, _ = searcher.search(game.start(), 6, value - 1, value)
    high, _ = searcher.search(game.start(), 6, value, value + 1)
    assert high <= value <= low


def test_a_finished_position_is_refused(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m1"))
    over = game.position_from_data({"armies": [1, 0, 0, 0, 0, 0], "player": "maxie", "ply": 3})
    with pytest.raises(ValueError, match=r"nothing to search: the match is over \(maxie wins"):
        list(make(game).deepen(over))


def test_a_too_large_map_or_zero_threads_are_refused() -> None:
    rng = random.Random(6)
    while (map := make_random_map(rng, 70)).territory_count < 65:
        pass
    game = Riskless(map)
    weights = weights_for(game, "plain")
    with pytest.raises(ValueError, match="too large"):
        Searcher(game, weights)
    with pytest.raises(ValueError, match="at least 1 thread, not 0"):
        Searcher(Riskless(load_map("m1")), weights, Settings(threads=0))


def test_clear_empties_the_table(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m2"))
    searcher = make(game, exact=True)
    position = make_random_position(game, random.Random(7))
    first = list(searcher.deepen(position, max_depth=6))[-1]
    again = list(searcher.deepen(position, max_depth=6))[-1]
    searcher.clear()
    third = list(searcher.deepen(position, max_depth=6))[-1]
    assert again.nodes < first.nodes
    assert (third.nodes, third.value, third.move) == (first.nodes, first.value, first.move)


def test_reports_are_plain_values(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("m1"))
    for report in make(game).deepen(game.start(), max_depth=3):
        values = (report.depth, report.value, report.nodes, *report.move)
        assert all(type(value) is int for value in values)
        assert not isinstance(report.is_depth_finished, np.bool_)


def draw_path4_positions(count: int, seed: int) -> list[RisklessPosition]:
    """Return unfinished positions; some are near the ply limit."""
    rng = random.Random(seed)
    boards: list[RisklessPosition] = []
    while len(boards) < count:
        ply = rng.choice((0, PATH.map.ply_limit - rng.randint(1, 20)))
        position = RisklessPosition(
            tuple(rng.randint(-10, 10) for _ in range(4)), rng.choice(list(Player)), ply
        )
        if any(position.armies) and PATH.outcome(position) is None:
            boards.append(position)
    return boards


def test_only_the_given_moves_are_searched_at_the_root(make: Callable[..., Any]) -> None:
    """The best of the given moves is found, and its value is not stored as that of the whole position."""
    searcher, fresh = make(PATH, exact=True), make(PATH, exact=True)
    rng = random.Random(5)

    def last(chosen: Any, position: RisklessPosition, moves: Any = None) -> Any:
        return list(chosen.deepen(position, max_depth=3, moves=moves))[-1]

    left_out = 0
    for position in draw_path4_positions(40, 8):
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


class Losing(Riskless):
    """Game with the name of Riskless and other rules: the player who has the armies to win loses."""

    def outcome(self, position: RisklessPosition) -> Outcome | None:
        found = super().outcome(position)
        return found and Outcome(found.winner and found.winner.opponent, found.reason)


def test_a_subclass_with_other_rules_does_not_use_the_kernel_of_riskless() -> None:
    game = Losing(load_map("path4"))
    assert not has_compiled_search(game)
    assert find_board_numbering(game) is None
    assert (
        choose_implementation(parse_spec("alphabeta", OPTIONS_BY_ENGINE), cast("AnyGame", game)).is_compiled
        is False
    )
    with pytest.raises(ValueError, match="its rules are custom"):
        Searcher(game, weights_for(game, "features"))
