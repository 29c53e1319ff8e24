"""Who gets the next place with a house bot: the addresses of those who ask take turns. Pure.

A challenge to a house bot waits here until it is passed on to the bot, which then accepts it. No address can have all
places, nor can guests or bots with a token together; whoever has fewest places is first, then whoever has waited
longest for a turn. So whoever asks for many matches at once, or for long ones, holds up nobody but itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from arena.server.lobby.matchmaking.guests import PLACES_PER_ADDRESS
from arena.server.lobby.matchmaking.last_turns import LastTurns
from arena.server.net.by_address.failed_logins import source

GROUP_SHARE = Fraction(3, 4)
"""The most of all places that guests together may have, and bots with a token together."""
ADDRESS_SHARE = Fraction(1, 2)
"""The most of all places that the bots of one address may have; its guests may have `PLACES_PER_ADDRESS`."""
MOST_WAITING = 200
"""Challenges that may wait; where more do, the one that would have its turn last is refused."""


@dataclass(frozen=True)
class Asker:
    """Who asks for a place."""

    address: str
    guest: bool

    @property
    def key(self) -> tuple[str, bool]:
        """Whose places are counted together: the guests of an address (a /64 network in IPv6), or its bots."""
        return source(self.address), self.guest


@dataclass(frozen=True)
class _Waiting:
    bot: str
    asker: Asker


class HousePlaces:
    """The challenges that wait for a place with a house bot, and the places that are taken."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        """By challenge, in the order in which they came."""
        self._taken: dict[str, Asker] = {}
        """By the challenge that was passed on, and then by the match that came of it."""
        self._turns: LastTurns[tuple[str, bool]] = LastTurns()
        """When each asker had its last turn."""

    def __contains__(self, challenge: object) -> bool:
        return challenge in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, challenge: str, bot: str, asker: Asker) -> str | None:
        """Let a challenge wait for a place with a bot; the challenge that is refused for it where too many wait."""
        self._waiting[challenge] = _Waiting(bot, asker)
        return self._order()[-1] if len(self._waiting) > MOST_WAITING else None

    def drop(self, challenge: str) -> None:
        """Forget a challenge that is over, wherever it is."""
        self._waiting.pop(challenge, None)
        self.ended(challenge)

    def began(self, challenge: str, match: str) -> None:
        """The match of a challenge that was passed on has begun."""
        asker = self._taken.pop(challenge, None)
        if asker is not None:
            self._taken[match] = asker

    def resumed(self, match: str, asker: Asker) -> None:
        """A match with a house bot goes on that was begun before the server was."""
        self._taken[match] = asker

    def ended(self, match: str) -> None:
        """A match is over, be it with a house bot or not."""
        self._taken.pop(match, None)

    def pass_on(
        self, places: int, free: Mapping[str, int], may_begin: Callable[[str], bool]
    ) -> list[tuple[str, str]]:
        """The challenges whose turn it is, each with its bot; their places are taken from now on.

        places     how many matches all house bots together play at once
        free       how many matches more each bot takes now, without those whose challenges were passed on
        may_begin  says whether the match of a challenge may begin now, and then counts it

        O(m n log n) for m that are passed on of n that wait.
        """
        left, passed = dict(free), list[tuple[str, str]]()
        while any(count > 0 for count in left.values()):
            for challenge in self._order():
                waiting = self._waiting[challenge]
                if (
                    left.get(waiting.bot, 0) > 0
                    and not self._full(waiting.asker, places)
                    and may_begin(challenge)
                ):
                    break
            else:
                break
            left[waiting.bot] -= 1
            del self._waiting[challenge]
            self._taken[challenge] = waiting.asker
            self._turns.note(waiting.asker.key)
            passed.append((challenge, waiting.bot))
        return passed

    def wait_again(self, challenge: str, bot: str) -> None:
        """Let a challenge wait again that was passed on to a bot which has lost its connection."""
        asker = self._taken.pop(challenge, None)
        if asker is not None:
            self._waiting[challenge] = _Waiting(bot, asker)

    def queue(self) -> dict[str, int]:
        """The place of each challenge that waits, among those of the same bot, from 1."""
        places: dict[str, int] = {}
        so_far: Counter[str] = Counter()
        for challenge in self._order():
            bot = self._waiting[challenge].bot
            so_far[bot] += 1
            places[challenge] = so_far[bot]
        return places

    def _order(self) -> list[str]:
        """The challenges in the order of their turns: an asker's second one counts as if its first had a place."""
        held = Counter(asker.key for asker in self._taken.values())
        ranks: dict[str, tuple[int, int]] = {}
        for challenge, waiting in self._waiting.items():
            key = waiting.asker.key
            ranks[challenge] = held[key], self._turns.of(key)
            held[key] += 1
        return sorted(self._waiting, key=lambda challenge: ranks[challenge])

    def _full(self, asker: Asker, places: int) -> bool:
        taken = list(self._taken.values())
        own = PLACES_PER_ADDRESS if asker.guest else max(1, int(places * ADDRESS_SHARE))
        group = max(1, int(places * GROUP_SHARE))
        return (
            sum(each.key == asker.key for each in taken) >= own
            or sum(each.guest == asker.guest for each in taken) >= group
        )
