"""Open challenges: unanswered requests of one bot for a match with another bot, or with any bot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from arena.games.core import AnyGame
from arena.match.clock import NS_PER_MS
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Challenge, Challenged
from arena.server.core.lobby import RequestRefused

CHALLENGE_LIFETIME_MS = 60_000
"""Time after which an unanswered challenge expires, in ms."""


@dataclass(frozen=True)
class OpenChallenge:
    """Challenge (request for a match) that waits for an answer."""

    challenge_id: str
    challenger_name: str
    request: Challenge
    """Message with which the challenger opened the challenge."""
    game: AnyGame
    expiry_time_ns: int
    """Time (monotonic ns) at which the challenge expires."""

    def make_challenged_message(self, now_ns: int) -> Challenged:
        """Return the challenge as a `challenged` message."""
        challenge = self.request
        return Challenged(
            challenge=self.challenge_id,
            challenger=self.challenger_name,
            opponent=challenge.opponent,
            game=challenge.game,
            map=challenge.map,
            time_control=challenge.time_control,
            seat=challenge.seat,
            rated=challenge.rated,
            expires_ms=max(0, (self.expiry_time_ns - now_ns) // NS_PER_MS),
        )


class OpenChallenges:
    """Open challenges (requests for a match) on one server, by id and by bot."""

    def __init__(self, run_id: str) -> None:
        """Start without challenges. `run_id` differs after each restart; as part of each id, it keeps ids unique."""
        self._prefix = f"c{run_id}-"
        self._count = 0
        self._challenges: dict[str, OpenChallenge] = {}
        self._ids_by_challenger: dict[str, dict[str, None]] = {}
        """Ids of the challenges by the challenger's name, oldest first. The inner dict serves as an ordered set."""
        self._ids_by_opponent: dict[str, dict[str, None]] = {}
        """Ids of the challenges by the opponent's name, which is empty for a challenge to any bot."""

    def __len__(self) -> int:
        return len(self._challenges)

    def find_challenge(self, challenge_id: str) -> OpenChallenge | None:
        return self._challenges.get(challenge_id)

    def list_oldest_challenges(self, max_count: int) -> list[OpenChallenge]:
        """Return the oldest challenges, at most `max_count`."""
        return list(islice(self._challenges.values(), max_count))

    def list_challenges_to(self, bot_name: str) -> list[OpenChallenge]:
        """Return the challenges to the bot of this name, without those that any bot may accept."""
        return [self._challenges[id] for id in self._ids_by_opponent.get(bot_name, ())]

    def require_allowed_challenge(
        self, challenger_name: str, challenge: Challenge, max_open_challenges: int
    ) -> None:
        """Raise RequestRefused if a bot challenges itself, or already has `max_open_challenges` open challenges."""
        if challenge.opponent == challenger_name:
            raise RequestRefused(ErrorCode.BAD_CHALLENGE, "a bot cannot play against itself")
        if len(self._ids_by_challenger.get(challenger_name, ())) >= max_open_challenges:
            raise RequestRefused(
                ErrorCode.RATE_LIMITED,
                f"you already have {max_open_challenges} open challenges, the maximum: withdraw one first",
            )

    def add_challenge(
        self, challenger_name: str, challenge: Challenge, game: AnyGame, expiry_time_ns: int
    ) -> OpenChallenge:
        """Add a challenge that expires at `expiry_time_ns` (monotonic ns), and return the challenge.

        challenge  message with which the bot `challenger_name` opens the challenge
        game       game that the message names, on its map
        """
        self._count += 1
        open_challenge = OpenChallenge(
            f"{self._prefix}{self._count}", challenger_name, challenge, game, expiry_time_ns
        )
        self._challenges[open_challenge.challenge_id] = open_challenge
        self._ids_by_challenger.setdefault(challenger_name, {})[open_challenge.challenge_id] = None
        self._ids_by_opponent.setdefault(challenge.opponent, {})[open_challenge.challenge_id] = None
        return open_challenge

    def set_expiry_time(self, challenge_id: str, expiry_time_ns: int) -> OpenChallenge:
        """Change the time at which an open challenge expires to `expiry_time_ns` (monotonic ns), and return the challenge."""
        extended = self._challenges[challenge_id] = replace(
            self._challenges[challenge_id], expiry_time_ns=expiry_time_ns
        )
        return extended

    def remove_challenge(self, challenge_id: str) -> OpenChallenge:
        """Remove an open challenge, for whatever reason, and return it. The id must be that of an open challenge."""
        closed_challenge = self._challenges.pop(challenge_id)
        for index, name in (
            (self._ids_by_challenger, closed_challenge.challenger_name),
            (self._ids_by_opponent, closed_challenge.request.opponent),
        ):
            del index[name][challenge_id]
            if not index[name]:
                del index[name]
        return closed_challenge

    def list_challenges_involving(self, bot_name: str) -> list[OpenChallenge]:
        """Return the challenges from or to a bot."""
        return [
            self._challenges[id]
            for id in {**self._ids_by_challenger.get(bot_name, {}), **self._ids_by_opponent.get(bot_name, {})}
        ]

    def require_challenge(
        self, challenge_id: str, may_close: Callable[[OpenChallenge], bool]
    ) -> OpenChallenge:
        """Return the open challenge of this id, which a bot wants to accept, decline or withdraw.

        may_close  function that returns True if the bot may close the challenge in this way

        Raises RequestRefused if there is no such challenge, or if the bot may not close it.
        """
        challenge = self._challenges.get(challenge_id)
        if challenge is None or not may_close(challenge):
            raise RequestRefused(
                ErrorCode.NO_SUCH_CHALLENGE,
                f"challenge {challenge_id!r:.40} does not exist, is over, or is not yours",
            )
        return challenge
