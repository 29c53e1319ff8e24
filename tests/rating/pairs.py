"""Whole schedules at once, as an oracle for what gives them piece by piece."""

from __future__ import annotations

from collections.abc import Sequence

from arena.rating.pairing import Pair, make_round_robin_round


def round_robin(bots: Sequence[str], rounds: int, starts: int, seed: int) -> list[Pair]:
    """Return every two bots meet: `rounds` pairs on each of `starts` starts."""
    size = len(bots) * (len(bots) - 1) // 2 * starts
    return [
        pair
        for round in range(rounds)
        for pair in make_round_robin_round(bots, round, starts, seed, round * size)
    ]
