"""`arena analyse`: rank the moves of a position with an engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bots.api.engine_spec import BadSpec, ParsedSpec
from arena.bots.commands.compare import print_leaf_counts
from arena.bots.commands.lookup import PositionOption, load_game, parse_position
from arena.bots.evaluators.linear import BadWeights
from arena.bots.review.analysis import (
    DEFAULT_MAX_NODES,
    DEFAULT_MAX_PYTHON_NODES,
    OPTIONS_BY_SEARCH_ENGINE,
    Analyst,
    SearchLimits,
    parse_analysing_engine,
)
from arena.bots.review.chance import compute_winning_chance
from arena.bots.review.review import SolvedPosition, probe_tablebase
from arena.bots.search.deepening import MAX_SEARCH_DEPTH, SearchReport
from arena.bots.search.reports.trace_text import format_value_or_prefixed_estimate
from arena.console import (
    CommandError,
    GameOption,
    JsonOption,
    MapOption,
    UsageError,
    is_option_given,
    out,
    print_table,
    require_game_with_maps,
    validate_output_file,
    write_json,
)
from arena.games.core import Game
from arena.maps.game_on_map import DEFAULT_MAP
from arena.solved.header import BadTable

DEFAULT_COMPARED_DEPTH = 4
"""Default of the option --depth, in plies, if --compare is given."""

MaxNodesOption = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        metavar="N",
        min=100,
        max=10**12,
        help=f"Maximum nodes per search; default without other limits: {DEFAULT_MAX_NODES:,}, or {DEFAULT_MAX_PYTHON_NODES:,} for Python engines.",
    ),
]
MaxTimeOption = Annotated[
    float | None,
    typer.Option(
        "--time", metavar="SECONDS", min=0.001, max=86_400, help="Maximum time per search, in seconds."
    ),
]


def analyse(
    context: typer.Context,
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    position: PositionOption = "",
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help=f"Engine ({', '.join(OPTIONS_BY_SEARCH_ENGINE)}), with options if any, e.g. alphabeta:depth=4.",
        ),
    ] = "alphabeta",
    nodes: MaxNodesOption = None,
    time: MaxTimeOption = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="PLIES",
            min=1,
            max=MAX_SEARCH_DEPTH,
            help=f"Maximum search depth, in plies; default: no limit, or {DEFAULT_COMPARED_DEPTH} with --compare.",
        ),
    ] = None,
    lines: Annotated[
        int,
        typer.Option(
            "--lines",
            metavar="N",
            min=1,
            max=100,
            help="Number of best moves to show, each with its main line.",
        ),
    ] = 1,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Count the leaves that each algorithm visits at each depth; do not rank moves.",
        ),
    ] = False,
    budget: Annotated[
        int,
        typer.Option(
            "--budget",
            metavar="N",
            min=10,
            max=10**8,
            help="Maximum number of leaves per search; needs --compare.",
        ),
    ] = 20_000,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            callback=validate_output_file,
            help="SVG file for a chart of leaves by depth (- for standard output); needs --compare.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Rank the moves of a position with an engine.

    Shows the best lines, their values and the chance of winning. The engine searches as in a match, with compiled code
    if possible, until its limit of nodes, time or depth is reached. --lines 3 also searches the second and the third
    best move, each with the same limits.

    On a map that `arena solve` has solved, a line shows the true value of each move for the player to move.

    With --compare, do not rank moves: count the leaves that each algorithm visits at each depth p, and show q^p, q^(3p/4)
    and q^(p/2) for comparison, where q is the branching factor. Also show the depth that each algorithm reaches with as
    many leaves as minimax.

    Example: arena analyse --map world --nodes 1000000 --lines 3
    """
    loaded_game: Game[Any, Any] = load_game(game, map)
    if is_option_given(context, "map"):
        require_game_with_maps(game, type(loaded_game))
    start = parse_position(loaded_game, position)
    _reject_unused_options(context, is_comparison=compare)
    if compare:
        print_leaf_counts(loaded_game, start, depth or DEFAULT_COMPARED_DEPTH, budget, svg, json)
        return
    try:
        truth = probe_tablebase(loaded_game, start)
    except BadTable as error:
        raise CommandError(str(error)) from None
    try:
        spec = parse_analysing_engine(engine)
        with Analyst(loaded_game, spec, SearchLimits(nodes, time or math.inf, depth)) as analyst:
            reports = analyst.analyse_by_depth(start)
            best_reports = analyst.analyse_best_moves(start, lines)
    except (BadSpec, BadWeights) as error:
        hint = "; for a reference search, use `arena trace … --summary`" if "reference" in engine else ""
        raise UsageError(f"--engine: {error}{hint}") from None
    _output_analysis(loaded_game, start, spec, reports, best_reports, truth, json)


