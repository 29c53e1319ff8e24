"""From records to a table: what each bot played, scored and lost without playing.

A void match counts for nobody. A match that neither player came to is lost by both, and says nothing of
their strength.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.elo import Tally
from arena.rating.pairing import Pairing
from arena.rating.pentanomial import Difference
from arena.rating.steps import Ended
from arena.rating.words import WORDS


class Row(Struct, frozen=True, rename=WORDS):
    """One bot's line of the table."""

    bot: str
    games: int
    points: float
    """A win is 1, a draw is ½."""
    wins: int
    draws: int
    losses: int
    elo: float
    """The Elo rating, relative to the average of the bots (rating.bradley_terry)."""
    elo_error: float
    """Half the width of the 95 % interval."""
    crashes: int
    """Matches lost because the bot failed: an exception, no move of the game, a process that died."""
    time_forfeits: int
    illegal_moves: int
    disconnects: int
    other_forfeits: int
    """Matches lost by not being ready in time, or by breaking the protocol."""


_WIN, _DRAW, _LOSS = "win", "draw", "loss"

_COLUMNS = {
    EndReason.CRASH: "crashes",
    EndReason.TIMEOUT: "time_forfeits",
    EndReason.ILLEGAL_MOVE: "illegal_moves",
    EndReason.DISCONNECT: "disconnects",
    EndReason.PROTOCOL_ERROR: "other_forfeits",
    EndReason.NO_SHOW: "other_forfeits",
}


Finished = Record | Ended
"""A finished match, with its moves or without."""


def is_void(record: Finished) -> bool:
    """Whether the match counts for nobody."""
    return record.result.reason is EndReason.SERVER_FAULT


def is_empty(record: Finished) -> bool:
    """Whether neither player came: lost by both."""
    return record.result.reason is EndReason.NO_SHOW and record.result.winner is None


def losers(record: Finished) -> tuple[str, ...]:
    """Who lost the match: one bot, none in a draw or a void match, both where neither came."""
    maxie, minnie = record.players.maxie, record.players.minnie
    if is_empty(record):
        return (maxie, minnie)
    if record.result.winner is None:
        return ()
    return (minnie,) if record.result.winner == "maxie" else (maxie,)


def table(bots: Sequence[str], records: Iterable[Record]) -> list[Row]:
    """The rows of `bots`, the highest rating first; equal ratings in the order of `bots`."""
    return table_of_scores(bots, ((record, 1) for record in records))


def table_of_scores(bots: Sequence[str], scores: Iterable[tuple[Finished, int]]) -> list[Row]:
    """The rows of `bots` as `table` gives them, where each match stands for so many that ended like it."""
    counts: dict[str, Counter[str]] = {bot: Counter() for bot in bots}
    edges: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record, times in scores:
        if is_void(record):
            continue
        lost = losers(record)
        for bot in (record.players.maxie, record.players.minnie):
            counts[bot][_LOSS if bot in lost else _WIN if lost else _DRAW] += times
        for bot in lost:
            if record.result.reason in _COLUMNS:
                counts[bot][_COLUMNS[record.result.reason]] += times
        if not is_empty(record):
            first, second = sorted((record.players.maxie, record.players.minnie))
            edges[first, second][_DRAW if not lost else _LOSS if first in lost else _WIN] += times
    from arena.rating.bradley_terry import elo_ratings  # noqa: PLC0415  NumPy takes a tenth of a second to load

    rated = elo_ratings(
        bots, {edge: Tally(count[_WIN], count[_DRAW], count[_LOSS]) for edge, count in sorted(edges.items())}
    )
    rows = [_row(bot, counts[bot], rated[bot].elo, rated[bot].error) for bot in bots]
    return sorted(rows, key=lambda row: -row.elo)


def _row(bot: str, count: Counter[str], elo: float, error: float) -> Row:
    wins, draws, losses = count[_WIN], count[_DRAW], count[_LOSS]
    forfeits = {column: count[column] for column in sorted(set(_COLUMNS.values()))}
    return Row(
        bot=bot,
        games=wins + draws + losses,
        points=wins + draws / 2,
        wins=wins,
        draws=draws,
        losses=losses,
        elo=elo,
        elo_error=error,
        **forfeits,
    )


def pair_scores(bot: str, played: Iterable[tuple[Pairing, Record]]) -> list[float]:
    """The points (0, ½, 1, 1½, 2) that `bot` made in each of its pairs of which both matches count."""
    points: defaultdict[int, list[float]] = defaultdict(list)
    for pairing, record in played:
        if bot not in (pairing.maxie, pairing.minnie) or is_void(record) or is_empty(record):
            continue
        lost = losers(record)
        points[pairing.pair.number].append(0.0 if bot in lost else 1.0 if lost else 0.5)
    return [sum(scores) for _, scores in sorted(points.items()) if len(scores) == 2]


def rows_by_pairs(rows: Sequence[Row], first: str, found: Difference | None) -> list[Row]:
    """The rows of two bots with the Elo that their pairs show: half of the difference on either side of their average.

    A rating of single matches counts two that begin alike as if they said twice as much, so its number would be another
    one. Without a whole pair the rows stay as they are.
    """
    if found is None:
        return list(rows)
    half, error = found.elo / 2, found.error / 2
    changed = [replace(row, elo=half if row.bot == first else -half, elo_error=error) for row in rows]
    return sorted(changed, key=lambda row: -row.elo)


def answered(record: Record, seat: Player, bot: str) -> bool | None:
    """Whether the bot in this seat made a move of its own; None where it had no chance to."""
    first = sum(each.opening for each in record.moves)
    own = range(0 if seat is Player.MAXIE else 1, len(record.moves), 2)
    if any(ply >= first for ply in own):
        return True
    late = record.result.reason in {EndReason.TIMEOUT, EndReason.NO_SHOW} and bot in losers(record)
    return False if late else None
