"""`arena openings`: openings that are worth playing, for ladders and matches."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from arena.bots.api.options import ENGINES, BadSpec, Spec, parse_spec
from arena.bots.engines.registry import make_engine
from arena.bots.evaluators.weights import BadWeights
from arena.console import Failure, MapOption, Misuse, SeedOption, err, write_text
from arena.cores import cores
from arena.games.board import RisklessMap
from arena.games.riskless import Riskless
from arena.lab.commands.compiled_map import compiled_map
from arena.maps.openings import KEY, fingerprint
from arena.maps.setup import DEFAULT_MAP
from arena.match.openings import Opening

TRIES = 100
"""For each opening that is wanted, so many random ones are judged at the most."""

ENGINE = "alphabeta:evaluator=plain"


def register(app: typer.Typer) -> None:
    """Add `arena openings`."""
    openings = typer.Typer(
        help="Make openings that are worth playing.", no_args_is_help=True, rich_markup_mode=None
    )
    openings.callback()(lambda: None)
    openings.command("make")(make)
    app.add_typer(openings, name="openings")


def make(
    map: MapOption = DEFAULT_MAP,
    plies: Annotated[
        int, typer.Option("--plies", metavar="PLIES", min=1, max=100, help="Moves of each opening.")
    ] = 8,
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, max=100_000, help="How many, at the most.")
    ] = 200,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="What judges them: alphabeta, with options, on one thread and without a clock.",
        ),
    ] = ENGINE,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes",
            metavar="N",
            min=100,
            max=10**9,
            help="Of the search of an opening; a reply has a quarter.",
        ),
    ] = 8_000,
    window: Annotated[
        int,
        typer.Option(
            "--window",
            metavar="VALUE",
            min=0,
            max=900_000,
            help="Keep values within this of 0: hundredths of an army.",
        ),
    ] = 300,
    gap: Annotated[
        int,
        typer.Option(
            "--gap",
            metavar="VALUE",
            min=0,
            max=900_000,
            help="The best reply is better than the median by this.",
        ),
    ] = 100,
    seed: SeedOption = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="Write them here, else MAP-openings.txt; - is the output."
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes", metavar="N", min=0, max=1024, help="Searches at once; 0: one for each core."
        ),
    ] = 0,
) -> None:
    """Make openings that differ by their positions, are not decided, and after which the reply matters.

    Random moves are played and then judged: the value must be near 0, and the best reply better than the median one.
    The same options give the same openings on every machine. The file has a line of moves for each, in numbers of
    territories, and tells for which map it was made: --openings of `arena ladder` and `arena match` takes it.

    Example: arena openings make --map world --plies 8 --count 200 --nodes 20000 --output world.txt
    """
    judged_by = _alphabeta(engine)
    from arena.lab.openings import Judgement, make_openings  # noqa: PLC0415 - an extra, and slow to load

    board = compiled_map(map)
    path = output or Path(f"{board.name.replace(':', '-')}-openings.txt")
    if not path.parent.is_dir():  # which is told before the work, not after it
        raise Failure(f"cannot write {path}: there is no folder {path.parent}")
    judgement = Judgement(
        evaluator=judged_by.word("evaluator"),
        exact=judged_by.word("exact") == "yes",
        depth=judged_by.whole("depth"),
        nodes=nodes,
        window=window,
        gap=gap,
    )
    found: list[Opening] = []
    judged = 0
    try:
        # Older versions of rich end a bar with an empty line, also where none is shown.
        with Progress(console=err if err.is_terminal else Console(quiet=True), transient=True) as bar:
            task = bar.add_task("openings", total=count)

            def progress(number: int) -> None:
                nonlocal judged
                judged += number
                bar.update(task, description=f"openings, of {judged:,} judged")

            made = make_openings(
                board,
                plies,
                judgement,
                seed=seed,
                tries=TRIES * count,
                processes=processes or len(cores()),
                progress=progress,
            )
            with closing(made):
                for each in islice(made, count):
                    found.append(each.opening)
                    bar.advance(task)
    except BadWeights as problem:
        raise Misuse(f"--engine: {problem}") from None
    if not found:
        raise Failure(
            f"no opening of {plies} plies on {board.name} is worth playing, of {judged:,} that were judged: try another "
            "number of --plies, or a wider --window"
        )
    # Without the folder of a map's own file, which differs from machine to machine.
    options = {"map": Path(map).name, "plies": plies, "count": count, "engine": engine, "nodes": nodes}
    options |= {"window": window, "gap": gap, "seed": seed}
    write_text(_file(board, found, options), path)
    where = "above" if str(path) == "-" else f"in {path}"
    few = "" if len(found) == count else f", which is all that were found among {judged:,}"
    err.print(f"{len(found)} openings are {where}{few}", markup=False, highlight=False, soft_wrap=True)


def _alphabeta(engine: str) -> Spec:
    try:
        spec = parse_spec(engine, {"alphabeta": ENGINES["alphabeta"]})
        make_engine(engine)  # which also knows the evaluators
    except BadSpec as problem:
        raise Misuse(f"--engine: {problem}") from None
    return spec


def _file(map: RisklessMap, openings: Sequence[Opening], options: Mapping[str, object]) -> str:
    """The text of a file of openings: by which options they were made, for which map, and a line of moves for each."""
    command = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in options.items())
    game = Riskless(map)
    lines = [f"# arena openings make {command}", f"{KEY} {fingerprint(map)}"]
    for opening in openings:
        moves = [game.move_from_data(data) for data in opening]
        # By numbers: a territory's name may hold a comma.
        lines.append(", ".join(f"{source} {target}" for source, target in moves))
    return "\n".join(lines) + "\n"
