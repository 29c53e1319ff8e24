"""The command `arena maps measure`: measure how decisive and how eventful the matches on a map are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.progress import Progress

from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, BadSpec
from arena.bots.compiled.availability import has_custom_kernel
from arena.bots.evaluators.linear import BadWeights
from arena.console import (
    CommandError,
    GameOption,
    JsonOption,
    Justify,
    ProcessesOption,
    SeedOption,
    UsageError,
    get_progress_console,
    hide_progress,
    out,
    print_table,
    register_game,
    write_json,
)
from arena.cores import list_usable_cores
from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.lab.commands.map_loading import load_map_for_compiled_search
from arena.lab.processes import ProcessKilled
from arena.maps.game_on_map import has_maps
from arena.maps.loader import list_built_in_map_names
from arena.maps.openings_file import BadOpenings, find_shipped_openings_file, read_openings
from arena.protocol.values import Opening

if TYPE_CHECKING:
    from arena.lab.measure import EstimatedMean, MeasuredMap

MEASUREMENT_HEADINGS = (
    "map", "cap", "goal", "limit", "nodes a move", "drawn", "plies", "Maxie's share", "endings", "comebacks", "lead changes",
    "back and forth", "gap", "score with 8 × the nodes", "pairs needed",
)  # fmt: skip
DEFAULT_EVALUATOR = str(OPTIONS_BY_ENGINE["alphabeta"]["evaluator"].default)
"""Name of the default evaluator of the engine `alphabeta`, and default of the option --evaluator."""
SECOND_TERMINAL_TABLE_HEADINGS = ("map", "nodes a move", "comebacks", "lead changes", "back and forth", "gap")
"""Headings of the second table with a map's measurements. A single table would be wider than a terminal."""
LEFT_ALIGNED_HEADINGS = ("map", "endings")
"""Headings of the columns that are aligned left, because they contain text; numbers are aligned right."""


def measure_command(
    maps: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MAP]...",
            help="Maps to measure: names, .toml files, ring:N or grid:WxH; default: all built-in maps.",
        ),
    ] = None,
    matches: Annotated[
        int,
        typer.Option(
            "--matches",
            metavar="N",
            min=2,
            max=100_000,
            help="Matches per map at each strength (500, 4,000 and 32,000 nodes per move).",
        ),
    ] = 100,
    evaluator: Annotated[
        str | None,
        typer.Option(
            "--evaluator",
            metavar="NAME",
            help=f"Evaluator of the engines: plain, features, or a weights file; default: {DEFAULT_EVALUATOR}.",
        ),
    ] = None,
    processes: ProcessesOption = 0,
    game: GameOption = Riskless.name,
    openings: Annotated[
        str | None,
        typer.Option(
            "--openings",
            metavar="shipped|FILE",
            help="Openings: shipped (the map's own) or a file (for a single map); default: random plies.",
        ),
    ] = None,
    seed: SeedOption = 1,
    json: JsonOption = None,
) -> None:
    """Measure how decisive and eventful the matches on a map are.

    Also measure how often the stronger engine wins.

    An engine plays against itself and searches 500, 4,000 or 32,000 positions (nodes) per move. An engine with 4,000
    nodes also plays against one with 500: pairs of matches from the same opening, with seats swapped. Each match begins
    with 4 to 9 random plies. A position that occurs for the third time is a draw.

    Comebacks: share of decided matches won by the player who was behind after half of the moves. Lead changes: how often
    the lead (a winning chance above 55 %) passes from one player to the other, per match. Back and forth: share of moves
    that take the same territory as both previous moves. Gap: difference in winning chance between the best and the
    median move, in the middle of a match. Pairs needed: number of pairs that show, with 95 % confidence, that 4,000
    nodes are stronger than 500.

    With --openings, match i begins with opening i, so each opening is used once.

    With --game, a subclass of Riskless is measured. If it has no compiled functions (a kernel), its engines search in
    Python, which is slow, so the matches with 32,000 nodes are left out. If it has a kernel, the kernel estimates the
    positions, so --evaluator must be plain, which is then the default.

    The same seed gives the same figures on every machine. The rows of a map are printed once it is measured. They are
    Markdown if they are not printed on a terminal.

    Example: arena maps measure world my_map.toml --matches 200
    """
    from arena.lab.measure import choose_default_strengths, count_matches_to_play, measure_maps  # noqa: PLC0415 - an extra, and slow to load

    name = register_game(game)
    if not has_maps(name):
        raise UsageError(
            f"--game {game}: must be riskless or a game derived from it; other games have no maps"
        )
    boards = [load_map_for_compiled_search(name) for name in maps or list_built_in_map_names()]
    games = [cast("type[Riskless]", CATALOGUE.find_game_class(name))(board) for board in boards]
    fixed_openings = None if openings is None else _read_openings(openings, games, matches)
    strengths = choose_default_strengths(games)
    measured: list[MeasuredMap] = []
    try:
        with Progress(console=get_progress_console(), transient=True) as bar:
            task = bar.add_task("matches", total=count_matches_to_play(len(boards), matches, len(strengths)))
            measurements = measure_maps(
                boards,
                evaluator or ("plain" if has_custom_kernel(games[0]) else DEFAULT_EVALUATOR),
                game_spec=CATALOGUE.get_game_spec(name),
                strengths_nodes_per_move=strengths,
                match_count=matches,
                openings=fixed_openings,
                seed=seed,
                process_count=processes or len(list_usable_cores()),
                on_progress=lambda count: bar.advance(task, count),
            )
            with closing(measurements):
                for measurement in measurements:
                    measured.append(measurement)
                    if str(json) != "-":
                        with hide_progress(bar):
                            _print_map_rows(
                                make_measured_map_rows(measurement), is_first_map=len(measured) == 1
                            )
    except (BadSpec, BadWeights) as problem:
        raise UsageError(f"--evaluator: {problem}") from None
    except ProcessKilled as error:
        raise CommandError(str(error)) from None
    finally:
        # Also after Ctrl-C: measurements take long.
        if json is not None and measured:
            write_json(measured, json)


