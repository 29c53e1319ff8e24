"""The compiled search as Python sees it: a game, a memory, threads, and reports.

A `Searcher` belongs to one match and one caller at a time. Its table lives as long as it does, so that
a search finds what the search of the move before has left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, cast

import numpy as np

from arena.bots.compiled.alphabeta import DONE, make_search
from arena.bots.compiled.cache import one_at_a_time
from arena.bots.compiled.calibrate import calibrate
from arena.bots.compiled.catalogue import compile_game
from arena.bots.compiled.kernel import Weights, Words
from arena.bots.compiled.layout import (
    FIRST,
    MAX_DEPTH,
    Frame,
    Option,
    Register,
    Shared,
    Sizes,
)
from arena.bots.compiled.limits import MOST_TABLE, table_bytes
from arena.bots.compiled.line import make_line
from arena.bots.compiled.probe import NOTHING, unpacked
from arena.bots.compiled.table import AGES, make_table
from arena.bots.search.deepening import Report
from arena.bots.search.values import ESTIMATE_LIMIT, INFINITY
from arena.games.core import Game, M, P
from arena.solved.solution import solution_of

POLL_SECONDS = 0.001
"""How often a plain stop function is asked."""


@dataclass(frozen=True)
class Settings:
    """How to search. The defaults are what wins; the rest is for comparison.

    threads      that search together
    exact        value and leftmost move of plain minimax at every depth; else whatever wins games
    course       the course's form of Jamboree, with `prune`; else the original
    prune        the course's form: of a node's moves, which part is searched in sequence
    split_depth  the least depth of a node whose moves are shared out, and of which the course's form keeps the window;
                 at 1 that is the course's Jamboree to the leaves
    lazy         nothing is shared out: every thread searches the root by itself, and they meet in the table

    What makes play selective, never if exact; `bots.compiled.selective` says how, and when not:
    tempo        leaves count what it is worth to have the move
    settle       a shallow search ends where the estimate is far outside its window
    late         how many moves for each ply of depth a shallow search looks at; 0: all

    What the table of a solved map tells, where there is one (`bots.compiled.probe`):
    pieces       leaves are looked up where a player has at most so many territories; 0: none

    foresee      leaves are told from the node above them, without being built, where the game can, and only if exact: play
                 looks at the first few of them

    The others switch a device of move ordering or pruning on; `estimate_order` is the least depth
    of a node whose moves are ordered by the whole estimate.
    """

    threads: int = 1
    table_mb: int = 64
    exact: bool = False
    course: bool = False
    prune: float = 0.25
    split_depth: int = 4
    lazy: bool = False
    table: bool = True
    hints: bool = True
    promise: bool = True
    foresee: bool = True
    estimate_order: int = 0
    null_windows: bool = True
    late: int = 3
    settle: bool = True
    tempo: bool = True
    pieces: int = 0


NO_LIMIT = 1 << 60


class Searcher(Generic[P, M]):
    """A search of one game with one evaluator's weights. Not for two callers at once."""

    def __init__(self, game: Game[P, M], weights: Weights, settings: Settings | None = None) -> None:
        self.game = game
        self.settings = settings or Settings()
        compiled = compile_game(game, weights)
        if compiled is None:
            raise ValueError("this map is too large for the compiled engine")
        self._compiled = compiled
        self._truth, longest = self._known()
        self._search = make_search(compiled.kernel, truthful=longest > 0)
        self._reader = make_line(compiled.kernel)
        self._order: list[int] = []
        self._moves: dict[int, M] = {}
        sizes = Sizes(compiled.kernel.words, compiled.moves)
        self._sizes = sizes
        threads = self.settings.threads
        if threads < 1:
            raise ValueError(f"a search needs at least 1 thread, not {threads}")
        if self.settings.split_depth < 1:
            raise ValueError(f"moves are shared out from depth 1 on, not {self.settings.split_depth}")
        self._memories = [np.zeros(sizes.thread, np.int64) for _ in range(threads)]
        for thread, memory in enumerate(self._memories):
            memory[Register.THREAD] = thread
            memory[Register.LISTS] = sizes.move_lists
            memory[Register.ROOT] = sizes.root
            memory[Register.WIDTH] = sizes.moves
        self._roots = self._memories if self.settings.lazy else self._memories[:1]
        for memory in self._roots[1:]:
            memory[Register.LAZY] = 1
        self._shared = np.zeros(sizes.shared(threads), np.int64)
        self._table = make_table(self.settings.table_mb)
        self._age = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._ready = False
        self._set_options()
        self._shared[Option.BEYOND] = longest

    def _known(self) -> tuple[Words, int]:
        """The table that leaves are looked up in, and the plies of its longest win; 0 where they are not."""
        if not self.settings.pieces:
            return NOTHING, 0
        solution = solution_of(self.game)
        if solution is None or table_bytes(solution.table) > MOST_TABLE:
            return NOTHING, 0
        return unpacked(solution.table, self.settings.threads), solution.table.header.longest

    def _set_options(self) -> None:
        s, shared = self.settings, self._shared
        shared[Option.THREADS] = s.threads
        shared[Option.TABLE] = s.table
        shared[Option.HINTS] = s.hints
        shared[Option.TABLE_MASK] = len(self._table) // 8 - 1
        shared[Option.PROMISE] = s.promise
        shared[Option.ESTIMATE_ORDER] = s.estimate_order
        shared[Option.FORESEE] = s.exact and s.foresee and self._compiled.foreseen
        shared[Option.EXACT] = s.exact
        shared[Option.NULL_WINDOWS] = s.null_windows
        shared[Option.SPLIT_DEPTH] = s.split_depth
        shared[Option.COURSE] = s.course
        shared[Option.PRUNE] = round(1000 * s.prune)
        shared[Option.SPLIT_WORDS] = self._sizes.split

    def _calibrate(self) -> None:
        """Before the first search: measure what the selective mode needs. Until then every search is exact."""
        if self._ready:
            return
        self._ready = True
        s, shared = self.settings, self._shared
        if s.exact:
            shared[Option.PIECES] = s.pieces
            return
        shared[Option.HINTS] = 0
        measured = calibrate(
            self.game, lambda position, depth: self._value(position, depth, -INFINITY, INFINITY)
        )
        shared[Option.HINTS] = s.hints
        shared[Option.PIECES] = s.pieces
        if measured is None:
            return
        shared[Option.TEMPO] = measured.tempo * s.tempo
        shared[Option.SPREAD] = measured.spread
        shared[Option.SETTLE] = s.settle
        shared[Option.LATE] = s.late

    def close(self) -> None:
        """End the threads. The searcher is of no use afterwards."""
        self.stop()
        self._pool.shutdown()

    def stop(self) -> None:
        """End the search that is under way, within microseconds. May be called from any thread."""
        self._shared[Shared.STOP] = 1

    def clear(self) -> None:
        """Empty the table, for a new match."""
        self._table[:] = 0

    def warm_up(self) -> None:
        """Compile, or load what was compiled before: afterwards the first search starts at once."""
        with one_at_a_time():
            for _ in self.deepen(self.game.start(), max_depth=2):
                pass

    def deepen(
        self,
        position: P,
        *,
        stop: Callable[[], bool] | None = None,
        max_depth: int = MAX_DEPTH,
        max_nodes: int = NO_LIMIT,
        moves: Sequence[M] | None = None,
    ) -> Iterator[Report[M]]:
        """Reports as `bots.search.deepening.deepen` yields them; `stop` is asked every millisecond.

        `moves`, where they are given, are the only moves of the root that are searched, in move order. Raises ValueError
        for a position that is over.
        """
        self._calibrate()
        self._prepare(position, max_nodes, moves)
        yield Report(0, 0, self._moves[self._order[0]], (self._moves[self._order[0]],), 0, finished=False)
        sign = self.game.player(position).sign
        longest = self._compiled.plies_left(position)
        for depth in range(1, min(max_depth, MAX_DEPTH) + 1):
            for memory in self._memories:
                memory[Register.ESTIMATES] = 0
            finished = self._run(depth, -INFINITY, INFINITY, stop)
            best, value = self._root(Frame.BEST_MOVE), self._root(Frame.BEST)
            if finished or best >= 0:
                line = self._line(best, depth)
                yield Report(depth, sign * value, line[0], line, self.nodes, finished=finished)
            if not finished or abs(value) > ESTIMATE_LIMIT or not self._horizon() or depth >= longest:
                return
            self._order.insert(0, self._order.pop(self._order.index(best)))

    def search(self, position: P, depth: int, low: int, high: int) -> tuple[int, int]:
        """One search to a depth with a window, without the shallower ones: value and nodes.

        Fail-soft, for the player to move: exact inside the window, else a bound.
        """
        self._calibrate()
        return self._value(position, depth, low, high), self.nodes

    def _value(self, position: P, depth: int, low: int, high: int) -> int:
        self._prepare(position, NO_LIMIT)
        self._run(depth, low, high, None)
        return self._root(Frame.BEST)

    def _prepare(self, position: P, max_nodes: int, some: Sequence[M] | None = None) -> None:
        every = self.game.moves(position)
        moves = every if some is None else some
        if not moves:
            raise ValueError(f"nothing to search: {self.game.outcome(position)}")
        compiled, shared = self._compiled, self._shared
        self._order = [compiled.number(move) for move in moves]
        self._moves = dict(zip(self._order, moves, strict=True))
        words = compiled.pack(position)
        for memory in self._roots:
            memory[Register.CHOSEN] = len(moves)
            memory[Register.SOME] = len(moves) < len(every)
            memory[FIRST : FIRST + len(words)] = words
        self._age = (self._age + 1) % AGES
        shared[Option.GENERATION] = self._age
        shared[Option.NODE_LIMIT] = max_nodes
        shared[Option.PLIES_LEFT] = compiled.plies_left(position)
        shared[Shared.NODES] = 0
        shared[Shared.STOP] = 0
        for each in self._memories:
            each[[Register.NODES, Register.COUNTED, Register.ENTERED]] = 0

    def _root(self, field: Frame) -> int:
        return int(self._memories[0][FIRST + self._compiled.kernel.words + field])

    @property
    def nodes(self) -> int:
        """How many nodes the last search visited, with all its threads."""
        return int(sum(memory[Register.NODES] for memory in self._memories))

    def _horizon(self) -> bool:
        return any(memory[Register.ESTIMATES] for memory in self._memories)

    def _run(self, depth: int, low: int, high: int, stop: Callable[[], bool] | None) -> bool:
        shared, memory = self._shared, self._memories[0]
        self._begin(memory, depth, low, high, self._order)
        shared[Shared.QUIT] = shared[Shared.IDLE] = 0
        helpers = self._memories[1:] if depth > self.settings.split_depth else []
        if self.settings.lazy:
            running = [
                self._pool.submit(self._lazily, number, depth, low, high)
                for number in range(1, len(helpers) + 1)
            ]
        else:
            running = [self._pool.submit(self._kernel, each, 1) for each in helpers]
        try:
            finished = self._main(memory, stop) == DONE
        finally:
            shared[Shared.QUIT] = 1
            wait(running)
        for each in running:
            each.result()
        return finished

    def _begin(self, memory: Words, depth: int, low: int, high: int, order: Sequence[int]) -> None:
        """Write into a thread's memory what it shall search the root for."""
        root, first = FIRST + self._compiled.kernel.words, self._sizes.root
        memory[root + Frame.DEPTH] = depth
        memory[root + Frame.DISTANCE] = 0
        memory[root + Frame.ALPHA] = low
        memory[root + Frame.BETA] = high
        memory[root + Frame.BEST_MOVE] = -1
        memory[root + Frame.BEST] = -INFINITY
        memory[first : first + len(order)] = order
        memory[Register.AT] = FIRST
        memory[Register.INSIDE] = -1

    def _lazily(self, number: int, depth: int, low: int, high: int) -> int:
        """Search the root beside the first thread, every second helper a ply deeper, then deeper, until that is done.

        What a helper finds is in the table only. Behind the best move each has an order of its own.
        """
        memory, (best, *others) = self._memories[number], self._order
        turn = number * len(others) // len(self._memories)
        order = [best, *others[turn:], *others[:turn]]
        for deeper in range(depth + number % 2, MAX_DEPTH + 1):
            self._begin(memory, deeper, low, high, order)
            if self._kernel(memory, 0) != DONE or self._shared[Shared.QUIT]:
                break
        return DONE

    def _kernel(self, memory: Words, helping: int) -> int:
        return cast(
            "int", self._search(memory, self._shared, self._compiled.rules, self._table, self._truth, helping)
        )

    def _main(self, memory: Words, stop: Callable[[], bool] | None) -> int:
        """Search the root; here, or where somebody must be asked meanwhile, in another thread."""
        if stop is None:
            return self._kernel(memory, 0)
        main = self._pool.submit(self._kernel, memory, 0)
        try:
            while True:
                if stop():
                    self.stop()
                with suppress(TimeoutError):
                    return main.result(timeout=POLL_SECONDS)
        finally:
            # whatever the caller's function raised: no thread is left searching
            self._shared[Shared.STOP] |= not main.done()
            wait([main])

    def _line(self, best: int, depth: int) -> tuple[M, ...]:
        found = np.zeros(MAX_DEPTH, np.int64)
        args = (self._memories[0], self._shared, self._compiled.rules, self._table)
        length = self._reader(*args, best, depth, found)
        return tuple(self._compiled.move(int(number)) for number in found[:length])
