"""The progress of a ladder while it is played: on a terminal a table and a bar, elsewhere a line a match."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from arena.ladder.event import Ladder
from arena.ladder.reports.match_line import in_words
from arena.ladder.reports.standings import NARROWEST, draw
from arena.protocol.record import Record
from arena.rating.standings import Row

REDRAW_SECONDS = 0.5
"""The table is computed anew at most this often; a rating of many bots takes milliseconds."""


class Display:
    """Shows a ladder as it goes: what `run_ladder` calls its watcher. Made by `watching`."""

    def __init__(self, console: Console, ladder: Ladder, status: Callable[[Ladder], str]) -> None:
        """`status`: what the matches say so far, in one line; empty where they say nothing."""
        self._console = console
        self._status = status
        self._said = ""
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
            said = self._status(ladder)
            if said != self._said:
                self._said = said
                self._print(said)
            return
        now = time.monotonic()
        if now - self._drawn >= REDRAW_SECONDS or len(ladder.played) == ladder.matches:
            self._drawn = now
            self._rows = ladder.table()
            self._said = self._status(ladder)
            self._live.update(self.view())

    def notice(self, text: str) -> None:
        self._print(text)

    def view(self) -> RenderableType:
        """What is drawn on a terminal."""
        if not self._rows or self._console.width < NARROWEST:
            return self._bar
        return Group(draw(self._rows, {}, plain=False), *([self._said] if self._said else []), self._bar)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def watching(
    ladder: Ladder, console: Console, status: Callable[[Ladder], str] = lambda _: ""
) -> Iterator[Display]:
    """A display for a ladder, drawn on a terminal and cleared at the end, or printed line by line.

    status: what the matches say so far, in one line
    """
    display = Display(console, ladder, status)
    if not console.is_terminal:
        yield display
        return
    with Live(display.view(), console=console, refresh_per_second=4, transient=True) as live:
        display.attach(live)
        yield display
