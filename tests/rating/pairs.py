"""All pairs of a round-robin at once, to compare with schedules that return them step by step."""

from __future__ import annotations

from collections.abc import Sequence

from arena.rating.pairing import MatchPair, make_round_robin_round


def make_round_robin(bots: Sequence[str], rounds: int, starts: int, seed: int) -> list[MatchPair]:
    """Return all pairs of a round-robin: `rounds` pairs of every two bots on each of `starts` start positions."""
    size = len(bots) * (len(bots) - 1) // 2 * starts
    return [
        pair
        for round in range(rounds)
        for pair in make_round_robin_round(bots, round, starts, seed, round * size)
    ]
