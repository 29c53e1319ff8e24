"""`arena trace` and `arena analyse`, which show searches in detail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from arena.bots.api.engine_spec import BadSpec, Spec
from arena.bots.commands.compare import compare_command
from arena.bots.commands.lookup import load_game
from arena.bots.evaluators.linear import BadWeights
from arena.bots.review.analysis import (
    DEFAULT_NODES,
    DEFAULT_PYTHON_NODES,
    ENGINE_OPTIONS,
    REFERENCE_DEPTH,
    REFERENCE_OPTIONS,
    EngineAnalyst,
    SearchLimits,
    SearchTooLarge,
    line_to_path,
    make_report,
    parse_engine,
    parse_reference,
    run_reference_search,
)
from arena.bots.review.chance import compute_winning_chance
from arena.bots.review.review import SolvedPosition, probe_tablebase
from arena.bots.review.savings import Saving, measure_node_savings
from arena.bots.review.trees import TreeError, list_tree_names, load_tree_game
from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.deepening import MAX_DEPTH, Report
from arena.bots.search.monitor import SearchMonitor, TraceEvent
from arena.bots.search.reports.trace_text import (
    format_closing_lines,
    format_results_line,
    format_trace_lines,
    format_value,
)
from arena.bots.search.reports.tree_picture import render_search
from arena.console import (
    CommandError,
    GameOption,
    JsonOption,
    MapOption,
    UsageError,
    is_option_given,
    out,
    write_json,
    write_text,
)
from arena.games.core import BadData, Game
from arena.games.explicit import ExplicitGame, NodeWithoutValue
from arena.maps.game_on_map import DEFAULT_MAP
from arena.solved.header import BadTable

REFERENCE_ONLY = [name for name in REFERENCE_OPTIONS if name not in ENGINE_OPTIONS]

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
SvgOption = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        metavar="FILE",
        help="Draw the search as SVG in this file (- for standard output).",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands `arena trace` and `arena analyse` to `app`."""
    app.command("trace")(trace_command)
    app.command("analyse")(analyse_command)


def trace_command(
    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help=f"Tree to search: {', '.join(list_tree_names())}, a file NAME.json, or a Riskless map, e.g. path4.",
        ),
    ],
    algorithm: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM",
            help=f"Algorithm ({', '.join(ALGORITHMS)}), with options if any, e.g. jamboree:prune=0.5.",
        ),
    ],
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", metavar="PLIES", min=0, help="Search depth, in plies; default: the whole tree."
        ),
    ] = None,
    estimates: Annotated[
        bool,
        typer.Option(
            "--estimates/--no-estimates", help="Print a line for each leaf that the evaluator estimates."
        ),
    ] = True,
    results: Annotated[
        bool, typer.Option("--results", help="Also list the value of each root move.")
    ] = False,
    svg: SvgOption = None,
    json: JsonOption = None,
) -> None:
    """Print how an algorithm searches a tree.

    The output has the format of the traces in source 001 (docs/search.md).

    The tree is an explicit one, or the game tree of a Riskless map, searched to --depth.

    Example: arena trace HandoutBig alphabeta --svg tree.svg
    """
    try:
        game = load_tree_game(tree)
        spec = parse_reference(algorithm)
    except (TreeError, BadSpec) as error:
        raise UsageError(str(error)) from None
    if isinstance(game, ExplicitGame):
        depth = game.height if depth is None else min(depth, game.height)
    elif depth is None:
        raise UsageError(f"--depth is needed for {tree}: give the number of plies to search, e.g. --depth 3")
    if depth > MAX_DEPTH and ALGORITHMS[spec.name].recursive:
        unlimited_names = ", ".join(name for name, algorithm in ALGORITHMS.items() if not algorithm.recursive)
        raise UsageError(
            f"--depth: {spec.name} searches at most {MAX_DEPTH} plies, not {depth}; to search deeper, use {unlimited_names}"
        )
    start = game.start()
    try:
        result, monitor = run_reference_search(game, start, depth, spec, tracing=True)
        savings = list(measure_node_savings(game, start, depth, spec))
    except NodeWithoutValue as error:
        raise CommandError(f"{tree}, {spec.name} to depth {depth}: {error}") from None
    except SearchTooLarge as error:
        raise CommandError(f"--depth: {error}") from None
    except (BadSpec, BadWeights) as error:
        raise UsageError(str(error)) from None
    events = monitor.events or ()
    lines = [*format_trace_lines(game, events, estimates=estimates)]
    lines += [format_results_line(game, events)] if results else []
    lines += [*format_closing_lines(game, start, result, monitor.leaves), *_describe_memory(monitor, savings)]
    if svg is not None:
        title = f"{tree}: {algorithm}, {monitor.leaves} leaves, value {result.value}"
        _draw_tree(svg, game, start, depth, events, title, result.line)
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


