"""Engines `minimax`, `alphabeta` and `jamboree`: iterative deepening, for as long as the clock allows.

A searcher does the search, either with the Python code of `bots.search` or with the compiled algorithms of
`bots.compiled`. Only `make_searcher` chooses between the two.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, Thinking
from arena.bots.api.budget import Budget, DeepeningStopRule, plan
from arena.bots.api.engine_spec import BadSpec, ParsedSpec
from arena.bots.engines.garbage_collector import GARBAGE_COLLECTOR
from arena.bots.engines.implementations import choose_implementation
from arena.bots.engines.perfect import find_missing_tablebase_reason, load_requested_solution, to_search_value
from arena.bots.engines.repetition import SeenPositions
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import NO_NODE_LIMIT, DeepeningSearcher, PythonSearcher, SearchReport
from arena.bots.search.play import AlphaBeta, Jamboree, Minimax
from arena.bots.search.table import Table
from arena.bots.search.thread_pool import ThreadPool
from arena.solved.header import BadTable
from arena.solved.solved_value import DRAWN_VALUE, SolvedValue

MAX_REMEMBERED_SEARCH_STALLS = 8
"""Number of recent searches whose longest stall (`SearchDeadline.longest_stall`) a bot remembers.

In a stall, a busy machine does not run the search. The bot keeps a reserve of time for further stalls.
"""
WARM_UP_SECONDS = 0.05
"""Duration of an engine's warm-up search, in seconds. An engine with a node limit stops it after MAX_WARM_UP_NODES instead.

The warm-up search, before the match starts, loads the data that later searches need. The search also measures for how long the
operating system of a busy machine pauses a search.
"""
MAX_WARM_UP_NODES = 1_000
"""Maximum number of nodes of the warm-up search of an engine whose option `nodes` limits its searches.

