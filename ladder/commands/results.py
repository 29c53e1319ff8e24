"""Output of a ladder's results: the printed table, and the files of `--json`, `--html` and `--csv`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from arena.console import err, out, write_json, write_text
from arena.ladder.ladder import Ladder
from arena.ladder.reports.blunders import count_blunders
from arena.ladder.reports.html_report import render_report
from arena.ladder.reports.result_lines import describe_draws, make_draws_warning
from arena.ladder.reports.standings import make_extra_columns, print_standings
from arena.match.replay import compute_mean_cpu_ms_by_bot
from arena.rating.breakdown import count_draws, make_result_breakdown
from arena.rating.formats import CHAMPION_STAGE
from arena.rating.standings import format_standings_csv, is_void

INTERRUPTED_EXIT_CODE = 130
"""Exit code after Ctrl-C, as in shells."""


def make_summary_json_fields(ladder: Ladder) -> dict[str, object]:
    """Return the fields of the `--json` output on the ladder as a whole, such as its time control and number of matches."""
    bracket = ladder.make_bracket()
    return {
        "event": ladder.plan.event_name,
        "record": str(ladder.record_file),
        "time_control": str(ladder.plan.time_control),
        "matches": ladder.total_matches,
        "played": len(ladder.played_matches),
        "void": sum(map(is_void, ladder.records)),
        "draws": count_draws(ladder.records),
        **({"champion": find_champion(ladder), "bracket": bracket} if bracket else {}),
    }


def find_champion(ladder: Ladder) -> str | None:
    """Return the winner of a knockout; None while the knockout is undecided, and for other formats."""
    return next(
        (row.bot for row in ladder.make_standings_rows() if row.knockout_stage == CHAMPION_STAGE), None
    )


@dataclasses.dataclass(frozen=True)
class ReportFiles:
    """Paths of the reports in JSON, HTML and CSV; None for a report that is not wanted. The path `-` of `json` means standard
    output.
    """

    json: Path | None = None
    html: Path | None = None
    csv: Path | None = None


def report_results(
    ladder: Ladder,
    findings: Sequence[str],
    extra_json_fields: Mapping[str, object],
    report_files: ReportFiles,
) -> None:
    """Print the record file's path, the table of standings and the findings, and write the reports.

    findings           results of the whole event, one sentence each
    extra_json_fields  further fields of the `--json` output
    """
    # The table comes last, so that it stays visible when a long list above it scrolls away.
    _print_record_path(ladder)
    warning = make_draws_warning(ladder)
    if warning is not None:
        err.print(f"warning: {warning}")
    rows = ladder.make_standings_rows()
    blunders = count_blunders((row.bot for row in rows), ladder.records)
    columns = make_extra_columns(ladder.records, blunders)
    json = report_files.json
    if str(json) != "-":  # otherwise the output is for a program
        print_standings(rows, out, columns)
        out.print(describe_draws(count_draws(ladder.records)))
        champion = find_champion(ladder)
        for line in [*([f"champion: {champion}"] if champion else []), *findings]:
            out.print(line)
    if json is not None:
        write_json(
            {
                **make_summary_json_fields(ladder),
                "table": rows,
                "breakdown": make_result_breakdown(ladder.bot_names, ladder.played_matches),
                "given_away": blunders,
                **({"cpu_ms": used} if (used := compute_mean_cpu_ms_by_bot(ladder.records)) else {}),
                **extra_json_fields,
            },
            json,
        )
    if report_files.html is not None:
        write_text(render_report(ladder, findings), report_files.html)
    if report_files.csv is not None:
        write_text(
            format_standings_csv(rows, {column.csv_name: column.cell_by_bot for column in columns}),
            report_files.csv,
        )
    if ladder.is_stopped:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def _print_record_path(ladder: Ladder) -> None:
    """Print how many matches were played, and the path of the file with their records."""
    count = len(ladder.played_matches)
    if ladder.is_stopped and not ladder.records:
        err.print("stopped before a match ended: no match is recorded")
        return
    void = sum(map(is_void, ladder.records))
    void_text = f"; {void} of the matches are void, and do not count" if void else ""
    total_text = f" of {ladder.total_matches}" if ladder.total_matches is not None else ""
    state_text = f"stopped: {count}{total_text} matches are" if ladder.is_stopped else f"{count} matches are"
    other_lines_text = (
        f", after {ladder.other_events_record_count} that were there before"
        if ladder.other_events_record_count
        else ""
    )
    err.print(f"{state_text} in {ladder.record_file}{other_lines_text}{void_text}")
