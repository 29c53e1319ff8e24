"""bots.search.failsoft: alpha-beta's nodes, and a line that leads to the value."""

from __future__ import annotations

from hypothesis import given

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.failsoft import failsoft
from arena.bots.search.watch import Watch
from tests.bots.search.problems import Case, cases


@given(case=cases)
def test_it_visits_what_alphabeta_visits_and_its_line_ends_in_the_value(case: Case) -> None:
    watch, other = Watch(), Watch()
    found = failsoft(case.problem, case.position, case.depth, watch)
    expected = alphabeta(case.problem, case.position, case.depth, other)
    assert (found.value, found.move, watch.nodes) == (expected.value, expected.move, other.nodes)
    position = case.position
    for move in found.line:
        position = case.game.play(position, move)
    opened = case.problem.expand(position, case.depth - len(found.line), len(found.line))
    assert not opened.moves
    assert opened.value == found.value
