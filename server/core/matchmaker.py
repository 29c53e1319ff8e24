"""The matchmaker, which pairs bots that wait for a match (the pool).

The matchmaker prefers bots that are close in rating and have seldom met, and gives each bot the seat that the bot has had
less often. Owners take turns, so an owner with many bots does not delay an owner with few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from arena.match.clock import NS_PER_MS
from arena.match.terms import MatchTerms
from arena.protocol.values import Players
from arena.server.core.bot import CHALLENGE_ANSWER_PERIOD_NS, LobbyBot
from arena.server.core.ids import IdGenerator
from arena.server.core.lobby import Lobby
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.service_order import ServiceOrder
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, GameAtTimeControl, Pool
from arena.server.core.suspensions import BotSuspensions

REMATCH_COST_RATING_POINTS = 200.0
"""Cost of one earlier match between two bots when pairs are chosen, as a difference of their ratings, in points."""
MAX_BOTS_COMPARED_AT_ONCE = 50
"""Maximum number of waiting bots compared with each other. Comparing thousands would keep the server from handling moves."""
PAIRING_DELAY_AFTER_CHANGE_NS = 20_000_000
"""Delay from a change, such as a bot that becomes free, to the next pairing, in ns.

Thanks to the delay, bots that become free at about the same time can be paired with each other.
"""
DELAY_BETWEEN_PAIRING_RUNS_NS = 1_000_000
"""Delay from a run of the matchmaker that began matches to the next run, in ns, because more bots may be waiting.

