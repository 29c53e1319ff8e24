"""Blunders of a ladder's bots on solved maps, found by the solved tables."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from arena.games.core import Player
from arena.protocol.record import Record
from arena.rating.standings import is_void
from arena.solved.move_quality import Kind, record_kinds


class Blunders(Struct, frozen=True):
    """One bot's moves in its matches on solved maps, without openings."""

    bot: str
    matches: int
    moves: int
    lost_wins: int
    lost_draws: int

    @property
    def per_match(self) -> float:
        """Number of blunders per match: moves that gave away a win or a draw."""
        return (self.lost_wins + self.lost_draws) / self.matches


def count_blunders(bots: Iterable[str], records: Iterable[Record]) -> list[Blunders]:
    """Return the blunders of each bot that played on a solved map, in the order of `bots`.

    A damaged table counts as missing. Takes about 0.1 ms per move.
    """
    counts: dict[str, list[int]] = {bot: [0, 0, 0, 0] for bot in bots}
    for record in records:
        if not is_void(record):
            _count(record, counts)
    return [Blunders(bot, *numbers) for bot, numbers in counts.items() if numbers[0]]


def _count(record: Record, counts: dict[str, list[int]]) -> None:
    kinds = record_kinds(record)
    if kinds is None:
        return
    seats = {Player.MAXIE: record.players.maxie, Player.MINNIE: record.players.minnie}
    for bot in set(seats.values()) & counts.keys():
        counts[bot][0] += 1
    for move, (player, kind, _) in zip(record.moves, kinds, strict=True):
        numbers = counts.get(seats[player])
        if numbers is not None and not move.opening:
            numbers[1] += 1
            numbers[2] += kind is Kind.LOST_WIN
            numbers[3] += kind is Kind.LOST_DRAW
