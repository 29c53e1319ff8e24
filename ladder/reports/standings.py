"""The final table of standings: drawn on a terminal, and elsewhere plain (which is valid Markdown)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from types import MappingProxyType

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.rating.standings import Row
from arena.rating.words import WORDS

NARROWEST = 78
"""Columns that the drawn table needs; a narrower terminal gets the plain one, and breaks its lines."""

BLUNDERS_WIDTH = 9

WIDE = 200
"""Columns of the plain table: wide enough for every name, as there is no terminal to fit into."""

FAULTS = ("crashes", "time_forfeits", "illegal_moves", "disconnects", "other_forfeits")
HEADINGS = ("games", "points", "won", "drawn", "lost", "Elo", "± 95 %", *(WORDS[name] for name in FAULTS))
"""The headings of the columns after a bot's name, in every form of the table."""


def draw(rows: Sequence[Row], blunders: Mapping[str, float], *, plain: bool) -> Table:
    """The table of standings. `plain`: in characters that every file and log can hold.

    blunders   a match, for bots that played on solved maps; without any there is no such column
    """
    # Without padding it fits into 80 columns: the box puts a blank between two.
    drawn = Table(box=box.MARKDOWN) if plain else Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    drawn.add_column("#", justify="right", no_wrap=True)
    drawn.add_column("bot", overflow="fold", min_width=9)
    for heading in HEADINGS:
        drawn.add_column(heading, justify="right", no_wrap=True)
    if blunders:
        drawn.add_column("blunders", justify="right", no_wrap=True)
    for place, row in enumerate(rows, 1):
        numbers = [row.games, f"{row.points:g}", row.wins, row.draws, row.losses]
        rating = [f"{row.elo:+z.0f}", f"{row.elo_error:.0f}"] if row.games else ["-", "-"]
        faults = [
            Text(str(n), style="bold red" if n else "") for n in (getattr(row, name) for name in FAULTS)
        ]
        given_away = [f"{blunders[row.bot]:.2f}" if row.bot in blunders else "-"] if blunders else []
        drawn.add_row(str(place), Text(row.bot), *map(str, numbers), *rating, *faults, *given_away)
    return drawn


LEGEND = "crash, time, illegal, gone, other: matches lost by a failure of the bot, on time, by an illegal move, by a lost connection, by other faults"


BLUNDERS = "blunders: moves a match that gave a win or a draw away, by the tables of solved maps"


def show(rows: Sequence[Row], console: Console, blunders: Mapping[str, float] = MappingProxyType({})) -> None:
    """Print the final table, and below it what its last columns mean where they say something."""
    needed = NARROWEST + (BLUNDERS_WIDTH if blunders else 0)
    if console.is_terminal and console.width >= needed:
        console.print(draw(rows, blunders, plain=False))
    else:
        wide = Console(file=StringIO(), width=WIDE)
        with wide.capture() as captured:
            wide.print(draw(rows, blunders, plain=True))
        lines = [line.rstrip() for line in captured.get().splitlines()]
        console.print("\n".join(filter(None, lines)), markup=False, highlight=False, soft_wrap=True)
    if any(getattr(row, name) for row in rows for name in FAULTS):
        console.print(LEGEND, markup=False, highlight=False, soft_wrap=True)
    if blunders:
        console.print(BLUNDERS, markup=False, highlight=False, soft_wrap=True)
