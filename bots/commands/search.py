"""`arena trace`, which shows how an algorithm searches, and `arena analyse`, which shows what an engine finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bots.api.engine_spec import BadSpec, Spec
from arena.bots.commands.compare import compare_command
from arena.bots.commands.lookup import load_game, load_tree_game
from arena.bots.evaluators.linear import BadWeights
from arena.bots.review.analysis import (
    DEFAULT_NODES,
    DEFAULT_PYTHON_NODES,
    ENGINE_OPTIONS,
    Analyst,
    SearchLimits,
    SearchTooLarge,
    line_to_path,
    parse_engine,
    parse_reference,
    run_reference_search,
)
from arena.bots.review.chance import compute_winning_chance
from arena.bots.review.review import SolvedPosition, probe_tablebase
from arena.bots.review.savings import Saving, measure_node_savings
from arena.bots.review.trees import list_tree_names
from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.deepening import MAX_DEPTH, Report
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.reports.trace_text import (
    format_closing_lines,
    format_plain_value,
    format_results_line,
    format_trace_lines,
)
from arena.bots.search.reports.tree_picture import render_search
from arena.console import (
    CommandError,
    GameOption,
    JsonOption,
    MapOption,
    UsageError,
    check_output_file,
    is_option_given,
    out,
    print_table,
    require_maps,
    write_json,
    write_text,
)
from arena.games.core import BadData, Game
from arena.games.explicit import ExplicitGame, NodeWithoutValue
from arena.maps.game_on_map import DEFAULT_MAP
from arena.solved.header import BadTable

DEFAULT_COMPARED_DEPTH = 4
"""Default of --depth with --compare, in plies."""

PositionOption = Annotated[
    str,
    typer.Option(
        "--position",
        metavar="POSITION",
        help="Position to search, in the form of `arena analyse --json -`; default: the start.",
    ),
]
NodesOption = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        metavar="N",
        min=100,
        max=10**12,
        help=f"Maximum nodes per search; default: {DEFAULT_NODES:,}, or {DEFAULT_PYTHON_NODES:,} for Python engines.",
    ),
]
TimeOption = Annotated[
    float | None,
    typer.Option(
        "--time", metavar="SECONDS", min=0.001, max=86_400, help="Maximum time per search, in seconds."
    ),
]


def trace_command(
    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help=f"Tree to search: {', '.join(list_tree_names())}, a file NAME.json, a Riskless map, or a game.",
        ),
    ],
    algorithm: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM",
            help=f"Algorithm ({', '.join(ALGORITHMS)}), with options if any, e.g. jamboree:prune=0.5.",
        ),
    ],
    position: PositionOption = "",
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="PLIES", min=0, help="Search depth, in plies; default: the whole tree."
        ),
    ] = None,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Print only the result, without the nodes of the search."),
    ] = False,
    estimates: Annotated[
        bool,
        typer.Option(
            "--estimates/--no-estimates", help="Print a line for each leaf that the evaluator estimates."
        ),
    ] = True,
    results: Annotated[
        bool, typer.Option("--results", help="Also list the value of each root move.")
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            callback=check_output_file,
            help="Draw the search as SVG in this file (- for standard output).",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Print how an algorithm searches a tree.

    The output has the format of the traces in the course's homework (source 001 in docs/search.md).

    The tree is an explicit one, or the game tree of a Riskless map or of a game, searched to --depth.

    Example: arena trace HandoutBig alphabeta --svg tree.svg

    Example: arena trace tictactoe minimax --position X.O/.../... --depth 3
    """
    game = load_tree_game(tree)
    start = _parse_position(game, position) if position else game.start()
    try:
        spec = parse_reference(algorithm)
    except BadSpec as error:
        raise UsageError(str(error)) from None
    depth = _choose_depth(tree, game, depth, spec)
    try:
        result, monitor = run_reference_search(
            game, start, depth, spec, tracing=not summary or results or svg is not None
        )
        savings = list(measure_node_savings(game, start, depth, spec))
    except NodeWithoutValue as error:
        raise CommandError(f"{tree}, {spec.name} to depth {depth}: {error}") from None
    except SearchTooLarge as error:
        raise CommandError(f"--depth: {error}") from None
    except (BadSpec, BadWeights) as error:
        raise UsageError(str(error)) from None
    events = monitor.events or ()
    lines = [] if summary else [*format_trace_lines(game, events, shows_estimates=estimates)]
    lines += [format_results_line(game, events)] if results else []
    lines += [*format_closing_lines(game, start, result, monitor.leaves), *_describe_memory(monitor, savings)]
    if svg is not None:
        value = format_plain_value(result.value, "value ")
        title = f"{tree}: {algorithm}, {monitor.leaves} leaves, {value}"
        path = line_to_path(game, start, result.line)
        write_text(render_search(game, start, depth, events, title, path), svg)
    if json is not None:
        row = {
            "tree": tree,
            "algorithm": spec.name,
            "options": dict(spec.values),
            "depth": depth,
            "value": result.value,
            "move": result.move,
            "nodes": monitor.nodes,
            "terminals_visited": monitor.leaves,
            "held": monitor.max_live_nodes,
            "savings": savings,
            "trace": lines,
        }
        write_json(row, json)
    if "-" not in (str(json), str(svg)):
        typer.echo("\n".join(lines))