def _read_openings(openings_name: str, games: Sequence[Riskless], match_count: int) -> list[Opening]:
    """Return the openings in a file, or the openings shipped with the map.

    openings_name  path of the file, or `shipped`
    games          the game on each map to measure; more than one map is an error
    match_count    number of openings needed

    Raises UsageError for invalid or too few openings, and for `shipped` if the game is a variant of Riskless.
    """
    if len(games) != 1:
        raise UsageError(f"--openings: works with one map only, not with {len(games)}")
    [game] = games
    path = (
        find_shipped_openings_file(game.map.name, game.name)
        if openings_name == "shipped"
        else Path(openings_name)
    )
    if path is None and game.name != Riskless.name:
        raise UsageError(
            f"--openings: the shipped openings are for riskless, and may be illegal in {game.name}; leave out --openings "
            "for random plies, or give a file"
        )
    if path is None:
        raise UsageError(
            f"--openings: {game.map.name} has no shipped openings; leave out --openings for random plies, or give a file"
        )
    try:
        [map_openings] = read_openings(path, [cast("AnyGame", game)])
    except BadOpenings as problem:
        raise UsageError(f"--openings: {problem}") from None
    if len(map_openings) < match_count:
        raise UsageError(
            f"--matches: must be at most {len(map_openings)}, the number of openings in {path.name}, not {match_count}"
        )
    return map_openings


def make_measured_map_rows(measured: MeasuredMap) -> list[list[str]]:
    """Return the table rows with the measurements of a map, one row for each strength (number of nodes per move).

    Values that do not depend on the strength are only in the first row. These values describe the map, and the matches in which
    one player has eight times the nodes of the other.
    """
    rows = []
    for equals in measured.equal_strength_matches:
        statistics = [
            f"{equals.nodes_per_move:,}",
            format_percentage_with_error(equals.drawn_share),
            f"{equals.mean_plies.value:.0f} ± {equals.mean_plies.error:.0f}",
            format_percentage_with_error(equals.maxie_points_share),
            ", ".join(f"{name} {count}" for name, count in equals.endings.items()),
            "" if equals.comeback_share is None else format_percentage_with_error(equals.comeback_share),
            f"{equals.mean_lead_changes:.1f}",
            f"{100 * equals.recapture_share:.0f} %",
            f"{100 * equals.best_to_median_chance_gap:.0f} %",
        ]
        rows.append(["", "", "", "", *statistics, "", ""])
    signal = measured.unequal_strength_pairs
    numbers = (measured.territory_cap, measured.armies_to_win, measured.ply_limit)
    rows[0][:4] = [measured.map, *map(str, numbers)]
    rows[0][-2:] = [
        f"{format_percentage_with_error(signal.points_share)}, drawn {format_percentage_with_error(signal.drawn_share)}",
        format_pairs_needed(signal.pairs_needed),
    ]
    return rows


def format_pairs_needed(pair_count: float | None) -> str:
    """Return a number of pairs of matches as text, such as `23`; None, for 10,000 or more, becomes `over 9,999`."""
    if pair_count is None:
        return "over 9,999"
    return f"{pair_count:,.0f}" if pair_count >= 10 else f"{max(1.0, pair_count):.1f}"


def format_percentage_with_error(mean: EstimatedMean) -> str:
    """Return a share with half the width of its 95 % confidence interval as a text in percent, such as `52 ± 3 %`."""
    return f"{100 * mean.value:.0f} ± {100 * mean.error:.0f} %"


def _print_map_rows(rows: Sequence[Sequence[str]], *, is_first_map: bool) -> None:
    """Print the rows of one map: as two tables on a terminal, otherwise as rows of a Markdown table.

    is_first_map  True for the first map, so that the Markdown table gets its headings
    """
    if not (out.is_terminal or is_first_map):
        for row in rows:
            out.print(f"| {' | '.join(row)} |")
        return
    cells = [dict(zip(MEASUREMENT_HEADINGS, row, strict=True)) for row in rows]
    first_table_headings = [
        heading for heading in MEASUREMENT_HEADINGS if heading not in SECOND_TERMINAL_TABLE_HEADINGS[2:]
    ]
    for headings in (
        (first_table_headings, SECOND_TERMINAL_TABLE_HEADINGS) if out.is_terminal else (MEASUREMENT_HEADINGS,)
    ):
        columns: dict[str, Justify] = {
            heading: "left" if heading in LEFT_ALIGNED_HEADINGS else "right" for heading in headings
        }
        print_table(columns, [[row[heading] for heading in headings] for row in cells])
