"""The matches in progress on one server, each in a room of its own."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from arena.games.core import Player
from arena.match.terms import Terms
from arena.protocol.messages import LiveMatch, View
from arena.protocol.record import Record
from arena.server.lobby.lobby import Lobby
from arena.server.net.limits import INBOX
from arena.server.net.loop_watch import LoopWatch
from arena.server.net.metrics import Metrics
from arena.server.rooms.disclosure import Disclosure
from arena.server.rooms.room import Room
from arena.server.rooms.spectators import Spectators
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.recovery import Unfinished


class Matches:
    """Opens the rooms of one server and plays the matches in them."""

    def __init__(
        self,
        lobby: Lobby,
        journal: Journal,
        watch: LoopWatch,
        metrics: Metrics,
        *,
        grace_ms: int,
        inbox: int = INBOX,
        disclosure: Disclosure = Disclosure.REPLY,
        opened: Callable[[Room, bool], None] = lambda _room, _anew: None,
        ended: Callable[[str], None] = lambda _match: None,
        whole: Callable[[], bool] = lambda: True,
        handed_on: bool = False,
    ) -> None:
        """Play matches among the bots of `lobby`.

        grace_ms    how long a bot whose connection is lost may take to return to its matches
        inbox       how many events may wait in a room
        disclosure  when spectators are told what the players said of their moves
        opened      told of each room that is made, and whether its match is new
        ended       told of each match that is over
        whole       says whether everybody who is connected somewhere can be known
        handed_on   whether other servers go on with the matches when this one stops
        """
        self.rooms: dict[str, Room] = {}
        """The rooms of the matches in progress, by the id of the match."""
        self._lobby = lobby
        self._journal = journal
        self._watch = watch
        self._metrics = metrics
        self._grace_ms = grace_ms
        self._inbox = inbox
        self.disclosure = disclosure
        """When spectators are told what the players said of their moves, in matches that are opened from now on."""
        self._opened = opened
        self._ended = ended
        self._whole = whole
        self._handed_on = handed_on

    def agreed(self, terms: Terms) -> Terms:
        """The terms that somebody asked for, with those that the server sets."""
        maxie, minnie = (self._lobby.find(name) for name in (terms.players.maxie, terms.players.minnie))
        engines = (None if member is None else member.engine for member in (maxie, minnie))
        return msgspec.structs.replace(terms, grace_ms=self._grace_ms).between(*engines)

    def open(self, terms: Terms) -> Room:
        """Make the room of a new match; from now on its players are taken."""
        return self._admit(self.agreed(terms), None)

    def reopen(self, unfinished: Unfinished) -> Room:
        """Make the room of a match that was in progress when the server went away."""
        return self._admit(unfinished.terms, unfinished)

    async def run(self, room: Room) -> Record:
        """Play the match of a room to its end, and close the room."""
        try:
            record = await room.run()
        finally:
            del self.rooms[room.terms.match]
            for member in room.players.values():
                self._lobby.forget(member)
            self._lobby.stir()
        self._metrics.finished.labels(record.result.reason.value).inc()
        return record

    def spectators(self, match: str) -> Spectators | None:
        """Who watches a match in progress; None for a match that is over or does not exist."""
        room = self.rooms.get(match)
        return room.spectators if room and not room.spectators.closed else None

    def view(self, match: str) -> View | None:
        """A match in progress as a spectator sees it; None for a match that is over or does not exist."""
        room = self.rooms.get(match)
        return room.view() if room and not room.spectators.closed else None

    def listed(self) -> list[LiveMatch]:
        """The matches in progress as a listing shows them."""
        return [room.listed() for room in self.rooms.values()]

    def _admit(self, terms: Terms, unfinished: Unfinished | None) -> Room:
        names = {Player.MAXIE: terms.players.maxie, Player.MINNIE: terms.players.minnie}
        room = Room(
            terms,
            {player: self._lobby.member(name) for player, name in names.items()},
            self._journal,
            self._watch,
            unfinished=unfinished,
            moved=self._metrics.move_seconds.observe,
            cut=self._metrics.lines_cut.inc,
            inbox=self._inbox,
            disclosure=self.disclosure,
            ended=self._ended,
            whole=self._whole,
            handed_on=self._handed_on,
        )
        for player, member in room.players.items():
            member.begin(terms.match, room, player, anew=unfinished is None)
        self.rooms[terms.match] = room
        self._opened(room, unfinished is None)
        self._lobby.stir()
        return room