def _choose_depth(tree: str, game: Game[Any, Any], depth: int | None, spec: Spec) -> int:
    """Return the search depth: `depth`, but at most the height of an explicit tree. Raises UsageError if `depth` is invalid."""
    if isinstance(game, ExplicitGame):
        depth = game.height if depth is None else min(depth, game.height)
    elif depth is None:
        raise UsageError(f"--depth is needed for {tree}: give the number of plies to search, e.g. --depth 3")
    if depth > MAX_DEPTH and ALGORITHMS[spec.name].recursive:
        unlimited_names = ", ".join(name for name, algorithm in ALGORITHMS.items() if not algorithm.recursive)
        raise UsageError(
            f"--depth: {spec.name} searches at most {MAX_DEPTH} plies, not {depth}; to search deeper, use {unlimited_names}"
        )
    return depth


def _describe_memory(monitor: SearchMonitor, savings: Sequence[Saving]) -> list[str]:
    """Return lines of text: how much of the tree the search held in memory, and how much work each pruning option saved."""
    memory = (
        [f"In memory at once: at most {monitor.max_live_nodes:,} of {monitor.nodes:,} nodes"]
        if monitor.max_live_nodes
        else []
    )
    return [*memory, *(saving.describe() for saving in savings)]


def analyse_command(
    context: typer.Context,
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    position: PositionOption = "",
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help=f"Engine ({', '.join(ENGINE_OPTIONS)}), with options if any, e.g. alphabeta:depth=4.",
        ),
    ] = "alphabeta",
    nodes: NodesOption = None,
    time: TimeOption = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="PLIES",
            min=1,
            max=MAX_DEPTH,
            help=f"Maximum search depth, in plies; default with --compare: {DEFAULT_COMPARED_DEPTH}.",
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
            help="Count the leaves each algorithm visits at each depth, instead of analysing.",
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
            callback=check_output_file,
            help="Plot the leaves visited at each depth, as SVG (- for standard output); needs --compare.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Rank the moves of a position with an engine.

    Shows the best lines, their values and the chance of winning. The engine searches as it plays, compiled, until its
    limit of nodes, time or depth is reached. --lines 3 also searches the second and the third best move, each with
    the same budget.

    On a solved map (`arena solve`) a line shows the true value of each move for the player.

    With --compare, count instead the leaves that each algorithm visits at each depth p, next to q^p, q^(3p/4) and
    q^(p/2), where q is the branching factor. Also show the depth that each algorithm reaches with as
    many leaves as minimax.

    Example: arena analyse --map world --nodes 1000000 --lines 3
    """
    loaded_game: Game[Any, Any] = load_game(game, map)
    if is_option_given(context, "map"):
        require_maps(game, type(loaded_game))
    start = _parse_position(loaded_game, position)
    _reject_unused_options(context, compares=compare)
    if compare:
        compare_command(loaded_game, start, depth or DEFAULT_COMPARED_DEPTH, budget, svg, json)
        return
    try:
        truth = probe_tablebase(loaded_game, start)
    except BadTable as error:
        raise CommandError(str(error)) from None
    try:
        spec = parse_engine(engine)
        with Analyst(loaded_game, spec, SearchLimits(nodes, time or math.inf, depth)) as analyst:
            reports = analyst.analyse(start)
            best_reports = analyst.analyse_best_moves(start, lines)
    except (BadSpec, BadWeights) as error:
        hint = "; for a reference search, use `arena trace … --summary`" if "reference" in engine else ""
        raise UsageError(f"--engine: {error}{hint}") from None
    _show_analysis(loaded_game, start, spec, reports, best_reports, truth, json)


def _reject_unused_options(context: typer.Context, *, compares: bool) -> None:
    """Raise UsageError if --compare was given with an option that only an analysis uses.

    Raise UsageError also if an option that needs --compare was given without --compare.
    """
    for name in ("engine", "nodes", "time", "lines") if compares else ("budget", "svg"):
        if is_option_given(context, name):
            reason = (
                f"--compare searches with every algorithm: leave out --{name}"
                if compares
                else f"--{name} needs --compare"
            )
            raise UsageError(reason)


def _parse_position(game: Game[Any, Any], text: str) -> Any:
    try:
        position = game.position_from_text(text) if text else game.start()
    except BadData as error:
        raise UsageError(f"--position: {error}") from None
    outcome = game.outcome(position)
    if outcome is not None:
        raise UsageError(f"--position: the match is over in this position: {outcome}")
    return position


def _show_analysis(
    game: Game[Any, Any],
    position: Any,
    spec: Spec,
    reports: Sequence[Report[Any]],
    best: Sequence[Report[Any]],
    truth: SolvedPosition | None,
    json: Path | None,
) -> None:
    if json is not None:
        summary = {
            "game": game.name,
            "position": game.position_to_text(position),
            "engine": spec.name,
            "options": dict(spec.values),
            "reports": [_make_json_report(game, report) for report in reports],
            "truth": truth,
            "lines": [_make_json_report(game, report) for report in best],
        }
        write_json(summary, json)
        if str(json) == "-":
            return
    _print_reports(game, reports)
    if len(best) > 1:
        out.print()
        _print_reports(game, best)
    _print_best_move(game, position, truth, best[0])


def _print_reports(game: Game[Any, Any], reports: Sequence[Report[Any]]) -> None:
    print_table(
        {**dict.fromkeys(("depth", "value", "chance", "nodes"), "right"), "line": "left"},
        [
            [
                str(report.depth),
                format_plain_value(report.value),
                f"{100 * compute_winning_chance(game, report.value):.0f} %",
                f"{report.nodes:,}",
                ", ".join(game.move_to_text(move) for move in report.line),
            ]
            for report in reports
        ],
    )


def _print_best_move(
    game: Game[Any, Any], position: Any, truth: SolvedPosition | None, best: Report[Any]
) -> None:
    if truth is not None:
        moves_by_value: dict[str, list[str]] = {}
        for move, value in truth.moves:
            moves_by_value.setdefault(value, []).append(move)
        text = "; ".join(f"{value}: {', '.join(moves)}" for value, moves in moves_by_value.items())
        out.print(f"by the solved table: {text}")
    out.print(f"{game.player(position)} plays {game.move_to_text(best.move)}")


def _make_json_report(game: Game[Any, Any], report: Report[Any]) -> dict[str, Any]:
    return {
        "depth": report.depth,
        "value": report.value,
        "chance": compute_winning_chance(game, report.value),
        "move": game.move_to_data(report.move),
        "line": [game.move_to_text(move) for move in report.line],
        "nodes": report.nodes,
    }
