"""How a ladder looks: the table of standings, and its progress while it runs.

The final table goes to the output, everything else to the error output. On a terminal both are drawn;
elsewhere the table is plain (and valid Markdown), and progress is one line a match.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ladder.event import Ladder
from protocol.codes import FORFEITS
from protocol.record import Record
from rating.standings import Row, is_void, losers, table

REDRAW_SECONDS = 0.5
"""The table is computed anew at most this often; a rating of many bots takes milliseconds."""

NARROWEST = 78
"""Columns that the drawn table needs; a narrower terminal gets the plain one, and breaks its lines."""

WIDE = 200
"""Columns, where there is no terminal to fit into."""

_FAULTS = ("time_forfeits", "illegal_moves", "disconnects", "other_forfeits")


def draw(rows: Sequence[Row], *, plain: bool) -> Table:
    """The table of standings. `plain`: in characters that every file and log can hold."""
    # Without padding it fits into 80 columns: the box puts a blank between two.
    drawn = Table(box=box.MARKDOWN) if plain else Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    drawn.add_column("#", justify="right", no_wrap=True)
    drawn.add_column("bot", overflow="fold", min_width=9)
    for heading in (
        "games",
        "points",
        "won",
        "drawn",
        "lost",
        "Elo",
        "± 95 %",
        "time",
        "illegal",
        "gone",
        "other",
    ):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for place, row in enumerate(rows, 1):
        numbers = [row.games, f"{row.points:g}", row.wins, row.draws, row.losses]
        rating = [f"{row.elo:+.0f}", f"{row.elo_error:.0f}"] if row.games else ["-", "-"]
        faults = [
            Text(str(n), style="bold red" if n else "") for n in (getattr(row, name) for name in _FAULTS)
        ]
        drawn.add_row(str(place), Text(row.bot), *map(str, numbers), *rating, *faults)
    return drawn


LEGEND = "time, illegal, gone, other: matches lost on time, by an illegal move, by a lost connection, by other faults"


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the final table, and below it what its last columns mean where they say something."""
    if console.is_terminal and console.width >= NARROWEST:
        console.print(draw(rows, plain=False))
    else:
        wide = Console(file=StringIO(), width=WIDE)
        with wide.capture() as captured:
            wide.print(draw(rows, plain=True))
        lines = [line.rstrip() for line in captured.get().splitlines()]
        console.print("\n".join(filter(None, lines)), markup=False, highlight=False, soft_wrap=True)
    if any(getattr(row, name) for row in rows for name in _FAULTS):
        console.print(LEGEND, markup=False, highlight=False, soft_wrap=True)


def in_words(record: Record) -> str:
    """A finished match in one line: `greedy beats random on m2 in 41 plies (elimination)`."""
    lost = losers(record)
    maxie, minnie = record.players.maxie, record.players.minnie
    place = f" on {record.setup['map']}" if record.setup.get("map") else ""
    reason = record.result.reason.value.replace("_", " ")
    detail = f": {record.result.detail}" if record.result.detail and record.result.reason in FORFEITS else ""
    if is_void(record):
        what = f"{maxie} against {minnie}{place} is void"
        detail = f": {record.result.detail}"
    elif len(lost) == 1:
        winner = minnie if lost[0] == maxie else maxie
        what = f"{winner} beats {lost[0]}{place} in {len(record.moves)} plies"
    else:
        what = f"{maxie} and {minnie}{place} both lose" if lost else f"{maxie} and {minnie} draw{place}"
    return f"{what} ({reason}{detail})"


class Display:
    """Shows a ladder as it goes: what `run_ladder` calls its watcher. Made by `watching`."""

    def __init__(self, console: Console, ladder: Ladder) -> None:
        self._console = console
        self._drawn = 0.0
        self._live: Live | None = None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task("matches", total=ladder.matches)
        self._rows: list[Row] = []

    def attach(self, live: Live) -> None:
        """Draw on this from now on."""
        self._live = live

    def played(self, ladder: Ladder, record: Record) -> None:
        # Bots that dial in are counted only when they are there.
        self._bar.update(self._task, completed=len(ladder.played), total=ladder.matches)
        if self._live is None:
            of = f"/{ladder.matches}" if ladder.matches is not None else ""
            self._print(f"{len(ladder.played)}{of} {in_words(record)}")
            return
        now = time.monotonic()
        if now - self._drawn >= REDRAW_SECONDS or len(ladder.played) == ladder.matches:
            self._drawn = now
            self._rows = table(ladder.bots, ladder.records)
            self._live.update(self.view())

    def notice(self, text: str) -> None:
        self._print(text)

    def view(self) -> RenderableType:
        """What is drawn on a terminal."""
        if not self._rows or self._console.width < NARROWEST:
            return self._bar
        return Group(draw(self._rows, plain=False), self._bar)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def watching(ladder: Ladder, console: Console) -> Iterator[Display]:
    """A display for a ladder, drawn on a terminal and cleared at the end, or printed line by line."""
    display = Display(console, ladder)
    if not console.is_terminal:
        yield display
        return
    with Live(display.view(), console=console, refresh_per_second=4, transient=True) as live:
        display.attach(live)
        yield display
