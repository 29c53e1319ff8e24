"""Telling what a ladder came to: the printed table, and the files of `--json`, `--html` and `--csv`."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import msgspec
import typer

from arena.console import Failure, err, out, write_json
from arena.ladder.event import Ladder
from arena.ladder.reports.draws import draws_in_words, warning_of_draws
from arena.ladder.reports.page import page
from arena.ladder.reports.standings import show
from arena.ladder.reports.truth import given_away
from arena.rating.breakdown import breakdown
from arena.rating.draws import count_draws
from arena.rating.standings import Row, is_void

STOPPED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it."""


def write_text(text: str, path: Path) -> None:
    """Write a report. Raises Failure."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def as_csv(rows: Sequence[Row]) -> str:
    """The table, a line a bot, under the names of its columns."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row.__struct_encode_fields__)
    writer.writerows(map(msgspec.structs.astuple, rows))
    return text.getvalue()


def summary(played: Ladder) -> dict[str, object]:
    """What `--json` tells of a ladder before its table."""
    return {
        "event": played.plan.event,
        "record": str(played.record),
        "time_control": str(played.plan.time_control),
        "matches": played.matches,
        "played": len(played.played),
        "void": sum(map(is_void, played.records)),
        "draws": count_draws(played.records),
    }


@dataclasses.dataclass(frozen=True)
class Reports:
    """The files that tell of a ladder, as far as they are wanted."""

    json: Path | None = None
    html: Path | None = None
    csv: Path | None = None


def tell(played: Ladder, findings: Sequence[str], told: Mapping[str, object], reports: Reports) -> None:
    """Say where the matches are, print the table and what follows from it, and write the reports."""
    # The table stays the last thing that is seen: what scrolls away above it may be long.
    _say_where(played)
    warning = warning_of_draws(played)
    if warning is not None:
        err.print(f"warning: {warning}", markup=False, highlight=False, soft_wrap=True)
    rows = played.table()
    blunders = given_away((row.bot for row in rows), played.records)
    json = reports.json
    if str(json) != "-":  # else the output is for a program
        show(rows, out, {each.bot: each.a_match for each in blunders})
        out.print(draws_in_words(count_draws(played.records)), highlight=False, soft_wrap=True)
        for line in findings:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if json is not None:
        write_json(
            {
                **summary(played),
                "table": rows,
                "breakdown": breakdown(played.bots, played.played),
                "given_away": blunders,
                **told,
            },
            json,
        )
    if reports.html is not None:
        write_text(page(played, findings), reports.html)
    if reports.csv is not None:
        write_text(as_csv(rows), reports.csv)
    if played.stopped:
        raise typer.Exit(STOPPED)


def _say_where(played: Ladder) -> None:
    """Say in which file the matches are, and how many."""
    count = len(played.played)
    void = sum(map(is_void, played.records))
    ending = f"; {void} void, which count for nobody" if void else ""
    of = f" of {played.matches}" if played.matches is not None else ""
    how = f"stopped: {count}{of} matches are" if played.stopped else f"{count} matches are"
    err.print(f"{how} in {played.record}{ending}", markup=False, highlight=False, soft_wrap=True)
