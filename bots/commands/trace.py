"""`arena trace`: print how a reference algorithm (`bots.search.algorithms`) searches a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bots.api.engine_spec import BadSpec, ParsedSpec
from arena.bots.commands.lookup import PositionOption, load_tree_game, parse_position
from arena.bots.evaluators.linear import BadWeights
from arena.bots.review.analysis import (
    TracedSearchTooLarge,
    find_path_of_line,
    parse_reference_spec,
    run_reference_search,
)
from arena.bots.review.trees import list_tree_names
from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.deepening import MAX_SEARCH_DEPTH
from arena.bots.search.reports.trace_text import (
    format_root_results_line,
    format_summary_lines,
    format_trace_lines,
    format_value_or_prefixed_estimate,
)
from arena.bots.search.reports.tree_picture import render_traced_search
from arena.console import (
    CommandError,
    JsonOption,
    UsageError,
    validate_output_file,
    write_json,
    write_text,
)
from arena.games.core import Game
from arena.games.explicit import ExplicitGame, MissingNodeValue


def trace(
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
            callback=validate_output_file,
            help="SVG file for a drawing of the search tree (- for standard output).",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Print how an algorithm searches a tree.

    The output has the format of the traces in a course on game search (source 001 in docs/search.md).

    The tree is an explicit one, or the game tree of a Riskless map or of a game, searched to --depth.

    Example: arena trace HandoutBig alphabeta --svg tree.svg

    Example: arena trace tictactoe minimax --position X.O/.../... --depth 3
    """
    game = load_tree_game(tree)
    start = parse_position(game, position) if position else game.start()
    try:
        spec = parse_reference_spec(algorithm)
    except BadSpec as error:
        raise UsageError(str(error)) from None
    depth = _choose_depth(tree, game, depth, spec)
    try:
        result, monitor = run_reference_search(
            game, start, depth, spec, tracing=not summary or results or svg is not None
        )
    except MissingNodeValue as error:
        raise CommandError(f"{spec.name} cannot search {tree} to depth {depth}: {error}") from None
    except TracedSearchTooLarge as error:
        raise CommandError(f"--depth: {error}") from None
    except (BadSpec, BadWeights) as error:
        raise UsageError(str(error)) from None
    events = monitor.events or ()
    lines = [] if summary else [*format_trace_lines(game, events, shows_estimates=estimates)]
    lines += [format_root_results_line(game, events)] if results else []
    lines += format_summary_lines(game, start, result, monitor.leaves)
    if monitor.max_live_nodes:
        lines.append(f"In memory at once: at most {monitor.max_live_nodes:,} of {monitor.nodes:,} nodes")
    if svg is not None:
        value = format_value_or_prefixed_estimate(result.value, "value ")
        title = f"{tree}: {algorithm}, {monitor.leaves} leaves, {value}"
        path = find_path_of_line(game, start, result.line)
        write_text(render_traced_search(game, start, depth, events, title, path), svg)
    if json is not None:
        row = {
            "tree": tree,
            "algorithm": spec.name,
            "options": dict(spec.option_values),
            "depth": depth,
            "value": result.value,
            "move": result.move,
            "nodes": monitor.nodes,
            "terminals_visited": monitor.leaves,
            "held": monitor.max_live_nodes,
            "trace": lines,
        }
        write_json(row, json)
    if "-" not in (str(json), str(svg)):
        typer.echo("\n".join(lines))


def _choose_depth(tree_name: str, game: Game[Any, Any], depth: int | None, spec: ParsedSpec) -> int:
    """Return the depth of the search, in plies: `depth`, but at most the height of a tree that is listed node by node.

    depth  depth that the user gave; None for the whole tree, which is possible only for a listed tree
    spec   algorithm, which may limit the depth

    Raises UsageError if the algorithm cannot search to `depth`, or if `depth` is None for a game.
    """
    if isinstance(game, ExplicitGame):
        depth = game.height if depth is None else min(depth, game.height)
    elif depth is None:
        raise UsageError(
            f"--depth is needed for {tree_name}: give the number of plies to search, e.g. --depth 3"
        )
    if depth > MAX_SEARCH_DEPTH and ALGORITHMS[spec.name].is_recursive:
        unlimited_names = ", ".join(
            name for name, algorithm in ALGORITHMS.items() if not algorithm.is_recursive
        )
        raise UsageError(
            f"--depth: {spec.name} searches at most {MAX_SEARCH_DEPTH} plies, not {depth}; to search deeper, use {unlimited_names}"
        )
    return depth
