"""Lazy alpha-beta of Hughes (source 000 in docs/search.md): a search composed of functions on a lazy game tree.

At a node where Maxie moves, the value is the maximum of the values of the subtrees. Minnie moves in the subtrees, so the value
of each is the minimum of a list of numbers. `maximize0` yields the values of the subtrees, but leaves out (`omit`) those that
are not above the best value so far. As soon as one number of a list is not above the best value (`minleq`), the rest of this
list is never computed.

Contract: minimax's value and, at the root, the first best move in move order. The best value so far is passed down only one
level, so the search has the shallow cutoffs but not the deep ones: it visits at least as many leaves as alpha-beta
and at most as many as minimax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Generic

from arena.bots.search.lazy_tree import LazyList, Tree, highfirst, lowfirst, maptree, prune, reptree, taketree
from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.problem import Problem, SearchResult
from arena.games.core import M, P, Player

Numbers = Iterable[int]


def maximize(tree: Tree[int]) -> int:
    """Return the minimax value of a tree with Maxie to move. Labels are static values (estimates). Visits the whole tree."""
    return max(map(minimize, tree.subtrees)) if tree.subtrees else tree.label


def minimize(tree: Tree[int]) -> int:
    """Return the minimax value of a tree with Minnie to move. Labels are static values (estimates). Visits the whole tree."""
    return min(map(maximize, tree.subtrees)) if tree.subtrees else tree.label


def maximize0(tree: Tree[int]) -> LazyList[int]:
    """Return a list whose maximum is `maximize(tree)`: the values of the subtrees that exceed all values before them."""
    if not tree.subtrees:
        return LazyList([tree.label])
    return LazyList(mapmin(minimize0(subtree) for subtree in tree.subtrees))


def minimize0(tree: Tree[int]) -> LazyList[int]:
    """Return a list whose minimum is `minimize(tree)`: the values of the subtrees that are below all values before them."""
    if not tree.subtrees:
        return LazyList([tree.label])
    return LazyList(mapmax(maximize0(subtree) for subtree in tree.subtrees))


IndexedNumbers = tuple[int, Numbers]
"""Pair of a subtree's index among its siblings, and numbers whose minimum (or maximum) is the subtree's value."""


def mapmin(lists: Iterable[Numbers]) -> Iterator[int]:
    """Yield the minimum of the first list, and of each later list whose minimum exceeds all earlier minima.

    Hughes calls the function that skips the other lists `omit`.
    """
    return map(itemgetter(1), minima(enumerate(lists)))


def minima(lists: Iterator[IndexedNumbers]) -> Iterator[tuple[int, int]]:
    """Yield (index of the list, its minimum) for the first list and each later one whose minimum exceeds all before."""
    for index, numbers in lists:
        minimum = min(numbers)
        yield index, minimum
        yield from omit(minimum, lists)


def omit(potential: int, lists: Iterator[IndexedNumbers]) -> Iterator[tuple[int, int]]:
    """Yield (index of the list, its minimum) for each list whose minimum exceeds `potential`, the greatest minimum so far."""
    for index, numbers in lists:
        if minleq(numbers, potential):
            continue
        potential = min(numbers)
        yield index, potential


def mapmax(lists: Iterable[Numbers]) -> Iterator[int]:
    """Yield the maximum of the first list, and of each later list whose maximum is below all earlier maxima."""
    return map(itemgetter(1), maxima(enumerate(lists)))


def maxima(lists: Iterator[IndexedNumbers]) -> Iterator[tuple[int, int]]:
    """Yield (index of the list, its maximum) for the first list and each later one whose maximum is below all before."""
    for index, numbers in lists:
        maximum = max(numbers)
        yield index, maximum
        yield from omit_high(maximum, lists)


def omit_high(potential: int, lists: Iterator[IndexedNumbers]) -> Iterator[tuple[int, int]]:
    """Yield (index of the list, its maximum) for each list whose maximum is below `potential`, the least maximum so far."""
    for index, numbers in lists:
        if maxgeq(numbers, potential):
            continue
        potential = max(numbers)
        yield index, potential


def minleq(numbers: Numbers, potential: int) -> bool:
    """Return True if one of the numbers is at most `potential`. The numbers after the first such one are not read."""
    return any(number <= potential for number in numbers)


def maxgeq(numbers: Numbers, potential: int) -> bool:
    """Return True if one of the numbers is at least `potential`. The numbers after the first such one are not read."""
    return any(number >= potential for number in numbers)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class TreePosition(Generic[P]):
    """Node of a game tree: its position, and its path from the root."""

    position: P
    path: Path


class EstimatedPosition(Generic[P]):
    """Node of a game tree: its player to move, path from the root, and static value, which is computed on first access."""

    def __init__(
        self,
        node: TreePosition[P],
        is_maxie_to_move: bool,  # noqa: FBT001
        estimate: Callable[[TreePosition[P]], int],
    ) -> None:
        self.path = node.path
        self.is_maxie_to_move = is_maxie_to_move
        self._node = node
        self._estimate = estimate

    @cached_property
    def value(self) -> int:
        return self._estimate(self._node)


def make_players_alternate(tree: Tree[EstimatedPosition[P]]) -> Tree[EstimatedPosition[P]]:
    """Return the tree changed so that the players strictly alternate.

    If a player moves twice in a row, a node of the opponent with a single subtree is inserted between the two moves.
    """

    def make_subtrees() -> Iterator[Tree[EstimatedPosition[P]]]:
        for subtree in tree.subtrees:
            label, alternating = subtree.label, make_players_alternate(subtree)
            is_same_player = label.is_maxie_to_move == tree.label.is_maxie_to_move
            yield (
                Tree(lambda label=label: label, [alternating], memoize=tree.memoize)  # type: ignore[misc]
                if is_same_player
                else alternating
            )

    return Tree(lambda: tree.label, make_subtrees(), memoize=tree.memoize)


def gametree(
    problem: Problem[P, M], position: P, monitor: SearchMonitor | None = None, *, memoize: bool = True
) -> Tree[TreePosition[P]]:
    """Return the complete, possibly infinite, game tree from a position. Its nodes are created when they are visited.

    monitor  monitor that counts each node when it is created; None for no count
    memoize  True to keep computed nodes in memory; otherwise each is yielded once, so the tree can be walked only once
    """
    game = problem.game

    def enter(node: TreePosition[P]) -> TreePosition[P]:
        if monitor is not None:
            monitor.enter_node(node.path, node.position, 0)
            monitor.track_live_node(node)
        return node

    def successors(node: TreePosition[P]) -> Iterator[TreePosition[P]]:
        for index, move in enumerate(game.moves(node.position)):
            yield enter(TreePosition(game.successor(node.position, move), (*node.path, index)))

    return reptree(successors, enter(TreePosition(position, ())), memoize=memoize)


DynamicPredicate = Callable[[P], bool]
"""Function that returns True for a position whose static value is unreliable, because the next move may change it much."""


def lazy_alphabeta(
    problem: Problem[P, M],
    position: P,
    depth: int,
    monitor: SearchMonitor | None = None,
    *,
    is_ordered: bool = False,
    max_moves_per_node: int = 0,
    is_dynamic: DynamicPredicate[P] | None = None,
    max_extra_plies: int = 0,
    memoize: bool = False,
) -> SearchResult[M]:
    """Search `position` to `depth` plies by the lazy alpha-beta of Hughes (source 000 in docs/search.md).

    Hughes calls this composition of functions `evaluate`: max . maximize0 . maptree static . prune depth . gametree

    is_ordered          True to sort the subtrees (`highfirst` or `lowfirst`) before maximize0; the move is then the first
                        best one in the sorted order, and inner nodes are estimated too
    max_moves_per_node  number of moves of every node that are kept (`taketree`), so that the value is no longer minimax's;
                        0 for all
    is_dynamic          returns True for a position below which the search continues beyond `depth`
    max_extra_plies     maximum number of plies beyond `depth`
    memoize             True to keep the tree in memory; otherwise each part is released once it is visited
    """
    monitor = monitor or SearchMonitor()
    game = problem.game
    is_maxie_to_move = game.player(position) is Player.MAXIE

    def estimate(node: TreePosition[P]) -> int:
        expansion = problem.expand(node.position, 0, len(node.path))
        monitor.record_leaf(node.path, node.position, expansion.value, is_at_horizon=expansion.is_at_horizon)
        return expansion.value

    def make_estimated_position(node: TreePosition[P]) -> EstimatedPosition[P]:
        return EstimatedPosition(node, game.player(node.position) is Player.MAXIE, estimate)

    def is_dynamic_node(node: TreePosition[P]) -> bool:
        return is_dynamic is not None and is_dynamic(node.position)

    nodes = prune(
        depth,
        gametree(problem, position, monitor, memoize=memoize),
        is_dynamic=is_dynamic_node,
        max_extra_plies=max_extra_plies,
    )
    tree = make_players_alternate(maptree(make_estimated_position, nodes))
    if is_ordered:
        tree = (highfirst if is_maxie_to_move else lowfirst)(tree, attrgetter("value"))
    if max_moves_per_node:
        tree = taketree(max_moves_per_node, tree)
    if not tree.subtrees:
        return SearchResult(tree.label.value, None)
    # Index in move order of each of the root's subtrees. Unsorted subtrees are in move order, so their labels are not needed.
    move_indexes: list[int] = []

    def make_subtrees() -> Iterator[Tree[int]]:
        for number, subtree in enumerate(tree.subtrees):
            move_indexes.append(subtree.label.path[0] if is_ordered else number)
            yield maptree(attrgetter("value"), subtree)

    # max . maximize0 at the root, which also keeps the number of each value's subtree
    if is_maxie_to_move:
        survivors = minima(enumerate(map(minimize0, make_subtrees())))
    else:
        survivors = maxima(enumerate(map(maximize0, make_subtrees())))
    *_, (number, value) = survivors
    move = game.moves(position)[move_indexes[number]]
    return SearchResult(value, move, (move,))
