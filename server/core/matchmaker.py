"""The matchmaker: it gives matches to the bots that wait in the pool.

Near in rating, seldom met, each in the seat that it had less. The owners of the bots take turns, so that one with many
bots does not hold up one with a few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations

from arena.games.core import AnyGame
from arena.match.clock import MS
from arena.match.terms import Terms
from arena.protocol.values import Players
from arena.server.core.bot import Bot
from arena.server.core.draws import Draws
from arena.server.core.lobby import Lobby
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import PoolGame, PoolSettings
from arena.server.core.suspensions import Suspensions
from arena.server.core.turn_order import TurnOrder

RATING_STEP = 200.0
"""Difference in rating that weighs as much as having met once more."""
UNRATED = 1500.0
"""Rating of a bot without one."""
MOST_COMPARED = 50
"""Waiting bots that are compared with each other: all pairs of thousands would hold up every match."""
GATHER_NS = 20_000_000
"""From a change to the look at who waits: bots that come free together are matched together."""
AGAIN_NS = 1_000_000
"""From one choice to the next while bots still wait: inputs that arrived meanwhile go first."""


def choose(
    waiting: Sequence[str],
    history: PairingHistory,
    turns: TurnOrder[str],
    *,
    owner: Callable[[str], str] = lambda _name: "",
    rating: Callable[[str], float] = lambda _name: UNRATED,
    allowed: Callable[[str, str], bool] = lambda _a, _b: True,
    most: int = 1,
) -> list[tuple[str, str]]:
    """Return the next matches among these, as Maxie and Minnie; no bot is in two of them.

    The next pair has a bot of the owner whose bots have gone longest without a match. The cost of a pair is the number
    of its matches so far, and one for each `RATING_STEP` between the ratings: the cheapest first. Ties go to the bot
    that has waited longest: earlier in `waiting`. Fewer than `most` where too few wait or are `allowed` together, or
    so many that not all can be compared. O(n² (log n + most)).
    """
    if len(waiting) > MOST_COMPARED:
        # Those that are left over are better compared with the ones that come after them.
        most = min(most, MOST_COMPARED // 4)
        waiting = _in_rounds(waiting, owner)[:MOST_COMPARED]
    owners = {name: owner(name) for name in waiting}
    ratings = {name: rating(name) for name in waiting}

    def cost(pair: tuple[str, str]) -> float:
        a, b = pair
        return history.met(a, b) + abs(ratings[a] - ratings[b]) / RATING_STEP

    chosen: list[tuple[str, str]] = []
    taken: set[str] = set()
    pairs = sorted((pair for pair in combinations(waiting, 2) if allowed(*pair)), key=cost)
    given: dict[str, int] = {}  # turns of this choice
    while len(chosen) < most:
        pairs = [pair for pair in pairs if taken.isdisjoint(pair)]
        matched = {name for pair in pairs for name in pair}
        if not matched:
            break
        first = min(
            (name for name in waiting if name in matched),
            key=lambda name: given.get(owners[name]) or turns.last(owners[name]),
        )
        turn = owners[first]
        pair = next(pair for pair in pairs if turn in (owners[pair[0]], owners[pair[1]]))
        for name in pair:
            given[owners[name]] = turns.count + 1 + len(chosen)
        taken.update(pair)
        chosen.append(history.seats(*pair))
    return chosen


def _in_rounds(waiting: Sequence[str], owner: Callable[[str], str]) -> list[str]:
    """Return the longest waiting bot of each owner first, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    rounds: dict[str, int] = {}
    for name in waiting:
        rounds[name] = seen[owner(name)]
        seen[owner(name)] += 1
    return sorted(waiting, key=rounds.__getitem__)


def pool_refusal(bot: Bot, pool: PoolSettings) -> str | None:
    """Return the reason for which the pool has no match for a bot, as one clause; None where it has."""
    if bot.quota == 0:
        return "it takes no more matches"
    if not bot.preferences.pool:
        return "it plays only by challenge"
    refusals = [bot.preferences.refusal(each.game, each.time_control) for each in pool.games]
    return None if None in refusals else refusals[0]


