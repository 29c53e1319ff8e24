"""Pairs of matches of an event (tournament), and the order in which a round-robin plays them.

A pair is two matches from the same start position with swapped seats, so that neither the position nor the first move
favours a bot. Matches begin in the order of the pairs, but a match whose bots are busy does not hold up the others. So a
slow bot delays only its own matches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MatchPair:
    """Two matches of the bots `first_bot` and `second_bot` from one start position.

    `first_bot` is Maxie (who moves first) in the first match, and Minnie in the second.
    """

    number: int
    """Index of the pair of matches in the schedule, from 0."""
    round: int
    """Number of the round, from 0."""
    start_position_index: int
    """Index of the start position in the event's list of start positions."""
    first_bot: str
    second_bot: str

    def make_pairings(self) -> tuple[Pairing, Pairing]:
        """Return the two matches of the pair in playing order."""
        return Pairing(self, 0, self.first_bot, self.second_bot), Pairing(
            self, 1, self.second_bot, self.first_bot
        )


@dataclass(frozen=True, slots=True)
class Pairing:
    """One of the two matches of a `MatchPair`, with the name of the bot in each seat."""

    pair: MatchPair
    leg: int
    """Index of the match in its pair, 0 or 1."""
    maxie: str
    minnie: str


def check_entrants(bots: Sequence[str], start_position_count: int) -> None:
    """Raise ValueError unless an event (tournament) has at least two bots, all with different names, and a start position."""
    if len(bots) < 2:
        raise ValueError(f"an event needs at least two bots, not {len(bots)}")
    if len(set(bots)) != len(bots):
        raise ValueError(f"an event needs bots with different names, not {', '.join(sorted(bots)):.200}")
    if start_position_count < 1:
        raise ValueError(f"an event needs at least one start position, not {start_position_count}")


def make_round_robin_round(
    bots: Sequence[str], round: int, start_position_count: int, seed: int, first_pair_number: int
) -> list[MatchPair]:
    """Return one round of a round-robin: every two bots play two matches, one in each seat, on each start position.

    On each start position the order follows the circle method, so that all bots take turns and few are idle. The
    places in the circle are shuffled by `seed`, differently for each round and start position. The same arguments
    give the same pairs on every machine. The pairs are numbered from `first_pair_number`.
    """
    pairings = [
        (start, first, second)
        for start in range(start_position_count)
        for first, second in _list_circle_pairs(shuffle_by_seed(bots, f"{seed}/{round}/{start}"))
    ]
    return [
        MatchPair(number, round, start, first, second)
        for number, (start, first, second) in enumerate(pairings, first_pair_number)
    ]


def shuffle_by_seed(items: Iterable[T], seed_text: str) -> list[T]:
    """Return the items, names or numbers, in a pseudo-random order that depends only on `seed_text` and on the items."""
    # A SHA-256 hash instead of `random` gives the same order in every version of Python, and stays pure.
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed_text}/{item}".encode()).digest())


def _list_circle_pairs(bots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every two of `bots` once, by the circle method: one bot keeps its place, and the others rotate around it."""
    places: list[str | None] = [*bots] if len(bots) % 2 == 0 else [*bots, None]
    half_count = len(places) // 2
    for turn in range(len(places) - 1):
        for left, right in zip(places[:half_count], reversed(places[half_count:]), strict=True):
            if left is not None and right is not None:
                # Alternate, so that the bot in the fixed place is not always first.
                yield (left, right) if turn % 2 == 0 else (right, left)
        places = [places[0], places[-1], *places[1:-1]]
