"""The challenges that a client opens by itself, one after another, as long as it has room for their matches."""

from __future__ import annotations

from arena.protocol.messages import Challenge, Challenged, ChallengeOver


class Challenging:
    """What became of each challenge. Whoever drives it sends `ask` when it says that there is room."""

    def __init__(self, ask: Challenge | None) -> None:
        """`ask`: the challenge that is opened again and again; None for none at all."""
        self.ask = ask
        self._sent = 0
        self._open: set[str] = set()
        self._coming: set[str] = set()
        """Matches that were agreed and have not started."""

    def __contains__(self, challenge: str) -> bool:
        return challenge in self._open

    def wants(self, room: int) -> int:
        """How many challenges are to be opened now, where there is room for so many matches more."""
        if self.ask is None:
            return 0
        return max(0, room - self._sent - len(self._open) - len(self._coming))

    def sent(self) -> None:
        """One was sent, and is not answered yet."""
        self._sent += 1

    def opened(self, challenged: Challenged) -> None:
        """One is open."""
        self._sent = max(0, self._sent - 1)
        self._open.add(challenged.challenge)

    def refused(self) -> bool:
        """Something was refused: whether it can have been a challenge."""
        waited = self._sent > 0
        self._sent = max(0, self._sent - 1)
        return waited

    def over(self, over: ChallengeOver) -> bool:
        """One is over: whether it came to nothing."""
        if over.challenge not in self._open:
            return False
        self._open.discard(over.challenge)
        if over.outcome == "accepted" and over.match is not None:
            self._coming.add(over.match)
            return False
        return True

    def started(self, match: str) -> None:
        """A match has started."""
        self._coming.discard(match)

    def forget(self) -> None:
        """The connection is a new one: what was open went with the old one."""
        self._sent = 0
        self._open.clear()
        self._coming.clear()
