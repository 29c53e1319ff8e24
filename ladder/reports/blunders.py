"""Blunders of a ladder's bots: moves that give away a win or a draw.

A blunder is found by the solved table of the map, which has the exact value of each position. Maps with such a table are
called solved.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from arena.games.core import Player
from arena.protocol.record import Record
from arena.rating.standings import is_void
from arena.solved.move_quality import MoveQuality, classify_moves_of_record


class BlunderReport(Struct, frozen=True):
    """Numbers of a bot's blunders, matches and moves on solved maps. Moves of openings do not count.

    lost_wins   number of the bot's moves that gave a win away
    lost_draws  number of the bot's moves that gave a draw away
    """

    bot: str
    matches: int
    moves: int
    lost_wins: int
    lost_draws: int

    @property
    def blunders_per_match(self) -> float:
        return (self.lost_wins + self.lost_draws) / self.matches


def count_blunders(bots: Iterable[str], records: Iterable[Record]) -> list[BlunderReport]:
    """Return a report for each of `bots` that played on a solved map, in the given order.

    A map with a damaged solved table counts as not solved. Takes about 0.1 ms per move.
    """
    counts_by_bot: dict[str, list[int]] = {bot: [0, 0, 0, 0] for bot in bots}
    for record in records:
        if not is_void(record):
            _add_blunders(record, counts_by_bot)
    return [BlunderReport(bot, *numbers) for bot, numbers in counts_by_bot.items() if numbers[0]]


def _add_blunders(record: Record, counts_by_bot: dict[str, list[int]]) -> None:
    classified_moves = classify_moves_of_record(record)
    if classified_moves is None:
        return
    seats = {Player.MAXIE: record.players.maxie, Player.MINNIE: record.players.minnie}
    for bot in set(seats.values()) & counts_by_bot.keys():
        counts_by_bot[bot][0] += 1
    for move, (player, quality, _) in zip(record.moves, classified_moves, strict=True):
        numbers = counts_by_bot.get(seats[player])
        if numbers is not None and not move.opening:
            numbers[1] += 1
            numbers[2] += quality is MoveQuality.LOST_WIN
            numbers[3] += quality is MoveQuality.LOST_DRAW
