"""bots.review.review: the loss and the mark of each move, and the accuracy of each player."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from arena.bots.review.analysis import (
    Analyst,
    SearchLimits,
    parse_analysing_engine,
    parse_reference_spec,
    run_reference_search,
)
from arena.bots.review.review import (
    MOVE_MARKS_BY_MIN_CHANCE_LOST,
    ReviewedMove,
    review_moves,
    summarize_reviews_by_player,
)
from arena.bots.search.deepening import SearchReport
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map
from arena.match.replay import Replay, verify_record
from arena.protocol.codes import EndReason
from arena.protocol.record import RecordedMove, Result
from arena.protocol.values import Thinking
from tests.bots.compiled.positions import minimax_value
from tests.match.recorded import random_record

DEPTH = 3


def minimax(game: AnyGame, position: object, depth: int, distance: int = 0) -> int:
    return minimax_value(game, position, depth, lambda each: 100 * game.estimate(each), distance)


class FixedDepthAnalyst(Analyst):
    """Analyst that searches with a reference algorithm, to DEPTH plies from the position before the move."""

    def __init__(self, game: AnyGame, algorithm: str) -> None:
        self._game = game
        self._spec = parse_reference_spec(algorithm)
        self._depth = DEPTH

    def analyse_by_depth(self, position: Any) -> list[SearchReport[Any]]:
        result, monitor = run_reference_search(self._game, position, self._depth, self._spec, tracing=False)
        return [
            SearchReport(
                self._depth, result.value, result.move, result.line, monitor.nodes, is_depth_finished=True
            )
        ]

    def analyse_move(self, position: Any, move: Any) -> list[SearchReport[Any]]:
        self._depth = DEPTH - 1
        reports = super().analyse_move(position, move)
        self._depth = DEPTH
        return reports


def by_chance(game: AnyGame, seed: int, plies: int) -> Replay:
    """Return a match of random moves, which ends with a resignation after some plies."""
    chance, position = random.Random(seed), game.start()
    moves: list[RecordedMove] = []
    while len(moves) < plies and game.outcome(position) is None:
        move = chance.choice(game.moves(position))
        moves.append(RecordedMove(game.move_to_data(move), 1.0, Thinking(value=50.0 * len(moves))))
        position = game.successor(position, move)
    record, _ = random_record(game)
    outcome = game.outcome(position)
    result = Result("maxie", EndReason.RESIGNATION)
    if outcome is not None:
        winner: Any = outcome.winner.value if outcome.winner else None
        result = Result(winner, EndReason(outcome.reason_code))
    return verify_record(structs.replace(record, moves=moves, result=result))


@pytest.mark.parametrize("algorithm", ["alphabeta", "minimax"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "map_"), [("tictactoe", "m2"), ("riskless", "path4")])
def test_the_loss_of_a_move_equals_that_by_plain_minimax(
    name: str, map_: str, seed: int, algorithm: str
) -> None:
    game = make_game_on_map(name, map_)
    match = by_chance(game, seed, 12)
    judged = list(review_moves(match, FixedDepthAnalyst(game, algorithm)))
    assert [each.ply for each in judged] == list(range(match.ply_count))
    for each in judged:
        position, after = match.positions[each.ply : each.ply + 2]
        sign = game.player(position).sign
        value = minimax(game, position, DEPTH)
        got = minimax(game, after, DEPTH - 1, 1)
        assert (each.preferred_value, each.played_value, each.value_lost) == (
            value,
            got,
            sign * (value - got),
        )
        better = game.successor(position, game.move_from_text(each.preferred_move))
        assert minimax(game, better, DEPTH - 1, 1) == value
        if each.value_lost == 0:
            assert (each.preferred_move, each.mark) == (each.move, "")
        assert each.reported_value == 50.0 * each.ply


def test_players_are_summarized_separately() -> None:
    match = by_chance(make_game_on_map("tictactoe"), 1, 4)
    judged = review_with_alphabeta(match, 1_000)
    assert [each.move_count for each in summarize_reviews_by_player(judged).values()] == [2, 2]
    assert list(summarize_reviews_by_player(judged[:1])) == ["maxie"]
    assert summarize_reviews_by_player([]) == {}


def moves_that_lost(losses: list[float]) -> list[ReviewedMove]:
    """Return reviews of moves of both players in turn, from an even position, each with one of these losses of chance."""
    chance, judged = 0.5, []
    for ply, lost in enumerate(losses):
        player = (Player.MAXIE, Player.MINNIE)[ply % 2]
        chance = min(1.0, max(0.0, chance - player.sign * lost))
        judged.append(ReviewedMove(ply, player.value, "", "", 0, 0, 0, None, chance, lost, "", []))
    return judged


@given(st.lists(st.floats(0, 0.5), min_size=2, max_size=120))
def test_accuracy_is_100_without_a_loss_and_falls_with_every_loss(losses: list[float]) -> None:
    found = summarize_reviews_by_player(moves_that_lost(losses))
    for side, player in enumerate(Player):
        own = losses[side::2]
        accuracy = found[player.value].accuracy_percent
        assert 0 <= accuracy <= 100
        each = [103.1668 * math.exp(-0.04354 * 100 * lost) - 3.1669 for lost in own]
        assert max(0, min(each)) - 1e-6 <= accuracy <= max(each) + 1e-6, "a mean of the moves' accuracies"
        if not any(own):
            assert accuracy == pytest.approx(100, abs=0.01)


def test_a_loss_weighs_more_where_the_chances_swing() -> None:
    """In two matches Maxie has the same losses; in one, the chances also change just before Maxie's bad move."""
    calm = summarize_reviews_by_player(moves_that_lost([*[0.0] * 20, 0.1, *[0.0] * 19]))["maxie"]
    wild = summarize_reviews_by_player(moves_that_lost([*[0.0] * 19, 0.3, 0.1, *[0.0] * 19]))["maxie"]
    assert calm.mean_chance_lost == pytest.approx(0.005)
    assert wild.mean_chance_lost == pytest.approx(0.005)
    assert wild.accuracy_percent < calm.accuracy_percent < 100


