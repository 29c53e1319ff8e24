"""The command `arena openings make`: find openings that give both players equal chances."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from arena.bots.api.engine_spec import OPTIONS_BY_ENGINE, BadSpec, ParsedSpec, parse_spec
from arena.bots.engines.registry import make_engine
from arena.bots.evaluators.linear import BadWeights
from arena.console import (
    CommandError,
    MapOption,
    ProcessesOption,
    SeedOption,
    UsageError,
    err,
    get_progress_console,
    validate_output_file,
    write_text,
)
from arena.cores import list_usable_cores
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.lab.commands.map_loading import load_map_for_compiled_search
from arena.lab.processes import ProcessKilled
from arena.maps.game_on_map import DEFAULT_MAP
from arena.maps.openings_file import FINGERPRINT_LINE_PREFIX, compute_map_fingerprint
from arena.protocol.values import Opening

MAX_CANDIDATES_PER_OPENING = 1_000
"""Maximum number of random openings that are tested, for each opening to be found (--count)."""

DEFAULT_ENGINE = "alphabeta"
DEFAULT_STRENGTHS_TEXT = "500,4000,32000"
"""Default of --strengths, as numbers of nodes per move: the strengths of `arena maps measure`."""
MAX_NODES_PER_MOVE = 10**9
"""Largest number of nodes per move that --nodes and --strengths accept."""


def make_command(
    map: MapOption = DEFAULT_MAP,
    plies: Annotated[
        int,
        typer.Option(
            "--plies",
            metavar="PLIES",
            min=1,
            max=100,
            help="Number of plies of an opening; every second opening gets one ply more.",
        ),
    ] = 8,
    count: Annotated[
        int,
        typer.Option("--count", metavar="N", min=1, max=100_000, help="Maximum number of openings to write."),
    ] = 200,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="Engine that tests openings: alphabeta, with options if any, e.g. alphabeta:depth=4.",
        ),
    ] = DEFAULT_ENGINE,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes",
            metavar="N",
            min=100,
            max=MAX_NODES_PER_MOVE,
            help="Nodes to search the position after an opening; each reply is searched with a quarter as many.",
        ),
    ] = 8_000,
    window: Annotated[
        float,
        typer.Option(
            "--window",
            metavar="PERCENT",
            min=0,
            max=50,
            help="Keep openings that leave Maxie a winning chance within PERCENT points of 50 %.",
        ),
    ] = 5.0,
    strengths: Annotated[
        str,
        typer.Option(
            "--strengths",
            metavar="N,N,…",
            help="Nodes per move of the equal engines that play from an opening; comma-separated.",
        ),
    ] = DEFAULT_STRENGTHS_TEXT,
    gap: Annotated[
        float,
        typer.Option(
            "--gap",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Keep openings whose best reply beats the median reply by at least PERCENT points of winning chance.",
        ),
    ] = 3.0,
    seed: SeedOption = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            callback=validate_output_file,
            help="Output file (- for standard output); default: MAP-openings.txt.",
        ),
    ] = None,
    processes: ProcessesOption = 0,
) -> None:
    """Make a file of openings that lead to different, undecided positions.

    An opening consists of random moves, and must pass three tests. Both players' winning chances must be nearly equal. The
    best reply must be clearly better than the median reply. At each strength (nodes per move) in --strengths, an engine plays
    two matches against itself, the first with three quarters of these nodes, the second with five quarters. In the two
    matches together, Maxie and Minnie must each score at least half a point.

    Every second opening is one ply longer, so that each player moves first after half of them. The same options give the
    same openings on every machine. The file names the map, and has one opening per line, as numbers of territories. Use it
    with `arena ladder --openings FILE` or `arena match --openings FILE`. Ctrl-C writes the openings found so far.

    Example: arena openings make --map world --plies 8 --count 200 --nodes 20000 --output world.txt
    """
    engine_spec = _parse_engine_spec(engine)
    strength_nodes = _parse_strengths(strengths)
    from arena.lab.opening_search import OpeningCriteria, make_openings  # noqa: PLC0415 - an extra, and slow to load

    board = load_map_for_compiled_search(map)
    path = output or Path(f"{board.name.replace(':', '-')}-openings.txt")
    criteria = OpeningCriteria(
        evaluator=engine_spec.option_values["evaluator"],
        uses_exact_search=engine_spec.option_values["exact"] == "yes",
        max_depth=engine_spec.option_values["depth"],
        nodes_per_opening=nodes,
        max_winning_chance_deviation=window / 100,
        min_reply_chance_gap=gap / 100,
        strengths_nodes_per_move=strength_nodes,
    )
    kept_openings: list[Opening] = []
    tested_count = 0
    interrupt: KeyboardInterrupt | CommandError | None = None
    try:
        with Progress(console=get_progress_console(), transient=True) as bar:
            task = bar.add_task("openings", total=count)

            def report_progress(number: int) -> None:
                nonlocal tested_count
                tested_count += number
                bar.update(task, description=f"openings, of {tested_count:,} tested")

            openings = make_openings(
                board,
                plies,
                criteria,
                seed=seed,
                max_candidates=MAX_CANDIDATES_PER_OPENING * count,
                process_count=processes or len(list_usable_cores()),
                on_progress=report_progress,
            )
            with closing(openings):
                for opening in islice(openings, count):
                    kept_openings.append(opening)
                    bar.advance(task)
    except BadWeights as problem:
        raise UsageError(f"--engine: {problem}") from None
    except KeyboardInterrupt as error:
        interrupt = error
    except ProcessKilled as error:
        interrupt = CommandError(str(error))
    if interrupt is not None and not kept_openings:
        raise interrupt
    if not kept_openings:
        raise CommandError(
            f"none of {tested_count:,} openings of {plies} plies on {board.name} passed the tests; try another number of "
            "--plies, or a wider --window"
        )
    # The file names the command that makes the same file again. It names a custom map without its folder, which differs
    # between machines, and after Ctrl-C it has the number of openings found.
    written_count = count if interrupt is None else len(kept_openings)
    options = {
        "map": Path(map).name,
        "plies": plies,
        "count": written_count,
        "engine": engine,
        "nodes": nodes,
    }
    options |= {"window": f"{window:g}", "gap": f"{gap:g}"}
    options |= {"strengths": ",".join(str(number) for number in strength_nodes), "seed": seed}
    write_text(_format_openings(board, kept_openings, options), path)
    location = "above" if str(path) == "-" else f"in {path}"
    shortage_text = (
        "" if len(kept_openings) == written_count else f"; no more were found among {tested_count:,}"
    )
    err.print(f"{len(kept_openings)} openings are {location}{shortage_text}")
    if interrupt is not None:
        raise interrupt


def _parse_engine_spec(engine_spec: str) -> ParsedSpec:
    try:
        spec = parse_spec(engine_spec, {"alphabeta": OPTIONS_BY_ENGINE["alphabeta"]})
        make_engine(engine_spec)  # also checks the evaluator
    except BadSpec as problem:
        raise UsageError(f"--engine: {problem}") from None
    if "nodes" in spec.explicit_option_names:
        raise UsageError("--engine: set the number of nodes with --nodes, not with the engine's option nodes")
    return spec


def _parse_strengths(comma_list: str) -> tuple[int, ...]:
    words = [word.strip() for word in comma_list.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MAX_NODES_PER_MOVE for word in words):
        raise UsageError(
            f"--strengths: must be whole numbers from 1 to {MAX_NODES_PER_MOVE:,}, separated by commas, not {comma_list!r:.60}"
        )
    return tuple(int(word) for word in words)


def _format_openings(map: RisklessMap, openings: Sequence[Opening], options: Mapping[str, object]) -> str:
    """Return the text of a file of openings: comments with the options and a hash of the map, then one line per opening."""
    command = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in options.items())
    game = Riskless(map)
    lines = [f"# arena openings make {command}", f"{FINGERPRINT_LINE_PREFIX} {compute_map_fingerprint(map)}"]
    for opening in openings:
        moves = [game.move_from_data(data) for data in opening]
        # Numbers, because a territory's name may contain a comma.
        lines.append(", ".join(f"{source} {target}" for source, target in moves))
    return "\n".join(lines) + "\n"


SUBCOMMAND_FUNCTIONS = (make_command,)
"""Functions of the subcommands of `arena openings`."""
