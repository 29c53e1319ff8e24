"""Open challenges: one bot asks another, or whoever comes first, for a match. Pure; times in ns.

A challenge is open until it is accepted, declined, withdrawn, or expires. Accepting does not start the
match: whoever does that may still find that a player is busy by now, and then refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from arena.games.core import AnyGame
from arena.match.clock import MS
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge, Challenged


class BadChallenge(Exception):
    """A message about a challenge that cannot be followed. `code` and the text go back to the client."""

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True)
class OpenChallenge:
    """A challenge that waits for an answer."""

    id: str
    challenger: str
    asked: Challenge
    game: AnyGame
    expires: int

    def message(self, now: int) -> Challenged:
        """The challenge as it is told."""
        asked = self.asked
        return Challenged(
            challenge=self.id,
            challenger=self.challenger,
            opponent=asked.opponent,
            game=asked.game,
            map=asked.map,
            time_control=asked.time_control,
            seat=asked.seat,
            rated=asked.rated,
            expires_ms=max(0, (self.expires - now) // MS),
        )


class Challenges:
    """The open challenges of one server."""

    def __init__(self, per_bot: int, seconds: float, run: str = "") -> None:
        """`run` stands in the id of each: what is said of a challenge of another run, or server, is said of none of these."""
        self._per_bot = per_bot
        self._lasts = int(seconds * 1e9)
        self._open: dict[str, OpenChallenge] = {}
        self._prefix = f"c{run}-" if run else "c"
        self._number = count(1)

    def __len__(self) -> int:
        return len(self._open)

    def listed(self, now: int) -> list[Challenged]:
        """All open challenges, oldest first."""
        return [each.message(now) for each in self._open.values()]

    @property
    def asked(self) -> set[str]:
        """Who has a challenge before it; the empty name where one is for whoever comes."""
        return {each.asked.opponent for each in self._open.values()}

    def check(self, challenger: str, asked: Challenge) -> None:
        """Look whether a challenge may be opened, before anything is made for it. Raises BadChallenge."""
        if asked.opponent == challenger:
            raise BadChallenge(Code.BAD_CHALLENGE, "nobody plays against itself")
        if sum(each.challenger == challenger for each in self._open.values()) >= self._per_bot:
            raise BadChallenge(
                Code.RATE_LIMITED, f"{self._per_bot} challenges of yours are open; withdraw one"
            )

    def add(
        self, challenger: str, asked: Challenge, game: AnyGame, now: int, *, lasts: int | None = None
    ) -> OpenChallenge:
        """Open a challenge, for `lasts` ns where it does not last as long as any other. Raises BadChallenge."""
        self.check(challenger, asked)
        expires = now + (self._lasts if lasts is None else lasts)
        made = OpenChallenge(f"{self._prefix}{next(self._number)}", challenger, asked, game, expires)
        self._open[made.id] = made
        return made

    def renew(self, id: str, now: int) -> OpenChallenge | None:
        """Have an open challenge last as long from now as any that is opened now; None where it is over."""
        found = self._open.get(id)
        if found is not None:
            found = self._open[id] = replace(found, expires=now + self._lasts)
        return found

    def find(self, id: str) -> OpenChallenge | None:
        """The open challenge of that id; None where there is none."""
        return self._open.get(id)

    def close(self, id: str) -> OpenChallenge | None:
        """Close a challenge, whoever it is of; None where it is over already."""
        return self._open.pop(id, None)

    def accept(self, who: str, id: str) -> OpenChallenge:
        """Take a challenge that names `who`, or anybody's open one. Raises BadChallenge."""
        found = self._find(id)
        if found.challenger == who or found.asked.opponent not in ("", who):
            raise self._no_such(id)
        return self._open.pop(id)

    def decline(self, who: str, id: str) -> OpenChallenge:
        """Refuse a challenge that names `who`. Raises BadChallenge."""
        if self._find(id).asked.opponent != who:
            raise self._no_such(id)
        return self._open.pop(id)

    def withdraw(self, who: str, id: str) -> OpenChallenge:
        """Take back a challenge of `who`'s own. Raises BadChallenge."""
        if self._find(id).challenger != who:
            raise self._no_such(id)
        return self._open.pop(id)

    def drop_bot(self, who: str) -> list[OpenChallenge]:
        """Close all that `who` opened or was asked; what was closed."""
        gone = [each for each in self._open.values() if who in (each.challenger, each.asked.opponent)]
        for each in gone:
            del self._open[each.id]
        return gone

    def drop_all(self) -> list[OpenChallenge]:
        """Close all; what was closed."""
        gone, self._open = list(self._open.values()), {}
        return gone

    def expire(self, now: int) -> list[OpenChallenge]:
        """Close all whose time is up; what was closed."""
        gone = [each for each in self._open.values() if each.expires <= now]
        for each in gone:
            del self._open[each.id]
        return gone

    @property
    def next_expiry(self) -> int | None:
        """When the first open challenge expires; None where there is none."""
        return min((each.expires for each in self._open.values()), default=None)

    def _find(self, id: str) -> OpenChallenge:
        found = self._open.get(id)
        if found is None:
            raise self._no_such(id)
        return found

    @staticmethod
    def _no_such(id: str) -> BadChallenge:
        return BadChallenge(Code.NO_SUCH_CHALLENGE, f"{id!r:.40}: {Code.NO_SUCH_CHALLENGE.meaning}")
