"""The core of an arena: `handle(input, now) -> effects`, and `next_deadline`.

It routes inputs to the parts that they are for:

    lobby        who is connected, and by which session
    room         one match: its referee, its deadline, its public view
    matchmaker   who waits in the pool, and who plays whom
    challenges   one bot asks another; house and house_queue: the server's own engines
    listing      what goes on, for all who browse
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from arena.match.events import Event, GotReady, Resigned, Returned, SessionLost
from arena.protocol.codes import Code
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
from arena.server.core.bot import Bot
from arena.server.core.challenges import Challenges
from arena.server.core.draws import Draws
from arena.server.core.effects import (
    Close,
    Effect,
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
    edge_of,
)
from arena.server.core.listing import Listings
from arena.server.core.lobby import Client, Lobby, Refused, no_such_match
from arena.server.core.matches import Matches
from arena.server.core.matchmaker import GATHER_NS, Matchmaker
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import Settings
from arena.server.core.standing import tell_standing
from arena.server.core.suspensions import Suspensions


class Core:
    """The state of an arena. One task calls it, with inputs in the order in which they came."""

    def __init__(self, settings: Settings, seed: bytes, now: int) -> None:
        """Begin empty at `now`. `seed`: random bytes, others after each restart."""
        draws = Draws(seed)
        self._lobby = lobby = Lobby(settings, now)
        self._suspensions = suspensions = Suspensions()
        history = PairingHistory(draws.hex())
        self._table = table = OpenChallenges(draws.hex(8))
        self._house = house = House(lobby, table)
        self._matches = matches = Matches(lobby, house, table, history, suspensions)
        self._challenges = Challenges(lobby, table, house, history, draws, matches.open)
        self._matchmaker = Matchmaker(lobby, table, suspensions, history, draws)
        self._listings = Listings(lobby, matches.rooms, house, table, suspensions)
        self._seen = 0
        """Count of the lobby's changes that were followed."""
        self._handlers: dict[type, Callable[[Any], None]] = {
            Said: self._said,
            TurnSent: self._turn_sent,
            Tick: self._tick,
            Enter: self._enter,
            Gone: self._gone,
            Play: lambda given: matches.ask(given.terms),
            Crashed: self._crashed,
            HouseLost: self._house_lost,
            Drain: self._drain,
            Reconfigure: lambda given: lobby.reconfigure(given.settings),
            Kick: self._kick,
            Restore: matches.restore,
            StoreBack: lambda _: matches.resume(),
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
        effects = lobby.begin(now)
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
        return len(self._matches.rooms)

    def view(self, match: str, now: int) -> View | None:
        """Return a match in progress as a spectator sees it; None where there is none of that id."""
        room = self._matches.rooms.get(match)
        return None if room is None else room.public.view(now)

    def listing(self, now: int) -> Listing:
        """Return what goes on at `now`."""
        return self._listings.make(now)

    def bot(self, name: str) -> Bot | None:
        """Return the bot of that name, connected or within its grace; None where there is none."""
        return self._lobby.bots.get(name)

    # what follows from changes

    def _follow_changes(self) -> None:
        """See to it that what may follow from changes does: matches that events asked for, the pool, listings."""
        lobby = self._lobby
        self._matches.begin_asked()
        self._seen = lobby.changes
        if lobby.is_stirred or len(self._table):
            lobby.deadlines.follow(("matchmaker", ""), lobby.now + GATHER_NS)
        self._listings.follow()

    def _tick(self, tick: Tick) -> None:
        lobby = self._lobby
        self._matches.note_delay(tick.held_up)
        for kind, name in lobby.deadlines.take_due(lobby.now):
            match kind:
                case "match":
                    self._matches.judge(name)
                case "challenge":
                    self._challenges.expire(name)
                case "bot":
                    self._look_at_bot(name)
                case "matchmaker":
                    self._make_matches()
                case "listing":
                    self._listings.publish()

    def _look_at_bot(self, name: str) -> None:
        bot = self._lobby.bots.get(name)
        if bot is not None:
            self._lobby.stir(bot)
            self._lobby.expire(bot)

    def _make_matches(self) -> None:
        self._house.look()
        for terms in self._matchmaker.match(self._matches.load):
            self._matches.open(terms)

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
        self._matches.tell(bot, Returned if returns or bot.name in self._house else SessionLost)
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
        self._matches.lose(bot, gone.fault)

    def _drop_client(self, id: int) -> Client | None:
        client = self._lobby.drop_client(id)
        if client is not None:
            self._listings.leave(client)
        return client

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
        self._matches.tell(bot, Returned)
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
                self._matches.move(client.bot or _not_a_player(), said, message)
            elif type(message) in (Ready, Resign):
                self._speak(client, message, said.at)  # type: ignore[arg-type]
            else:
                self._messages[type(message)](client, message)
        except Refused as refused:
            self._refuse(client, refused, message)

    def _refuse(self, client: Client, refused: Refused, message: ClientMessage) -> None:
        where = getattr(message, "match", None), getattr(message, "ply", None)
        self._lobby.effects.append(Send(client.id, Error(refused.code, refused.detail, *where)))

    def _speak(self, client: Client, message: Ready | Resign, at: int) -> None:
        bot = client.bot or _not_a_player()
        player = bot.matches.get(message.match)
        if player is None:
            # It has missed the end of a match that it played, or names one that it never did.
            if message.match in self._matches.rooms:
                raise no_such_match(message.match)
            self._lobby.effects.append(TellEnd(client.id, bot.name, message.match))
            return
        event: Event = GotReady(player)
        if isinstance(message, Resign):
            event = Resigned(player, message.reason, message.detail)
        self._matches.happen(self._matches.rooms[message.match], event, at)

    def _status(self, client: Client, status: Status) -> None:
        bot = client.bot or _not_a_player()
        if status.quota is not UNSET:
            bot.take_only(status.quota)
            self._lobby.stir(bot)
            if status.quota == 0:
                self._challenges.withdraw_all(bot.name, f"{bot.name} takes no more matches")
        tell_standing(bot, self._lobby, self._suspensions.why(bot.name, self._lobby.now))

    def _challenge(self, client: Client, message: Challenge | Accept | Decline | Withdraw) -> None:
        self._challenges.handle(client.bot or _not_a_player(), message)

    def _watch(self, client: Client, watch: Watch) -> None:
        room = self._matches.rooms.get(watch.match)
        if room is None:
            raise Refused(Code.NO_SUCH_MATCH, f"{watch.match!r:.70} is over or does not exist")
        if watch.match not in client.watching:
            for over in [match for match in client.watching if match not in self._matches.rooms]:
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

    def _turn_sent(self, sent: TurnSent) -> None:
        client = self._lobby.clients.get(sent.client)
        if client is not None and client.bot is not None:
            self._matches.turn_sent(client.bot, sent)

    # the host's hand

    def _crashed(self, crashed: Crashed) -> None:
        bot = self._lobby.bots.get(crashed.name)
        if bot is not None and bot.name not in self._house:
            self._matches.tell(bot, lambda player: Resigned(player, "crash", crashed.how))

    def _house_lost(self, lost: HouseLost) -> None:
        if self._house.remove(lost.name):
            self._challenges.withdraw_all(lost.name, f"{lost.name} cannot be started")
            self._lobby.stir()

    def _drain(self, _drain: Drain) -> None:
        self._lobby.drain()
        self._matches.drain()

    def _rated(self, rated: Rated) -> None:
        bot = self._lobby.bots.get(rated.name)
        if bot is not None:
            bot.ratings[rated.game] = rated.rating

    def _report(self, level: str, text: str, bot: Bot) -> None:
        self._lobby.effects.append(Report(level, text, bot.name))  # type: ignore[arg-type]


def _not_a_player() -> Bot:
    raise Refused(Code.NOT_A_PLAYER, Code.NOT_A_PLAYER.meaning)
