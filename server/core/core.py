"""The core of an arena: `handle(input, now) -> effects`, and `next_deadline`.

It routes inputs to the parts that they are for:

    lobby        who is connected, and by which session
    room         one match: its referee, its deadline, its public view
    matchmaker   who waits in the pool, and who plays whom
    challenges   one bot asks another; house and house_queue: the server's own engines
    listing      what goes on, for all who browse
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET

from arena.games.core import Player
from arena.match.events import BrokeProtocol, Event, GotReady, Left, Opened, Resigned, Returned, SessionLost
from arena.match.referee import LATE_LIMIT
from arena.match.terms import Terms
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    Error,
    Hello,
    Listing,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Status,
    Unwatch,
    View,
    Watch,
    Withdraw,
)
from arena.protocol.record import Result
from arena.server.core.bot import Bot
from arena.server.core.challenges import Challenges
from arena.server.core.draws import Draws
from arena.server.core.effects import (
    Close,
    CloseMatch,
    Effect,
    MatchOver,
    OpenMatch,
    PlayRefused,
    Report,
    Send,
    TellEnd,
)
from arena.server.core.house import House
from arena.server.core.inputs import (
    Crashed,
    Drain,
    EdgeGone,
    EdgeHere,
    Enter,
    Gone,
    HouseLost,
    Input,
    Kick,
    Play,
    Rated,
    Reconfigure,
    Restore,
    Said,
    StoreBack,
    Tick,
    TurnSent,
    Unfinished,
    edge_of,
)
from arena.server.core.listing import Listings
from arena.server.core.lobby import Client, Lobby, Refused
from arena.server.core.matchmaker import GATHER_NS, Matchmaker
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.room import Room
from arena.server.core.settings import OPEN_EVENT, Settings
from arena.server.core.standing import standing
from arena.server.core.suspensions import Suspensions

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DELAYS = 1024
"""Delays of the server's own that are remembered, the latest."""


