"""Iterative deepening: searches to depth 1, 2, 3 … until stopped (source 003 in docs/search.md).

The search can be stopped at any time, because the last report always has a move to play. The results of one iteration
determine the move order of the next: at the root, each move that became the best goes to the front, and at every inner node
the searches first try the move that was best, or caused a cutoff, in the previous iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from arena.bots.search.monitor import (
    SearchMonitor,
    SearchStopped,
    StopCondition,
    never_stop,
    stop_after_nodes,
)
from arena.bots.search.ordering import move_to_front
from arena.bots.search.play import Search
from arena.bots.search.problem import Line, SearchResult
from arena.bots.search.search_values import is_decided
from arena.bots.search.thread_pool import ThreadPool
from arena.games.core import Game, M, P

MAX_SEARCH_DEPTH = 100
"""Maximum depth, in plies, because Python limits the depth of recursion. For deeper searches, use `bots.search.stack`."""
NO_NODE_LIMIT = 1 << 60
"""Node limit that no search reaches."""


@dataclass(frozen=True, slots=True)
class SearchReport(Generic[M]):
    """Best result of a search so far.

    depth              depth of the result, in plies; 0 before any search, with value 0 and the first move
    value              value for Maxie; for an unfinished depth, the best value of the moves that were searched
    line               main line, starting with `move`
    nodes              nodes entered since `deepen` was called, in all depths together
    is_depth_finished  True if the depth of this report was searched completely
    """

    depth: int
    value: int
    move: M
    line: Line[M]
    nodes: int
    is_depth_finished: bool


def deepen(
    game: Game[P, M],
    position: P,
    search: Search[P, M],
    *,
    stop: StopCondition = never_stop,
    max_depth: int = MAX_SEARCH_DEPTH,
    max_nodes: int = NO_NODE_LIMIT,
    moves: Sequence[M] | None = None,
    make_monitor: Callable[[StopCondition], SearchMonitor] = SearchMonitor,
) -> Iterator[SearchReport[M]]:
    """Search `position` to depth 1, 2, 3 …; yield a report at once, after each finished depth, and for a depth stopped early.

    A depth that was stopped early is reported only if its first move, the best move of the previous depth, has been
    searched. The reported move is this move or a better one. `stop` is polled at every node. The search ends on a
    stop, after `max_depth` or `max_nodes`, and when no deeper search can change the result: when the value is decided,
    or when every leaf was the end of a match.

    `moves`, if given, are the only moves of the root that are searched, in move order. `make_monitor` creates the
    monitor of each depth; pass a function of your own to count nodes, or to keep a trace.

    Raises ValueError if there is no move to search: the match is over, or `moves` is empty.
    """
    root_moves = list(game.moves(position) if moves is None else moves)
    if not root_moves:
        outcome = game.outcome(position)
        raise ValueError(
            f"nothing to search: the match is over ({outcome})"
            if outcome
            else "nothing to search: `moves` is empty"
        )
    yield SearchReport(0, 0, root_moves[0], (root_moves[0],), 0, is_depth_finished=False)
    nodes = 0
    reached_limit = stop_after_nodes(max_nodes)
    stop_or_limit = stop if max_nodes >= NO_NODE_LIMIT else lambda: reached_limit() or stop()
    for depth in range(1, max_depth + 1):
        results: list[SearchResult[M]] = []
        monitor = make_monitor(stop_or_limit)
        try:
            result = search(
                game,
                position,
                depth,
                root_moves=tuple(root_moves),
                monitor=monitor,
                on_progress=results.append,
            )
        except SearchStopped:
            if results:
                yield _make_report(depth, results[-1], nodes + monitor.nodes, is_depth_finished=False)
            return
        nodes += monitor.nodes
        yield _make_report(depth, result, nodes, is_depth_finished=True)
        for root_result in results:
            if root_result.move is not None and root_result.move != root_moves[0]:
                move_to_front(root_moves, root_result.move)
        if is_decided(result.value) or not monitor.has_reached_horizon:
            return


class DeepeningSearcher(Protocol):
    """Searcher for the positions of one match. It may keep its transposition table from one position to the next."""

    def deepen(
        self,
        position: Any,
        *,
        stop: StopCondition = never_stop,
        max_depth: int = MAX_SEARCH_DEPTH,
        max_nodes: int = NO_NODE_LIMIT,
        moves: Sequence[Any] | None = None,
    ) -> Iterator[SearchReport[Any]]:
        """Yield reports on `position`, as the function `deepen` of this module does with the same arguments."""

    def clear(self) -> None:
        """Empty the transposition table, for example before another match."""

    def close(self) -> None:
        """End the searcher's threads and free its transposition table. The searcher cannot be used afterwards."""


class PythonSearcher:
    """Searcher that runs a search written in Python, which supports every game."""

    def __init__(
        self,
        game: Game[Any, Any],
        make_search: Callable[[], Search[Any, Any]],
        pool: ThreadPool | None = None,
    ) -> None:
        """Create a searcher.

        make_search  function that returns a new search, with an empty transposition table
        pool         threads of a parallel search, closed with the searcher; None for a search on one thread
        """
        self._game = game
        self._make_search = make_search
        self._pool = pool
        self.clear()

    def deepen(
        self,
        position: Any,
        *,
        stop: StopCondition = never_stop,
        max_depth: int = MAX_SEARCH_DEPTH,
        max_nodes: int = NO_NODE_LIMIT,
        moves: Sequence[Any] | None = None,
    ) -> Iterator[SearchReport[Any]]:
        return deepen(
            self._game,
            position,
            self._search,
            stop=stop,
            max_depth=max_depth,
            max_nodes=max_nodes,
            moves=moves,
        )

    def clear(self) -> None:
        self._search = self._make_search()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


def _make_report(
    depth: int, result: SearchResult[M], nodes: int, *, is_depth_finished: bool
) -> SearchReport[M]:
    if result.move is None:
        raise ValueError("the search returned no move, although the match is not over")
    return SearchReport(depth, result.value, result.move, result.line, nodes, is_depth_finished)
