"""Searches that explain a position, by an engine (`arena analyse`) or by a reference algorithm (`arena trace`).

An engine searches as it does in a match, compiled if possible, to increasing depths within limits of nodes, time or depth.
A reference algorithm is one of `bots.search.algorithms`: plain Python that searches once to one depth, in move order, and
can be traced.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import (
    OPTIONS_BY_ENGINE,
    BadSpec,
    FractionOption,
    IntegerOption,
    ParsedSpec,
    SpecOptions,
    TextOption,
    count_engine_threads,
    parse_spec,
)
from arena.bots.engines.implementations import choose_implementation, require_supported_evaluator
from arena.bots.engines.registry import require_known_evaluator
from arena.bots.engines.searching import make_searcher
from arena.bots.evaluators.catalogue import evaluator_for, make_dynamic_position_predicate
from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.deepening import MAX_SEARCH_DEPTH, NO_NODE_LIMIT, SearchReport
from arena.bots.search.monitor import SearchMonitor, SearchStopped, never_stop, stop_after_nodes
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.search_values import to_root_value
from arena.bots.search.thread_pool import ThreadPool
from arena.clock import MONOTONIC_CLOCK
from arena.cores import list_usable_cores
from arena.games.core import Game, Player

DEFAULT_MAX_NODES = 200_000
"""Default node limit of a compiled search: enough for a few tenths of a second."""
DEFAULT_MAX_PYTHON_NODES = 5_000
"""Default node limit of a search in Python, which is much slower than a compiled search."""
NODE_LIMIT_FACTOR_FOR_FURTHER_MOVES = 4
"""Node limit of the search for the second best and each further move, as a multiple of the limit for the best move.

The higher limit lets such a search reach the same depth as the search for the best move.
"""
MAX_TRACED_NODES = 200_000
"""Maximum number of nodes of a traced search. A trace takes some 2 KB of memory per node."""

_EVALUATOR_OPTION = TextOption("plain")


class TracedSearchTooLarge(ValueError):
    """Raised when a traced search visits more nodes than MAX_TRACED_NODES; the message is one line."""


def _make_reference_options(algorithm_name: str) -> SpecOptions:
    """Return the options that a spec may set for a reference algorithm.

    The reference algorithms, `ALGORITHMS`, are plain Python searches for traces, comparisons and tests.
    """
    options: dict[str, IntegerOption | FractionOption | TextOption] = {"evaluator": _EVALUATOR_OPTION}
    if ALGORITHMS[algorithm_name].is_parallel:
        options["threads"] = IntegerOption(1, 1, 64)
    if algorithm_name == "jamboree":
        options["prune"] = FractionOption(0.5)
    if algorithm_name.startswith("lazy"):
        options |= {"keep": TextOption("no", ("yes", "no")), "dynamic": IntegerOption(0, 0, 20)}
    if algorithm_name == "lazy-ordered":
        options["take"] = IntegerOption(0, 0, 1000)
    return options


OPTIONS_BY_ALGORITHM: Mapping[str, SpecOptions] = {name: _make_reference_options(name) for name in ALGORITHMS}
"""Options of each reference algorithm, by its name in `bots.search.algorithms`."""

OPTIONS_BY_SEARCH_ENGINE: Mapping[str, SpecOptions] = {
    name: OPTIONS_BY_ENGINE[name] for name in ("minimax", "alphabeta", "jamboree")
}
"""Options of each built-in engine that searches (not `greedy`, for example), by the engine's name."""


@dataclass(frozen=True)
class SearchLimits:
    """Limits of one search of an engine: nodes, seconds and depth."""

    max_nodes: int | None = None
    """Maximum number of nodes; None for the default of `choose_max_nodes`."""
    max_seconds: float = math.inf
    max_depth: int | None = None
    """Maximum depth, in plies; None for no limit."""

    def choose_max_nodes(self, *, is_compiled: bool) -> int:
        """Return the node limit of a search: `max_nodes` if it is set, no limit if another limit is set, else the default."""
        if self.max_nodes is not None:
            return self.max_nodes
        if self.max_seconds < math.inf or self.max_depth is not None:
            return NO_NODE_LIMIT
        return DEFAULT_MAX_NODES if is_compiled else DEFAULT_MAX_PYTHON_NODES


def parse_reference_spec(spec_text: str) -> ParsedSpec:
    """Return the parsed spec of an algorithm of `bots.search`. Raises BadSpec if `spec_text` is not a valid spec."""
    return parse_spec(spec_text, OPTIONS_BY_ALGORITHM, "algorithm")


def parse_analysing_engine(spec_text: str) -> ParsedSpec:
    """Return the parsed spec of an engine that searches. Raises BadSpec if `spec_text` is not a valid spec."""
    spec = parse_spec(spec_text, OPTIONS_BY_SEARCH_ENGINE, "engine that searches")
    if "truth" in spec.explicit_option_names:
        raise BadSpec(
            f"{spec.name}: leave out the option `truth`, which is for matches: here the tablebase is shown beside the search anyway"
        )
    require_known_evaluator(spec)
    return spec