def review_with_alphabeta(played: Replay, nodes: int) -> list[ReviewedMove]:
    """Return the reviews of a match's moves by the compiled engine `alphabeta`."""
    with Analyst(played.game, parse_analysing_engine("alphabeta"), SearchLimits(nodes)) as analyst:
        return list(review_moves(played, analyst))


@pytest.mark.parametrize(
    ("name", "map_"), [("riskless", "italy"), ("riskless", "path4"), ("tictactoe", "m2")]
)
def test_reviews_are_reproducible_and_marks_follow_the_loss_of_chance(name: str, map_: str) -> None:
    match = by_chance(make_game_on_map(name, map_), 4, 12)
    judged = review_with_alphabeta(match, 2_000)
    assert judged == review_with_alphabeta(match, 2_000)
    assert any(each.mark for each in judged), "moves by chance lose something"
    for each in judged:
        sign = Player(each.player).sign
        assert 0 <= each.winning_chance <= 1
        assert 0 <= each.chance_lost <= (each.winning_chance if sign < 0 else 1 - each.winning_chance) + 1e-9
        assert each.value_lost == sign * (each.preferred_value - each.played_value) >= 0
        assert [mark for least, mark in MOVE_MARKS_BY_MIN_CHANCE_LOST if each.chance_lost >= least][:1] == (
            [each.mark] if each.mark else []
        )
        assert each.main_line[:1] == ([] if each.preferred_move == each.move else [each.preferred_move])
        if each.preferred_move == each.move:
            assert (each.value_lost, each.chance_lost) == (0, 0)


def test_a_review_does_not_blame_the_engines_own_moves() -> None:
    game = make_game_on_map("riskless", "italy")
    position, moves = game.start(), []
    with Analyst(game, parse_analysing_engine("alphabeta:exact=yes,depth=5"), SearchLimits()) as analyst:
        for _ in range(10):
            move = analyst.analyse_by_depth(position)[-1].move
            moves.append(RecordedMove(game.move_to_data(move), 1.0))
            position = game.play(position, move)
        record, _ = random_record(game)
        result = Result("maxie", EndReason.RESIGNATION)
        replay = verify_record(structs.replace(record, moves=moves, result=result))
        assert [each.value_lost for each in review_moves(replay, analyst)] == [0] * 10
