"""Python interface of the compiled search: a game, the search's memory and threads, and its reports.

A `Searcher` belongs to one match and one caller at a time. The searcher keeps its transposition table, so that a search can use
the results of the search for the previous move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, cast

import numpy as np

from arena.bots.compiled.alphabeta import COUNT_NODE, PAUSED, ROOT_DONE, WAIT_FOR_WORK, make_search_kernel
from arena.bots.compiled.cache import hold_compile_lock
from arena.bots.compiled.calibrate import calibrate_pruning
from arena.bots.compiled.catalogue import compile_game
from arena.bots.compiled.kernel import FeatureWeights, Words
from arena.bots.compiled.memory_layout import (
    FIRST_FRAME_OFFSET,
    FrameField,
    MemorySizes,
    SearchOption,
    SharedField,
    ThreadField,
)
from arena.bots.compiled.table import TABLE_GENERATION_COUNT, make_main_line_reader, make_transposition_table
from arena.bots.evaluators.network import EvaluatorNetwork
from arena.bots.search.deepening import MAX_SEARCH_DEPTH, NO_NODE_LIMIT, SearchReport
from arena.bots.search.search_values import ESTIMATE_LIMIT, INFINITY
from arena.games.core import Game, M, P, Player

EXAMINED_MOVES_AT_DEPTH_1 = 3
"""Number of moves that the selective search examines at a node one ply above the leaves."""
NODES_BETWEEN_STOP_CALLS = 3_000
"""Number of nodes that the first thread visits between two calls of the caller's stop function: about a millisecond's work."""


@dataclass(frozen=True)
class Settings:
    """Options of a compiled search. The defaults play best; other values are for comparison.

    threads      number of search threads
    table_mb     size of the transposition table, in MiB
    exact        True for the value of plain minimax at every depth and its first best move in move order; False for selective
                 search, which plays better
    course       True for Jamboree as in a course on game search (`bots.compiled.jamboree`), with `prune`; False for the
                 original form
    prune        fraction of a node's moves that the course's form searches in sequence
    split_depth  minimum depth of a node whose moves are shared among threads, and for which the course's form fixes the window.
                 With 1, these are all nodes above the leaves.

    Each of the other options switches on a technique:

    table         use the values in the transposition table, and search its move first
    move_scores   order the other moves by the game's cheap scores (`Kernel.score_move`)
    foresee       value leaves from their parent's position, if the game's kernel can. Only used if `exact`, because the
                  selective search examines only a few leaves of each node.
    null_windows  test all moves after the first with a null window
    """

    threads: int = 1
    table_mb: int = 64
    exact: bool = False
    course: bool = False
    prune: float = 0.5
    split_depth: int = 4
    table: bool = True
    move_scores: bool = True
    foresee: bool = True
    null_windows: bool = True


class Searcher(Generic[P, M]):
    """Compiled search of one game with the weights of one evaluator, for one caller at a time."""

    def __init__(
        self, game: Game[P, M], weights: FeatureWeights | EvaluatorNetwork, settings: Settings | None = None
    ) -> None:
        self.game = game
        self.settings = settings or Settings()
        compiled = compile_game(game, weights)
        if compiled is None:
            raise ValueError(
                f"{game.name} cannot be searched by compiled code here: its rules are custom, or its map is too large; search it in Python (docs/bots.md)"
            )
        self._compiled = compiled
        self._search_kernel = make_search_kernel(compiled.kernel)
        self._read_main_line = make_main_line_reader(compiled.kernel)
        self._root_order: list[int] = []
        self._root_move_by_number: dict[int, M] = {}
        sizes = MemorySizes(compiled.kernel.words, compiled.move_count)
        self._memory_sizes = sizes
        threads = self.settings.threads
        if threads < 1:
            raise ValueError(f"a search needs at least 1 thread, not {threads}")
        if self.settings.split_depth < 1:
            raise ValueError(f"split_depth must be at least 1, not {self.settings.split_depth}")
        self._memories = [np.zeros(sizes.thread_memory_words, np.int64) for _ in range(threads)]
        for thread, memory in enumerate(self._memories):
            memory[ThreadField.THREAD_NUMBER] = thread
            memory[ThreadField.MOVE_LISTS_OFFSET] = sizes.move_lists_offset
            memory[ThreadField.ROOT_ORDER_OFFSET] = sizes.root_order_offset
            memory[ThreadField.MOVE_LIST_WORDS] = sizes.move_list_words
            memory[ThreadField.HISTORIES_OFFSET] = sizes.histories_offset
            memory[ThreadField.CORRECTIONS_OFFSET] = sizes.corrections_offset
        self._shared = np.zeros(sizes.count_shared_memory_words(threads), np.int64)
        self._table = make_transposition_table(self.settings.table_mb)
        self._generation = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._is_calibrated = False
        self._write_search_options()

    def _write_search_options(self) -> None:
        settings, shared = self.settings, self._shared
        shared[SearchOption.THREAD_COUNT] = settings.threads
        shared[SearchOption.USE_TABLE] = settings.table
        shared[SearchOption.TABLE_MASK] = len(self._table) // 8 - 1
        shared[SearchOption.ORDER_BY_SCORE] = settings.move_scores
        shared[SearchOption.VALUE_LEAVES_FROM_PARENT] = (
            settings.exact and settings.foresee and self._compiled.can_foresee
        )
        shared[SearchOption.IS_EXACT] = settings.exact
        shared[SearchOption.USE_NULL_WINDOWS] = settings.null_windows
        shared[SearchOption.SPLIT_DEPTH] = settings.split_depth
        shared[SearchOption.IS_COURSE_FORM] = settings.course
        shared[SearchOption.PRUNE_PERMILLE] = round(1000 * settings.prune)
        shared[SearchOption.SPLIT_WORDS] = self._memory_sizes.split_words

    def _calibrate_pruning(self) -> None:
        """Measure by exact searches the numbers that the selective search needs (`PruningCalibration`)."""
        if self._is_calibrated:
            return
        self._is_calibrated = True
        settings, shared = self.settings, self._shared
        if settings.exact:
            return
        shared[SearchOption.USE_TABLE] = 0
        calibration = calibrate_pruning(
            self.game, lambda position, depth: self._search_value(position, depth, -INFINITY, INFINITY)
        )
        shared[SearchOption.USE_TABLE] = settings.table
        if calibration is None:
            return
        shared[SearchOption.TEMPO_VALUE] = calibration.tempo
        shared[SearchOption.VALUE_SPREAD] = calibration.spread
        shared[SearchOption.IS_SELECTIVE] = 1
        shared[SearchOption.EXAMINED_MOVES_AT_DEPTH_1] = EXAMINED_MOVES_AT_DEPTH_1

    def close(self) -> None:
        """End the threads. The searcher cannot be used afterwards."""
        self.stop()
        self._pool.shutdown()

    def stop(self) -> None:
        """Stop the running search within microseconds. May be called from any thread."""
        self._shared[SharedField.MUST_STOP] = 1

    def clear(self) -> None:
        """Clear the transposition table and the search's statistics, for a new match."""
        self._table[:] = 0
        for memory in self._memories:
            memory[self._memory_sizes.histories_offset :] = 0

    def warm_up(self) -> None:
        """Compile the search or load it from the cache, so that the first search starts immediately."""
        with hold_compile_lock():
            for _ in self.deepen(self.game.start(), max_depth=2):
                pass

    def deepen(
        self,
        position: P,
        *,
        stop: Callable[[], bool] | None = None,
        max_depth: int = MAX_SEARCH_DEPTH,
        max_nodes: int = NO_NODE_LIMIT,
        moves: Sequence[M] | None = None,
    ) -> Iterator[SearchReport[M]]:
        """Search `position` deeper and deeper, and yield reports as `bots.search.deepening.deepen` does.

        stop       function that returns True to stop the search; called about every millisecond
        max_depth  maximum depth, in plies
        max_nodes  maximum number of nodes of all threads together
        moves      root moves to search, in move order; None for all

        Raises ValueError if the match is over in this position.
        """
        self._calibrate_pruning()
        self._prepare_search(position, max_nodes, moves)
        yield SearchReport(
            0,
            0,
            self._root_move_by_number[self._root_order[0]],
            (self._root_move_by_number[self._root_order[0]],),
            0,
            is_depth_finished=False,
        )
        sign = self.game.player(position).sign
        max_plies = self._compiled.plies_left(position)
        for depth in range(1, min(max_depth, MAX_SEARCH_DEPTH) + 1):
            for memory in self._memories:
                memory[ThreadField.ESTIMATE_COUNT] = 0
            is_finished = self._run_search(depth, -INFINITY, INFINITY, stop)
            best, value = (
                self._read_root_frame_field(FrameField.BEST_MOVE),
                self._read_root_frame_field(FrameField.BEST_VALUE),
            )
            if is_finished or best >= 0:
                line = self._list_main_line_moves(best, depth)
                yield SearchReport(
                    depth, sign * value, line[0], line, self.nodes, is_depth_finished=is_finished
                )
            if (
                not is_finished
                or abs(value) > ESTIMATE_LIMIT
                or not self._has_estimated_leaves()
                or depth >= max_plies
            ):
                return
            self._root_order.insert(0, self._root_order.pop(self._root_order.index(best)))

    def search(self, position: P, depth: int, low: int, high: int) -> tuple[int, int]:
        """Search to one depth with a window, without the shallower depths first. Return the value and the number of nodes.

        The value and the window, from `low` to `high`, are for the player to move. The value is exact if it lies inside
        the window. Otherwise it is a bound that may lie outside the window (fail-soft).
        """
        self._calibrate_pruning()
        return self._search_value(position, depth, low, high), self.nodes

    def _search_value(self, position: P, depth: int, low: int, high: int) -> int:
        self._prepare_search(position, NO_NODE_LIMIT)
        self._run_search(depth, low, high, None)
        return self._read_root_frame_field(FrameField.BEST_VALUE)

    def _prepare_search(self, position: P, max_nodes: int, chosen_moves: Sequence[M] | None = None) -> None:
        all_moves = self.game.moves(position)
        moves = all_moves if chosen_moves is None else chosen_moves
        if not moves:
            raise ValueError(f"nothing to search: the match is over ({self.game.outcome(position)})")
        compiled, shared = self._compiled, self._shared
        self._root_order = [compiled.move_to_number(move) for move in moves]
        self._root_move_by_number = dict(zip(self._root_order, moves, strict=True))
        words = compiled.pack(position)
        memory = self._memories[0]
        memory[ThreadField.ROOT_MOVE_COUNT] = len(moves)
        memory[ThreadField.IS_ROOT_RESTRICTED] = len(moves) < len(all_moves)
        memory[FIRST_FRAME_OFFSET : FIRST_FRAME_OFFSET + len(words)] = words
        self._generation = (self._generation + 1) % TABLE_GENERATION_COUNT
        shared[SearchOption.TABLE_GENERATION] = self._generation
        shared[SearchOption.NODE_LIMIT] = max_nodes
        shared[SearchOption.PLIES_LEFT_AT_ROOT] = compiled.plies_left(position)
        shared[SharedField.NODE_COUNT] = 0
        shared[SharedField.MUST_STOP] = 0
        for memory_of_thread in self._memories:
            memory_of_thread[
                [
                    ThreadField.NODE_COUNT,
                    ThreadField.REPORTED_NODE_COUNT,
                    ThreadField.ENTERED_COUNT,
                    ThreadField.NODE_COUNT_AT_PAUSE,
                ]
            ] = 0
            memory_of_thread[ThreadField.NEXT_STEP] = WAIT_FOR_WORK
            memory_of_thread[ThreadField.ROOT_PLAYER] = self.game.player(position) is Player.MINNIE

    def _read_root_frame_field(self, field: FrameField) -> int:
        return int(self._memories[0][FIRST_FRAME_OFFSET + self._compiled.kernel.words + field])

    @property
    def nodes(self) -> int:
        """Return the number of nodes that all threads together visited in the last search."""
        return int(sum(memory[ThreadField.NODE_COUNT] for memory in self._memories))

    def _has_estimated_leaves(self) -> bool:
        return any(memory[ThreadField.ESTIMATE_COUNT] for memory in self._memories)

    def _run_search(self, depth: int, low: int, high: int, stop: Callable[[], bool] | None) -> bool:
        shared, memory = self._shared, self._memories[0]
        self._write_root_frame(depth, low, high)
        shared[SharedField.HELPERS_MUST_QUIT] = shared[SharedField.IDLE_THREAD_COUNT] = 0
        helpers = self._memories[1:] if depth > self.settings.split_depth else []
        helper_futures = [
            self._pool.submit(self._call_search_kernel, helper, is_helper=True) for helper in helpers
        ]
        try:
            is_finished = self._search_root(memory, stop) == ROOT_DONE
        finally:
            shared[SharedField.HELPERS_MUST_QUIT] = 1
            wait(helper_futures)
        for helper in helper_futures:
            helper.result()
        return is_finished

    def _write_root_frame(self, depth: int, low: int, high: int) -> None:
        """Write the root's depth, window (`low` to `high`) and moves to the memory of the first thread."""
        memory = self._memories[0]
        root, first = FIRST_FRAME_OFFSET + self._compiled.kernel.words, self._memory_sizes.root_order_offset
        memory[root + FrameField.DEPTH] = depth
        memory[root + FrameField.DISTANCE_FROM_ROOT] = 0
        memory[root + FrameField.ALPHA] = low
        memory[root + FrameField.BETA] = high
        memory[root + FrameField.BEST_MOVE] = -1
        memory[root + FrameField.BEST_VALUE] = -INFINITY
        memory[first : first + len(self._root_order)] = self._root_order
        memory[ThreadField.CURRENT_FRAME_OFFSET] = FIRST_FRAME_OFFSET
        memory[ThreadField.NEXT_STEP] = COUNT_NODE
        memory[ThreadField.INNERMOST_SPLIT] = -1

    def _call_search_kernel(self, memory: Words, *, is_helper: bool) -> int:
        rules = self._compiled.rules
        return cast("int", self._search_kernel(memory, self._shared, rules, self._table, int(is_helper)))

    def _search_root(self, memory: Words, stop: Callable[[], bool] | None) -> int:
        """Search the root in this thread, and call `stop` at every pause. Return ROOT_DONE, or STOPPED after a stop."""
        self._shared[SearchOption.NODES_BETWEEN_PAUSES] = (
            NO_NODE_LIMIT if stop is None else NODES_BETWEEN_STOP_CALLS
        )
        last_step = PAUSED
        try:
            while (last_step := self._call_search_kernel(memory, is_helper=False)) == PAUSED:
                if stop is not None and stop():
                    self.stop()
        finally:
            if last_step == PAUSED:  # `stop` raised an exception: end the search
                self.stop()
                while self._call_search_kernel(memory, is_helper=False) == PAUSED:
                    pass
        return last_step

    def _list_main_line_moves(self, best: int, depth: int) -> tuple[M, ...]:
        line_moves = np.zeros(MAX_SEARCH_DEPTH, np.int64)
        arguments = (self._memories[0], self._shared, self._compiled.rules, self._table)
        move_count = self._read_main_line(*arguments, best, depth, line_moves)
        return tuple(self._compiled.number_to_move(int(number)) for number in line_moves[:move_count])
