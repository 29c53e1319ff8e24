"""The office of the matchmaker: one server of an arena holds it, and all others bring it what bots say of challenges.

Every server has an arranger, which knows all bots and all ends of matches; it arranges only while its server is in office.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from arena.match.terms import Terms, to_json
from arena.protocol.codes import Code
from arena.protocol.messages import Accept, Challenge, Challenged, ChallengeOver, Decline, Error, Withdraw
from arena.server.arena.elsewhere import Elsewhere
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import MOST_MESSAGES, Given, Open, Place, Settles, Wants
from arena.server.arena.presence import Presence
from arena.server.arena.standings import Standings, StartSoon
from arena.server.lobby.accounts import Refused
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.arranger import Arranger
from arena.server.lobby.names import Names
from arena.server.rooms.member import Member
from arena.server.store.arena import Office as Held

log = logging.getLogger("arena.office")

PATIENCE_SECONDS = 5.0
"""How long what bots say of challenges waits for somebody to be in office."""
MOST_PATIENT = 1000
"""How many messages wait so."""
LISTED = 1000
"""Open challenges that the other servers are told."""

AboutChallenge = Challenge | Accept | Decline | Withdraw
NOBODY = Held(0, "", 0)


class _Late(NamedTuple):
    """What waits for somebody to be in office."""

    at: float
    member: Member
    message: AboutChallenge


class Office:
    """Who arranges, and the way there: `server.lobby.dispatch.Arranging`."""

    def __init__(
        self,
        links: Links,
        lobby: Lobby,
        arranger: Arranger,
        presence: Presence,
        elsewhere: Elsewhere,
        names: Names,
        *,
        name: str,
        alone: bool,
        play: Callable[[Terms], None],
        load: Callable[[], tuple[int, int, bool]],
        start_soon: StartSoon,
    ) -> None:
        """Arrange, or bring to who does.

        name   this server's own
        alone  whether it is an arena by itself, and always in office
        play   begins a match here
        load   says how many matches this server may have and has, and whether it takes more
        start_soon  runs a task until the server ends
        """
        self._links = links
        self._lobby = lobby
        self._arranger = arranger
        self._presence = presence
        self._elsewhere = elsewhere
        self._names = names
        self._name = name
        self._alone = alone
        self._play = play
        self._load = load
        self._held = NOBODY
        self._standings = Standings(start_soon, self._ask_given, arranger.tell_standing)
        self._until = 0.0
        """Until when this server is surely in office, in monotonic seconds."""
        self._late: list[_Late] = []
        self._keeper = "", 0
        """The server that was in office last, and the number of its lease: the challenges that are open are there."""
        self._heard: dict[str, list[Challenged]] = {}
        """By server, the challenges that are open there, as it has told them."""
        self._told: list[str] = []
        """The challenges that the others were told last."""

    @property
    def here(self) -> bool:
        """Whether this server is in office."""
        return self._alone or monotonic() < self._until

    @property
    def holder(self) -> str:
        """The server that is in office; empty where nobody is."""
        return self._held.server

    def hold(self, held: Held, until: float) -> None:
        """Go by what the store says: who is in office, and, where that is this server, until when (monotonic s)."""
        before, self._held = self._held, held
        mine = held.server == self._name
        self._until = until if mine else 0.0
        keeper = held.server, held.number
        if held.server and keeper != self._keeper:
            # Who is late and takes the office again has kept what there was.
            log.info("the matchmaker is %s from now on", held.server)
            self._close_those_of(self._keeper[0])
            self._keeper = keeper
        if mine and before.server != self._name:
            self._lobby.stir()
        if mine:
            self._wake_house()
        if held.server and self._late:
            late, self._late = self._late, []
            for each in late:
                if monotonic() - each.at < PATIENCE_SECONDS and each.member.connection is not None:
                    self._say(each.member, each.message)

    def _wake_house(self) -> None:
        """Have house bots started that are in matches and connected nowhere: their server has ended."""
        for name in self._lobby.house.names:
            member = self._lobby.find(name)
            if member is not None and member.matches and member.connection is None:
                self._lobby.house.ask(name)

    def _close_those_of(self, before: str) -> None:
        """Tell bots of here that the challenges which the matchmaker before had are gone."""
        gone = self._arranger.drop_all() if before == self._name else self._heard.pop(before, [])
        self._heard = {server: told for server, told in self._heard.items() if self._links.find(server)}
        why = "another server arranges matches from now on: challenge again"
        for each in gone:
            for name in {each.challenger, each.opponent}:
                member = self._lobby.find_here(name)
                if member is not None:
                    member.tell(ChallengeOver(each.challenge, "withdrawn", why))

    # of bots that are here

    def came(self, member: Member, *, fresh: bool) -> None:
        self._presence.tell(member, again=False)
        self._arranger.came(member, fresh=fresh)

    def left(self, member: Member) -> None:
        self._presence.tell_gone(member)
        self._names.release(member.name, member.entry)
        self._arranger.left(member)

    def handle(self, member: Member, message: AboutChallenge) -> None:
        if self.here:
            self._arranger.handle(member, message)
            self._tell_open()
            return
        self._say(member, message)

    def _say(self, member: Member, message: AboutChallenge) -> None:
        if self.here:
            self._handle(member, message)
            return
        link = self._links.find(self._held.server) if self._held.server else None
        if link is not None:
            self._links.send(link, Wants(member.name, member.entry, message))
        elif len(self._late) < MOST_PATIENT:
            self._late.append(_Late(monotonic(), member, message))
        else:
            member.tell(Error(Code.RATE_LIMITED, "nobody arranges matches just now: try again in a moment"))

    def tell_standing(self, member: Member, quota: int | UnsetType = UNSET) -> None:
        if quota is UNSET:
            self._arranger.tell_standing(member)
            return
        self._arranger.take_only(member, quota)
        self._lobby.stir()
        self._presence.tell(member, again=True)
        self._standings.answer(member)

    def _ask_given(self, member: Member, number: int) -> list[str] | None:
        """Ask who arranges which matches it has given a bot; what this server has given it, where it is that."""
        if self.here:
            return list(member.matches)
        link = self._links.find(self._held.server) if self._held.server else None
        if link is not None:
            self._links.send(link, Settles(member.name, member.entry, number))
        return None

    def given(self, _link: Link, told: Given) -> None:
        """Who arranges says which matches it has given a bot of here."""
        self._standings.given(told.name, told.entry, told.number, told.matches)

    # of bots of others

    def settle(self, link: Link, told: Settles) -> None:
        """Say which matches a bot of another server was given; nothing where somebody else arranges, who is asked too."""
        member = self._lobby.find(told.name)
        if self.here and member is not None and member.entry == told.entry:
            matches = list(member.matches)[:MOST_MESSAGES]
            self._links.send(link, Given(told.name, told.entry, told.number, matches))

    def wanted(self, link: Link, told: Wants) -> None:
        """A bot of another server says something of a challenge."""
        member = self._lobby.find(told.name)
        if member is None or member.entry != told.entry:
            return
        if self.here:
            self._handle(member, told.message)
        else:
            log.info("%s takes this server for the matchmaker, which it is no more", link.name)
            self._say(member, told.message)

    def _handle(self, member: Member, message: AboutChallenge) -> None:
        try:
            self._arranger.handle(member, message)
        except Refused as refused:
            member.tell(Error(refused.code, refused.detail))
        self._tell_open()

    def opened(self, link: Link, told: Open) -> None:
        """Take note of the challenges that are open, from who is in office."""
        # It may have taken the office a moment before this server learns that from the store.
        self._heard[link.name] = told.challenges
        self._lobby.stir()

    def listed(self) -> list[Challenged]:
        """The open challenges as a listing shows them."""
        if self.here or self._keeper[0] == self._name:
            return self._arranger.listed()
        return self._heard.get(self._keeper[0], [])

    def tell_open(self) -> None:
        """Tell the others of the challenges that are open, where these have changed."""
        if self.here and not self._alone:
            self._tell_open()

    def _tell_open(self) -> None:
        listed = self._arranger.listed()[:LISTED]
        ids = [each.challenge for each in listed]
        if ids != self._told:
            self._told = ids
            self._links.send_all(Open(listed))

    def snapshot(self) -> list[Open]:
        """The challenges that are open, where this server is in office."""
        return [Open(self._arranger.listed()[:LISTED])] if self.here and not self._alone else []

    # where matches are played

    def start(self, terms: Terms) -> None:
        """Have a match played: where both players are, else by the server with the least load."""
        where = self._choose(terms)
        there = self._name if where is None else where.name
        if not self._alone:
            log.info("to be played on %s", there, extra={"match": terms.match})
        if where is None:
            self._play(terms)
            return
        self._elsewhere.place(where, terms)
        self._links.send(where, Place(self._held.term, to_json(terms)))

    def _choose(self, terms: Terms) -> Link | None:
        """The server that is to play a match; None for this one."""
        members = [self._lobby.find(name) for name in (terms.players.maxie, terms.players.minnie)]
        places, load, takes = self._load()
        able = {
            each.name: each
            for each in self._links.all
            if each.up and each.beat is not None and each.beat.takes
        }
        homes = {"" if each is None or each.distant is None else each.distant.server for each in members}
        if len(homes) == 1:
            (home,) = homes
            if home in able:
                return able[home]
            if home == "" and takes:
                return None
        best, least = None, load / max(1, places) if takes or not able else float("inf")
        for each in able.values():
            if each.beat is not None and each.beat.load / max(1, each.beat.places) < least:
                best, least = each, each.beat.load / max(1, each.beat.places)
        return best

    def obeys(self, told: Place) -> bool:
        """Whether a match is placed here by who is in office, as far as is known."""
        return told.term >= self._held.term
