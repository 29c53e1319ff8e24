"""Challenges that a client sends again and again, whenever its bot can play another match."""

from __future__ import annotations

from arena.protocol.messages import Challenge, Challenged, ChallengeOver


class Challenger:
    """Pending challenges of this client, counted to find out how many more to send.

    A pending challenge is first unanswered (sent, but not yet opened by the server), then open, then accepted. A challenge
    is no longer pending once its match has started.
    """

    def __init__(self, challenge: Challenge | None) -> None:
        """Start without challenges. `challenge` is the message that opens a challenge; None to challenge nobody."""
        self._challenge = challenge
        self._unanswered_count = 0
        """Number of sent challenges that the server has neither opened nor refused yet."""
        self._open_challenge_ids: set[str] = set()
        self._accepted_match_ids: set[str] = set()
        """Ids of the matches whose challenge was accepted and that have not started."""

    def list_challenges_to_send(self, free_slots: int) -> list[Challenge]:
        """Return the challenges to send, so that this client has one pending challenge for each of `free_slots`.

        free_slots  number of further matches that the bot can play

        The caller must send them: they count as unanswered from now on.
        """
        if self._challenge is None:
            return []
        pending_count = self._unanswered_count + len(self._open_challenge_ids) + len(self._accepted_match_ids)
        count = max(0, free_slots - pending_count)
        self._unanswered_count += count
        return [self._challenge] * count

    def record_challenge_opened(self, challenged: Challenged) -> None:
        """Record that the server has opened a challenge that this client sent."""
        self._unanswered_count = max(0, self._unanswered_count - 1)
        self._open_challenge_ids.add(challenged.challenge)

    def handle_possible_refusal(self) -> bool:
        """Handle an error message: if a challenge is unanswered, count the challenge as refused, and return True."""
        was_sent = self._unanswered_count > 0
        self._unanswered_count = max(0, self._unanswered_count - 1)
        return was_sent

    def handle_challenge_over(self, message: ChallengeOver) -> bool:
        """Handle the message that a challenge is over. Return True if this client opened it, and nobody accepted it."""
        if message.challenge not in self._open_challenge_ids:
            return False
        self._open_challenge_ids.discard(message.challenge)
        if message.outcome == "accepted" and message.match is not None:
            self._accepted_match_ids.add(message.match)
            return False
        return True

    def record_match_start(self, match_id: str) -> None:
        """Record that the match `match_id` has started. If it comes from a challenge, that challenge is no longer pending."""
        self._accepted_match_ids.discard(match_id)

    def forget_challenges(self) -> None:
        """Forget all challenges. Called when a new connection opens, because challenges end with their connection."""
        self._unanswered_count = 0
        self._open_challenge_ids.clear()
        self._accepted_match_ids.clear()
