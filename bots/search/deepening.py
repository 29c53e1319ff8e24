"""Iterative deepening: searches to depth 1, 2, 3 … until told to stop (003).

It is anytime: the last report is always what to play. The order of one iteration drives the next:
each move that became the best goes to the front of the root's order, and the searches keep the best
or cutting move of every inner node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from arena.bots.search.ordering import to_front
from arena.bots.search.play import Search
from arena.bots.search.problem import Line, Result
from arena.bots.search.values import is_decided
from arena.bots.search.watch import Stop, Stopped, Watch, never
from arena.games.core import Game, M, P

MAX_DEPTH = 100
"""The searches recurse, a few Python frames a ply; deeper ones are `bots.search.stack`'s."""


@dataclass(frozen=True, slots=True)
class Report(Generic[M]):
    """The best so far.

    depth     the depth it comes from; 0 where nothing has been searched yet (value 0, first move)
    value     for Maxie; of a depth that was not finished, the best of the moves that were searched
    line      the main line, `move` first
    nodes     entered since `deepen` was called, all depths together
    finished  whether the whole of that depth was searched
    """

    depth: int
    value: int
    move: M
    line: Line[M]
    nodes: int
    finished: bool


def deepen(
    game: Game[P, M],
    position: P,
    search: Search[P, M],
    *,
    stop: Stop = never,
    max_depth: int = MAX_DEPTH,
    moves: Sequence[M] | None = None,
    make_watch: Callable[[Stop], Watch] = Watch,
) -> Iterator[Report[M]]:
    """Yield a report at once, one for each finished depth, and one for a depth that was cut short.

    The report of an unfinished depth comes only when its first move, the best of the depth before,
    has been searched; its move is that one or a better one. `stop` is polled at every node. Ends
    when told to stop, after `max_depth`, or where no deeper search can answer differently: the game
    is decided or every leaf was the end of the game.

    `moves`, where they are given, are the only moves of the root that are searched, in move order.
    `make_watch` makes the watch of each depth: give one's own to count, or to keep a trace. Raises
    ValueError for a position that is over.
    """
    order = list(game.moves(position) if moves is None else moves)
    if not order:
        raise ValueError(f"nothing to search: {game.outcome(position)}")
    yield Report(0, 0, order[0], (order[0],), 0, finished=False)
    nodes = 0
    for depth in range(1, max_depth + 1):
        found: list[Result[M]] = []
        watch = make_watch(stop)
        try:
            result = search(game, position, depth, order=tuple(order), watch=watch, progress=found.append)
        except Stopped:
            if found:
                yield _report(depth, found[-1], nodes + watch.nodes, finished=False)
            return
        nodes += watch.nodes
        yield _report(depth, result, nodes, finished=True)
        for each in found:
            if each.move is not None and each.move != order[0]:
                to_front(order, each.move)
        if is_decided(result.value) or not watch.horizon:
            return


def _report(depth: int, result: Result[M], nodes: int, *, finished: bool) -> Report[M]:
    if result.move is None:
        raise ValueError("a search of a position that is not over has a move")
    return Report(depth, result.value, result.move, result.line, nodes, finished)
