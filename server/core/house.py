"""The house: the server's own engines, and the challenges that wait for them."""

from __future__ import annotations

from arena.maps.loader import map_names
from arena.match.clock import MS
from arena.match.terms import Terms
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge, Present, Queued
from arena.server.core.bot import Bot
from arena.server.core.effects import WantBot
from arena.server.core.guests import (
    ASK_BURST,
    ASK_INTERVAL_NS,
    BEGIN_BURST,
    BEGIN_INTERVAL_NS,
    TOTAL_MS,
    objection,
)
from arena.server.core.house_queue import Asker, HouseQueue
from arena.server.core.lobby import Lobby, Refused
from arena.server.core.open_challenges import OpenChallenge, OpenChallenges
from arena.server.core.rate_limit import RateLimit
from arena.server.core.settings import HOUSE_MATCHES

WAIT_MS = 1_800_000
"""Time that a challenge may wait for a place: as long as a guest's match may take."""
BOT_TOTAL_MS = 1_800_000
"""Time that each player may think in all in a match of a house engine with a bot that has a token."""
LOOK_NS = 500_000_000
"""From one look at the queue to the next, where nothing else gives a reason for one."""


class House:
    """The house engines of one arena. Their bots come in like any other, with tokens that only they have."""

    def __init__(self, lobby: Lobby, challenges: OpenChallenges) -> None:
        self._lobby = lobby
        self._challenges = challenges
        self._engines = {each.name: each.engine for each in lobby.settings.house}
        self._queue = HouseQueue()
        self._begins = RateLimit(BEGIN_INTERVAL_NS, BEGIN_BURST)
        self._asks = RateLimit(ASK_INTERVAL_NS, ASK_BURST)
        self._offered: dict[str, str] = {}
        """Engines of the challenges that were offered and not answered yet."""
        self._told: dict[str, int] = {}
        """Place that each challenger was told last, by challenge."""

    def __contains__(self, name: object) -> bool:
        return name in self._engines

    def remove(self, name: str) -> bool:
        """List an engine no more that cannot be started. Return False where it was not listed."""
        return self._engines.pop(name, None) is not None

    def present(self) -> list[Present]:
        """Return the engines as a listing shows them, whether or not they are connected."""
        shown = []
        for name, engine in self._engines.items():
            bot = self._lobby.bots.get(name)
            if bot is None or bot.client is None:
                shown.append(Present(name, engine, 0, HOUSE_MATCHES, house=True))
            else:
                shown.append(bot.present("", house=True))
        return shown

    def want(self, name: str) -> None:
        """Have an engine started, unless it runs."""
        self._lobby.effects.append(WantBot(name))

    # challenges

    def check_guest(self, bot: Bot, asked: Challenge) -> None:
        """Raise Refused where a guest may not ask for this match; else count it."""
        why = objection(asked, self, map_names())
        if why is not None:
            raise Refused(Code.BAD_CHALLENGE, why)
        if not self._asks.allows(bot.owner, self._lobby.now):
            why = "many guests from your address ask for a match just now: try again in a moment"
            raise Refused(Code.RATE_LIMITED, why)

    def enter(self, made: OpenChallenge, bot: Bot) -> str | None:
        """Queue a challenge. Return the id of the one that is to be refused for it where too many wait."""
        self.want(made.asked.opponent)
        return self._queue.enter(made.id, made.asked.opponent, Asker(bot.owner, bot.guest))

    def over(self, challenge: str) -> None:
        """Forget a challenge that is over, be it to a house engine or not."""
        self._queue.drop(challenge)
        self._offered.pop(challenge, None)
        self._told.pop(challenge, None)

    def begin(self, challenge: str, match: str) -> None:
        """Keep the place of an accepted challenge for its match."""
        self._queue.begin(challenge, match)

    def end(self, match: str) -> None:
        """Free the place of a match that is over, be it with a house engine or not."""
        self._queue.drop(match)

    def resume(self, terms: Terms) -> None:
        """Take the place of a match that goes on after a restart. Its owner is not known, and counts by name."""
        names = (terms.players.maxie, terms.players.minnie)
        engines = [name for name in names if name in self]
        for name in engines:
            self.want(name)
        other = next((name for name in names if name not in self), None)
        if engines and other is not None:
            # Only guests' matches are bounded so, and a guest is what the group's places are counted for.
            self._queue.resume(terms.match, Asker(other, terms.total_ms == TOTAL_MS))

    def weight(self, terms: Terms) -> int:
        """Return the places that a match which goes on takes on the server's own machine."""
        if terms.players.maxie not in self and terms.players.minnie not in self:
            return 0
        return terms.needed_threads if self._lobby.settings.by_threads else 1

    def left(self, name: str) -> None:
        """Queue the challenges again that were offered to an engine which has lost its connection."""
        for challenge in [each for each, engine in self._offered.items() if engine == name]:
            del self._offered[challenge]
            self._queue.requeue(challenge, name)

    def total_ms(self, taken: OpenChallenge, challenger: Bot) -> int:
        """Return the time that each player of a challenge's match may think in all; 0 where only the clock bounds it."""
        if taken.asked.opponent not in self:
            return 0
        return TOTAL_MS if challenger.guest else BOT_TOTAL_MS

    def look(self) -> None:
        """Offer the challenges whose turn it is, and tell the others their places where these have changed."""
        if not len(self._queue) or self._lobby.draining:
            return
        self._offer()
        for challenge, place in self._queue.places().items():
            if self._told.get(challenge) != place:
                self._told[challenge] = place
                self._lobby.send(self._challenger(challenge), Queued(challenge, place))
        self._lobby.deadlines.follow(("matchmaker", ""), self._lobby.now + LOOK_NS)

    def _offer(self) -> None:
        lobby, pending = self._lobby, list(self._offered.values())
        free = {
            name: bot.capacity - len(bot.matches) - pending.count(name)
            for name in self._engines
            if (bot := lobby.bots.get(name)) is not None and bot.client is not None
        }
        places = HOUSE_MATCHES * len(self._engines)
        for challenge, engine in self._queue.offer(places, free, self._may_begin):
            expires = lobby.now + lobby.settings.challenge_ms * MS
            made = self._challenges.renew(challenge, expires)
            lobby.deadlines.follow(("challenge", challenge), expires)
            self._offered[challenge] = engine
            lobby.send(lobby.bots[engine], made.message(lobby.now))

    def _challenger(self, challenge: str) -> Bot | None:
        made = self._challenges.find(challenge)
        return None if made is None else self._lobby.bots.get(made.challenger)

    def _may_begin(self, challenge: str) -> bool:
        bot = self._challenger(challenge)
        if bot is None or not bot.free:
            return False
        return not bot.guest or self._begins.allows("", self._lobby.now)
