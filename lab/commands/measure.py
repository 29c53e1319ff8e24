"""`arena maps measure`: how well the matches on a map decide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from arena.bots.evaluators.weights import BadWeights
from arena.console import Failure, JsonOption, Misuse, SeedOption, err, out, write_json, write_text
from arena.cores import cores
from arena.lab.commands.compiled_map import compiled_map
from arena.maps.loader import map_names

if TYPE_CHECKING:
    from arena.lab.measure import Mean, Measured, Signal

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
"""The lines of a Markdown file between which the table stands."""

HEADINGS = (
    "map", "cap", "goal", "limit", "nodes a move", "drawn", "plies", "Maxie's share", "endings", "8 × the nodes scores", "pairs to tell",
)  # fmt: skip


def measure_command(
    maps: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MAP]...", help="Names, .toml files, ring:N or grid:WxH; else all shipped."),
    ] = None,
    matches: Annotated[
        int,
        typer.Option(
            "--matches", metavar="N", min=2, max=100_000, help="At each strength; half as many pairs."
        ),
    ] = 100,
    evaluator: Annotated[
        str,
        typer.Option(
            "--evaluator",
            metavar="NAME",
            help="What the engines judge by: plain, features, or a weights file.",
        ),
    ] = "plain",
    processes: Annotated[
        int,
        typer.Option(
            "--processes", metavar="N", min=0, max=1024, help="Matches at once; 0: one for each core."
        ),
    ] = 0,
    seed: SeedOption = 1,
    json: JsonOption = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help=f"Write the rows into the table of this file, between {BEGIN} and {END}; those of other maps stay.",
        ),
    ] = None,
) -> None:
    """Measure how well the matches on a map decide: draws, plies, endings, seats, and what strength is worth.

    Engines of 500, 4,000 and 32,000 nodes a move play their equals; 4,000 nodes play 500 in pairs with the seats
    swapped. Each match begins after 4 to 9 random plies, and is a draw when a position comes up for the third
    time. The last column tells how many pairs it takes to tell the two apart at 95 %. No clock is read: the same
    seed gives the same figures on every machine.

    Example: arena maps measure world my_map.toml --matches 200
    """
    from arena.lab.measure import matches_of, measure  # noqa: PLC0415 - an extra, and slow to load

    boards = [compiled_map(name) for name in maps or map_names()]
    if markdown is not None:
        filled(
            markdown, ""
        )  # a file without a place for the table is refused before the matches, not after them
    found: list[Measured] = []
    try:
        with Progress(console=err, transient=True) as bar:
            task = bar.add_task("matches", total=matches_of(len(boards), matches))
            found += measure(
                boards,
                evaluator,
                matches=matches,
                seed=seed,
                processes=processes or len(cores()),
                progress=lambda count: bar.advance(task, count),
            )
    except BadWeights as problem:
        raise Misuse(f"--evaluator: {problem}") from None
    rows = [row for each in found for row in rows_of(each)]
    if markdown is not None:
        kept = rows_of_others(markdown, [each.map.name for each in found])
        write_text(filled(markdown, markdown_table(by_map([*kept, *rows]))), markdown)
    if json is not None:
        write_json([facts_of(each) for each in found], json)
        if str(json) == "-":
            return
    _print(rows)


def rows_of(measured: Measured) -> list[list[str]]:
    """The rows of a map in the table, one for each strength; what holds for the map stands in the first."""
    map, signal = measured.map, measured.signal
    rows = []
    for number, equals in enumerate(measured.equals):
        endings = ", ".join(f"{name} {count}" for name, count in sorted(equals.endings.items()))
        played = [
            f"{equals.nodes:,}",
            percent(equals.drawn),
            _plain(equals.length),
            percent(equals.maxie),
            endings,
        ]
        if number:
            rows.append(["", "", "", "", *played, "", ""])
            continue
        score = f"{percent(signal.score)}, drawn {percent(signal.drawn)}"
        numbers = [map.name, *(str(each) for each in (map.territory_cap, map.armies_to_win, map.ply_limit))]
        rows.append([*numbers, *played, score, pairs_to_tell(signal)])
    return rows


def pairs_to_tell(signal: Signal) -> str:
    """How many pairs tell the strong one from the weak one."""
    needed = max(1.0, signal.pairs_needed)
    return "over 9,999" if needed >= 10_000 else f"{needed:,.0f}" if needed >= 10 else f"{needed:.1f}"


def percent(mean: Mean) -> str:
    """A share with its error, in percent."""
    return f"{100 * mean.value:.0f} ± {100 * mean.error:.0f} %"


def _plain(mean: Mean) -> str:
    return f"{mean.value:.0f} ± {mean.error:.0f}"


def rows_of_others(path: Path, names: Sequence[str]) -> list[list[str]]:
    """The rows that a file's table has of maps with other names. Raises Failure."""
    rows, name = [], ""
    for line in between(path)[1].splitlines():
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        name = cells[0] or name
        if len(cells) == len(HEADINGS) and name not in (HEADINGS[0], "---", *names):
            rows.append(cells)
    return rows


def by_map(rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows with those of each map together, in the order of the maps' names."""
    named: dict[str, list[list[str]]] = {}
    name = ""
    for row in rows:
        name = row[0] or name
        named.setdefault(name, []).append(row)
    return [row for name in sorted(named) for row in named[name]]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a table of Markdown under their headings."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def filled(path: Path, table: str, begin: str = BEGIN, end: str = END) -> str:
    """The text of a file with the table between the line `begin` and the line `end`. Raises Failure."""
    before, _, after = between(path, begin, end)
    return f"{before}{begin}\n{table}\n{end}{after}"


def between(path: Path, begin: str = BEGIN, end: str = END) -> tuple[str, str, str]:
    """The text of a file before the line `begin`, from there to the line `end`, and after that. Raises Failure."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None
    before, found, rest = text.partition(begin)
    table, ended, after = rest.partition(end)
    if not found or not ended:
        raise Failure(
            f"{path}: there must be a line {begin}, and below it a line {end}, for the table to go between"
        )
    return before, table, after


def facts_of(measured: Measured) -> dict[str, Any]:
    """What was measured as plain data; an error is half the width of a 95 % interval."""
    map, signal = measured.map, measured.signal
    return {
        "map": map.name,
        "territory_cap": map.territory_cap,
        "armies_to_win": map.armies_to_win,
        "ply_limit": map.ply_limit,
        "evaluator": measured.evaluator,
        "equals": [
            {
                "nodes": each.nodes,
                "matches": each.matches,
                "drawn": _pair(each.drawn),
                "plies": _pair(each.length),
                "maxie": _pair(each.maxie),
                "endings": dict(sorted(each.endings.items())),
            }
            for each in measured.equals
        ],
        "signal": {
            "nodes": [signal.strong, signal.weak],
            "pairs": signal.pairs,
            "score": _pair(signal.score),
            "elo": signal.difference.elo,
            "elo_error": signal.difference.error,
            "drawn": _pair(signal.drawn),
            "pairs_needed": signal.pairs_needed if signal.pairs_needed < 10_000 else None,
        },
    }


def _pair(mean: Mean) -> dict[str, float]:
    return {"value": mean.value, "error": mean.error}


def _print(rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if number in {0, 8} else "right")
    for row in rows:
        table.add_row(*row)
    out.print(table)