Matches of such an engine are reproducible. A time limit for the warm-up search would leave a different transposition
table in each match.
"""
UNLIMITED_TIME_BUDGET = Budget(math.inf, math.inf)


def make_searcher(spec: ParsedSpec, match: Match) -> DeepeningSearcher:
    """Return the engine's searcher for `match`: compiled if possible, otherwise in Python, with the reason on standard error.

    Raises BadSpec for an option that this searcher, compiled or in Python, does not have.
    """
    implementation = choose_implementation(spec, match.game)
    if implementation.is_compiled:
        return _make_compiled_searcher(implementation.spec, match)
    if implementation.reason_for_python_search:
        _print_to_stderr(f"{spec.name} searches in Python: {implementation.reason_for_python_search}")
    return make_python_searcher(implementation.spec, match)


def _make_compiled_searcher(spec: ParsedSpec, match: Match) -> DeepeningSearcher:
    """Return the compiled searcher for the algorithm that `spec` names, `alphabeta` or `jamboree`.

    `alphabeta` searches on one thread. The option `threads` of `jamboree` sets the number of its threads, which may also
    be 1; if the option is 0, `match.threads` is used.
    """
    from arena.bots.compiled.catalogue import weights_for  # noqa: PLC0415 - an extra, and slow to load
    from arena.bots.compiled.searcher import Searcher, Settings  # noqa: PLC0415

    settings = Settings(exact=spec.option_values["exact"] == "yes")
    if spec.name == "jamboree":
        settings = replace(settings, threads=spec.option_values["threads"] or match.threads)
        if spec.option_values["form"] == "course":
            settings = replace(
                settings,
                course=True,
                prune=spec.option_values["prune"],
                split_depth=spec.option_values["split_depth"],
            )
    searcher = Searcher(match.game, weights_for(match.game, spec.option_values["evaluator"]), settings)
    searcher.warm_up()
    return searcher


def make_python_searcher(spec: ParsedSpec, match: Match) -> PythonSearcher:
    """Return a searcher with the Python form of the algorithm that `spec` names: `minimax`, `alphabeta` or `jamboree`."""
    evaluator = evaluator_for(match.game, spec.option_values["evaluator"])
    if spec.name == "minimax":
        return PythonSearcher(match.game, lambda: Minimax(evaluator))
    if spec.name == "alphabeta":
        return PythonSearcher(match.game, lambda: AlphaBeta(evaluator, table=Table()))
    pool = ThreadPool(spec.option_values["threads"] or match.threads)
    return PythonSearcher(match.game, lambda: Jamboree(evaluator, pool, spec.option_values["prune"]), pool)


class SearchDeadline:
    """Hard time limit of one search.

    hard_limit_time  latest end of the search, as `time.monotonic()`
    is_stopped       returns True if the search must end earlier

    The attribute `longest_stall` is the longest time, in seconds, between two readings of the clock. The search reads the
    clock at every node, so in a long stall the machine was running something else.
    """

    def __init__(self, hard_limit_time: float, is_stopped: Callable[[], bool]) -> None:
        self.longest_stall = 0.0
        self._hard_limit_time = hard_limit_time
        self._is_stopped = is_stopped
        self._last_reading = time.monotonic()

    def read_clock(self) -> float:
        """Return the current `time.monotonic()`, and update `longest_stall`."""
        now = time.monotonic()
        self.longest_stall = max(self.longest_stall, now - self._last_reading)
        self._last_reading = now
        return now

    def has_passed(self) -> bool:
        """Return True if the search must end. The search calls this method at every node."""
        return self.read_clock() >= self._hard_limit_time or self._is_stopped()


def _print_to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the bot's messages go to standard error


class SearchingBot(Bot):
    """Bot that searches to increasing depths, within a soft and a hard time limit.

    The bot begins no depth after the soft limit, unless the best move changed recently. It stops at the hard limit, and plays
    the best move found. The bot draws the match by repetition only if the search values all other moves as worse than a draw.
    """

    def __init__(self, spec: ParsedSpec) -> None:
        self._spec = spec
        self._expects_win = False
        """True if the last search valued the position as better than a draw for this bot."""
        self._stalls: deque[float] = deque(maxlen=MAX_REMEMBERED_SEARCH_STALLS)

    def prepare(self) -> None:
        try:
            self._solution = load_requested_solution(self._spec, self.game)
            self._searcher = make_searcher(self._spec, self.match)
        except (BadSpec, BadTable) as error:
            raise Resign(str(error)) from None
        self._seen_positions = SeenPositions(self.game)
        if reason := find_missing_tablebase_reason(self._spec, self._solution, self.game):
            _print_to_stderr(reason)
        # Warm up: this search loads everything that later ones need, and measures the delays of a busy machine.
        nodes = self._spec.option_values["nodes"]
        self._max_nodes = nodes or NO_NODE_LIMIT
        deadline = SearchDeadline(
            time.monotonic() + (math.inf if nodes else WARM_UP_SECONDS), lambda: self.stopped
        )
        self._search_position(
            self.game.start(), deadline, max_nodes=min(nodes, MAX_WARM_UP_NODES) or NO_NODE_LIMIT
        )

    def choose(self, position: Any, clock: Clock) -> Any:
        self._seen_positions.add(position)
        move = self._choose_move(position, clock)
        self._seen_positions.add(self.game.successor(position, move))
        return move

    def _choose_move(self, position: Any, clock: Clock) -> Any:
        solved_value, moves = self._find_solved_moves(position)
        if moves is not None and (solved_value.plies is not None or len(moves) == 1):
            value = self.seat.sign * to_search_value(solved_value)
            self.thinking = Thinking(depth=solved_value.plies, value=value, nodes=len(moves), line=moves[:1])
            return moves[0]
        drawing_moves: Sequence[Any] = ()
        if moves is None:
            moves, drawing_moves = self._seen_positions.split_moves_by_repetition(
                position, expects_win=self._expects_win
            )
        if drawing_moves and not moves:
            self.thinking = Thinking(value=0, line=drawing_moves[:1])
            return drawing_moves[0]
        longest_stall = max(self._stalls, default=0.0)
        budget = plan(clock, self.game.expected_plies(position), longest_stall)
        if self._max_nodes < NO_NODE_LIMIT:
            budget = Budget(budget.hard, budget.hard)
        deadline = SearchDeadline(clock.arrived + budget.hard, lambda: self.stopped)
        report = self._search_position(
            position, deadline, clock.arrived, budget, moves, max_nodes=self._max_nodes
        )
        if drawing_moves and self.seat.sign * report.value < 0:
            report = replace(report, value=0, move=drawing_moves[0], line=(drawing_moves[0],))
        self._expects_win = self.seat.sign * report.value > 0
        self.thinking = Thinking(depth=report.depth, value=report.value, nodes=report.nodes, line=report.line)
        return report.move

    def _find_solved_moves(self, position: Any) -> tuple[SolvedValue, Sequence[Any] | None]:
        """Return the position's value in the map's tablebase, and the best moves.

        Return DRAWN_VALUE and None, so that all moves are searched, if no tablebase is used or its file is damaged.
        """
        if self._solution is None:
            return DRAWN_VALUE, None
        try:
            return self._solution.find_best_moves(position)
        except BadTable as error:
            self._solution = None
            _print_to_stderr(f"{self._spec.name} continues without the solved table: {error}")
            return DRAWN_VALUE, None

    def _search_position(
        self,
        position: Any,
        deadline: SearchDeadline,
        start_time: float = 0.0,
        budget: Budget = UNLIMITED_TIME_BUDGET,
        moves: Sequence[Any] | None = None,
        *,
        max_nodes: int,
    ) -> SearchReport[Any]:
        """Search `position` to increasing depths until `budget`, `deadline` or `max_nodes` ends the search.

        start_time  time from which `budget` counts, as `time.monotonic()`: the arrival of the request for the move
        moves       moves to search, in move order; None for all

        Return the last report, and remember the longest stall of this search.
        """
        last_report: SearchReport[Any] | None = None
        rule: DeepeningStopRule[Any] = DeepeningStopRule(budget)
        depth = self._spec.option_values["depth"]
        with GARBAGE_COLLECTOR.pause():
            reports = self._searcher.deepen(
                position, stop=deadline.has_passed, max_depth=depth, max_nodes=max_nodes, moves=moves
            )
            for report in reports:
                last_report = report
                if rule.should_stop(report.move, time.monotonic() - start_time) or self.stopped:
                    break
        if last_report is None:
            raise ValueError("the search chose no move: `deepen` must yield at least one report")
        deadline.read_clock()
        self._stalls.append(deadline.longest_stall)
        return last_report

    def ended(self, ending: Ending) -> None:  # noqa: ARG002 - the result does not matter
        self._searcher.close()
        GARBAGE_COLLECTOR.collect_if_due()
