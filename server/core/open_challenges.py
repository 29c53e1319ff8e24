"""Open challenges: one bot asks another, or whoever comes first, for a match."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arena.games.core import AnyGame
from arena.match.clock import MS
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge, Challenged
from arena.server.core.lobby import Refused


@dataclass(frozen=True)
class OpenChallenge:
    """A challenge that waits for an answer."""

    id: str
    challenger: str
    asked: Challenge
    game: AnyGame
    expires: int

    def message(self, now: int) -> Challenged:
        """Return the challenge as a message tells it."""
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


class OpenChallenges:
    """The open challenges of one arena, by id and by bot."""

    def __init__(self, run: str) -> None:
        """`run` stands in each id: an id of before a restart is that of no challenge of today."""
        self._prefix = f"c{run}-"
        self._count = 0
        self._open: dict[str, OpenChallenge] = {}
        self._of: dict[str, dict[str, None]] = {}
        """Ids of the challenges of each challenger."""
        self._to: dict[str, dict[str, None]] = {}
        """Ids of the challenges to each opponent."""

    def __len__(self) -> int:
        return len(self._open)

    def find(self, id: str) -> OpenChallenge | None:
        """Return the open challenge of that id; None where there is none."""
        return self._open.get(id)

    def first(self, most: int) -> list[OpenChallenge]:
        """Return the oldest challenges, `most` at the most."""
        return [each for each, _ in zip(self._open.values(), range(most), strict=False)]

    def asked(self, name: str) -> list[OpenChallenge]:
        """Return the challenges that name a bot."""
        return [self._open[id] for id in self._to.get(name, ())]

    def check(self, challenger: str, asked: Challenge, most: int) -> None:
        """Raise Refused where a challenge may not be opened, be it for `most` open ones of its bot."""
        if asked.opponent == challenger:
            raise Refused(Code.BAD_CHALLENGE, "nobody plays against itself")
        if len(self._of.get(challenger, ())) >= most:
            raise Refused(Code.RATE_LIMITED, f"{most} challenges of yours are open; withdraw one")

    def add(self, challenger: str, asked: Challenge, game: AnyGame, expires: int) -> OpenChallenge:
        """Open a challenge."""
        self._count += 1
        made = OpenChallenge(f"{self._prefix}{self._count}", challenger, asked, game, expires)
        self._open[made.id] = made
        self._of.setdefault(challenger, {})[made.id] = None
        self._to.setdefault(asked.opponent, {})[made.id] = None
        return made

    def renew(self, id: str, expires: int) -> OpenChallenge:
        """Set the time at which an open challenge expires."""
        made = self._open[id] = replace(self._open[id], expires=expires)
        return made

    def close(self, id: str) -> OpenChallenge:
        """Close an open challenge."""
        closed = self._open.pop(id)
        for index, name in ((self._of, closed.challenger), (self._to, closed.asked.opponent)):
            del index[name][id]
            if not index[name]:
                del index[name]
        return closed

    def of_bot(self, name: str) -> list[OpenChallenge]:
        """Return the challenges that a bot opened or was asked."""
        return [self._open[id] for id in {**self._of.get(name, {}), **self._to.get(name, {})}]

    def take(self, name: str, id: str) -> OpenChallenge:
        """Close a challenge that names a bot, or anybody's open one, as that bot accepts it. Raises Refused."""
        found = self._find(id)
        if found.challenger == name or found.asked.opponent not in ("", name):
            raise _no_such(id)
        return self.close(id)

    def decline(self, name: str, id: str) -> OpenChallenge:
        """Close a challenge that names a bot. Raises Refused."""
        if self._find(id).asked.opponent != name:
            raise _no_such(id)
        return self.close(id)

    def withdraw(self, name: str, id: str) -> OpenChallenge:
        """Close a bot's own challenge. Raises Refused."""
        if self._find(id).challenger != name:
            raise _no_such(id)
        return self.close(id)

    def _find(self, id: str) -> OpenChallenge:
        found = self._open.get(id)
        if found is None:
            raise _no_such(id)
        return found


def _no_such(id: str) -> Refused:
    return Refused(Code.NO_SUCH_CHALLENGE, f"{id!r:.40}: {Code.NO_SUCH_CHALLENGE.meaning}")