def _describe_memory(monitor: SearchMonitor, savings: Sequence[Saving]) -> list[str]:
    """Return lines about the part of the tree held in memory, and about the work that each pruning option saved."""
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
    position: Annotated[
        str,
        typer.Option(
            "--position",
            metavar="POSITION",
            help="Position on one line, as in the output of --json; default: the start.",
        ),
    ] = "",
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help=f"Engine with options ({', '.join(ENGINE_OPTIONS)}), or a reference algorithm in Python "
            f"(NAME:reference, {', '.join(REFERENCE_ONLY)}).",
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
            help=f"Maximum search depth, in plies; NAME:reference searches exactly this deep (default {REFERENCE_DEPTH}).",
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
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Print every node of the search; needs --engine NAME:reference."),
    ] = False,
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
    svg: SvgOption = None,
    json: JsonOption = None,
) -> None:
    """Rank the moves of a position with an engine.

    Shows the best lines, their values and the chance of winning. The engine searches as it plays, compiled, until its
    limit of nodes, time or depth is reached. --lines 3 also searches the second and the third best move, each with
    the same budget.

    With --engine NAME:reference a reference algorithm, written in plain Python, searches once, in move order; --trace
    and --svg show its search.

    On a solved map (`arena solve`) a line shows the true value of each move for the player.

    With --compare, count instead the leaves that each algorithm visits at each depth, next to q^p, q^(3p/4) and q^(p/2),
    and show the depth that each algorithm reaches with as many leaves as minimax.

    Example: arena analyse --map world --nodes 1000000 --lines 3

    Example: arena analyse --game tictactoe --position X.O/.../... --engine minimax:reference --depth 3 --trace
    """
    loaded_game: Game[Any, Any] = load_game(game, map)
    start = _parse_position(loaded_game, position)
    _reject_unused_options(context, compare=compare)
    if compare:
        compare_command(loaded_game, start, depth or REFERENCE_DEPTH, budget, svg, json)
        return
    try:
        truth = probe_tablebase(loaded_game, start)
    except BadTable as error:
        raise CommandError(str(error)) from None
    try:
        spec, reference = parse_engine(engine)
        if reference:
            _reject_options(
                context, ("nodes", "time", "lines"), f"{spec.name} searches once, to the depth of --depth"
            )
            _show_search(
                loaded_game, start, depth or REFERENCE_DEPTH, spec, truth, trace=trace, svg=svg, json=json
            )
            return
        _reject_options(
            context,
            ("trace", "svg"),
            f"the search of an engine cannot be shown: use --engine {spec.name}:reference",
        )
        with EngineAnalyst(loaded_game, spec, SearchLimits(nodes, time or math.inf, depth)) as analyst:
            reports = analyst.analyse(start)
            best_reports = analyst.analyse_best_moves(start, lines)
    except SearchTooLarge as error:
        raise CommandError(f"--depth: {error}") from None
    except (BadSpec, BadWeights) as error:
        raise UsageError(f"--engine: {error}") from None
    _show_analysis(loaded_game, start, spec, reports, best_reports, truth, json)


def _reject_options(context: typer.Context, options: Sequence[str], reason: str) -> None:
    """Raise UsageError with this reason if the user gave one of these options."""
    for option in options:
        if is_option_given(context, option):
            raise UsageError(f"--{option}: {reason}")


