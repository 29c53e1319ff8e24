"""The matches on the other servers of an arena, as this one knows them: who plays them, and where their rooms are.

The players of such a match have a place in it here, so what a bot says goes the same way wherever the room is. When a
server ends, its matches have no room until another has taken them over; what became of them the store says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from arena.games.core import Player
from arena.match.terms import Terms
from arena.protocol.messages import End, LiveMatch, Thought, Update, View
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import Ended, Kept, Opened, Overdue, Told
from arena.server.arena.remote import RemoteSeat
from arena.server.arena.watching import Watched
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.rooms.member import BotConnection
from arena.server.rooms.room import Room
from arena.server.rooms.spectators import Spectators

log = logging.getLogger("arena.elsewhere")

TellEnd = Callable[[BotConnection, str, str], None]
"""Tells a connection of a bot, by name, how a match of its own ended."""


@dataclass(eq=False)
class Distant:
    """A match of another server."""

    live: LiveMatch
    weight: int
    owner: Link | None
    """Who has its room; None from that server's end until another has taken the match over."""
    seats: dict[Player, RemoteSeat] = field(default_factory=dict)
    opened: bool = True
    """False while it is only to be played there."""
    over: bool = False
    """Whether it has ended, and its record is not known to be in the store."""
    watched: Watched | None = None
    """What is shown of it here; None while nobody has asked for it."""