class Matchmaker:
    """The waiting bots of one arena, and the matches that they get."""

    def __init__(
        self,
        lobby: Lobby,
        challenges: OpenChallenges,
        suspensions: Suspensions,
        history: PairingHistory,
        draws: Draws,
    ) -> None:
        self._lobby = lobby
        self._challenges = challenges
        self._suspensions = suspensions
        self._history = history
        self._draws = draws
        self._turns: TurnOrder[str] = TurnOrder()
        self._waiting: dict[str, Bot] = {}
        """Bots that wait, the longest first."""

    @property
    def waiting(self) -> list[str]:
        """Names of the waiting bots, the longest waiting first."""
        return list(self._waiting)

    def look(self) -> None:
        """Look at all bots that may have begun to wait, or wait no longer."""
        for bot in self._lobby.take_stirred():
            if not self._waits(bot):
                self._waiting.pop(bot.name, None)
            elif self._waiting.get(bot.name) is not bot:
                self._waiting.pop(bot.name, None)
                self._waiting[bot.name] = bot

    def _waits(self, bot: Bot) -> bool:
        lobby, pool = self._lobby, self._lobby.settings.pool
        if pool is None or not bot.free or pool_refusal(bot, pool) is not None:
            return False
        held_until = self._suspensions.until(bot.name)
        if bot.answer_since is not None and self._challenges.asked(bot.name):
            held_until = max(held_until, bot.answer_since + lobby.settings.answer_ms * MS)
        if lobby.now < held_until:
            lobby.deadlines.follow(("bot", bot.name), held_until)
            return False
        return True

    def match(self, load: int) -> list[Terms]:
        """Return the terms of the next matches. `load`: places of the server's own machine that are taken."""
        self.look()
        lobby, pool = self._lobby, self._lobby.settings.pool
        if pool is None or lobby.draining or len(self._waiting) < 2:
            return []
        begun, blocked = self._begin_chosen(pool, self.waiting, load)
        if blocked:
            # Bots that run elsewhere need no place on this machine, and do not wait for one.
            remote = [name for name, bot in self._waiting.items() if not bot.local]
            begun += self._begin_chosen(pool, remote, load)[0]
        if begun:
            lobby.deadlines.follow(("matchmaker", ""), lobby.now + AGAIN_NS)
        return begun

    def _begin_chosen(self, pool: PoolSettings, names: Sequence[str], load: int) -> tuple[list[Terms], bool]:
        """Return the terms of the next matches among these, and True if one waits for a place on this machine."""
        lobby = self._lobby
        played = {name: self._games(pool, self._waiting[name]) for name in names}
        chosen = choose(
            names,
            self._history,
            self._turns,
            owner=lambda name: self._waiting[name].owner,
            rating=partial(self._rating, pool.games[0].game),
            allowed=partial(self._may_meet, pool, played),
            most=len(names) // 2,
        )
        begun: list[Terms] = []
        blocked = False
        for pair in chosen:
            weight = lobby.weight(*(self._waiting[name] for name in pair))
            # Nobody else begins on this machine before a match that waits: it might never have room for its threads.
            blocked = blocked or (weight > 0 and not self._fits(weight, load))
            if not (weight and blocked):
                load += weight
                begun.append(self._begin(pool, pair, played))
        return begun, blocked

    def _fits(self, weight: int, load: int) -> bool:
        return load == 0 or load + weight <= self._lobby.settings.concurrency

    def _rating(self, game: AnyGame, name: str) -> float:
        return self._waiting[name].ratings.get(game.name, UNRATED)

    @staticmethod
    def _games(pool: PoolSettings, bot: Bot) -> frozenset[int]:
        """Return the places of the pool's games that a bot plays."""
        return frozenset(
            place
            for place, each in enumerate(pool.games)
            if bot.preferences.refusal(each.game, each.time_control) is None
        )

    def _may_meet(self, pool: PoolSettings, played: Mapping[str, frozenset[int]], a: str, b: str) -> bool:
        if played[a].isdisjoint(played[b]):
            return False
        ended = self._history.last_end(a, b) if pool.pause_ms else None
        if ended is None or ended + pool.pause_ms * MS <= self._lobby.now:
            return True
        until = ended + pool.pause_ms * MS
        self._lobby.deadlines.follow(("matchmaker", ""), until)
        return False

    def _begin(
        self, pool: PoolSettings, pair: tuple[str, str], played: Mapping[str, frozenset[int]]
    ) -> Terms:
        """Return the terms of a chosen match, whose bots wait no more until something about them changes."""
        both: list[PoolGame] = [pool.games[place] for place in sorted(played[pair[0]] & played[pair[1]])]
        match = self._history.next_match(*pair, both)
        minnie = pair[1] if match.maxie == pair[0] else pair[0]
        self._turns.serve(*(self._waiting[name].owner for name in pair))
        for name in pair:
            del self._waiting[name]
        return Terms(
            match=self._draws.hex(),
            event=pool.event,
            game=match.game.game,
            opening=match.opening,
            players=Players(match.maxie, minnie),
            time_control=match.game.time_control,
            margin_ms=pool.margin_ms,
            ready_ms=pool.ready_ms,
            adjudication=self._lobby.settings.adjudication,
            rated=pool.rated,
        )
