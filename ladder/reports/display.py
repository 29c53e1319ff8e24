"""Progress display of a running ladder: a table and a bar on a terminal; otherwise a line for each match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

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

from arena.clock import MONOTONIC_CLOCK
from arena.console import fits_terminal
from arena.ladder.ladder import Ladder
from arena.ladder.reports.result_lines import format_match_line
from arena.ladder.reports.standings import make_standings_table
from arena.protocol.record import Record
from arena.rating.standings import StandingsRow

REDRAW_INTERVAL_SECONDS = 0.5
"""Minimum interval between updates of the table, in seconds, because computing ratings takes milliseconds."""


class ProgressDisplay:
    """Progress display of a ladder, which `run_ladder` uses as its observer. Created by `open_display`."""

    def __init__(self, console: Console, ladder: Ladder, format_status: Callable[[Ladder], str]) -> None:
        """Create a display. `format_status` returns the result so far in one line of text; an empty text if there is none."""
        self._console = console
        self._format_status = format_status
        self._last_status = ""
        self._last_draw_time = 0.0
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
        self._bar_task_id = self._bar.add_task("matches", total=ladder.total_matches)
        self._rows: list[StandingsRow] = []

    def attach_live_display(self, live: Live) -> None:
        """From now on, draw on the terminal through `live`, Rich's display that redraws itself."""
        self._live = live

    def show_address(self, ladder: Ladder, url: str) -> None:
        # A server on all addresses can also be reached at localhost. In a container, this requires that the port has
        # the same number outside.
        page_url = (
            url.replace("ws", "http", 1)
            .replace("//0.0.0.0:", "//localhost:")
            .replace("//[::]:", "//localhost:")
        )
        self._print_line(f"watch the matches at {page_url}/event/{quote(ladder.plan.event_name, safe='')}")

    def show_match(self, ladder: Ladder, record: Record) -> None:
        # The total is updated too, since it is unknown until external bots have connected.
        self._bar.update(self._bar_task_id, completed=len(ladder.played_matches), total=ladder.total_matches)
        if self._live is None:
            total_text = f"/{ladder.total_matches}" if ladder.total_matches is not None else ""
            self._print_line(f"{len(ladder.played_matches)}{total_text} {format_match_line(record)}")
            status = self._format_status(ladder)
            if status != self._last_status:
                self._last_status = status
                self._print_line(status)
            return
        now = MONOTONIC_CLOCK.now()
        if (
            now - self._last_draw_time >= REDRAW_INTERVAL_SECONDS
            or len(ladder.played_matches) == ladder.total_matches
        ):
            self._last_draw_time = now
            self._rows = ladder.make_standings_rows()
            self._last_status = self._format_status(ladder)
            self._live.update(self.render())

    def show_notice(self, text: str) -> None:
        self._print_line(text)

    def render(self) -> RenderableType:
        """Return the table of standings, the status line and the progress bar; only the bar if the terminal is narrow."""
        table = make_standings_table(self._rows, as_markdown=False)
        if not self._rows or not fits_terminal(table, self._console):
            return self._bar
        return Group(
            table,
            *([self._last_status] if self._last_status else []),
            self._bar,
        )

    def _print_line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def open_display(
    ladder: Ladder, console: Console, format_status: Callable[[Ladder], str]
) -> Iterator[ProgressDisplay]:
    """Yield a progress display: drawn on a terminal, and cleared at the end; otherwise printed line by line.

    format_status  function that returns the result so far in one line of text; an empty text if there is none
    """
    display = ProgressDisplay(console, ladder, format_status)
    if not console.is_terminal:
        yield display
        return
    with Live(display.render(), console=console, refresh_per_second=4, transient=True) as live:
        display.attach_live_display(live)
        yield display
