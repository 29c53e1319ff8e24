"""Challenges that a client opens by itself, one after another, whenever it has room for a match."""

from __future__ import annotations

from arena.protocol.messages import Challenge, Challenged, ChallengeOver


class Challenger:
    """State of the challenges that this client opens.

    The driver sends `challenge` when the bot can play another match.
    """

    def __init__(self, challenge: Challenge | None) -> None:
        """Start without open challenges. `challenge` is opened again and again; None for none."""
        self.challenge = challenge
        self._sent_count = 0
        self._open: set[str] = set()
        self._agreed: set[str] = set()
        """Matches that are agreed but have not started."""

    def __contains__(self, challenge: str) -> bool:
        return challenge in self._open

    def count_to_open(self, room: int) -> int:
        """Return the number of challenges to open now if the bot can play `room` more matches."""
        if self.challenge is None:
            return 0
        return max(0, room - self._sent_count - len(self._open) - len(self._agreed))

    def note_sent(self) -> None:
        """Record that a challenge was sent and awaits an answer."""
        self._sent_count += 1

    def note_opened(self, challenged: Challenged) -> None:
        """Record that a challenge is open."""
        self._sent_count = max(0, self._sent_count - 1)
        self._open.add(challenged.challenge)

    def handle_refusal(self) -> bool:
        """Handle a refusal by the server. Return True if it may concern a challenge."""
        was_sent = self._sent_count > 0
        self._sent_count = max(0, self._sent_count - 1)
        return was_sent

    def handle_over(self, over: ChallengeOver) -> bool:
        """Handle the end of a challenge. Return True if it was unsuccessful."""
        if over.challenge not in self._open:
            return False
        self._open.discard(over.challenge)
        if over.outcome == "accepted" and over.match is not None:
            self._agreed.add(over.match)
            return False
        return True

    def note_started(self, match: str) -> None:
        """Record that a match has started."""
        self._agreed.discard(match)

    def reset(self) -> None:
        """Discard all challenges after a reconnection: they ended with the old connection."""
        self._sent_count = 0
        self._open.clear()
        self._agreed.clear()
