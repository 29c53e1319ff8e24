"""Challenges to house bots: passed on to a bot when it is their turn, and told their place until then."""

from __future__ import annotations

from arena.maps.loader import map_names
from arena.match.terms import Terms
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge, Queued
from arena.protocol.values import Players
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking import guests
from arena.server.lobby.matchmaking.challenges import BadChallenge, Challenges, OpenChallenge
from arena.server.lobby.matchmaking.guests import GuestMatches
from arena.server.lobby.matchmaking.house_places import Asker, HousePlaces
from arena.server.lobby.roster import MATCHES
from arena.server.rooms.member import Member

WAIT_NS = 1_800_000_000_000
"""How long a challenge may wait for a place: as long as a guest's match may take."""
BOT_TOTAL_MS = 1_800_000
"""How long each player may think in all in a match of a house bot with a bot that has a token."""
LOOK_SECONDS = 0.5
"""From one look at those that wait to the next, where nothing else gives a reason for one."""


class HouseChallenges:
    """The challenges to house bots of one server. Times are monotonic ns."""

    def __init__(self, lobby: Lobby, challenges: Challenges, now: int) -> None:
        self._lobby = lobby
        self._challenges = challenges
        self._places = HousePlaces()
        self._guests = GuestMatches(now)
        self._passed: dict[str, str] = {}
        """By challenge that was passed on and not answered yet, its house bot."""
        self._told: dict[str, int] = {}
        """The place that each challenger was told last, by challenge."""

    @property
    def wake(self) -> float | None:
        """Seconds until `look` is to be called again; None where nobody waits."""
        return LOOK_SECONDS if len(self._places) else None

    def check_guest(self, member: Member, asked: Challenge, now: int) -> None:
        """Look whether a guest may ask for this, and count it. Raises BadChallenge."""
        why = guests.objection(asked, self._lobby.house, map_names())
        if why:
            raise BadChallenge(Code.BAD_CHALLENGE, why)
        why = self._guests.refusal(member.address, now)
        if why:
            raise BadChallenge(Code.RATE_LIMITED, why)

    def opened(self, made: OpenChallenge, member: Member) -> str | None:
        """Let a challenge wait for its turn; the challenge that is refused for it where too many wait.

        A house bot that does not run is started.
        """
        bot = made.asked.opponent
        self._lobby.house.ask(bot)
        return self._places.enter(made.id, bot, Asker(member.address, member.guest))

    def over(self, challenge: str) -> None:
        """A challenge is over, be it to a house bot or not."""
        self._places.drop(challenge)
        self._passed.pop(challenge, None)
        self._told.pop(challenge, None)

    def drop_all(self) -> list[OpenChallenge]:
        """Have no challenges any more, to house bots or not; those that were open."""
        dropped = self._challenges.drop_all()
        for gone in dropped:
            self.over(gone.id)
        return dropped

    def began(self, challenge: str, match: str) -> None:
        """A challenge was accepted, and its match begins."""
        self._passed.pop(challenge, None)
        self._places.began(challenge, match)

    def ended(self, match: str) -> None:
        """A match is over, be it with a house bot or not."""
        self._places.ended(match)

    def resumed(self, terms: Terms) -> None:
        """A match goes on that was begun before the server was. Who came from where is not known of it."""
        for name in _others(terms.players, self._lobby.house.names):
            self._places.resumed(terms.match, Asker(name, guests.is_guest(name)))

    def left(self, bot: str) -> None:
        """A house bot has lost its connection: what it was told it has forgotten."""
        for challenge in [each for each, whose in self._passed.items() if whose == bot]:
            del self._passed[challenge]
            self._places.wait_again(challenge, bot)

    def total_ms(self, taken: OpenChallenge, challenger: Member) -> int:
        """How long each player of a challenge's match may think in all; 0 where nothing bounds it but the clock."""
        if taken.asked.opponent not in self._lobby.house:
            return 0
        return guests.TOTAL_MS if challenger.guest else BOT_TOTAL_MS

    def look(self, now: int) -> None:
        """Pass on the challenges whose turn it is, and tell the others their places where these have changed."""
        if not len(self._places):
            return
        pending = list(self._passed.values())
        free = {
            bot: member.capacity - len(member.matches) - pending.count(bot)
            for bot in self._lobby.house.names
            if (member := self._lobby.find(bot)) is not None and member.connection is not None
        }
        places = MATCHES * len(self._lobby.house.names)
        for challenge, bot in self._places.pass_on(places, free, lambda each: self._may_begin(each, now)):
            made = self._challenges.renew(challenge, now)
            if made is not None:
                self._passed[challenge] = bot
                self._lobby.member(bot).tell(made.message(now))
        for challenge, place in self._places.queue().items():
            if self._told.get(challenge) != place:
                self._told[challenge] = place
                self._tell(challenge, Queued(challenge, place))

    def _may_begin(self, challenge: str, now: int) -> bool:
        made = self._challenges.find(challenge)
        challenger = self._lobby.find(made.challenger) if made is not None else None
        if challenger is None or not challenger.free:
            return False
        return not challenger.guest or self._guests.may_begin(now)

    def _tell(self, challenge: str, message: Queued) -> None:
        made = self._challenges.find(challenge)
        challenger = self._lobby.find(made.challenger) if made is not None else None
        if challenger is not None:
            challenger.tell(message)


def _others(players: Players, house: list[str]) -> list[str]:
    """Whoever plays a house bot in a match; nobody where it has none."""
    names = [players.maxie, players.minnie]
    return [name for name in names if name not in house][:1] if any(name in house for name in names) else []
