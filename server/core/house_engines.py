"""House engines: the engines that the server itself runs. Challenges to them wait in a queue until an engine is free."""

from __future__ import annotations

from arena.maps.loader import list_built_in_map_names
from arena.match.clock import NS_PER_MS
from arena.match.terms import MatchTerms
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Challenge, ListedBot, Queued
from arena.server.core.bot import LobbyBot
from arena.server.core.effects import StartHouseEngine
from arena.server.core.guests import (
    GUEST_REQUEST_BURST,
    GUEST_REQUEST_INTERVAL_NS,
    GUEST_START_BURST,
    GUEST_START_INTERVAL_NS,
    MAX_GUEST_THINKING_MS_PER_MATCH,
    find_guest_refusal_reason,
)
from arena.server.core.house_queue import HouseChallengeQueue, HouseMatchRequester
from arena.server.core.lobby import Lobby, RequestRefused
from arena.server.core.open_challenges import CHALLENGE_LIFETIME_MS, OpenChallenge, OpenChallenges
from arena.server.core.rate_limit import RateLimit
from arena.server.core.settings import MAX_MATCHES_PER_HOUSE_ENGINE

MAX_QUEUED_CHALLENGE_WAIT_MS = 1_800_000
"""Time that a challenge may wait for a house engine, in ms: as long as the longest match of a guest keeps an engine busy."""
MAX_THINKING_MS_AGAINST_HOUSE = 1_800_000
"""Longest thinking time of each player in a match between one of the server's own engines and a bot with a token, in ms."""
QUEUE_CHECK_INTERVAL_NS = 500_000_000
"""Longest time between two checks of the queue of challenges to the server's own engines, while challenges wait, in ns.

The check is needed because a rate limit may allow the next match although nothing else has happened.
"""


