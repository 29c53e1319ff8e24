from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.lazy import maxgeq, maximize, maximize0, minimize, minimize0, minleq
from arena.bots.search.lazy_tree import (
    ElementsReadTwice,
    LazyList,
    SinglePassIterable,
    Tree,
    highfirst,
    lowfirst,
    maptree,
    prune,
    reptree,
    taketree,
)
from arena.games.explicit import ExplicitGame
from tests.bots.search.problems import Case, explicit_cases
from tests.properties import examples


def make_counting_tree(made: list[int]) -> Tree[int]:
    """Return the infinite tree n -> 2n, 2n + 1, which logs every label that is computed."""

    def successors(n: int) -> Iterator[int]:
        for child in (2 * n, 2 * n + 1):
            made.append(child)
            yield child

    return reptree(successors, 1)


def test_a_lazy_list_computes_each_element_once() -> None:
    evaluations: list[int] = []

    def numbers() -> Iterator[int]:
        for n in count():
            evaluations.append(n)
            yield n

    endless = LazyList(numbers())
    assert endless
    assert evaluations == [0]
    assert minleq(LazyList([4, 3, 9]), 3)
    assert not minleq(LazyList([4, 3, 9]), 2)
    assert maxgeq(LazyList([4, 9, 3]), 9)
    assert not maxgeq(LazyList([4, 9, 3]), 10)
    for _ in range(2):
        assert next(n for n in endless if n == 3) == 3
        assert evaluations == [0, 1, 2, 3]
    assert not LazyList()


def test_an_infinite_tree_costs_only_its_visited_nodes() -> None:
    made: list[int] = []
    whole = make_counting_tree(made)
    squares = maptree(lambda n: n * n, whole)
    cut = prune(3, squares)
    assert made == []
    assert maximize(cut) == 13 * 13
    assert sorted(made) == list(range(2, 16))  # three plies, nothing of the fourth


def test_labels_are_computed_only_at_the_tips() -> None:
    evaluations: list[int] = []

    def static(n: int) -> int:
        evaluations.append(n)
        return n

    maximize(maptree(static, prune(4, make_counting_tree([]))))
    assert sorted(evaluations) == list(range(16, 32))


@given(case=explicit_cases(), keep=st.integers(1, 3))
@examples(80)
def test_the_functions_on_whole_trees(case: Case, keep: int) -> None:
    game = case.game
    assert isinstance(game, ExplicitGame)
    values = prune(
        case.depth,
        maptree(
            lambda place: game.nodes[place.node].value or 0,
            reptree(lambda place: (game.successor(place, move) for move in game.moves(place)), game.start()),
        ),
    )
    assert max(maximize0(values)) == maximize(values)
    assert min(minimize0(values)) == minimize(values)
    assert maximize(highfirst(values, int)) == maximize(values)
    assert minimize(lowfirst(values, int)) == minimize(values)
    best = highfirst(values, int)
    labels = [each.label for each in best.subtrees]
    assert labels == sorted(labels, reverse=True)
    for each in best.subtrees:
        below = [grandchild.label for grandchild in each.subtrees]
        assert below == sorted(below)
    taken = taketree(keep, values)
    assert [t.label for t in taken.subtrees] == [t.label for t in values.subtrees][:keep]


def test_a_single_pass_is_read_once() -> None:
    passing = SinglePassIterable(iter([1, 2]))
    assert passing
    assert passing
    assert list(passing) == [1, 2]
    with pytest.raises(ElementsReadTwice, match="can be read only once"):
        iter(passing)
    with pytest.raises(ElementsReadTwice):
        bool(passing)
    assert not SinglePassIterable()


@given(case=explicit_cases(), count=st.integers(1, 3), ordered=st.booleans())
@examples(60)
def test_a_tree_that_is_not_kept_has_the_same_values(case: Case, count: int, ordered: bool) -> None:
    game = case.game
    assert isinstance(game, ExplicitGame)

    def value(*, memoize: bool) -> int:
        grown = reptree(
            lambda place: (game.successor(place, move) for move in game.moves(place)),
            game.start(),
            memoize=memoize,
        )
        tree = prune(case.depth, maptree(lambda place: game.nodes[place.node].value or 0, grown))
        return max(maximize0(taketree(count, highfirst(tree, int) if ordered else tree)))

    assert value(memoize=False) == value(memoize=True)
