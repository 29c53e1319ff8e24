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
        self._open_ids: set[str] = set()
        self._accepted_matches: set[str] = set()
        """Matches that are agreed but have not started."""

    def __contains__(self, challenge: str) -> bool:
        return challenge in self._open_ids

    def count_to_open(self, free_slots: int) -> int:
        """Return the number of challenges to open now if the bot can play `free_slots` more matches."""
        if self.challenge is None:
            return 0
        return max(0, free_slots - self._sent_count - len(self._open_ids) - len(self._accepted_matches))

    def record_sent(self) -> None:
        """Record that a challenge was sent and awaits an answer."""
        self._sent_count += 1

    def record_opened(self, challenged: Challenged) -> None:
        """Record that a challenge is open."""
        self._sent_count = max(0, self._sent_count - 1)
        self._open_ids.add(challenged.challenge)

    def handle_refusal(self) -> bool:
        """Handle a refusal by the server. Return True if it may concern a challenge."""
        was_sent = self._sent_count > 0
        self._sent_count = max(0, self._sent_count - 1)
        return was_sent

    def handle_challenge_over(self, message: ChallengeOver) -> bool:
        """Handle the end of a challenge. Return True if it was unsuccessful."""
        if message.challenge not in self._open_ids:
            return False
        self._open_ids.discard(message.challenge)
        if message.outcome == "accepted" and message.match is not None:
            self._accepted_matches.add(message.match)
            return False
        return True

    def record_start(self, match: str) -> None:
        """Record that a match has started."""
        self._accepted_matches.discard(match)

    def reset(self) -> None:
        """Discard all challenges after a reconnection: they ended with the old connection."""
        self._sent_count = 0
        self._open_ids.clear()
        self._accepted_matches.clear()
