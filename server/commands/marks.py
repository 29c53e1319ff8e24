"""`arena marks`: show the table of an event, from which a teacher can derive marks (grades)."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

import typer
from msgspec import Struct, field

from arena.console import (
    CommandError,
    DatabaseOption,
    JsonOption,
    print_table,
    validate_output_file,
    write_json,
    write_text,
)
from arena.rating.elo import Z_SCORE_95_PERCENT
from arena.rating.standings import StandingsRow
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, make_unknown_event_error, run_on_store
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import Engine
from arena.server.store.events import find_event_state
from arena.server.store.queries import load_event_table


class GradingTableRow(Struct, frozen=True):
    """Row of one bot in the table that `arena marks` shows, from which a teacher can give a mark (grade)."""

    rank: int
    bot: str
    points: float
    match_count: int = field(name="games")
    elo: float
    """Elo difference to the anchor (bot that all others are compared with); positive if this bot is stronger."""
    elo_error: float = field(name="error")
    """Half the width of the 95 % confidence interval of `elo`, in Elo."""
    likelihood_of_superiority: float = field(name="above")
    """Probability, 0 to 1, that the bot is stronger than the anchor (bot that all others are compared with)."""
    forfeit_count: int = field(name="forfeits")
    """Number of matches lost by a crash, on time, by an illegal move, or by absence."""


def marks(
    event: Annotated[
        str, typer.Option("--event", metavar="NAME", help="Name of the event or ladder whose table to show.")
    ],
    against: Annotated[
        str,
        typer.Option("--against", metavar="BOT", help="Bot with which all others are compared."),
    ],
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            callback=validate_output_file,
            help="Write the table of results as CSV to this file (- for standard output).",
        ),
    ] = None,
    json: JsonOption = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Show the ranks and points of an event, and Elo relative to one bot.

    Elo is computed from all matches of the event. A match for which a bot did not appear counts only for points.

    Example: arena marks --event weekly --against house-greedy --csv marks.csv
    """

    async def load_standings_rows(engine: Engine) -> list[StandingsRow]:
        await add_new_matches_to_aggregates(engine)
        state = await find_event_state(engine, event)
        name = event if state is None else state.plan.event_name
        table = await load_event_table(engine, name, includes_all_bots=True)
        return [] if table is None else table.rows

    standings_rows = run_on_store(db, load_standings_rows)
    if not standings_rows:
        raise make_unknown_event_error(event)
    table_rows = make_grading_table_rows(standings_rows, against)
    if json is not None:
        write_json(table_rows, json)
    if csv is not None:
        write_text(format_grading_table_csv(table_rows), csv)
    if json is None and csv is None:
        columns = dict.fromkeys(
            ("#", "bot", "points", "games", "Elo", "± 95 %", "above", "forfeits"), "right"
        )
        print_table(columns | {"bot": "left"}, [_make_console_table_cells(row) for row in table_rows])  # type: ignore[arg-type]


def make_grading_table_rows(rows: list[StandingsRow], anchor_name: str) -> list[GradingTableRow]:
    """Return the table rows of all bots of a tournament, from its standings. Raises CommandError if the anchor has no row.

    anchor_name: name of the bot that all others are compared with
    """
    anchor = next((row for row in rows if row.bot == anchor_name), None)
    if anchor is None:
        raise CommandError(
            f"--against: {anchor_name!r:.80} has played no match of the event: name a bot that has"
        )
    return [_make_grading_table_row(row, anchor) for row in rows]


def _make_grading_table_row(row: StandingsRow, anchor: StandingsRow) -> GradingTableRow:
    # Both errors are relative to the average rating, so their root sum of squares is a conservative estimate.
    elo, error = row.elo - anchor.elo, (row.elo_error**2 + anchor.elo_error**2) ** 0.5
    if row is anchor:
        elo = error = 0.0
    above = NormalDist().cdf(elo / (error / Z_SCORE_95_PERCENT)) if error else 0.5
    forfeits = row.crashes + row.time_forfeits + row.illegal_moves + row.disconnects + row.other_forfeits
    return GradingTableRow(row.rank, row.bot, row.points, row.games, elo, error, above, forfeits)


def format_grading_table_csv(rows: list[GradingTableRow]) -> str:
    """Return the rows as CSV, with the names of the fields as header."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(GradingTableRow.__struct_encode_fields__)
    for row in rows:
        numbers = (f"{row.elo:.0f}", f"{row.elo_error:.0f}", f"{row.likelihood_of_superiority:.3f}")
        writer.writerow((row.rank, row.bot, f"{row.points:g}", row.match_count, *numbers, row.forfeit_count))
    return text.getvalue()


def _make_console_table_cells(row: GradingTableRow) -> list[str]:
    strength = [f"{row.elo:+.0f}", f"{row.elo_error:.0f}", f"{row.likelihood_of_superiority:.0%}"]
    return [
        str(row.rank),
        row.bot,
        f"{row.points:g}",
        str(row.match_count),
        *strength,
        str(row.forfeit_count),
    ]