class Core:
    """The state of an arena. One task calls it, with inputs in the order in which they came."""

    def __init__(self, settings: Settings, seed: bytes, now: int) -> None:
        """Begin empty at `now`. `seed`: random bytes, others after each restart."""
        draws = Draws(seed)
        self._draws = draws
        self._lobby = lobby = Lobby(settings, now)
        self._rooms: dict[str, Room] = {}
        self._suspensions = Suspensions()
        self._history = PairingHistory(draws.hex())
        table = OpenChallenges(draws.hex(8))
        self._house = House(lobby, table)
        self._challenges = Challenges(lobby, table, self._house, self._history, draws, self._open)
        self._matchmaker = Matchmaker(lobby, table, self._suspensions, self._history, draws)
        self._listings = Listings(lobby, self._rooms, self._house, table, self._suspensions)
        self._table = table
        self._plays: list[Terms] = []
        """Matches that events asked for and that wait for their bots."""
        self._load = 0
        """Places of the server's own machine that matches of the pool and of challenges take."""
        self._delays: deque[tuple[int, int]] = deque(maxlen=DELAYS)
        """Delays of the server's own: the end of each and its length."""
        self._seen = 0
        """Count of the lobby's changes that were followed."""
        self._handlers: dict[type, Callable[[Any], None]] = {
            Said: self._said,
            TurnSent: self._turn_sent,
            Tick: self._tick,
            Enter: self._enter,
            Gone: self._gone,
            Play: self._play,
            Crashed: self._crashed,
            HouseLost: self._house_lost,
            Drain: self._drain,
            Reconfigure: self._reconfigure,
            Kick: self._kick,
            Restore: self._restore,
            StoreBack: self._store_back,
            EdgeGone: self._edge_gone,
            EdgeHere: self._edge_here,
            Rated: self._rated,
        }
        self._messages: dict[type, Callable[[Client, Any], None]] = {
            Status: self._status,
            Challenge: self._challenge,
            Accept: self._challenge,
            Decline: self._challenge,
            Withdraw: self._challenge,
            Watch: self._watch,
            Unwatch: self._unwatch,
            Browse: lambda client, _: self._listings.browse(client),
            Ping: lambda client, _: lobby.effects.append(Send(client.id, Pong())),
            Hello: self._hello_again,
        }

    def handle(self, given: Input, now: int) -> list[Effect]:
        """Handle an input at time `now`, which never goes back, and return its effects."""
        lobby = self._lobby
        lobby.now = now
        effects = lobby.effects = []
        self._handlers[type(given)](given)
        if lobby.changes != self._seen:
            self._follow_changes()
        return effects

    @property
    def next_deadline(self) -> int | None:
        """Time at which to give `Tick` if nothing else happens before; None where nothing is due."""
        return self._lobby.deadlines.next

    # for the shell: reading only

    @property
    def matches(self) -> int:
        """Matches in progress."""
        return len(self._rooms)

    def view(self, match: str, now: int) -> View | None:
        """Return a match in progress as a spectator sees it; None where there is none of that id."""
        room = self._rooms.get(match)
        return None if room is None else room.public.view(now)

    def listing(self, now: int) -> Listing:
        """Return what goes on at `now`."""
        self._lobby.now = now
        return self._listings.listing()

    def bot(self, name: str) -> Bot | None:
        """Return the bot of that name, connected or within its grace; None where there is none."""
        return self._lobby.bots.get(name)

    # what follows from changes

    def _follow_changes(self) -> None:
        """See to it that what may follow from changes does: matches that events asked for, the pool, listings."""
        lobby = self._lobby
        if self._plays:
            self._begin_plays()
        self._seen = lobby.changes
        if lobby.stirred or len(self._table):
            lobby.deadlines.follow(("matchmaker", ""), lobby.now + GATHER_NS)
        self._listings.follow()

    def _begin_plays(self) -> None:
        waiting, self._plays = self._plays, []
        for terms in waiting:
            bots = [self._lobby.bots.get(name) for name in (terms.players.maxie, terms.players.minnie)]
            here = [bot for bot in bots if bot is not None and bot.client is not None]
            done = next((bot for bot in here if bot.quota == 0), None)
            if done is not None:
                why = f"{done.name} takes no more matches"
                self._lobby.effects.append(PlayRefused(terms.match, why))
            elif all(bot.free for bot in here):
                self._open(terms, event=True)
            else:
                self._plays.append(terms)

    def _tick(self, tick: Tick) -> None:
        lobby = self._lobby
        if tick.held_up > LATE_LIMIT:
            self._delays.append((lobby.now, tick.held_up))
        for kind, name in lobby.deadlines.take_due(lobby.now):
            match kind:
                case "match" if name in self._rooms:
                    self._judge(self._rooms[name])
                case "challenge":
                    self._challenges.expire(name)
                case "bot":
                    self._look_at_bot(name)
                case "matchmaker":
                    self._make_matches()
                case "listing":
                    self._listings.publish()

    def _judge(self, room: Room) -> None:
        since = room.referee.turn_since or 0
        room.judge(max((length for at, length in self._delays if at >= since), default=0))
        self._follow(room)

    def _look_at_bot(self, name: str) -> None:
        bot = self._lobby.bots.get(name)
        if bot is not None:
            self._lobby.stir(bot)
            self._lobby.expire(bot)

    def _make_matches(self) -> None:
        self._house.look()
        for terms in self._matchmaker.match(self._load):
            self._open(terms)

    # coming and going

    def _enter(self, enter: Enter) -> None:
        try:
            returns = self._lobby.check(enter)
        except Refused as refused:
            self._lobby.effects.append(Close(enter.client, refused.code, refused.detail))
            return
        if enter.hello.role != "bot":
            self._lobby.add_spectator(enter)
            self._lobby.welcome(self._lobby.clients[enter.client], "")
            return
        before = self._lobby.bots.get(enter.hello.name)
        if before is not None and before.client is not None:
            self._drop_client(before.client)
        bot = self._lobby.add_bot(enter, returns=returns)
        session = enter.hello.session if returns else enter.secret
        self._lobby.welcome(self._lobby.clients[enter.client], session)
        what = "back" if returns else "here"
        self._report("info", f"{what} from {enter.address} ({bot.program})", bot)
        if not returns:
            self._suspensions.pardon(bot.name)
        # A bot that comes without its session has forgotten its matches, and they are lost. A house engine is a
        # new process then, which learns from its turns what was played: nobody wins by our crash.
        self._tell_rooms(bot, Returned if returns or bot.name in self._house else SessionLost)
        self._challenges.came(bot)

    def _gone(self, gone: Gone) -> None:
        client = self._drop_client(gone.client)
        bot = None if client is None else client.bot
        if bot is None:
            return
        if gone.fault is None:
            self._report("info", "gone", bot)
        else:
            self._report("warning", f"protocol error: {gone.fault}", bot)
        self._lobby.lose(bot)
        self._challenges.left(bot)
        fault = gone.fault
        for match, player in list(bot.matches.items()):
            room = self._rooms[match]
            room.lose(player, Left(player) if fault is None else BrokeProtocol(player, fault))
            self._follow(room)

    def _drop_client(self, id: int) -> Client | None:
        client = self._lobby.drop_client(id)
        if client is not None:
            self._listings.leave(client)
        return client

    def _tell_rooms(self, bot: Bot, event: Callable[[Player], Event]) -> None:
        """Tell the rooms of a bot's matches what happened to it."""
        for match, player in list(bot.matches.items()):
            self._happen(self._rooms[match], event(player))

    def _kick(self, kick: Kick) -> None:
        bot = self._lobby.bots.get(kick.name)
        if bot is not None and bot.client is not None:
            self._lobby.effects.append(Close(bot.client, kick.code, kick.detail))
            self._gone(Gone(bot.client))

    def _edge_gone(self, gone: EdgeGone) -> None:
        for id in [id for id in self._lobby.clients if edge_of(id) == gone.edge]:
            self._gone(Gone(id))

    def _edge_here(self, here: EdgeHere) -> None:
        """Take the word of an edge for who is connected to it, and tell each bot anew what it may have missed."""
        connected = {each.client for each in here.clients}
        for id in [id for id in self._lobby.clients if edge_of(id) == here.edge and id not in connected]:
            self._gone(Gone(id))
        for each in here.clients:
            client = self._lobby.clients.get(each.client)
            if client is None:
                self._resync(each)
            elif client.bot is not None:
                self._tell_again(client.bot)

    def _resync(self, enter: Enter) -> None:
        """Let a client in that was welcomed by a core that is gone."""
        if enter.hello.role != "bot":
            self._lobby.add_spectator(enter)
            return
        bot = self._lobby.bots.get(enter.hello.name) or Bot(enter.hello.name)
        if not bot.returns(enter.hello.session, enter.known):
            why = "its session is not known any more: come back"
            self._lobby.effects.append(Close(enter.client, Code.SHUTTING_DOWN, why))
            return
        if bot.client is not None:
            self._drop_client(bot.client)
        self._tell_again(self._lobby.add_bot(enter, returns=True))

    def _tell_again(self, bot: Bot) -> None:
        """Tell a bot of its matches in play, and of the ends of those that it played before."""
        self._tell_rooms(bot, Returned)
        if bot.client is not None:
            for match in bot.played:
                if match not in bot.matches:
                    self._lobby.effects.append(TellEnd(bot.client, bot.name, match))
        self._challenges.came(bot)

    # messages of clients

    def _said(self, said: Said) -> None:
        client = self._lobby.clients.get(said.client)
        if client is None:
            return  # it was replaced, or kicked
        message = said.message
        try:
            if type(message) is Move:
                self._move(client, message, said)
            elif type(message) in (Ready, Resign):
                self._speak(client, message, said.at)  # type: ignore[arg-type]
            else:
                self._messages[type(message)](client, message)
        except Refused as refused:
            self._refuse(client, refused, message)

    def _refuse(self, client: Client, refused: Refused, message: ClientMessage) -> None:
        where = getattr(message, "match", None), getattr(message, "ply", None)
        self._lobby.effects.append(Send(client.id, Error(refused.code, refused.detail, *where)))

    def _move(self, client: Client, move: Move, said: Said) -> None:
        bot = client.bot or _not_a_player()
        player = bot.matches.get(move.match)
        if player is None:
            raise _no_such_match(move.match)
        room = self._rooms[move.match]
        room.move(player, move, said.at, said.spent)
        self._follow(room)

    def _speak(self, client: Client, message: Ready | Resign, at: int) -> None:
        bot = client.bot or _not_a_player()
        player = bot.matches.get(message.match)
        if player is None:
            # It has missed the end of a match that it played, or names one that it never did.
            if message.match in self._rooms:
                raise _no_such_match(message.match)
            self._lobby.effects.append(TellEnd(client.id, bot.name, message.match))
            return
        room = self._rooms[message.match]
        if isinstance(message, Ready):
            room.handle(GotReady(player), at)
        else:
            room.handle(Resigned(player, message.reason, message.detail), at)
        self._follow(room)

    def _status(self, client: Client, status: Status) -> None:
        bot = client.bot or _not_a_player()
        if status.quota is not UNSET:
            bot.quota = status.quota
            self._lobby.stir(bot)
            if status.quota == 0:
                self._challenges.withdraw_all(bot.name, f"{bot.name} takes no more matches")
        self._tell_standing(bot)

    def _tell_standing(self, bot: Bot) -> None:
        suspended = self._suspensions.why(bot.name, self._lobby.now)
        self._lobby.send(bot, standing(bot, self._lobby, suspended))

    def _challenge(self, client: Client, message: Challenge | Accept | Decline | Withdraw) -> None:
        self._challenges.handle(client.bot or _not_a_player(), message)

    def _watch(self, client: Client, watch: Watch) -> None:
        room = self._rooms.get(watch.match)
        if room is None:
            raise Refused(Code.NO_SUCH_MATCH, f"{watch.match!r:.70} is over or does not exist")
        if watch.match not in client.watching:
            for over in [match for match in client.watching if match not in self._rooms]:
                del client.watching[over]
            most = self._lobby.settings.watched
            if len(client.watching) >= most:
                raise Refused(Code.RATE_LIMITED, f"{most} matches are watched; leave one first")
            client.watching[watch.match] = room.followers
            room.followers.add(client.id)
        self._lobby.effects.append(Send(client.id, room.public.view(self._lobby.now)))

    def _unwatch(self, client: Client, unwatch: Unwatch) -> None:
        followers = client.watching.pop(unwatch.match, None)
        if followers is not None:
            followers.remove(client.id)

    def _hello_again(self, client: Client, hello: Hello) -> None:
        self._refuse(client, Refused(Code.HELLO_TWICE, Code.HELLO_TWICE.meaning), hello)

    # matches

    def _play(self, play: Play) -> None:
        if self._lobby.draining:
            why = "the server stops, and begins no new matches"
            self._lobby.effects.append(PlayRefused(play.terms.match, why))
            return
        self._plays.append(play.terms)
        self._begin_plays()

    def _open(self, terms: Terms, *, event: bool = False) -> None:
        """Begin a match. One that cannot be set up is void; its bots get no other before something about them changes."""
        lobby = self._lobby
        bots = self._seated(terms)
        terms = msgspec.structs.replace(terms, grace_ms=lobby.settings.grace_ms)
        terms = terms.between(*(bot.engine for bot in bots.values()))
        started = (EPOCH + timedelta(microseconds=(lobby.settings.epoch_ns + lobby.now) // 1000)).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
        lobby.effects.append(OpenMatch(terms, started))
        weight = 0 if event else self._matchmaker.weight(*bots.values())
        try:
            room = Room(terms, bots, started, lobby, weight=weight, event=event)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything
            self._void(terms, bots.values(), started, error)
            return
        self._admit(room)
        for bot in bots.values():
            if bot.quota:
                bot.quota -= 1
        if not event:
            self._history.begin(terms.players.maxie, terms.players.minnie)
        self._happen(room, Opened())

    def _void(self, terms: Terms, bots: Iterable[Bot], started: str, error: Exception) -> None:
        """Close a match that could not be set up."""
        why = f"the server failed: {type(error).__name__}: {error}"
        self._lobby.effects.append(Report("error", why, match=terms.match))
        record = terms.record(started, [], Result(None, EndReason.SERVER_FAULT, why))
        self._lobby.effects += [CloseMatch(record, terms.rated), MatchOver(record)]
        self._house.end(terms.match)
        for bot in bots:
            self._lobby.expire(bot)

    def _seated(self, terms: Terms) -> dict[Player, Bot]:
        players = terms.players
        return {Player.MAXIE: self._lobby.bot(players.maxie), Player.MINNIE: self._lobby.bot(players.minnie)}

    def _admit(self, room: Room) -> None:
        self._rooms[room.terms.match] = room
        self._load += room.weight
        for player, bot in room.bots.items():
            bot.begin(room.terms.match, player)
            self._lobby.stir(bot)

    def _happen(self, room: Room, event: Event) -> None:
        room.handle(event, self._lobby.now)
        self._follow(room)

    def _follow(self, room: Room) -> None:
        """Close a match that is over; else see to it that its next deadline is not missed."""
        if room.referee.over:
            self._close(room)
        else:
            deadline = room.deadline
            if deadline is not None:
                self._lobby.deadlines.follow(room.key, deadline)

    def _turn_sent(self, sent: TurnSent) -> None:
        room, client = self._rooms.get(sent.match), self._lobby.clients.get(sent.client)
        if room is None or client is None or client.bot is not room.bots[room.referee.mover]:
            return
        room.turn_sent(sent.ply, sent.lag, min(sent.at, self._lobby.now))
        self._follow(room)

    def _close(self, room: Room) -> None:
        lobby, record, match = self._lobby, room.record(), room.terms.match
        if room.followers.edges:
            for thought in room.public.ended():
                room.publish(thought)
            room.publish(room.end())
        lobby.effects += [CloseMatch(record, room.terms.rated), MatchOver(record)]
        del self._rooms[match]
        lobby.deadlines.drop(room.key)
        self._load -= room.weight
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
            lost, plies = result.winner is not player, room.referee.ply
            why = self._suspensions.note(bot.name, result.reason, lost=lost, plies=plies, now=lobby.now)
            if self._table.asked(bot.name):
                bot.ask(lobby.now)
            if why:
                self._report("warning", f"suspended: {why}", bot)
                self._tell_standing(bot)

    # the host's hand

    def _crashed(self, crashed: Crashed) -> None:
        bot = self._lobby.bots.get(crashed.name)
        if bot is not None and bot.name not in self._house:
            self._tell_rooms(bot, lambda player: Resigned(player, "crash", crashed.how))

    def _house_lost(self, lost: HouseLost) -> None:
        if self._house.remove(lost.name):
            self._challenges.withdraw_all(lost.name, f"{lost.name} cannot be started")
            self._lobby.stir()

    def _drain(self, _drain: Drain) -> None:
        self._lobby.draining = True
        for terms in self._plays:
            why = "the server stops, and begins no new matches"
            self._lobby.effects.append(PlayRefused(terms.match, why))
        self._plays = []

    def _reconfigure(self, given: Reconfigure) -> None:
        self._lobby.settings = given.settings
        for bot in self._lobby.connected():
            self._lobby.stir(bot)

    def _rated(self, rated: Rated) -> None:
        bot = self._lobby.bots.get(rated.name)
        if bot is not None:
            bot.ratings[rated.game] = rated.rating

    # going on

    def _restore(self, restore: Restore) -> None:
        for name, secret in sorted(restore.sessions.items()):
            bot = self._lobby.bot(name)
            bot.session, bot.away_since = secret, self._lobby.now
        for unfinished in restore.matches:
            self._reopen(unfinished)
        for bot in list(self._lobby.bots.values()):
            self._lobby.expire(bot)

    def _reopen(self, unfinished: Unfinished) -> None:
        """Go on with a match that a core had which is gone."""
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

    def _store_back(self, _back: StoreBack) -> None:
        for room in list(self._rooms.values()):
            room.resume()
            self._follow(room)

    def _report(self, level: str, text: str, bot: Bot) -> None:
        self._lobby.effects.append(Report(level, text, bot.name))  # type: ignore[arg-type]


def _not_a_player() -> Bot:
    raise Refused(Code.NOT_A_PLAYER, Code.NOT_A_PLAYER.meaning)


def _no_such_match(match: str) -> Refused:
    return Refused(Code.NO_SUCH_MATCH, f"{match!r:.70} is over, or not yours, or does not exist")
