"""Challenges (requests for a match) between bots: open, accept, decline, withdraw. An unanswered challenge expires."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice

from arena.games.core import AnyGame, GameError, UnknownGame
from arena.games.name_hints import format_similar_name_hint
from arena.maps.game_on_map import has_maps, make_game_on_map
from arena.maps.loader import MapError, UnknownMap, count_generated_territories
from arena.match.clock import NS_PER_MS
from arena.match.terms import MatchTerms
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Accept,
    Challenge,
    ChallengeOutcome,
    ChallengeOver,
    Decline,
    Withdraw,
)
from arena.protocol.values import Players
from arena.server.core.bot import LobbyBot
from arena.server.core.house_engines import MAX_QUEUED_CHALLENGE_WAIT_MS, HouseEngines
from arena.server.core.ids import IdGenerator
from arena.server.core.lobby import DRAINING_REFUSAL_REASON, Lobby, RequestRefused
from arena.server.core.open_challenges import CHALLENGE_LIFETIME_MS, OpenChallenge, OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX, OPEN_POOL_EVENT_NAME

MAX_NAMES_COMPARED_FOR_SUGGESTION = 100
"""Maximum number of names that are compared with the unknown name of an opponent, to suggest the most similar one.

A comparison takes about 10 µs, so a suggestion takes about 1 ms at most.
"""
CHALLENGE_MATCH_NETWORK_MARGIN_MS = 100
"""Extra time for network delay, allowed on each move of a match that began by a challenge, in ms."""
CHALLENGE_MATCH_READY_TIMEOUT_MS = 30_000
"""Time for a bot to confirm (`ready`) the start of a match that began by a challenge, in ms. It may have to compile its engine."""
SAME_OWNER_REFUSAL_REASON = "both bots have the same owner, so their matches are not rated: send rated false"
"""Reason, sent to the bots, for refusing a rated challenge between two bots of one owner."""


def make_challenge_game(challenge: Challenge, max_territories: int) -> AnyGame:
    """Return the game that a challenge names, on the challenge's map.

    Raises RequestRefused if the game or the map is unknown, if the map is a path (only the server's operator may use
    files), or if it is a generated map with more than `max_territories` territories.
    """
    # Only the command line of the server's operator may give a path as the name of a map.
    if challenge.map.endswith(".toml") or "/" in challenge.map or "\\" in challenge.map:
        raise RequestRefused(
            ErrorCode.BAD_CHALLENGE,
            f"{challenge.map!r:.40} is a file: name a map, such as m2, world or grid:5x5",
        )
    try:
        territory_count = count_generated_territories(challenge.map) if has_maps(challenge.game) else None
        if territory_count is not None and territory_count > max_territories:
            detail = f"{challenge.map:.40} has {territory_count} territories; this server allows at most {max_territories}"
            raise RequestRefused(ErrorCode.BAD_CHALLENGE, detail)
        return make_game_on_map(challenge.game, challenge.map)
    except (UnknownGame, UnknownMap) as error:
        raise RequestRefused(ErrorCode.BAD_CHALLENGE, error.reason) from None
    except (GameError, MapError) as error:
        raise RequestRefused(ErrorCode.BAD_CHALLENGE, str(error)) from None


class ChallengeHandler:
    """Handler of the messages with which bots open, accept, decline and withdraw challenges."""

    def __init__(
        self,
        lobby: Lobby,
        open_challenges: OpenChallenges,
        house: HouseEngines,
        history: PairingHistory,
        ids: IdGenerator,
        begin_match: Callable[[MatchTerms], None],
    ) -> None:
        """Create the handler.

        house        the server's own engines
        history      earlier matches of the bots, which decide the seats if a challenge does not name them
        ids          source of ids for new matches
        begin_match  function that begins the match of an accepted challenge
        """
        self._lobby = lobby
        self._open_challenges = open_challenges
        self._house = house
        self._history = history
        self._ids = ids
        self._begin_match = begin_match

    def send_open_challenges_to_bot(self, bot: LobbyBot) -> None:
        """Send a newly connected bot the open challenges to it.

        Challenges to one of the server's own engines are not sent here: they wait in a queue until the engine is free.
        """
        if bot.name in self._house:
            return
        for challenge in self._open_challenges.list_challenges_to(bot.name):
            self._lobby.send_to_bot(bot, challenge.make_challenged_message(self._lobby.now_ns))
            bot.begin_challenge_answer_period(self._lobby.now_ns)
            self._lobby.record_lobby_change(bot)

    def close_challenges_of_departed_bot(self, bot: LobbyBot) -> None:
        """Close the challenges from and to a disconnected bot.

        Challenges to one of the server's own engines stay open, and wait until the engine reconnects.
        """
        self._house.requeue_offers_to_engine(bot.name)
        for challenge in self._open_challenges.list_challenges_involving(bot.name):
            if challenge.challenger_name == bot.name or bot.name not in self._house:
                self._close_challenge(challenge.challenge_id, "withdrawn", f"{bot.name} has disconnected")

    def close_challenges_involving(self, bot_name: str, reason: str) -> None:
        """Close all challenges from or to a bot, and send the bots concerned the outcome with this reason."""
        for challenge in self._open_challenges.list_challenges_involving(bot_name):
            self._close_challenge(challenge.challenge_id, "withdrawn", reason)

    def expire_challenge_if_due(self, challenge_id: str) -> None:
        """Close a challenge if it has expired; otherwise schedule its next check. Do nothing if it is closed already."""
        challenge = self._open_challenges.find_challenge(challenge_id)
        if challenge is None:
            return
        if self._lobby.now_ns >= challenge.expiry_time_ns:
            self._close_challenge(challenge_id, "expired")
        else:
            self._lobby.deadlines.schedule_check(("challenge", challenge_id), challenge.expiry_time_ns)

    # messages of bots

    def open_challenge(self, bot: LobbyBot, challenge: Challenge) -> None:
        """Open the challenge that `bot` has sent, and send it on to the challenged bot, if there is one.

        A challenge to one of the server's own engines is queued instead. Raises RequestRefused if the challenge is invalid
        or not allowed now.
        """
        lobby, settings = self._lobby, self._lobby.settings
        if lobby.is_draining:
            raise RequestRefused(ErrorCode.SHUTTING_DOWN, DRAINING_REFUSAL_REASON)
        self._open_challenges.require_allowed_challenge(bot.name, challenge, settings.limits.open_challenges)
        game = make_challenge_game(challenge, settings.limits.territories)
        if bot.is_guest:
            self._house.check_and_count_guest_challenge(bot, challenge)
        target = lobby.bots.get(challenge.opponent)
        if target is not None and target.client_number is None:
            target = None
        is_house_engine = challenge.opponent in self._house
        if challenge.opponent and target is None and not is_house_engine:
            has_house_prefix = challenge.opponent.startswith(HOUSE_ENGINE_NAME_PREFIX)
            code = ErrorCode.BAD_CHALLENGE if has_house_prefix else ErrorCode.OPPONENT_UNAVAILABLE
            raise RequestRefused(code, self._describe_unknown_bot(challenge.opponent, bot.name))
        if target is not None:
            self._require_acceptable_challenge(target, challenge, game)
            if challenge.rated and bot.has_same_owner_as(target):
                raise RequestRefused(ErrorCode.BAD_CHALLENGE, SAME_OWNER_REFUSAL_REASON)
        expiry_time_ns = (
            lobby.now_ns
            + (MAX_QUEUED_CHALLENGE_WAIT_MS if is_house_engine else CHALLENGE_LIFETIME_MS) * NS_PER_MS
        )
        open_challenge = self._open_challenges.add_challenge(bot.name, challenge, game, expiry_time_ns)
        lobby.deadlines.schedule_check(("challenge", open_challenge.challenge_id), expiry_time_ns)
        lobby.record_lobby_change(target)  # a challenged bot may have to leave the pool for a while
        lobby.send_to_bot(bot, open_challenge.make_challenged_message(lobby.now_ns))
        if is_house_engine:
            self._queue_for_house_engine(open_challenge, bot)
        elif target is not None:
            lobby.send_to_bot(target, open_challenge.make_challenged_message(lobby.now_ns))
            if target.can_accept_match:
                target.begin_challenge_answer_period(lobby.now_ns)

    def _describe_unknown_bot(self, bot_name: str, challenger_name: str) -> str:
        house_names = (entry.name for entry in self._house.make_lobby_listing_entries())
        other_names = (bot.name for bot in self._lobby.list_connected_bots() if bot.name != challenger_name)
        known_names = islice(chain(house_names, other_names), MAX_NAMES_COMPARED_FOR_SUGGESTION)
        return f"no bot called {bot_name!r:.70} is connected{format_similar_name_hint(bot_name, known_names)}"

    @staticmethod
    def _require_acceptable_challenge(challenged_bot: LobbyBot, challenge: Challenge, game: AnyGame) -> None:
        why = challenged_bot.preferences.find_decline_reason(game, challenge.time_control)
        if why is not None:
            raise RequestRefused(
                ErrorCode.OPPONENT_UNAVAILABLE,
                f"{challenge.opponent} plays no matches with these settings: {why}",
            )
        if challenged_bot.match_quota == 0:
            raise RequestRefused(
                ErrorCode.OPPONENT_UNAVAILABLE,
                f"{challenge.opponent} takes no more matches: challenge another bot",
            )

    def _queue_for_house_engine(self, challenge: OpenChallenge, bot: LobbyBot) -> None:
        refused_id = self._house.enqueue_challenge(challenge, bot)
        if refused_id is not None:
            why = "too many challenges wait for the server's own bots: try again later"
            self._close_challenge(refused_id, "refused", why)
        self._house.offer_next_challenges()

    def decline_challenge(self, bot: LobbyBot, decline: Decline) -> None:
        """Decline, for `bot`, the challenge that `decline` names. Raises RequestRefused if `bot` has received no such challenge."""
        self._open_challenges.require_challenge(
            decline.challenge, lambda challenge: challenge.request.opponent == bot.name
        )
        self._close_challenge(decline.challenge, "declined", decline.reason)

    def withdraw_challenge(self, bot: LobbyBot, withdraw: Withdraw) -> None:
        """Withdraw the challenge of `bot` that `withdraw` names. Raises RequestRefused if `bot` has no such challenge."""
        self._open_challenges.require_challenge(
            withdraw.challenge, lambda challenge: challenge.challenger_name == bot.name
        )
        self._close_challenge(withdraw.challenge, "withdrawn")

    def accept_challenge(self, bot: LobbyBot, accept: Accept) -> None:
        """Begin the match of a challenge that `bot` accepts.

        Close the challenge without a match if a bot is busy, or if the match would be rated although both bots have the same
        owner. Raises RequestRefused if `bot` may not accept the challenge.
        """
        if bot.is_guest:
            raise RequestRefused(
                ErrorCode.BAD_CHALLENGE, "a guest cannot accept challenges; ask the host for a token"
            )
        if self._lobby.is_draining:
            raise RequestRefused(ErrorCode.SHUTTING_DOWN, DRAINING_REFUSAL_REASON)
        challenge = self._open_challenges.require_challenge(
            accept.challenge,
            lambda challenge: (
                challenge.challenger_name != bot.name and challenge.request.opponent in ("", bot.name)
            ),
        )
        # The challenger is still connected, because the challenges of a bot are closed when the bot disconnects.
        challenger = self._lobby.bots[challenge.challenger_name]
        busy_bot = next(
            (candidate for candidate in (challenger, bot) if not candidate.can_accept_match), None
        )
        if busy_bot is not None:
            why = f"{busy_bot.name} already plays as many matches as it accepts"
            self._close_challenge(challenge.challenge_id, "refused", why, accepter_name=bot.name)
            return
        if challenge.request.rated and bot.has_same_owner_as(challenger):
            self._close_challenge(
                challenge.challenge_id, "refused", SAME_OWNER_REFUSAL_REASON, accepter_name=bot.name
            )
            return
        terms = self._make_match_terms(challenge, challenger, bot)
        self._house.queue.pass_slot_to_match(challenge.challenge_id, terms.match)
        self._close_challenge(
            challenge.challenge_id, "accepted", match_id=terms.match, accepter_name=bot.name
        )
        self._begin_match(terms)

    def _make_match_terms(self, challenge: OpenChallenge, challenger: LobbyBot, bot: LobbyBot) -> MatchTerms:
        match challenge.request.seat:
            case "maxie":
                seats = challenger.name, bot.name
            case "minnie":
                seats = bot.name, challenger.name
            case None:
                seats = self._history.assign_seats(challenger.name, bot.name)
        return MatchTerms(
            match=self._ids.make_hex_id(),
            event=OPEN_POOL_EVENT_NAME,
            game=challenge.game,
            players=Players(*seats),
            time_control=challenge.request.time_control,
            margin_ms=CHALLENGE_MATCH_NETWORK_MARGIN_MS,
            ready_ms=CHALLENGE_MATCH_READY_TIMEOUT_MS,
            adjudication=self._lobby.settings.adjudication,
            rated=challenge.request.rated,
            total_ms=self._house.compute_max_thinking_ms(challenge, challenger),
        )

    def _close_challenge(
        self,
        challenge_id: str,
        outcome: ChallengeOutcome,
        detail: str = "",
        *,
        match_id: str | None = None,
        accepter_name: str = "",
    ) -> None:
        """Close an open challenge. Send the outcome to the challenger, the challenged bot if there is one, and `accepter_name`.

        detail         reason for the outcome, for people; may be empty
        match_id       id of the match that an accepted challenge leads to; None for any other outcome
        accepter_name  name of the bot that accepted the challenge, or tried to; empty if there was none
        """
        challenge = self._open_challenges.remove_challenge(challenge_id)
        self._house.forget_challenge(challenge_id)
        self._lobby.deadlines.cancel_check(("challenge", challenge_id))
        message = ChallengeOver(challenge_id, outcome, detail, match_id)
        for name in dict.fromkeys((challenge.challenger_name, challenge.request.opponent, accepter_name)):
            self._lobby.send_to_bot(self._lobby.bots.get(name), message)
        opponent = self._lobby.bots.get(challenge.request.opponent)
        self._lobby.record_lobby_change(opponent)
