"""Table of an event (tournament), computed from the records of its matches: points, Elo and forfeits of each bot.

A void match does not count. If neither player appears for a match, both lose. Absence says nothing about strength, so a
match with an absent player counts for points but never for Elo.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Final

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.elo import WinDrawLoss
from arena.rating.pairing import Pairing
from arena.rating.pentanomial import EloDifference
from arena.rating.rater import AnyFinishedMatch

COLUMN_NAME_BY_FIELD: Final = {
    "wins": "won",
    "draws": "drawn",
    "losses": "lost",
    "crashes": "crash",
    "time_forfeits": "time",
    "illegal_moves": "illegal",
    "disconnects": "gone",
    "other_forfeits": "other",
}
"""Name of a column of an event's table (on screen, CSV, JSON), by its field of `StandingsRow`, if the two names differ."""


class StandingsRow(Struct, frozen=True, rename=COLUMN_NAME_BY_FIELD):
    """One bot's row in the table of an event (tournament)."""

    bot: str
    games: int
    points: float
    """Points: 1 for a win, ½ for a draw, and the points from byes."""
    wins: int
    draws: int
    losses: int
    elo: float
    """Elo rating relative to the average of the bots in the event."""
    elo_error: float
    """Half the width of the 95 % interval of `elo`."""
    crashes: int
    """Number of matches that the bot lost by a failure of its own: an exception, an unusable move or the end of its process."""
    time_forfeits: int
    illegal_moves: int
    disconnects: int
    other_forfeits: int
    """Number of matches lost because the bot was not ready in time or broke the protocol."""
    byes: float = 0
    """Points from byes (rounds without an opponent), included in the bot's points."""
    buchholz: float | None = None
    """Sum of the points of all opponents, the tie-break of a Swiss event; None in other formats."""
    knockout_stage: str = field(name="reached", default="")
    """Stage reached in a knockout, such as `semifinal`; empty in other formats."""
    rank: int = 0
    """Rank in the table, from 1. Bots with equal results share a rank."""


_WIN, _DRAW, _LOSS = "win", "draw", "loss"

_FORFEIT_FIELD_BY_REASON = {
    EndReason.CRASH: "crashes",
    EndReason.TIMEOUT: "time_forfeits",
    EndReason.ILLEGAL_MOVE: "illegal_moves",
    EndReason.DISCONNECT: "disconnects",
    EndReason.PROTOCOL_ERROR: "other_forfeits",
    EndReason.NO_SHOW: "other_forfeits",
}
FORFEIT_FIELDS = tuple(dict.fromkeys(_FORFEIT_FIELD_BY_REASON.values()))
"""Names of the fields of StandingsRow that count forfeited matches. Each counts one kind of forfeit."""


def is_void(record: AnyFinishedMatch) -> bool:
    """Return True if the match is void: a fault of the server ended it, so it counts for neither player."""
    return record.result.reason is EndReason.SERVER_FAULT


def is_double_no_show(record: AnyFinishedMatch) -> bool:
    """Return True if neither player appeared, so that both lose."""
    return record.result.reason is EndReason.NO_SHOW and record.result.winner is None


def is_walkover(record: AnyFinishedMatch) -> bool:
    """Return True if at least one player did not appear: the match counts for points, but not for Elo ratings."""
    return record.result.reason is EndReason.NO_SHOW


def list_losers(record: AnyFinishedMatch) -> tuple[str, ...]:
    """Return the losers of the match: one bot, none in a draw or a void match, both if neither appeared."""
    maxie, minnie = record.players.maxie, record.players.minnie
    if is_double_no_show(record):
        return (maxie, minnie)
    if record.result.winner is None:
        return ()
    return (minnie,) if record.result.winner == "maxie" else (maxie,)


def make_standings(bots: Sequence[str], records: Iterable[Record]) -> list[StandingsRow]:
    """Return the rows of an event's table, ranked by Elo, then points. Equally ranked bots stay in the order of `bots`."""
    return make_standings_from_counts(bots, ((record, 1) for record in records))


