"""Table of standings: drawn on a terminal, otherwise printed as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.console import print_markdown
from arena.ladder.reports.blunders import BlunderReport
from arena.match.replay import mean_cpu_ms
from arena.protocol.record import Record
from arena.rating.column_names import COLUMN_NAMES
from arena.rating.standings import StandingsRow

MIN_TERMINAL_WIDTH = 78
"""Minimum width of a terminal for the drawn table, in characters; a narrower one shows Markdown with wrapped lines."""

FORFEIT_COLUMNS = ("crashes", "time_forfeits", "illegal_moves", "disconnects", "other_forfeits")
HEADINGS = (
    "games",
    "points",
    "won",
    "drawn",
    "lost",
    "Elo",
    "± 95 %",
    *(COLUMN_NAMES[name] for name in FORFEIT_COLUMNS),
)
"""Headings of the columns after the bot's name."""


def format_columns(rows: Sequence[StandingsRow]) -> dict[str, Callable[[StandingsRow], object]]:
    """Return the columns of a swiss or a knockout event by heading, each as a function of the row; empty for others."""
    if any(row.buchholz is not None for row in rows):
        return {"Buchholz": lambda row: f"{row.buchholz or 0:g}", "byes": lambda row: f"{row.byes:g}"}
    return {"reached": lambda row: row.reached} if any(row.reached for row in rows) else {}


@dataclass(frozen=True)
class Column:
    """Column that only some ladders have, with a legend that explains it."""

    heading: str
    legend: str
    cells: Mapping[str, str]
    """Text of each bot's cell; a bot without one gets a dash."""

    @property
    def name(self) -> str:
        """Name of the column in CSV."""
        return self.heading.lower().replace(" ", "_")


def extra_columns(records: Sequence[Record], blunders: Sequence[BlunderReport]) -> list[Column]:
    """Return the columns of blunders and of CPU time, without those for which there is no data."""
    columns = [
        Column("blunders", BLUNDERS_LEGEND, {each.bot: f"{each.per_match:.2f}" for each in blunders}),
        Column("CPU ms", CPU_LEGEND, {bot: f"{ms:.1f}" for bot, ms in mean_cpu_ms(records).items()}),
    ]
    return [column for column in columns if column.cells]


def make_table(rows: Sequence[StandingsRow], columns: Sequence[Column] = (), *, plain: bool) -> Table:
    """Return the table of standings, as Markdown if `plain`."""
    # Without padding it fits into 80 columns; the box separates columns by a space.
    table = Table(box=box.MARKDOWN) if plain else Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=9)
    more = format_columns(rows)
    for heading in (*HEADINGS, *more):
        table.add_column(heading, justify="right", no_wrap=True)
    for column in columns:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for place, row in enumerate(rows, 1):
        numbers = [row.games, f"{row.points:g}", row.wins, row.draws, row.losses]
        rating = [f"{row.elo:+z.0f}", f"{row.elo_error:.0f}"] if row.games else ["-", "-"]
        faults = [
            Text(str(n), style="bold red" if n else "")
            for n in (getattr(row, name) for name in FORFEIT_COLUMNS)
        ]
        cells = [str(value(row)) for value in more.values()]
        table.add_row(
            str(place),
            Text(row.bot),
            *map(str, numbers),
            *rating,
            *faults,
            *cells,
            *(column.cells.get(row.bot, "-") for column in columns),
        )
    return table


FORFEITS_LEGEND = "crash, time, illegal, gone, other: matches lost by a failure of the bot, on time, by an illegal move, by a lost connection, by other faults"


BLUNDERS_LEGEND = "blunders: moves per match that gave a win or a draw away, by the tables of solved maps"
CPU_LEGEND = "CPU ms: CPU time per move of a bot in a container, including analysis on the opponent's time"


def print_standings(rows: Sequence[StandingsRow], console: Console, columns: Sequence[Column] = ()) -> None:
    """Print the table of standings, and below it the legends of the columns that need one."""
    more = [*format_columns(rows), *(column.heading for column in columns)]
    needed = MIN_TERMINAL_WIDTH + sum(len(heading) + 1 for heading in more)
    if console.is_terminal and console.width >= needed:
        console.print(make_table(rows, columns, plain=False))
    else:
        print_markdown(make_table(rows, columns, plain=True), console)
    if any(getattr(row, name) for row in rows for name in FORFEIT_COLUMNS):
        console.print(FORFEITS_LEGEND, markup=False, highlight=False, soft_wrap=True)
    for column in columns:
        console.print(column.legend, markup=False, highlight=False, soft_wrap=True)
