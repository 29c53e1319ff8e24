"""The lazy alpha-beta of 000: maximize and minimize as compositions over a lazy tree.

`maximize` is max . maximize0, where maximize0 lists the minima that minimize would give for the
subtrees, but leaves out (`omit`) every list of numbers whose minimum is known not to matter: as soon
as one number is at most the best minimum so far (`minleq`), the rest of that list is never computed.

Contract: minimax's value and, at the root, the leftmost best move. It passes its bound down only one
level, so it has the shallow cut-offs but not the deep ones: its leaves are at least alpha-beta's and
at most minimax's (erratum 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Generic

from arena.bots.search.lazy_tree import LazyList, Tree, highfirst, lowfirst, maptree, prune, reptree, taketree
from arena.bots.search.problem import Problem, Result
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P, Player

Numbers = Iterable[int]


def maximize(tree: Tree[int]) -> int:
    """The minimax value of a tree of static values, Maxie to move, visiting all of it."""
    return max(map(minimize, tree.subtrees)) if tree.subtrees else tree.label


def minimize(tree: Tree[int]) -> int:
    """The minimax value of a tree of static values, Minnie to move, visiting all of it."""
    return min(map(maximize, tree.subtrees)) if tree.subtrees else tree.label


def maximize0(tree: Tree[int]) -> LazyList[int]:
    """Numbers whose maximum is maximize's value: the minima that may matter."""
    if not tree.subtrees:
        return LazyList([tree.label])
    return LazyList(mapmin(minimize0(each) for each in tree.subtrees))


def minimize0(tree: Tree[int]) -> LazyList[int]:
    """Numbers whose minimum is minimize's value: the maxima that may matter."""
    if not tree.subtrees:
        return LazyList([tree.label])
    return LazyList(mapmax(maximize0(each) for each in tree.subtrees))


Numbered = tuple[int, Numbers]
"""A list of numbers with its place among its siblings, by which the root finds its move."""


def mapmin(lists: Iterable[Numbers]) -> Iterator[int]:
    """The minimum of the first list, and of each later one that is not omitted."""
    return map(itemgetter(1), minima(enumerate(lists)))


def minima(lists: Iterator[Numbered]) -> Iterator[tuple[int, int]]:
    """`mapmin` with the places of the lists that were not omitted."""
    for place, numbers in lists:
        least = min(numbers)
        yield place, least
        yield from omit(least, lists)


def omit(potential: int, lists: Iterator[Numbered]) -> Iterator[tuple[int, int]]:
    """The minima of the lists that have one above the potential maximum, which each of them raises."""
    for place, numbers in lists:
        if minleq(numbers, potential):
            continue
        potential = min(numbers)
        yield place, potential


def mapmax(lists: Iterable[Numbers]) -> Iterator[int]:
    """The mirror image of `mapmin`."""
    return map(itemgetter(1), maxima(enumerate(lists)))


def maxima(lists: Iterator[Numbered]) -> Iterator[tuple[int, int]]:
    """The mirror image of `minima`."""
    for place, numbers in lists:
        most = max(numbers)
        yield place, most
        yield from omit_high(most, lists)


def omit_high(potential: int, lists: Iterator[Numbered]) -> Iterator[tuple[int, int]]:
    """The mirror image of `omit`: the maxima of the lists that have one below the potential minimum."""
    for place, numbers in lists:
        if maxgeq(numbers, potential):
            continue
        potential = max(numbers)
        yield place, potential


def minleq(numbers: Numbers, potential: int) -> bool:
    """Whether the minimum is at most `potential`; looks no further than the first that is."""
    return any(number <= potential for number in numbers)


def maxgeq(numbers: Numbers, potential: int) -> bool:
    """Whether the maximum is at least `potential`; looks no further than the first that is."""
    return any(number >= potential for number in numbers)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Spot(Generic[P]):
    """A node of a game tree: its position, and where in the tree it is."""

    position: P
    path: Path


@dataclass(frozen=True, slots=True)
class Estimated:
    """A node's static value, and where in the tree it is."""

    value: int
    path: Path


def gametree(
    problem: Problem[P, M], position: P, watch: Watch | None = None, *, kept: bool = True
) -> Tree[Spot[P]]:
    """The whole tree of the game from a position: as infinite as the game.

    `watch.enter` is called for each node as it comes into being, and `watch.hold` with it.

    kept   whether what was computed stays; else the tree is walked once
    """
    game = problem.game

    def came(spot: Spot[P]) -> Spot[P]:
        if watch is not None:
            watch.enter(spot.path, spot.position, 0)
            watch.hold(spot)
        return spot

    def successors(spot: Spot[P]) -> Iterator[Spot[P]]:
        for index, move in enumerate(game.moves(spot.position)):
            yield came(Spot(game.successor(spot.position, move), (*spot.path, index)))

    return reptree(successors, came(Spot(position, ())), kept=kept)


Dynamic = Callable[[P], bool]
"""Whether a position is too lively to be judged by its static value."""


def lazy(
    problem: Problem[P, M],
    position: P,
    depth: int,
    watch: Watch | None = None,
    *,
    ordered: bool = False,
    take: int = 0,
    dynamic: Dynamic[P] | None = None,
    bound: int = 0,
    kept: bool = False,
) -> Result[M]:
    """000's evaluate: max . maximize0 . maptree static . prune depth . gametree.

    ordered  puts highfirst (or lowfirst) before maximize0; the move is then the best that comes first
             in that order, and inner nodes are estimated too
    take     puts `taketree take` before that: of every node only the first so many moves, which is no longer
             minimax's value; 0 for all
    dynamic  lets the look-ahead go on below such positions, `bound` plies at most
    kept     whether the tree stays in memory as it comes into being; else each part goes once it is visited
    """
    watch = watch or Watch()
    game = problem.game
    maxie = game.player(position) is Player.MAXIE

    def judge(spot: Spot[P]) -> Estimated:
        opened = problem.expand(spot.position, 0, len(spot.path))
        watch.leaf(spot.path, spot.position, opened.value, horizon=opened.horizon)
        return Estimated(opened.value, spot.path)

    def lively(spot: Spot[P]) -> bool:
        return dynamic is not None and dynamic(spot.position)

    spots = prune(depth, gametree(problem, position, watch, kept=kept), dynamic=lively, bound=bound)
    tree = maptree(judge, spots)
    if ordered:
        tree = (highfirst if maxie else lowfirst)(tree, attrgetter("value"))
    if take:
        tree = taketree(take, tree)
    if not tree.subtrees:
        return Result(tree.label.value, None)
    places: list[int] = []
    """The numbers of the moves to the root's subtrees, in their order. Only sorting may ask for the subtrees' labels."""

    def below() -> Iterator[Tree[int]]:
        for number, each in enumerate(tree.subtrees):
            places.append(each.label.path[0] if ordered else number)
            yield maptree(attrgetter("value"), each)

    # max . maximize0 at the root, with the number of the subtree kept beside the value
    if maxie:
        survivors = minima(enumerate(map(minimize0, below())))
    else:
        survivors = maxima(enumerate(map(maximize0, below())))
    *_, (place, value) = survivors
    move = game.moves(position)[places[place]]
    return Result(value, move, (move,))
