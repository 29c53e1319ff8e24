"""The queue for house engines: the owners of the bots that ask take turns.

A challenge to a house engine waits here until it is offered to the engine, which then accepts it. No owner can have all
places, nor can guests or bots with a token together. The owner with fewest places is first, then the one that has
waited longest for a turn. So a bot that asks for many matches at once, or for long ones, holds up nobody but itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from arena.server.core.guests import PLACES_PER_ADDRESS
from arena.server.core.turn_order import TurnOrder

GROUP_SHARE = Fraction(3, 4)
"""Most of all places that guests together may have, and bots with a token together."""
OWNER_SHARE = Fraction(1, 2)
"""Most of all places that the bots of one owner may have."""
MOST_WAITING = 200
"""Challenges that may wait. Where more do, the one that would have its turn last is refused."""


class Asker(NamedTuple):
    """The bots whose places are counted together."""

    owner: str
    guest: bool


class _Waiting(NamedTuple):
    engine: str
    asker: Asker


class HouseQueue:
    """The challenges that wait for a place, and the places that are taken."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        """Engine and asker of each challenge, in the order in which they came."""
        self._taken: dict[str, Asker] = {}
        """Asker of each offered challenge, and then of its match."""
        self._turns: TurnOrder[Asker] = TurnOrder()

    def __contains__(self, challenge: object) -> bool:
        return challenge in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, challenge: str, engine: str, asker: Asker) -> str | None:
        """Queue a challenge. Return the challenge that is to be refused for it where too many wait."""
        self._waiting[challenge] = _Waiting(engine, asker)
        return self._order()[-1] if len(self._waiting) > MOST_WAITING else None

    def drop(self, key: str) -> None:
        """Forget a challenge or a match that is over."""
        self._waiting.pop(key, None)
        self._taken.pop(key, None)

    def begin(self, challenge: str, match: str) -> None:
        """Keep the place of an offered challenge for its match."""
        asker = self._taken.pop(challenge, None)
        if asker is not None:
            self._taken[match] = asker

    def resume(self, match: str, asker: Asker) -> None:
        """Take a place for a match that goes on after a restart."""
        self._taken[match] = asker

    def offer(
        self, places: int, free: Mapping[str, int], may_begin: Callable[[str], bool]
    ) -> list[tuple[str, str]]:
        """Return the challenges whose turn it is, each with its engine, and take their places.

        places     matches that all house engines together play at once
        free       matches that each engine takes yet, without those that are offered to it
        may_begin  returns True if the match of a challenge may begin now, and then counts it

        O(m n log n) for m that are offered of n that wait.
        """
        left = dict(free)
        offered: list[tuple[str, str]] = []
        while any(count > 0 for count in left.values()):
            challenge = next(
                (
                    each
                    for each in self._order()
                    if left.get(self._waiting[each].engine, 0) > 0
                    and not self._full(self._waiting[each].asker, places)
                    and may_begin(each)
                ),
                None,
            )
            if challenge is None:
                break
            waiting = self._waiting.pop(challenge)
            left[waiting.engine] -= 1
            self._taken[challenge] = waiting.asker
            self._turns.serve(waiting.asker)
            offered.append((challenge, waiting.engine))
        return offered

    def requeue(self, challenge: str, engine: str) -> None:
        """Queue a challenge again that was offered to an engine which has lost its connection."""
        asker = self._taken.pop(challenge, None)
        if asker is not None:
            self._waiting[challenge] = _Waiting(engine, asker)

    def places(self) -> dict[str, int]:
        """Return the place of each waiting challenge among those to the same engine, from 1."""
        so_far: Counter[str] = Counter()
        places: dict[str, int] = {}
        for challenge in self._order():
            engine = self._waiting[challenge].engine
            so_far[engine] += 1
            places[challenge] = so_far[engine]
        return places

    def _order(self) -> list[str]:
        """Return the challenges in the order of their turns: an asker's second one counts as if its first had a place."""
        held = Counter(self._taken.values())
        ranks: dict[str, tuple[int, int]] = {}
        for challenge, (_, asker) in self._waiting.items():
            ranks[challenge] = held[asker], self._turns.last(asker)
            held[asker] += 1
        return sorted(self._waiting, key=ranks.__getitem__)

    def _full(self, asker: Asker, places: int) -> bool:
        own = PLACES_PER_ADDRESS if asker.guest else max(1, int(places * OWNER_SHARE))
        group = max(1, int(places * GROUP_SHARE))
        taken = list(self._taken.values())
        return taken.count(asker) >= own or sum(each.guest == asker.guest for each in taken) >= group