def _reject_unused_options(context: typer.Context, *, compare: bool) -> None:
    """Reject the options of a single search with --compare, and --budget without --compare."""
    for name in ("engine", "trace", "nodes", "time", "lines") if compare else ("budget",):
        if is_option_given(context, name):
            reason = (
                f"--compare searches with every algorithm: leave out --{name}"
                if compare
                else "--budget needs --compare"
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


def _show_search(
    game: Game[Any, Any],
    position: Any,
    depth: int,
    spec: Spec,
    truth: SolvedPosition | None,
    *,
    trace: bool,
    svg: Path | None,
    json: Path | None,
) -> None:
    """Search once with a reference algorithm. Show the result, with `trace` also each node, and with `svg` a picture."""
    result, monitor = run_reference_search(game, position, depth, spec, tracing=trace or svg is not None)
    savings = list(measure_node_savings(game, position, depth, spec))
    report = make_report(result, monitor, depth)
    events = monitor.events or ()
    if svg is not None:
        title = f"{spec.name}, depth {depth}: {monitor.nodes} nodes, {monitor.leaves} leaves"
        _draw_tree(svg, game, position, depth, events, title, report.line)
    if json is not None:
        summary = _make_json_summary(game, position, spec, [report], truth)
        lines = list(format_trace_lines(game, monitor.events)) if monitor.events is not None else None
        write_json({**summary, "trace": lines, "held": monitor.max_live_nodes, "savings": savings}, json)
    if "-" in (str(json), str(svg)):
        return
    if trace:
        typer.echo("\n".join(format_trace_lines(game, events)))
    _print_reports(game, [report], chances=False)
    for line in _describe_memory(monitor, savings):
        out.print(line)
    _print_best_move(game, position, truth, report)


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
        summary = _make_json_summary(game, position, spec, reports, truth)
        write_json({**summary, "lines": [_make_json_report(game, report) for report in best]}, json)
        if str(json) == "-":
            return
    _print_reports(game, reports)
    if len(best) > 1:
        out.print()
        _print_reports(game, best)
    _print_best_move(game, position, truth, best[0])


def _print_reports(game: Game[Any, Any], reports: Sequence[Report[Any]], *, chances: bool = True) -> None:
    headings = ("depth", "value", *(("chance",) if chances else ()), "nodes", "line")
    table = Table(*headings, box=None, header_style="bold")
    for column in table.columns[:-1]:
        column.justify = "right"
    for report in reports:
        value_text = format_value(report.value).removeprefix("Guess: ").replace("~", "-")
        chance_cells = (f"{100 * compute_winning_chance(game, report.value):.0f} %",) if chances else ()
        table.add_row(
            str(report.depth), value_text, *chance_cells, f"{report.nodes:,}", _format_line(game, report.line)
        )
    out.print(table)


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


def _format_line(game: Game[Any, Any], line: Sequence[Any]) -> str:
    return ", ".join(game.move_to_text(move) for move in line)


def _make_json_summary(
    game: Game[Any, Any],
    position: Any,
    spec: Spec,
    reports: Sequence[Report[Any]],
    truth: SolvedPosition | None,
) -> dict[str, Any]:
    return {
        "game": game.name,
        "position": game.position_to_text(position),
        "engine": spec.name,
        "options": dict(spec.values),
        "reports": [_make_json_report(game, report) for report in reports],
        "truth": truth,
    }


def _make_json_report(game: Game[Any, Any], report: Report[Any]) -> dict[str, Any]:
    return {
        "depth": report.depth,
        "value": report.value,
        "chance": compute_winning_chance(game, report.value),
        "move": game.move_to_data(report.move),
        "line": [game.move_to_text(move) for move in report.line],
        "nodes": report.nodes,
    }


def _draw_tree(
    path: Path,
    game: Game[Any, Any],
    position: Any,
    depth: int,
    events: Sequence[TraceEvent],
    title: str,
    line: tuple[Any, ...],
) -> None:
    write_text(render_search(game, position, depth, events, title, line_to_path(game, position, line)), path)