def run_reference_search(
    game: Game[Any, Any], position: Any, depth: int, spec: ParsedSpec, *, tracing: bool
) -> tuple[SearchResult[Any], SearchMonitor]:
    """Search once to `depth` plies with the algorithm of `bots.search` that `spec` names.

    Return the result, and the monitor, which has the numbers of nodes and leaves and, with `tracing`, the trace.

    Raises TracedSearchTooLarge if, with `tracing`, the search visits more than `MAX_TRACED_NODES` nodes. Raises BadSpec if the
    evaluator or an option in `spec` cannot be used with the game, and BadWeights if the evaluator's file is invalid.
    """
    require_supported_evaluator(spec, game)
    problem = Problem(game, evaluator_for(game, spec.option_values["evaluator"]))
    monitor = SearchMonitor(stop_after_nodes(MAX_TRACED_NODES) if tracing else never_stop, tracing=tracing)
    try:
        with ThreadPool(spec.option_values.get("threads", 1)) as pool:
            settings = _make_algorithm_settings(game, spec, pool)
            return ALGORITHMS[spec.name].run(problem, position, depth, monitor, settings), monitor
    except SearchStopped:
        raise TracedSearchTooLarge(
            f"{spec.name} visits more than {MAX_TRACED_NODES:,} nodes at depth {depth}, too many to show: "
            "give a smaller depth"
        ) from None


def _make_algorithm_settings(game: Game[Any, Any], spec: ParsedSpec, pool: ThreadPool) -> AlgorithmSettings:
    dynamic_plies = spec.option_values.get("dynamic", 0)
    is_dynamic = make_dynamic_position_predicate(game) if dynamic_plies else None
    if dynamic_plies and is_dynamic is None:
        raise BadSpec(
            f"{spec.name}: the option dynamic works only with riskless, because no rule says which positions of "
            f"{game.name} are dynamic (too unsettled to estimate); "
            f"try `arena trace path4 {spec.name}:dynamic=2 --depth 4`"
        )
    return AlgorithmSettings(
        pool,
        prune_fraction=spec.option_values.get("prune", 0.0),
        max_moves_per_node=spec.option_values.get("take", 0),
        is_dynamic=is_dynamic,
        max_extra_plies=dynamic_plies,
        memoize=spec.option_values.get("keep") == "yes",
    )


class Analyst:
    """Engine that analyses positions of one game. The limits (nodes, seconds and depth) are for each search.

    Use an Analyst in a `with` statement, which ends the engine's threads.
    """

    def __init__(self, game: Game[Any, Any], spec: ParsedSpec, limits: SearchLimits) -> None:
        self._game = game
        self._max_depth = min(limits.max_depth or MAX_SEARCH_DEPTH, spec.option_values["depth"])
        self._max_seconds = limits.max_seconds
        self._max_nodes = spec.option_values["nodes"] or limits.choose_max_nodes(
            is_compiled=choose_implementation(spec, game).is_compiled
        )
        self._searcher = make_searcher(
            spec, Match(game, Player.MAXIE, threads=count_engine_threads(spec, len(list_usable_cores())))
        )
        self._last_analysis: tuple[Any, list[SearchReport[Any]]] | None = None
        """Last position that `analyse_by_depth` searched, with its reports, for a repeated call; None at first."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._searcher.close()

    def analyse_by_depth(self, position: Any) -> list[SearchReport[Any]]:
        """Search a position, and return a report for each depth, the deepest last.

        A second call in a row with the same position returns the same reports, without a search.
        """
        if self._last_analysis is None or self._last_analysis[0] != position:
            self._last_analysis = position, self._search_position(position, self._max_depth, self._max_nodes)
        return self._last_analysis[1]

    def analyse_move(self, position: Any, move: Any) -> list[SearchReport[Any]]:
        """Return a report for each depth of a search of the position after `move`, the deepest last.

        Distances to a win in the reports' values are counted from `position`. The list is empty if the move ends
        the match.
        """
        position_after = self._game.successor(position, move)
        if self._game.outcome(position_after) is not None:
            return []
        return [
            replace(report, value=to_root_value(report.value, 1))
            for report in self.analyse_by_depth(position_after)
        ]

    def analyse_best_moves(self, position: Any, count: int) -> list[SearchReport[Any]]:
        """Return a report for each of the (at most) `count` best moves, the best first.

        Each search excludes the moves already found. All moves are searched to the depth of the best one, or to a smaller
        depth if NODE_LIMIT_FACTOR_FOR_FURTHER_MOVES times the node limit is not enough.
        """
        first_report = self.analyse_by_depth(position)[-1]
        reports = [first_report]
        other_moves = [move for move in self._game.moves(position) if move != first_report.move]
        while other_moves and len(reports) < count:
            max_nodes = (
                NO_NODE_LIMIT
                if self._max_nodes == NO_NODE_LIMIT
                else NODE_LIMIT_FACTOR_FOR_FURTHER_MOVES * self._max_nodes
            )
            reports.append(
                self._search_position(position, max(1, first_report.depth), max_nodes, other_moves)[-1]
            )
            other_moves.remove(reports[-1].move)
        sign = self._game.player(position).sign
        return sorted(reports, key=lambda report: -sign * report.value)

    def _search_position(
        self, position: Any, depth: int, max_nodes: int, moves: Sequence[Any] | None = None
    ) -> list[SearchReport[Any]]:
        deadline = MONOTONIC_CLOCK.now() + self._max_seconds
        reports = list(
            self._searcher.deepen(
                position,
                stop=lambda: MONOTONIC_CLOCK.now() >= deadline,
                max_depth=depth,
                max_nodes=max_nodes,
                moves=moves,
            )
        )
        return [report for report in reports if report.depth] or reports


def find_path_of_line(game: Game[Any, Any], position: Any, line: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the path from `position` along the moves of `line`: the index of each move in move order."""
    path = []
    for move in line:
        path.append(list(game.moves(position)).index(move))
        position = game.successor(position, move)
    return tuple(path)
