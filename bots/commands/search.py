"""`arena trace` and `arena analyse`: the searches at work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from arena.bots.api.options import BadSpec
from arena.bots.commands.compare import compare_command
from arena.bots.commands.options import load_game
from arena.bots.evaluators import BadWeights, UnknownEvaluator
from arena.bots.review.analysis import (
    DEEPENING,
    REFERENCE,
    Analysis,
    analyse,
    line_path,
    parse_reference,
    run_reference,
)
from arena.bots.review.review import SolvedPosition, solved_position
from arena.bots.review.savings import Saving, savings
from arena.bots.review.trees import TreeError, tree_names, tree_of
from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.deepening import MAX_DEPTH
from arena.bots.search.reports.seen_tree import seen_tree
from arena.bots.search.reports.trace_text import closing_lines, results_line, trace_lines, value_text
from arena.bots.search.reports.tree_picture import TooBig, tree_svg
from arena.bots.search.watch import Event, Watch
from arena.console import (
    Failure,
    GameOption,
    JsonOption,
    MapOption,
    Misuse,
    is_given,
    out,
    write_json,
    write_text,
)
from arena.games.core import BadData, Game
from arena.games.explicit import Explicit, WrongPlace
from arena.maps.setup import DEFAULT_MAP
from arena.solved.header import BadTable

SEARCHING_ONCE = [name for name in REFERENCE if name not in DEEPENING]

SvgOption = Annotated[
    Path | None, typer.Option("--svg", metavar="FILE", help="Draw it here as SVG; - is the output.")
]


def register(app: typer.Typer) -> None:
    """Add `arena trace` and `arena analyse`."""
    app.command("trace")(trace_command)
    app.command("analyse")(analyse_command)


def trace_command(
    tree: Annotated[
        str,
        typer.Argument(help=f"{', '.join(tree_names())}, a file NAME.json, or a map of Riskless, as path4."),
    ],
    algorithm: Annotated[str, typer.Argument(help=f"{', '.join(ALGORITHMS)}; as in jamboree:prune=0.5.")],
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="PLIES", min=0, help="Plies; else the whole tree.")
    ] = None,
    estimates: Annotated[
        bool,
        typer.Option("--estimates/--no-estimates", help="Lines for leaves, as in Figure 4 of the course."),
    ] = True,
    results: Annotated[
        bool, typer.Option("--results", help="Also list what each move came back with, as Steps and Leaves.")
    ] = False,
    svg: SvgOption = None,
    json: JsonOption = None,
) -> None:
    """Print how an algorithm searches a tree, in the form of the course's own traces.

    The tree is an explicit one, or that of Riskless on a map, of which --depth says how much.

    Example: arena trace HandoutBig alphabeta --svg tree.svg
    """
    try:
        game = tree_of(tree)
        spec = parse_reference(algorithm)
    except (TreeError, BadSpec) as error:
        raise Misuse(str(error)) from None
    if isinstance(game, Explicit):
        depth = game.height if depth is None else min(depth, game.height)
    elif depth is None:
        raise Misuse(f"--depth: say how many plies of the tree of {tree} are searched, as in --depth 3")
    if depth > MAX_DEPTH and ALGORITHMS[spec.name].recursive:
        endless = ", ".join(name for name, each in ALGORITHMS.items() if not each.recursive)
        raise Misuse(
            f"{spec.name} recurses, {MAX_DEPTH} plies at the most, not {depth}; no limit have {endless}"
        )
    start = game.start()
    try:
        result, watch = run_reference(game, start, depth, spec, tracing=True)
        saved = list(savings(game, start, depth, spec))
    except WrongPlace as error:
        raise Failure(f"{tree}, {spec.name} to depth {depth}: {error}") from None
    except (BadSpec, UnknownEvaluator, BadWeights) as error:
        raise Misuse(str(error)) from None
    events = watch.events or ()
    lines = [*trace_lines(game, events, estimates=estimates)]
    lines += [results_line(game, events)] if results else []
    lines += [*closing_lines(game, start, result, watch.leaves), *_effort(watch, saved)]
    if svg is not None:
        title = f"{tree}: {algorithm}, {watch.leaves} leaves, value {result.value}"
        _draw(svg, game, start, depth, events, title, result.line)
    if json is not None:
        row = {
            "tree": tree,
            "algorithm": spec.name,
            "options": dict(spec.values),
            "depth": depth,
            "value": result.value,
            "move": result.move,
            "nodes": watch.nodes,
            "terminals_visited": watch.leaves,
            "held": watch.held,
            "savings": saved,
            "trace": lines,
        }
        write_json(row, json)
    if "-" not in (str(json), str(svg)):
        typer.echo("\n".join(lines))


def _effort(watch: Watch, saved: Sequence[Saving]) -> list[str]:
    """What a search that builds a tree held of it, and what one saved that looked at less than it could."""
    held = [f"In memory at once: at most {watch.held:,} of {watch.nodes:,} nodes"] if watch.held else []
    return [*held, *(each.told() for each in saved)]


def analyse_command(
    context: typer.Context,
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    position: Annotated[
        str,
        typer.Option(
            "--position",
            metavar="MOVES",
            help="A position in one line, as `arena play` prints it; else the start.",
        ),
    ] = "",
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help=f"An engine ({', '.join(DEEPENING)}), deepening, ordering and remembering, "
            f"or an algorithm that searches once: {', '.join(SEARCHING_ONCE)}.",
        ),
    ] = "alphabeta",
    depth: Annotated[
        int, typer.Option("--depth", metavar="PLIES", min=1, max=MAX_DEPTH, help="Plies to look ahead.")
    ] = 4,
    fixed: Annotated[
        bool,
        typer.Option(
            "--fixed", help="Search once, in move order, with nothing remembered: as `arena trace`."
        ),
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print the search of the last depth.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Instead, count the leaves of every algorithm by depth.")
    ] = False,
    budget: Annotated[
        int,
        typer.Option(
            "--budget", metavar="N", min=10, max=10**8, help="With --compare: the most leaves of one search."
        ),
    ] = 20_000,
    svg: SvgOption = None,
    json: JsonOption = None,
) -> None:
    """Show what an engine thinks of a position, and with --trace or --svg its whole search.

    The search is the one in Python, to the full depth, whether or not the engine plays compiled.

    On a solved map (`arena solve`) a line tells what each move is truly worth to the player.

    With --compare, count instead how many leaves each algorithm visits at each depth, beside q^p,
    q^(3p/4) and q^(p/2), and how deep each gets with the leaves that minimax needs.

    Example: arena analyse --game tictactoe --position X.O/.../... --engine jamboree --depth 6
    """
    rules: Game[Any, Any] = load_game(game, map)
    start = _position(rules, position)
    _check_compare(context, compare=compare)
    if compare:
        compare_command(rules, start, depth, budget, svg, json)
        return
    drawing = trace or svg is not None
    try:
        truth = solved_position(rules, start)
    except BadTable as error:
        raise Failure(str(error)) from None
    try:
        found = analyse(rules, start, depth, engine, fixed=fixed, tracing=drawing)
        saved = list(savings(rules, start, depth, found.spec))
    except BadSpec as error:
        raise Misuse(f"--engine: {error}") from None
    except (UnknownEvaluator, BadWeights) as error:
        raise Misuse(f"--engine: {error}") from None
    _show(rules, start, found, saved, truth, trace=trace, svg=svg, json=json)


def _check_compare(context: typer.Context, *, compare: bool) -> None:
    """Refuse the options that would do nothing: those of one search with --compare, and its budget without it."""
    for name in ("engine", "fixed", "trace") if compare else ("budget",):
        if is_given(context, name):
            why = (
                f"--compare searches with every algorithm: leave out --{name}"
                if compare
                else "--budget is for --compare"
            )
            raise Misuse(why)


def _position(game: Game[Any, Any], text: str) -> Any:
    try:
        position = game.position_from_text(text) if text else game.start()
    except BadData as error:
        raise Misuse(f"--position: {error}") from None
    outcome = game.outcome(position)
    if outcome is not None:
        raise Misuse(f"--position: nothing to think about, the match is over: {outcome}")
    return position


def _show(
    game: Game[Any, Any],
    position: Any,
    found: Analysis,
    saved: Sequence[Saving],
    truth: SolvedPosition | None,
    *,
    trace: bool,
    svg: Path | None,
    json: Path | None,
) -> None:
    events = found.watch.events or ()
    if svg is not None:
        title = f"{found.spec.name}, depth {found.last.depth}: {found.watch.nodes} nodes, {found.watch.leaves} leaves"
        _draw(svg, game, position, found.last.depth, events, title, found.last.line)
    if json is not None:
        write_json(_rows(game, position, found, saved, truth), json)
    if "-" in (str(json), str(svg)):
        return
    if trace:
        typer.echo("\n".join(trace_lines(game, events)))
    table = Table("depth", "value", "nodes", "line", box=None, header_style="bold")
    for column in table.columns[:3]:
        column.justify = "right"
    for report in found.reports:
        value = value_text(report.value).removeprefix("Guess: ").replace("~", "-")
        table.add_row(str(report.depth), value, f"{report.nodes:,}", _line(game, report.line))
    out.print(table)
    for line in _effort(found.watch, saved):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if truth is not None:
        by_value: dict[str, list[str]] = {}
        for move, value in truth.moves:
            by_value.setdefault(value, []).append(move)
        told = "; ".join(f"{value}: {', '.join(moves)}" for value, moves in by_value.items())
        out.print(f"by the table of the map: {told}", markup=False, highlight=False, soft_wrap=True)
    out.print(
        f"{game.player(position)} plays {game.move_to_text(found.last.move)}", markup=False, highlight=False
    )


def _line(game: Game[Any, Any], line: Sequence[Any]) -> str:
    return ", ".join(game.move_to_text(move) for move in line)


def _rows(
    game: Game[Any, Any],
    position: Any,
    found: Analysis,
    saved: Sequence[Saving],
    truth: SolvedPosition | None,
) -> dict[str, Any]:
    return {
        "game": game.name,
        "position": game.position_to_text(position),
        "engine": found.spec.name,
        "options": dict(found.spec.values),
        "reports": [
            {
                "depth": report.depth,
                "value": report.value,
                "move": game.move_to_data(report.move),
                "line": [game.move_to_text(move) for move in report.line],
                "nodes": report.nodes,
            }
            for report in found.reports
        ],
        "trace": list(trace_lines(game, found.watch.events)) if found.watch.events is not None else None,
        "held": found.watch.held,
        "savings": saved,
        "truth": truth,
    }


def _draw(
    path: Path,
    game: Game[Any, Any],
    position: Any,
    depth: int,
    events: Sequence[Event],
    title: str,
    line: tuple[Any, ...],
) -> None:
    try:
        picture = tree_svg(seen_tree(game, position, depth, events), title, line_path(game, position, line))
    except TooBig as error:
        raise Failure(f"--svg: {error}: choose a smaller --depth") from None
    write_text(picture, path)