class Elsewhere:
    """All matches of other servers."""

    def __init__(
        self,
        links: Links,
        lobby: Lobby,
        rooms: Mapping[str, Room],
        *,
        outcome: Callable[[Outcome, LiveMatch], None],
        tell_end: TellEnd,
        weigh: Callable[[Terms], int],
    ) -> None:
        """Know the matches of others.

        rooms     the rooms of this server
        outcome   told how each match ended, and which it was
        tell_end  tells a bot of here, from the store, the end of a match that nobody is left to tell of
        weigh     says what a match weighs
        """
        self._links = links
        self._lobby = lobby
        self._rooms = rooms
        self._outcome = outcome
        self._tell_end = tell_end
        self._weigh = weigh
        self._matches: dict[str, Distant] = {}
        self._stale: dict[str, set[str]] = {}
        """By server, the matches that it has not told of again since it began anew."""

    def __contains__(self, match: object) -> bool:
        return match in self._matches

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def weight(self) -> int:
        """What the matches that are in progress elsewhere weigh."""
        return sum(each.weight for each in self._matches.values() if not each.over)

    @property
    def homeless(self) -> list[str]:
        """The matches whose server has ended."""
        return [match for match, each in self._matches.items() if each.owner is None]

    def listed(self) -> list[LiveMatch]:
        """The matches in progress elsewhere, as a listing shows them."""
        return [each.live for each in self._matches.values() if not each.over]

    def distant(self, match: str) -> bool:
        """Whether a match is in progress elsewhere."""
        found = self._matches.get(match)
        return found is not None and not found.over

    def heard(self) -> Iterator[tuple[str, tuple[str, str], bool]]:
        """The matches in progress elsewhere: their players, and whether the server that has the room is heard."""
        for match, each in self._matches.items():
            if not each.over and each.opened:
                players = each.live.players
                yield match, (players.maxie, players.minnie), each.owner is not None and each.owner.up

    # what servers tell

    def begin_anew(self, link: Link) -> None:
        """A server begins to tell of all its matches again."""
        self._stale[link.name] = {
            match for match, each in self._matches.items() if each.owner is link and each.opened
        }

    def complete(self, link: Link) -> None:
        """A server has told of all its matches: what became of others there the store says."""
        for match in self._stale.pop(link.name, ()):
            found = self._matches.get(match)
            if found is not None and found.owner is link:
                self._leave_alone(found)

    def lost(self, link: Link) -> None:
        """A server has ended: its matches wait for another."""
        self._stale.pop(link.name, None)
        self.forget_placed(link)
        for found in self._matches.values():
            if found.owner is link:
                self._leave_alone(found)
        self._lobby.stir()

    def forget_placed(self, link: Link) -> None:
        """Matches that were to be played by a server have not been begun there: their players are free."""
        for match, found in list(self._matches.items()):
            if found.owner is link and not found.opened:
                del self._matches[match]
                self._finish(match, found)
        self._lobby.stir()

    @staticmethod
    def _leave_alone(found: Distant) -> None:
        found.owner = None
        for seat in found.seats.values():
            seat.owned_by(None)
        if found.watched is not None:
            found.watched.lost()

    def place(self, link: Link, terms: Terms) -> None:
        """A match is to be played by another server: its players are taken from now on."""
        live = LiveMatch(
            terms.match, terms.event, terms.game.name, terms.players, terms.time_control, 0, terms.rated
        )
        self._admit(link, live, self._weigh(terms), anew=True, opened=False)

    def opened(self, link: Link, told: Opened) -> None:
        """Another server has the room of a match."""
        match = told.live.match
        self._stale.get(link.name, set()).discard(match)
        if match in self._rooms:
            log.warning("match %s is said to be on %s, and is here", match, link.name)
            return
        self._admit(link, told.live, told.weight, anew=told.anew, opened=True)
        # Where its end was told before, that was by who does not have it any more, or is told again.
        self._matches[match].over = False

    def _admit(self, link: Link, live: LiveMatch, weight: int, *, anew: bool, opened: bool) -> None:
        found = self._matches.get(live.match)
        if found is None:
            found = self._matches[live.match] = Distant(live, weight, link)
        found.live, found.weight, found.owner, found.opened = live, weight, link, opened
        names = {Player.MAXIE: live.players.maxie, Player.MINNIE: live.players.minnie}
        for player, name in names.items():
            member = self._lobby.member(name)
            seat = found.seats.get(player)
            if seat is None or not seat.is_for(member):
                seat = found.seats[player] = RemoteSeat(self._links, member, player, live.match)
            known = member.matches.get(live.match)
            if known is None or known[0] is not seat:
                member.begin(live.match, seat, player, anew=anew and known is None)
            if opened:
                seat.owned_by(link)
        if opened and found.watched is not None:
            found.watched.owned_by(link)
        self._lobby.stir()

    def ended(self, link: Link, told: Ended) -> None:
        """A match is over; its players are free."""
        found = self._matches.get(told.match)
        if found is None or found.owner not in (link, None):
            return
        if not found.opened:
            del self._matches[told.match]
        found.over = True
        self._finish(told.match, found)
        self._lobby.stir()

    def kept(self, link: Link, told: Kept) -> None:
        """The record of a match is in the store."""
        found = self._matches.get(told.match)
        if found is None or found.owner not in (link, None):
            return
        del self._matches[told.match]
        if not found.over:
            self._finish(told.match, found)
        outcome = Outcome(told.match, told.players, told.winner, told.reason, told.plies, told.answered)
        self._outcome(outcome, found.live)
        self._lobby.stir()

    def _finish(self, match: str, found: Distant) -> None:
        players = found.live.players
        for player, name in ((Player.MAXIE, players.maxie), (Player.MINNIE, players.minnie)):
            member = self._lobby.find(name)
            if member is None:
                continue
            place, seat = member.matches.get(match), found.seats.get(player)
            if place is not None and place[0] is seat:
                member.finish(match)
                if found.opened and not seat.ended and member.here and member.connection:
                    # Its server tells the end first to whoever is connected: this one was on its way to here.
                    self._tell_end(member.connection, member.name, match)
            self._lobby.forget(member)

    def take(self, match: str) -> Distant | None:
        """Know a match no more, because this server plays it now."""
        return self._matches.pop(match, None)

    def resolve(self, asked: Collection[str], found: Mapping[str, str | None]) -> None:
        """Go by what the store says of matches whose servers have ended: by whom they are played; None: they are over."""
        for match in asked:
            distant = self._matches.get(match)
            if distant is None or distant.owner is not None or found.get(match) is not None:
                continue  # whoever plays it tells of it, or ends too
            del self._matches[match]
            self._finish(match, distant)
            if distant.watched is not None:
                distant.watched.close()
        self._lobby.stir()

    # the way to players of here

    def tell(self, link: Link, told: Told) -> None:
        """Tell a bot of here what another server says to it."""
        member = self._lobby.find_here(told.name)
        if member is None or member.entry != told.entry:
            return
        match = getattr(told.message, "match", None)
        place = member.matches.get(match) if isinstance(match, str) else None
        found = self._matches.get(match) if isinstance(match, str) else None
        if place is not None and isinstance(place[0], RemoteSeat):
            if found is not None and found.owner is link:
                place[0].tell(told.message, told.ran)
            return
        member.tell(told.message)

    def overdue(self, link: Link, told: Overdue) -> None:
        """Another server asks whether a move of a bot of here is on its way."""
        found = self._matches.get(told.match)
        if found is None or found.owner is not link:
            return
        seat = found.seats.get(told.player)
        if seat is not None and seat.is_of(told.entry):
            seat.overdue(told, link)

    # those who watch

    def spectators(self, match: str) -> Spectators | None:
        """Who watches a match of another server from here; None for one that is over or does not exist."""
        found = self._matches.get(match)
        if found is None or found.over or not found.opened:
            return None
        if found.watched is None:
            found.watched = Watched(self._links, match)
            if found.owner is not None:
                found.watched.owned_by(found.owner)
        return found.watched.spectators

    def view(self, match: str) -> View | None:
        """A match elsewhere as far as it is shown here; None where nobody has asked for it."""
        found = self._matches.get(match)
        return None if found is None or found.watched is None else found.watched.view

    def show(self, link: Link, match: str, message: View | Update | Thought | End) -> None:
        """Show those who watch from here what has happened."""
        found = self._matches.get(match)
        if found is not None and found.watched is not None and found.owner is link:
            found.watched.show(message)

    def plies(self, link: Link, plies: Mapping[str, int]) -> None:
        """Take note how far matches are."""
        for match, ply in plies.items():
            found = self._matches.get(match)
            if found is not None and found.owner is link:
                found.live = msgspec.structs.replace(found.live, ply=ply)

    def drop_unwatched(self) -> None:
        """Have nothing more shown of the matches that nobody watches from here any more."""
        for found in self._matches.values():
            if found.watched is not None and found.watched.idle:
                found.watched.leave()
                found.watched = None