class HouseEngines:
    """House engines: the engines (bots) that the server itself runs.

    Their bots connect like all others, with secret tokens. Each of their matches takes a slot, of which there is a fixed
    number. The queue of challenges limits the number of slots for the bots of one owner, and for the guests at one address.
    """

    def __init__(self, lobby: Lobby, challenges: OpenChallenges) -> None:
        self._lobby = lobby
        self._challenges = challenges
        self._engines = {engine.bot_name: engine.engine_spec for engine in lobby.settings.house_engines}
        self.queue = HouseChallengeQueue()
        self._guest_start_limit = RateLimit(GUEST_START_BURST * GUEST_START_INTERVAL_NS)
        self._guest_request_limit = RateLimit(GUEST_REQUEST_BURST * GUEST_REQUEST_INTERVAL_NS)
        self._offers: dict[str, str] = {}
        """Challenges that were offered to an engine and are not answered yet: name of the engine, by challenge id."""
        self._sent_places: dict[str, int] = {}
        """Place in the queue of each waiting challenge, as last sent to its challenger, by challenge id."""

    def __contains__(self, name: object) -> bool:
        return name in self._engines

    def remove_engine(self, engine_name: str) -> bool:
        """Remove an engine that cannot be started, so that no bot can challenge it. Return False if there is no such engine."""
        return self._engines.pop(engine_name, None) is not None

    def make_lobby_listing_entries(self) -> list[ListedBot]:
        """Return an entry of the `listing` message for each of the server's own engines, whether it is connected or not."""
        entries = []
        for name, engine in self._engines.items():
            bot = self._lobby.bots.get(name)
            if bot is None or bot.client_number is None:
                entries.append(ListedBot(name, engine, 0, MAX_MATCHES_PER_HOUSE_ENGINE, house=True))
            else:
                entries.append(bot.make_lobby_listing_entry("", is_house_engine=True))
        return entries

    def request_engine_start(self, engine_name: str) -> None:
        """Request the start of an engine. The request has no effect if the engine is running."""
        self._lobby.effects.append(StartHouseEngine(engine_name))

    # challenges

    def check_and_count_guest_challenge(self, bot: LobbyBot, challenge: Challenge) -> None:
        """Check the challenge of a guest (client without a token). Count it against the limit on match requests of its address.

        Raises RequestRefused if a guest may not play this match, or if the limit is reached.
        """
        why = find_guest_refusal_reason(challenge, self, list_built_in_map_names())
        if why is not None:
            raise RequestRefused(ErrorCode.BAD_CHALLENGE, why)
        if (
            self._guest_request_limit.charge_or_compute_wait_time(
                bot.owner, GUEST_REQUEST_INTERVAL_NS, self._lobby.now_ns
            )
            > 0
        ):
            why = "too many requests for matches by guests from your address: try again in a moment"
            raise RequestRefused(ErrorCode.RATE_LIMITED, why)

    def enqueue_challenge(self, challenge: OpenChallenge, bot: LobbyBot) -> str | None:
        """Queue the challenge of `bot` to one of the server's own engines, and request the start of this engine.

        If more than MAX_QUEUED_CHALLENGES then wait, return the id of the challenge that would be served last, which the caller
        must refuse; otherwise None. The id may be that of an earlier challenge, because the owners of the bots are served in
        rotation.
        """
        self.request_engine_start(challenge.request.opponent)
        return self.queue.enqueue_challenge(
            challenge.challenge_id, challenge.request.opponent, HouseMatchRequester(bot.owner, bot.is_guest)
        )

    def forget_challenge(self, challenge_id: str) -> None:
        """Forget a closed challenge, if it was to one of the server's own engines. `challenge_id`: id of the challenge."""
        self.queue.forget_challenge_or_match(challenge_id)
        self._offers.pop(challenge_id, None)
        self._sent_places.pop(challenge_id, None)

    def take_slot_for_resumed_match(self, terms: MatchTerms) -> None:
        """Take a slot for a match that continues after a restart, if one of the server's own engines plays in it.

        A slot stands for one match that these engines may play in parallel. Normally a slot counts against all bots of the
        opponent's owner. Here the slot counts against the opponent alone, because the opponent's owner is not known yet.
        """
        names = (terms.players.maxie, terms.players.minnie)
        engines = [name for name in names if name in self]
        for name in engines:
            self.request_engine_start(name)
        opponent = next((name for name in names if name not in self), None)
        if engines and opponent is not None:
            # Only guests' matches have this time limit, so it shows that the opponent was a guest.
            self.queue.take_slot_for_match(
                terms.match, HouseMatchRequester(opponent, terms.total_ms == MAX_GUEST_THINKING_MS_PER_MATCH)
            )

    def compute_resumed_match_load(self, terms: MatchTerms) -> int:
        """Return the load that a match resumed after a restart puts on this machine (limit: `CoreSettings.concurrency`).

        Return 0 for a match without any of the server's own engines; otherwise 1 or, if
        `CoreSettings.concurrency_counts_threads` is True, the number of search threads that the match needs.
        """
        if terms.players.maxie not in self and terms.players.minnie not in self:
            return 0
        return terms.search_threads_needed if self._lobby.settings.concurrency_counts_threads else 1

    def requeue_offers_to_engine(self, engine_name: str) -> None:
        """Put challenges back into the queue that were offered to an engine which disconnected without an answer."""
        for challenge in [offered for offered, engine in self._offers.items() if engine == engine_name]:
            del self._offers[challenge]
            self.queue.requeue_challenge(challenge, engine_name)

    def compute_max_thinking_ms(self, challenge: OpenChallenge, challenger: LobbyBot) -> int:
        """Return each player's maximum thinking time in the challenge's match, in ms; 0 if only the time control limits it."""
        if challenge.request.opponent not in self:
            return 0
        return MAX_GUEST_THINKING_MS_PER_MATCH if challenger.is_guest else MAX_THINKING_MS_AGAINST_HOUSE

    def offer_next_challenges(self) -> None:
        """Offer waiting challenges to house engines that are free. Send the other challengers their new places in the queue."""
        if not len(self.queue) or self._lobby.is_draining:
            return
        self._offer_challenges_to_free_engines()
        for challenge, place in self.queue.list_queue_places().items():
            if self._sent_places.get(challenge) != place:
                self._sent_places[challenge] = place
                self._lobby.send_to_bot(self._find_challenger(challenge), Queued(challenge, place))
        self._lobby.deadlines.schedule_check(("matchmaker", ""), self._lobby.now_ns + QUEUE_CHECK_INTERVAL_NS)

    def _offer_challenges_to_free_engines(self) -> None:
        lobby, pending = self._lobby, list(self._offers.values())
        free_slots = {
            name: bot.match_capacity - len(bot.seats_by_match_id) - pending.count(name)
            for name in self._engines
            if (bot := lobby.bots.get(name)) is not None and bot.client_number is not None
        }
        total_slots = MAX_MATCHES_PER_HOUSE_ENGINE * len(self._engines)
        for challenge, engine in self.queue.pop_next_offers(
            total_slots, free_slots, self._try_reserve_match_start
        ):
            expiry_time_ns = lobby.now_ns + CHALLENGE_LIFETIME_MS * NS_PER_MS
            renewed = self._challenges.set_expiry_time(challenge, expiry_time_ns)
            lobby.deadlines.schedule_check(("challenge", challenge), expiry_time_ns)
            self._offers[challenge] = engine
            lobby.send_to_bot(lobby.bots[engine], renewed.make_challenged_message(lobby.now_ns))

    def _find_challenger(self, challenge_id: str) -> LobbyBot | None:
        open_challenge = self._challenges.find_challenge(challenge_id)
        return None if open_challenge is None else self._lobby.bots.get(open_challenge.challenger_name)

    def _try_reserve_match_start(self, challenge_id: str) -> bool:
        bot = self._find_challenger(challenge_id)
        if bot is None or not bot.can_accept_match:
            return False
        return (
            not bot.is_guest
            or self._guest_start_limit.charge_or_compute_wait_time(
                "", GUEST_START_INTERVAL_NS, self._lobby.now_ns
            )
            == 0
        )
