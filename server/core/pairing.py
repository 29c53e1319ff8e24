"""Pairing history: how often each two bots have met, in which seats, and what they play next.

Two bots play in pairs of matches that begin alike, with the seats swapped.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.match.openings import Opening
from arena.server.core.settings import PoolGame

MOST_PAIRINGS = 50_000
"""Pairings that are kept, those that met last: names come from the network."""


@dataclass(frozen=True, slots=True)
class NextMatch:
    """A match that two bots are to play."""

    game: PoolGame
    opening: Opening
    maxie: str


@dataclass(slots=True)
class _Pairing:
    """History of two bots."""

    as_maxie: dict[str, int] = field(default_factory=dict)
    """Matches in which each of them sat in Maxie's seat."""
    pairs: int = 0
    """Pairs of matches that they have begun."""
    first: NextMatch | None = None
    """First match of a pair whose second one is still to be played."""
    ended: int | None = None
    """Time at which their last match was over."""


class PairingHistory:
    """Pairings of the bots of one arena. Names may come in any order."""

    def __init__(self, salt: str) -> None:
        """`salt`: another one leads to another order of games and openings."""
        self._salt = salt
        self._pairings: OrderedDict[tuple[str, str], _Pairing] = OrderedDict()

    def met(self, a: str, b: str) -> int:
        """Return the number of matches that the two have begun."""
        pairing = self._pairings.get((a, b) if a < b else (b, a))
        return 0 if pairing is None else sum(pairing.as_maxie.values())

    def seats(self, a: str, b: str) -> tuple[str, str]:
        """Return the two as Maxie and Minnie: swapped from match to match."""
        counts = self._of(a, b).as_maxie
        return (a, b) if counts.get(a, 0) <= counts.get(b, 0) else (b, a)

    def begin(self, maxie: str, minnie: str) -> None:
        """Count a match."""
        counts = self._of(maxie, minnie).as_maxie
        counts[maxie] = counts.get(maxie, 0) + 1

    def end(self, a: str, b: str, now: int) -> None:
        """Note that a match is over."""
        self._of(a, b).ended = now

    def last_end(self, a: str, b: str) -> int | None:
        """Return the time at which the last match of the two was over; None where they had none."""
        pairing = self._pairings.get((a, b) if a < b else (b, a))
        return None if pairing is None else pairing.ended

    def next_match(self, maxie: str, minnie: str, games: Sequence[PoolGame]) -> NextMatch:
        """Return the next match of the two, of games that both play; in these seats where it begins a pair."""
        pairing = self._of(maxie, minnie)
        first, pairing.first = pairing.first, None
        if first is not None and first.game in games:
            return NextMatch(first.game, first.opening, minnie if first.maxie == maxie else maxie)
        turn = self._offset(maxie, minnie) + pairing.pairs
        game = games[turn % len(games)]
        opening = game.openings[turn // len(games) % len(game.openings)]
        pairing.pairs += 1
        pairing.first = NextMatch(game, opening, maxie)
        return pairing.first

    def _of(self, a: str, b: str) -> _Pairing:
        names = (a, b) if a < b else (b, a)
        pairing = self._pairings.get(names)
        if pairing is None:
            pairing = self._pairings[names] = _Pairing()
            if len(self._pairings) > MOST_PAIRINGS:
                self._pairings.popitem(last=False)
        self._pairings.move_to_end(names)
        return pairing

    def _offset(self, a: str, b: str) -> int:
        """Return the place at which the two begin in the order of games and openings."""
        text = json.dumps([self._salt, *sorted((a, b))])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
