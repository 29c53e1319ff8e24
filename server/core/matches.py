"""The matches of an arena, from the moment that somebody asks for one to its record."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from arena.games.core import Player
from arena.match.events import BrokeProtocol, Event, Left, Opened
from arena.match.referee import LATE_LIMIT
from arena.match.terms import Terms
from arena.protocol.codes import EndReason
from arena.protocol.messages import Move
from arena.protocol.record import Result
from arena.server.core.bot import Bot
from arena.server.core.effects import CloseMatch, MatchOver, OpenMatch, PlayRefused, Report
from arena.server.core.house import House
from arena.server.core.inputs import Restore, Said, TurnSent, Unfinished
from arena.server.core.lobby import STOPPING, Lobby, no_such_match
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.room import Room
from arena.server.core.settings import OPEN_EVENT
from arena.server.core.standing import tell_standing
from arena.server.core.suspensions import Suspensions

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DELAYS = 1024
"""Delays of the server's own that are remembered, the latest."""


class Matches:
    """The rooms of one arena, and the matches that events asked for and that wait for their bots."""

    def __init__(
        self,
        lobby: Lobby,
        house: House,
        challenges: OpenChallenges,
        history: PairingHistory,
        suspensions: Suspensions,
    ) -> None:
        self.rooms: dict[str, Room] = {}
        """Rooms of the matches in progress, by match."""
        self.load = 0
        """Places of the server's own machine that matches of the pool and of challenges take."""
        self._lobby = lobby
        self._house = house
        self._challenges = challenges
        self._history = history
        self._suspensions = suspensions
        self._asked: list[Terms] = []
        self._delays: deque[tuple[int, int]] = deque(maxlen=DELAYS)
        """Delays of the server's own: the end of each and its length."""

    # of events

    def ask(self, terms: Terms) -> None:
        """Begin a match that an event asked for, as soon as its bots can take it."""
        if self._lobby.draining:
            self._lobby.effects.append(PlayRefused(terms.match, STOPPING))
        else:
            self._asked.append(terms)
            self.begin_asked()

    def begin_asked(self) -> None:
        """Begin the matches that events asked for whose bots have room. A bot that is away is given its time to get ready."""
        waiting, self._asked = self._asked, []
        for terms in waiting:
            names = (terms.players.maxie, terms.players.minnie)
            bots = [bot for name in names if (bot := self._lobby.bots.get(name)) is not None]
            done = next((bot.name for bot in bots if bot.client is not None and bot.quota == 0), None)
            if done is not None:
                self._lobby.effects.append(PlayRefused(terms.match, f"{done} takes no more matches"))
            elif all(bot.has_room for bot in bots):
                self.open(terms, event=True)
            else:
                self._asked.append(terms)

    def drain(self) -> None:
        """Refuse the matches that wait."""
        waiting, self._asked = self._asked, []
        for terms in waiting:
            self._lobby.effects.append(PlayRefused(terms.match, STOPPING))

    # beginning

    def open(self, terms: Terms, *, event: bool = False) -> None:
        """Begin a match. One that cannot be set up is void; its bots wait until something else about them changes."""
        lobby = self._lobby
        bots = self._seated(terms)
        terms = msgspec.structs.replace(terms, grace_ms=lobby.settings.grace_ms)
        terms = terms.between(*(bot.engine for bot in bots.values()))
        wall = EPOCH + timedelta(microseconds=(lobby.settings.epoch_ns + lobby.now) // 1000)
        started = wall.strftime("%Y-%m-%dT%H:%M:%SZ")
        lobby.effects.append(OpenMatch(terms, started))
        weight = 0 if event else lobby.weight(*bots.values())
        try:
            room = Room(terms, bots, started, lobby, weight=weight, event=event)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything
            self._void(terms, bots.values(), started, error)
            return
        self._admit(room)
        for bot in bots.values():
            bot.count_match()
        if not event:
            self._history.begin(terms.players.maxie, terms.players.minnie)
        self.happen(room, Opened())

    def _seated(self, terms: Terms) -> dict[Player, Bot]:
        players = terms.players
        return {Player.MAXIE: self._lobby.bot(players.maxie), Player.MINNIE: self._lobby.bot(players.minnie)}

    def _admit(self, room: Room) -> None:
        self.rooms[room.terms.match] = room
        self.load += room.weight
        for player, bot in room.bots.items():
            bot.begin(room.terms.match, player)
            self._lobby.stir(bot)

    def _void(self, terms: Terms, bots: Iterable[Bot], started: str, error: Exception) -> None:
        """Close a match that could not be set up."""
        why = f"the server failed: {type(error).__name__}: {error}"
        self._lobby.effects.append(Report("error", why, match=terms.match))
        record = terms.record(started, [], Result(None, EndReason.SERVER_FAULT, why))
        self._lobby.effects.extend((CloseMatch(record, terms.rated), MatchOver(record)))
        self._house.end(terms.match)
        for bot in bots:
            self._lobby.expire(bot)

    # in progress

    def move(self, bot: Bot, said: Said, move: Move) -> None:
        """Take a bot's move. Raises Refused for a match that it does not play."""
        player = bot.matches.get(move.match)
        if player is None:
            raise no_such_match(move.match)
        room = self.rooms[move.match]
        room.move(player, move, said.at, said.spent)
        if room.referee.result is None and room.sending_until is not None:
            # The only deadline that is new: all others have been followed since they came about.
            self._lobby.deadlines.follow(room.key, room.sending_until)
        else:
            self._follow(room)

    def happen(self, room: Room, event: Event, at: int | None = None) -> None:
        """Apply an event to a match, at `at` or now."""
        room.handle(event, self._lobby.now if at is None else at)
        self._follow(room)

    def tell(self, bot: Bot, event: Callable[[Player], Event]) -> None:
        """Apply to all matches of a bot what happened to it. `event` makes the event of its seat."""
        for match, player in list(bot.matches.items()):
            self.happen(self.rooms[match], event(player))

    def lose(self, bot: Bot, fault: str | None) -> None:
        """Apply the loss of a bot's connection to its matches. `fault`: how it broke the protocol, if it did."""
        for match, player in list(bot.matches.items()):
            room = self.rooms[match]
            room.lose(player, Left(player) if fault is None else BrokeProtocol(player, fault))
            self._follow(room)

    def turn_sent(self, bot: Bot, sent: TurnSent) -> None:
        """Start the clock of a turn that has left on the bot's connection."""
        room = self.rooms.get(sent.match)
        if room is not None and room.bots[room.referee.mover] is bot:
            room.turn_sent(sent.ply, sent.lag, min(sent.at, self._lobby.now))
            self._follow(room)

    def note_delay(self, held_up: int) -> None:
        """Note that the server itself was held up for so many ns until now: no flag of that time is anybody's fault."""
        if held_up > LATE_LIMIT:
            self._delays.append((self._lobby.now, held_up))

    def judge(self, match: str) -> None:
        """Judge the deadlines of a match that have fallen."""
        room = self.rooms.get(match)
        if room is not None:
            since = room.referee.turn_since or 0
            room.judge(max((length for at, length in self._delays if at >= since), default=0))
            self._follow(room)

    def _follow(self, room: Room) -> None:
        """Close a match that is over; else see to it that its next deadline is not missed."""
        if room.referee.result is not None:
            self._close(room)
        elif (deadline := room.deadline) is not None:
            self._lobby.deadlines.follow(room.key, deadline)

    # the end

    def _close(self, room: Room) -> None:
        lobby, record, match = self._lobby, room.record(), room.terms.match
        if room.followers.edges:
            for thought in room.public.ended():
                room.publish(thought)
            room.publish(room.end())
        lobby.effects.extend((CloseMatch(record, room.terms.rated), MatchOver(record)))
        del self.rooms[match]
        lobby.deadlines.drop(room.key)
        self.load -= room.weight
        self._house.end(match)
        for bot in room.bots.values():
            bot.matches.pop(match, None)
            lobby.stir(bot)
        if not room.event:
            self._note_end(room)
        for bot in room.bots.values():
            lobby.expire(bot)

    def _note_end(self, room: Room) -> None:
        """Count the end of a match of the pool or of a challenge. A bot that forfeits again and again is suspended."""
        lobby, players, result = self._lobby, room.terms.players, room.referee.result
        self._history.end(players.maxie, players.minnie, lobby.now)
        if result is None:
            return
        for player, bot in room.bots.items():
            lost, plies = result.winner is not player, len(room.referee.moves)
            why = self._suspensions.note(bot.name, result.reason, lost=lost, plies=plies, now=lobby.now)
            if self._challenges.asked(bot.name):
                bot.ask(lobby.now)
            if why:
                lobby.effects.append(Report("warning", f"suspended: {why}", bot.name))
                tell_standing(bot, lobby, why)

    # after a restart, and after the store was away

    def restore(self, restore: Restore) -> None:
        """Go on with the matches of a core that is gone."""
        for name, secret in sorted(restore.sessions.items()):
            self._lobby.bot(name).restore_session(secret, self._lobby.now)
        for unfinished in restore.matches:
            self._reopen(unfinished)
        for bot in list(self._lobby.bots.values()):
            self._lobby.expire(bot)

    def _reopen(self, unfinished: Unfinished) -> None:
        terms, pool = unfinished.terms, self._lobby.settings.pool
        event = terms.event != OPEN_EVENT and (pool is None or terms.event != pool.event)
        bots = self._seated(terms)
        try:
            weight = self._house.weight(terms)
            room = Room(terms, bots, unfinished.started, self._lobby, weight=weight, event=event)
            room.replay(unfinished)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything
            self._void(terms, bots.values(), unfinished.started, error)
            return
        self._house.resume(terms)
        self._admit(room)
        if not unfinished.events:
            room.handle(Opened(), self._lobby.now)
        room.resume()
        self._follow(room)

    def resume(self) -> None:
        """Begin all turns anew, after a time in which nobody was told anything."""
        for room in list(self.rooms.values()):
            room.resume()
            self._follow(room)
