"""Challenges that a client opens by itself, one after another, whenever it has room for a match."""

from __future__ import annotations

from arena.protocol.messages import Challenge, Challenged, ChallengeOver


class Challenger:
    """State of the challenges that this client opens.

    The client's `Machine` sends `challenge` as many times as `count_to_open` returns.
    """

    def __init__(self, challenge: Challenge | None) -> None:
        """Start without open challenges. `challenge` is the challenge to open repeatedly; None to challenge nobody."""
        self.challenge = challenge
        self._sent_count = 0
        self._open_ids: set[str] = set()
        self._accepted_matches: set[str] = set()
        """Ids of the matches whose challenge was accepted and that have not started."""

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
        """Record that the server has opened a challenge that this client sent."""
        self._sent_count = max(0, self._sent_count - 1)
        self._open_ids.add(challenged.challenge)

    def handle_refusal(self) -> bool:
        """Handle a refusal by the server. Return True if a challenge awaits its answer, which the refusal may be."""
        was_sent = self._sent_count > 0
        self._sent_count = max(0, self._sent_count - 1)
        return was_sent

    def handle_challenge_over(self, message: ChallengeOver) -> bool:
        """Handle the end of a challenge. Return True if this client opened it and nobody accepted it."""
        if message.challenge not in self._open_ids:
            return False
        self._open_ids.discard(message.challenge)
        if message.outcome == "accepted" and message.match is not None:
            self._accepted_matches.add(message.match)
            return False
        return True

    def record_start(self, match: str) -> None:
        """Record that the match with the id `match` has started."""
        self._accepted_matches.discard(match)

    def reset(self) -> None:
        """Discard all challenges after a reconnection: they ended with the old connection."""
        self._sent_count = 0
        self._open_ids.clear()
        self._accepted_matches.clear()