def make_standings_from_counts(
    bots: Sequence[str], counted_matches: Iterable[tuple[AnyFinishedMatch, int]]
) -> list[StandingsRow]:
    """Return the table rows of `bots`, ranked by Elo and then by points, from matches that are grouped and counted.

    counted_matches  one match for each group of matches with the same players, seats and result, and the size of the group
    """
    counts: dict[str, Counter[str]] = {bot: Counter() for bot in bots}
    pair_counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record, match_count in counted_matches:
        if is_void(record):
            continue
        losing_bots = list_losers(record)
        for bot in (record.players.maxie, record.players.minnie):
            counts[bot][_LOSS if bot in losing_bots else _WIN if losing_bots else _DRAW] += match_count
        for bot in losing_bots:
            if record.result.reason in _FORFEIT_FIELD_BY_REASON:
                counts[bot][_FORFEIT_FIELD_BY_REASON[record.result.reason]] += match_count
        if not is_walkover(record):
            first, second = sorted((record.players.maxie, record.players.minnie))
            pair_counts[first, second][
                _DRAW if not losing_bots else _LOSS if first in losing_bots else _WIN
            ] += match_count
    from arena.rating.bradley_terry import fit_elo_ratings  # noqa: PLC0415  NumPy takes a tenth of a second to load

    ratings = fit_elo_ratings(
        bots,
        {
            pair: WinDrawLoss(count[_WIN], count[_DRAW], count[_LOSS])
            for pair, count in sorted(pair_counts.items())
        },
    )
    return rank_standings(
        (_make_standings_row(bot, counts[bot], ratings[bot].elo, ratings[bot].elo_error) for bot in bots),
        _make_elo_sort_key,
    )


def rank_standings(
    rows: Iterable[StandingsRow], make_sort_key: Callable[[StandingsRow], tuple[float, ...]]
) -> list[StandingsRow]:
    """Return the rows of an event's table sorted by `make_sort_key`, the smallest first; rows with equal keys share a rank."""
    ranks: dict[tuple[float, ...], int] = {}
    return [
        replace(row, rank=ranks.setdefault(make_sort_key(row), number))
        for number, row in enumerate(sorted(rows, key=make_sort_key), 1)
    ]


def _make_elo_sort_key(row: StandingsRow) -> tuple[float, ...]:
    return -round(row.elo), -row.points


def _make_standings_row(bot: str, counts_by_field: Counter[str], elo: float, error: float) -> StandingsRow:
    wins, draws, losses = counts_by_field[_WIN], counts_by_field[_DRAW], counts_by_field[_LOSS]
    return StandingsRow(
        bot=bot,
        games=wins + draws + losses,
        points=wins + draws / 2,
        wins=wins,
        draws=draws,
        losses=losses,
        elo=elo,
        elo_error=error,
        crashes=counts_by_field["crashes"],
        time_forfeits=counts_by_field["time_forfeits"],
        illegal_moves=counts_by_field["illegal_moves"],
        disconnects=counts_by_field["disconnects"],
        other_forfeits=counts_by_field["other_forfeits"],
    )


def format_standings_csv(
    rows: Iterable[StandingsRow], extra_columns: Mapping[str, Mapping[str, str]] | None = None
) -> str:
    """Return the table of an event as CSV: a line with the names of the columns, then one line per bot.

    extra_columns   texts of further columns, by the column's name and the bot; a bot without a text has an empty cell
    """
    csv_text, extra_columns = StringIO(), extra_columns or {}
    writer = csv.writer(csv_text, lineterminator="\n")
    writer.writerow([*StandingsRow.__struct_encode_fields__, *extra_columns])
    writer.writerows(
        [*astuple(row), *(cells.get(row.bot, "") for cells in extra_columns.values())] for row in rows
    )
    return csv_text.getvalue()


def compute_pair_scores(bot: str, results: Iterable[tuple[Pairing, Record]]) -> list[float]:
    """Return the points of `bot` (0, ½, 1, 1½ or 2) in each of its pairs of matches.

    A pair with a void match, or with a match for which a bot did not appear, is left out.
    """
    points: defaultdict[int, list[float]] = defaultdict(list)
    for pairing, record in results:
        if bot not in (pairing.maxie, pairing.minnie) or is_void(record) or is_walkover(record):
            continue
        losing_bots = list_losers(record)
        points[pairing.pair.number].append(0.0 if bot in losing_bots else 1.0 if losing_bots else 0.5)
    return [sum(scores) for _, scores in sorted(points.items()) if len(scores) == 2]


def replace_elo_by_difference(
    rows: Sequence[StandingsRow], first_bot: str, elo_difference: EloDifference | None
) -> list[StandingsRow]:
    """Return the rows of two bots with new Elo ratings, which differ by `elo_difference` and have the average 0.

    rows            rows of the two bots; their Elo ratings treat the two matches of a pair as independent, so are less exact
    first_bot       bot that is stronger if `elo_difference` is positive
    elo_difference  Elo difference computed from pairs of matches; None to return the rows unchanged
    """
    if elo_difference is None:
        return list(rows)
    half_difference, error = elo_difference.elo / 2, elo_difference.elo_error / 2
    new_rows = [
        replace(row, elo=half_difference if row.bot == first_bot else -half_difference, elo_error=error)
        for row in rows
    ]
    return rank_standings(new_rows, _make_elo_sort_key)