Messages that arrive between the two runs are handled first.
"""


def choose_pairs(
    bot_names: Sequence[str],
    history: PairingHistory,
    service_order: ServiceOrder[str],
    *,
    get_owner: Callable[[str], str],
    get_rating: Callable[[str], float],
    may_meet: Callable[[str, str], bool],
    max_pairs: int,
) -> list[tuple[str, str]]:
    """Return up to `max_pairs` pairs of waiting bots, each as (first player, second player); no bot is in two pairs.

    bot_names      names of the waiting bots, longest wait first
    history        earlier matches of the bots
    service_order  order in which owners are served
    get_owner      function that returns the owner of a bot, by its name
    get_rating     function that returns the rating of a bot, by its name
    may_meet       function that returns True if the bots of two names may play each other

    The pairs are chosen one after another, each for the owner whose bots have gone longest without a match. Of the
    pairs with a bot of this owner, the one of least cost is chosen; on a tie, the one whose bot has waited longest. The
    cost of a pair is the number of its earlier matches, plus the rating difference divided by
    `REMATCH_COST_RATING_POINTS`.

    Fewer pairs are returned if too few bots wait, if `may_meet` forbids pairs, or if there are too many bots to compare
    all of them. O(n² (log n + max_pairs)) for n bots.
    """
    if len(bot_names) > MAX_BOTS_COMPARED_AT_ONCE:
        # Pair only some of the compared bots: the others may find better opponents among bots that arrive later.
        max_pairs = min(max_pairs, MAX_BOTS_COMPARED_AT_ONCE // 4)
        bot_names = _interleave_bots_by_owner(bot_names, get_owner)[:MAX_BOTS_COMPARED_AT_ONCE]
    owners = {name: get_owner(name) for name in bot_names}
    ratings = {name: get_rating(name) for name in bot_names}

    def compute_pairing_cost(pair: tuple[str, str]) -> float:
        a, b = pair
        return history.count_matches_between(a, b) + abs(ratings[a] - ratings[b]) / REMATCH_COST_RATING_POINTS

    pairings: list[tuple[str, str]] = []
    paired_bots: set[str] = set()
    pairs = sorted((pair for pair in combinations(bot_names, 2) if may_meet(*pair)), key=compute_pairing_cost)
    latest_services: dict[str, int] = {}  # number of each owner's latest service in this call
    while len(pairings) < max_pairs:
        pairs = [pair for pair in pairs if paired_bots.isdisjoint(pair)]
        pairable_bots = {name for pair in pairs for name in pair}
        if not pairable_bots:
            break
        longest_waiting = min(
            (name for name in bot_names if name in pairable_bots),
            key=lambda name: (
                latest_services.get(owners[name]) or service_order.get_last_service_number(owners[name])
            ),
        )
        owner_in_turn = owners[longest_waiting]
        pair = next(pair for pair in pairs if owner_in_turn in (owners[pair[0]], owners[pair[1]]))
        for name in pair:
            latest_services[owners[name]] = service_order.service_count + 1 + len(pairings)
        paired_bots.update(pair)
        pairings.append(history.assign_seats(*pair))
    return pairings


def _interleave_bots_by_owner(bot_names: Sequence[str], get_owner: Callable[[str], str]) -> list[str]:
    """Return the bots reordered: first the longest-waiting bot of each owner, then the second of each, and so on."""
    bot_counts: Counter[str] = Counter()
    places: dict[str, int] = {}  # place of each bot among the bots of its owner, from 0
    for name in bot_names:
        places[name] = bot_counts[get_owner(name)]
        bot_counts[get_owner(name)] += 1
    return sorted(bot_names, key=places.__getitem__)


def find_pool_exclusion_reason(bot: LobbyBot, pool: Pool) -> str | None:
    """Return why the matchmaker never pairs a bot, such as `it plays only by challenge`; None if it may pair the bot."""
    if bot.match_quota == 0:
        return "it takes no more matches"
    if not bot.preferences.accepts_pool_matches:
        return "it plays only by challenge"
    refusals = [bot.preferences.find_decline_reason(game.game, game.time_control) for game in pool.games]
    return None if None in refusals else refusals[0]


class Matchmaker:
    """Matchmaker: it holds the bots that wait for a match, and decides which of them play each other."""

    def __init__(
        self,
        lobby: Lobby,
        challenges: OpenChallenges,
        suspensions: BotSuspensions,
        history: PairingHistory,
        ids: IdGenerator,
        is_bot_reserved_for_event: Callable[[str], bool],
    ) -> None:
        """Create a matchmaker without waiting bots.

        history                    earlier matches of the bots
        ids                        source of the ids of matches
        is_bot_reserved_for_event  function that returns True if the bot of a name must not get a pool match because of an event
        """
        self._is_bot_reserved_for_event = is_bot_reserved_for_event
        self._lobby = lobby
        self._challenges = challenges
        self._suspensions = suspensions
        self._history = history
        self._ids = ids
        self._service_order: ServiceOrder[str] = ServiceOrder()
        self._waiting_bots: dict[str, LobbyBot] = {}
        """Waiting bots, longest wait first."""

    @property
    def waiting_bot_names(self) -> list[str]:
        """Names of the waiting bots, longest wait first."""
        return list(self._waiting_bots)

    def update_waiting_bots(self) -> None:
        """Check the bots changed since the last call: add those that now wait for a match, and remove those that do not."""
        for bot in self._lobby.pop_changed_bots():
            if not self._should_wait_for_pairing(bot):
                self._waiting_bots.pop(bot.name, None)
            elif self._waiting_bots.get(bot.name) is not bot:
                self._waiting_bots.pop(bot.name, None)
                self._waiting_bots[bot.name] = bot

    def _should_wait_for_pairing(self, bot: LobbyBot) -> bool:
        lobby, pool = self._lobby, self._lobby.settings.pool
        if pool is None or not bot.can_accept_match or find_pool_exclusion_reason(bot, pool) is not None:
            return False
        excluded_until = self._suspensions.find_suspension_end_ns(bot.name)
        if bot.challenge_answer_period_start_ns is not None and self._challenges.list_challenges_to(bot.name):
            excluded_until = max(
                excluded_until, bot.challenge_answer_period_start_ns + CHALLENGE_ANSWER_PERIOD_NS
            )
        if self._is_bot_reserved_for_event(bot.name):
            return False
        if lobby.now_ns < excluded_until:
            lobby.deadlines.schedule_check(("bot", bot.name), excluded_until)
            return False
        return True

    def pair_waiting_bots(self, current_load: int) -> list[MatchTerms]:
        """Pair waiting bots, and return the terms of their matches: players, game and time controls.

        current_load  total load that the matches in progress put on this machine, limited by `CoreSettings.concurrency`
        """
        self.update_waiting_bots()
        lobby, pool = self._lobby, self._lobby.settings.pool
        if pool is None or lobby.is_draining or len(self._waiting_bots) < 2:
            return []
        matches, is_blocked = self._choose_matches(pool, self.waiting_bot_names, current_load)
        if is_blocked:
            # Bots on other machines need no capacity of this machine, so they do not wait until it is free.
            remote_names = [
                name for name, bot in self._waiting_bots.items() if not bot.runs_on_server_machine
            ]
            matches += self._choose_matches(pool, remote_names, current_load)[0]
        if matches:
            lobby.deadlines.schedule_check(("matchmaker", ""), lobby.now_ns + DELAY_BETWEEN_PAIRING_RUNS_NS)
        return matches

    def _choose_matches(
        self, pool: Pool, waiting_bot_names: Sequence[str], current_load: int
    ) -> tuple[list[MatchTerms], bool]:
        """Choose matches between the waiting bots `waiting_bot_names`. `pool`: games and settings of these matches.

        Return the terms of the matches, and True if a further match waits because this machine is fully loaded.

        current_load  total load that the matches in progress put on this machine
        """
        lobby = self._lobby
        games = {
            name: frozenset(
                index
                for index, game in enumerate(pool.games)
                if self._waiting_bots[name].preferences.accepts_pool_game(game)
            )
            for name in waiting_bot_names
        }
        pairs = choose_pairs(
            waiting_bot_names,
            self._history,
            self._service_order,
            get_owner=lambda name: self._waiting_bots[name].owner,
            get_rating=lambda name: self._waiting_bots[name].get_rating(pool.games[0].game.name),
            may_meet=lambda a, b: self._may_play_each_other(pool, games, a, b),
            max_pairs=len(waiting_bot_names) // 2,
        )
        matches: list[MatchTerms] = []
        is_blocked = False
        for pair in pairs:
            match_load = lobby.compute_match_load(*(self._waiting_bots[name] for name in pair))
            # A match that waits blocks all later matches on this machine. Otherwise, smaller matches might always take
            # the capacity that it needs.
            is_blocked = is_blocked or not lobby.has_capacity_for_load(match_load, current_load)
            if not (match_load and is_blocked):
                current_load += match_load
                matches.append(self._make_match_terms(pool, pair, games))
        return matches, is_blocked

    def _may_play_each_other(
        self,
        pool: Pool,
        playable_game_indexes: Mapping[str, frozenset[int]],
        bot_name_a: str,
        bot_name_b: str,
    ) -> bool:
        if playable_game_indexes[bot_name_a].isdisjoint(playable_game_indexes[bot_name_b]):
            return False
        if pool.is_rated and self._waiting_bots[bot_name_a].has_same_owner_as(self._waiting_bots[bot_name_b]):
            return False
        last_match_end = self._history.find_last_match_end_ns(bot_name_a, bot_name_b)
        if last_match_end is None:
            return True
        rematch_time = last_match_end + pool.rematch_pause_ms * NS_PER_MS
        if rematch_time <= self._lobby.now_ns:
            return True
        self._lobby.deadlines.schedule_check(("matchmaker", ""), rematch_time)
        return False

    def _make_match_terms(
        self, pool: Pool, bot_names: tuple[str, str], playable_game_indexes: Mapping[str, frozenset[int]]
    ) -> MatchTerms:
        """Return the terms (players, game, clocks) of a chosen match, and remove its bots from the waiting bots.

        bot_names              names of the two bots
        playable_game_indexes  indexes of the pool's games that each bot plays, by its name
        """
        common_games: list[GameAtTimeControl] = [
            pool.games[index]
            for index in sorted(playable_game_indexes[bot_names[0]] & playable_game_indexes[bot_names[1]])
        ]
        next_match = self._history.choose_next_match(*bot_names, common_games)
        minnie = bot_names[1] if next_match.maxie_name == bot_names[0] else bot_names[0]
        self._service_order.record_service(*(self._waiting_bots[name].owner for name in bot_names))
        for name in bot_names:
            del self._waiting_bots[name]
        return MatchTerms(
            match=self._ids.make_hex_id(),
            event=OPEN_POOL_EVENT_NAME,
            game=next_match.game.game,
            opening=next_match.opening,
            players=Players(next_match.maxie_name, minnie),
            time_control=next_match.game.time_control,
            margin_ms=pool.margin_ms,
            ready_ms=pool.ready_timeout_ms,
            adjudication=self._lobby.settings.adjudication,
            rated=pool.is_rated,
        )