def _reject_unused_options(context: typer.Context, *, is_comparison: bool) -> None:
    """Raise UsageError if the user gave an option that would have no effect.

    is_comparison  True if --compare is given: then --engine, --nodes, --time and --lines have no effect, otherwise
                   --budget and --svg
    """
    for name in ("engine", "nodes", "time", "lines") if is_comparison else ("budget", "svg"):
        if is_option_given(context, name):
            reason = (
                f"--compare searches with every algorithm: leave out --{name}"
                if is_comparison
                else f"--{name} needs --compare"
            )
            raise UsageError(reason)


def _output_analysis(
    game: Game[Any, Any],
    position: Any,
    spec: ParsedSpec,
    reports_by_depth: Sequence[SearchReport[Any]],
    reports_of_best_moves: Sequence[SearchReport[Any]],
    solved_position: SolvedPosition | None,
    json_file: Path | None,
) -> None:
    if json_file is not None:
        summary = {
            "game": game.name,
            "position": game.position_to_text(position),
            "engine": spec.name,
            "options": dict(spec.option_values),
            "reports": [_make_json_report(game, report) for report in reports_by_depth],
            "truth": solved_position,
            "lines": [_make_json_report(game, report) for report in reports_of_best_moves],
        }
        write_json(summary, json_file)
        if str(json_file) == "-":
            return
    _print_search_reports(game, reports_by_depth)
    if len(reports_of_best_moves) > 1:
        out.print()
        _print_search_reports(game, reports_of_best_moves)
    _print_best_move(game, position, solved_position, reports_of_best_moves[0])


def _print_search_reports(game: Game[Any, Any], reports: Sequence[SearchReport[Any]]) -> None:
    print_table(
        {**dict.fromkeys(("depth", "value", "chance", "nodes"), "right"), "line": "left"},
        [
            [
                str(report.depth),
                format_value_or_prefixed_estimate(report.value),
                f"{100 * compute_winning_chance(game, report.value):.0f} %",
                f"{report.nodes:,}",
                ", ".join(game.move_to_text(move) for move in report.line),
            ]
            for report in reports
        ],
    )


def _print_best_move(
    game: Game[Any, Any],
    position: Any,
    solved_position: SolvedPosition | None,
    best_report: SearchReport[Any],
) -> None:
    if solved_position is not None:
        moves_by_result: dict[str, list[str]] = {}
        for move, result in solved_position.moves_with_results:
            moves_by_result.setdefault(result, []).append(move)
        text = "; ".join(f"{result}: {', '.join(moves)}" for result, moves in moves_by_result.items())
        out.print(f"by the solved table: {text}")
    out.print(f"{game.player(position)} plays {game.move_to_text(best_report.move)}")


def _make_json_report(game: Game[Any, Any], report: SearchReport[Any]) -> dict[str, Any]:
    return {
        "depth": report.depth,
        "value": report.value,
        "chance": compute_winning_chance(game, report.value),
        "move": game.move_to_data(report.move),
        "line": [game.move_to_text(move) for move in report.line],
        "nodes": report.nodes,
    }
