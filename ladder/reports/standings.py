"""Table of a ladder's standings: drawn with colours on a terminal, otherwise printed as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.console import fits_terminal, print_markdown_table
from arena.ladder.reports.blunders import BlunderReport
from arena.match.replay import compute_mean_cpu_ms_by_bot
from arena.protocol.record import Record
from arena.rating.standings import COLUMN_NAME_BY_FIELD, FORFEIT_FIELDS, StandingsRow

FORFEITS_LEGEND = "crash, time, illegal, gone, other: matches lost by a failure of the bot, on time, by an illegal move, by a lost connection, by other faults"
BLUNDERS_LEGEND = "blunders: moves per match that gave a win or a draw away, by the tables of solved maps"
CPU_LEGEND = "CPU ms: CPU time per move of a bot in a container, including analysis on the opponent's time"

FORFEIT_FIELD_BY_COLUMN = {COLUMN_NAME_BY_FIELD[name]: name for name in FORFEIT_FIELDS}
"""Field of StandingsRow shown in each column that counts forfeits, by the heading of the column."""


@dataclass(frozen=True)
class ExtraColumn:
    """Column that only the tables of some ladders have, with a legend that explains it."""

    heading: str
    legend: str
    cell_by_bot: Mapping[str, str]
    """Text of the cell of each bot, by name. A bot that is missing gets a dash."""

    @property
    def csv_name(self) -> str:
        """Heading of this column in CSV files."""
        return self.heading.lower().replace(" ", "_")


def make_extra_columns(records: Sequence[Record], blunders: Sequence[BlunderReport]) -> list[ExtraColumn]:
    """Return the columns of blunders and of CPU time; a column without data is left out."""
    columns = [
        ExtraColumn(
            "blunders",
            BLUNDERS_LEGEND,
            {blunder.bot: f"{blunder.blunders_per_match:.2f}" for blunder in blunders},
        ),
        ExtraColumn(
            "CPU ms",
            CPU_LEGEND,
            {bot: f"{ms:.1f}" for bot, ms in compute_mean_cpu_ms_by_bot(records).items()},
        ),
    ]
    return [column for column in columns if column.cell_by_bot]


def make_standings_columns(
    rows: Sequence[StandingsRow], columns: Sequence[ExtraColumn] = ()
) -> dict[str, list[str]]:
    """Return all columns of the table except the bots' names: the cells from top to bottom, by the heading of the column."""
    return {
        "games": [str(row.games) for row in rows],
        "points": [f"{row.points:g}" for row in rows],
        "won": [str(row.wins) for row in rows],
        "drawn": [str(row.draws) for row in rows],
        "lost": [str(row.losses) for row in rows],
        "Elo": [f"{row.elo:+z.0f}" if row.games else "-" for row in rows],
        "± 95 %": [f"{row.elo_error:.0f}" if row.games else "-" for row in rows],
        **{
            heading: [str(getattr(row, name)) for row in rows]
            for heading, name in FORFEIT_FIELD_BY_COLUMN.items()
        },
        **_format_tournament_cells(rows),
        **{column.heading: [column.cell_by_bot.get(row.bot, "-") for row in rows] for column in columns},
    }


def _format_tournament_cells(rows: Sequence[StandingsRow]) -> dict[str, list[str]]:
    """Return the extra columns of a swiss or knockout: the cells from top to bottom, by heading. Empty for other formats."""
    if any(row.buchholz is not None for row in rows):
        return {
            "Buchholz": [f"{row.buchholz or 0:g}" for row in rows],
            "byes": [f"{row.byes:g}" for row in rows],
        }
    return (
        {"reached": [row.knockout_stage for row in rows]} if any(row.knockout_stage for row in rows) else {}
    )


def make_standings_table(
    rows: Sequence[StandingsRow], columns: Sequence[ExtraColumn] = (), *, as_markdown: bool
) -> Table:
    """Return the table of standings: in Markdown with all columns, otherwise without columns of forfeits that are all 0."""
    # Without padding the table fits into 80 columns; the box separates columns by a space.
    table = Table(box=box.MARKDOWN) if as_markdown else Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=9)
    texts_by_heading = make_standings_columns(rows, columns)
    if not as_markdown:
        texts_by_heading = {
            heading: column
            for heading, column in texts_by_heading.items()
            if heading not in FORFEIT_FIELD_BY_COLUMN or set(column) != {"0"}
        }
    for heading in texts_by_heading:
        table.add_column(heading, justify="right", no_wrap=True)
    for index, row in enumerate(rows):
        table.add_row(
            str(row.rank),
            Text(row.bot),
            *(
                Text(
                    column[index],
                    style="bold red" if heading in FORFEIT_FIELD_BY_COLUMN and column[index] != "0" else "",
                )
                for heading, column in texts_by_heading.items()
            ),
        )
    return table


def print_standings(
    rows: Sequence[StandingsRow], console: Console, columns: Sequence[ExtraColumn] = ()
) -> None:
    """Print the table of standings, and below it the legends of the columns that need one."""
    table = make_standings_table(rows, columns, as_markdown=False)
    if fits_terminal(table, console):
        console.print(table)
    else:
        print_markdown_table(make_standings_table(rows, columns, as_markdown=True), console)
    if any(getattr(row, name) for row in rows for name in FORFEIT_FIELD_BY_COLUMN.values()):
        console.print(FORFEITS_LEGEND, markup=False, highlight=False, soft_wrap=True)
    for column in columns:
        console.print(column.legend, markup=False, highlight=False, soft_wrap=True)
