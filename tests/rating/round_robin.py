"""A whole round-robin at once."""

from __future__ import annotations

from collections.abc import Sequence

from rating.pairing import Pair, everybody


def round_robin(bots: Sequence[str], rounds: int, starts: int, seed: int) -> tuple[Pair, ...]:
    """All pairs of so many rounds, numbered one after another."""
    pairs: list[Pair] = []
    for round in range(rounds):
        pairs += everybody(bots, round, starts, seed, len(pairs))
    return tuple(pairs)
