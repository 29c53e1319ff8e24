"""bots.search.play.alphabeta: without order or table it is the textbook's search."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from bots.search.failsoft import failsoft
from bots.search.play import AlphaBeta
from bots.search.watch import Watch
from tests.bots.search.problems import Case, cases
from tests.properties import examples


def in_play(case: Case) -> bool:
    return case.game.outcome(case.position) is None


@given(case=cases.filter(in_play))
@examples(40)
def test_unordered_visits_what_textbook_alphabeta_visits(case: Case) -> None:
    depth = max(1, case.depth)
    textbook, ours = Watch(), Watch()
    failsoft(case.problem, case.position, depth, textbook)
    search: AlphaBeta[Any, Any] = AlphaBeta(case.problem.evaluator, static=False)
    moves = tuple(case.game.moves(case.position))
    search(case.game, case.position, depth, order=moves, watch=ours, progress=lambda _: None)
    assert (ours.nodes, ours.leaves, ours.sorted) == (textbook.nodes, textbook.leaves, 0)
