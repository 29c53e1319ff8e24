"""An arena without sockets and without waiting: a core, its clock, an edge that writes at once, and a store that is a list."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeVar

import msgspec

from arena.match.referee_events import TimedEvent
from arena.match.terms import encode_game
from arena.protocol.messages import (
    Challenge,
    ClientMessage,
    End,
    Hello,
    Listing,
    Move,
    Ready,
    ServerMessage,
    Start,
    Turn,
    View,
    Welcome,
)
from arena.protocol.moves import MovesSoFar
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.server.core.core import Core
from arena.server.core.effects import (
    LISTING_TOPIC,
    AppendEvent,
    CloseClient,
    CloseMatch,
    Effect,
    OpenMatch,
    PublishToTopic,
    SaveSession,
    SendToClient,
)
from arena.server.core.inputs import (
    EDGE_SHIFT,
    ClientAdmitted,
    ClientDisconnected,
    Input,
    MatchRequested,
    MessageReceived,
    RestoreMatches,
    Tick,
    TurnSent,
    UnfinishedMatch,
)
from arena.server.core.settings import CoreSettings, Pool, PoolGame
from tests.server.matches import game_of, spec

MS = 1_000_000
SECOND = 1_000 * MS
SEED = b"seed"
FAST = TimeControl.parse("2+0.1")
TICTACTOE = Challenge(game="tictactoe", time_control=FAST)
POOL = Pool(games=(PoolGame(game_of(), FAST),), ready_ms=5_000)
LINE = (0, 3, 1, 4, 2)
"""A whole game of tic-tac-toe, which Maxie wins."""

Message = TypeVar("Message", bound=ServerMessage)


def plain(value: object) -> object:
    """Encode values of effects that msgspec cannot encode."""
    return list(value) if isinstance(value, MovesSoFar) else encode_game(value)  # type: ignore[arg-type]


def encoded(effects: list[Effect]) -> bytes:
    return msgspec.json.encode(effects, enc_hook=plain)


class Peer:
    """A client of the core, and all that it was sent."""

    def __init__(self, arena: Arena, client: int, hello: Hello) -> None:
        self.arena = arena
        self.client = client
        self.hello = hello
        self.heard: list[ServerMessage] = []
        self.closed: CloseClient | None = None
        self.read = 0

    @property
    def name(self) -> str:
        return self.hello.name

    @property
    def session(self) -> str:
        return self.all(Welcome)[-1].session

    def all(self, kind: type[Message]) -> list[Message]:
        return [each for each in self.heard if isinstance(each, kind)]

    def hear(self, kind: type[Message]) -> Message:
        """Return the next unread message of that kind."""
        while self.read < len(self.heard):
            message = self.heard[self.read]
            self.read += 1
            if isinstance(message, kind):
                return message
        raise AssertionError(f"{self.name} heard no {kind.__name__}: {self.heard[-5:]}")

    def news(self) -> list[ServerMessage]:
        """Return all unread messages."""
        unread, self.read = self.heard[self.read :], len(self.heard)
        return unread

    def say(self, message: ClientMessage, elapsed_ns: int | None = None) -> Peer:
        self.arena.give(MessageReceived(self.client, message, self.arena.now, elapsed_ns))
        return self

    def leave(self, fault: str | None = None) -> list[Effect]:
        return self.arena.give(ClientDisconnected(self.client, fault))

    def back(self, **changes: Any) -> Peer:
        """Return a new connection that returns to the session of this one."""
        hello = msgspec.structs.replace(self.hello, session=self.session)
        return self.arena.enter(hello, **changes)


class Arena:
    """A core and all around it."""

    def __init__(self, core: Core | None = None, *, reports: bool = True, **settings: Any) -> None:
        self.now = 0
        self.settings = CoreSettings(**{"program": "test 1", **settings})
        self.core = core or Core(self.settings, SEED, 0)
        self.peers: dict[int, Peer] = {}
        self.effects: list[Effect] = []
        self.inputs: list[tuple[int, Input]] = []
        self.reports = reports
        """True if turns are sent and reported at once."""
        self.clients = 0
        self.secrets = 0

    # driving it

    def give(self, given: Input) -> list[Effect]:
        """Handle an input, and all that follows from it at once."""
        self.inputs.append((self.now, given))
        effects = self.core.handle(given, self.now)
        self.effects += effects
        for effect in effects:
            match effect:
                case SendToClient(client, message) if client in self.peers:
                    self.peers[client].heard.append(message)
                case CloseClient(client) if client in self.peers:
                    self.peers[client].closed = effect
                case PublishToTopic(_, message, edges):
                    for peer in self.peers.values():
                        if peer.client >> EDGE_SHIFT in edges and effect.topic in followed_topics(peer):
                            peer.heard.append(message)
        if self.reports:
            for effect in effects:
                if isinstance(effect, SendToClient) and isinstance(effect.message, Turn):
                    turn = effect.message
                    self.give(TurnSent(effect.client, turn.match, turn.ply, self.now))
        return effects

    def wait(self, ms: float) -> None:
        """Let time go by, with every tick that falls due in it."""
        until = self.now + round(ms * MS)
        while (due := self.core.next_deadline) is not None and due <= until:
            self.now = max(self.now, due)
            self.give(Tick())
        self.now = until

    def enter(self, hello: Hello | str, *, edge: int = 0, owner: str = "", **changes: Any) -> Peer:
        hello = Hello(hello, pool=self.settings.pool is not None) if isinstance(hello, str) else hello
        self.clients += 1
        self.secrets += 1
        client = edge << EDGE_SHIFT | self.clients
        peer = self.peers[client] = Peer(self, client, hello)
        given = ClientAdmitted(
            client, hello, "192.0.2.1", owner or hello.name, f"secret {self.secrets}", hello.role
        )
        self.give(msgspec.structs.replace(given, **changes))
        return peer

    def play(self, maxie: Peer | str, minnie: Peer | str, tc: str = "20+1", **limits: int) -> str:
        """Ask for a match as an event does; its id."""
        names = [each if isinstance(each, str) else each.name for each in (maxie, minnie)]
        match = f"{len(self.inputs):032x}"
        margin, ready = limits.get("margin", 100), limits.get("ready", 5000)
        terms = spec(names[0], names[1], tc, margin=margin, ready=ready)
        self.give(MatchRequested(msgspec.structs.replace(terms, match=match)))
        return match

    def begin(self, maxie: Peer, minnie: Peer, tc: str = "20+1", **limits: int) -> str:
        """Return a match that both are ready for."""
        match = self.play(maxie, minnie, tc, **limits)
        for peer in (maxie, minnie):
            peer.say(Ready(match))
        return match

    # what came of it

    def of(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def records(self) -> list[Record]:
        return [each.record for each in self.of(CloseMatch)]

    def listing(self) -> Listing:
        """Return what a client that browses is sent now."""
        return self.core._listings.build_listing(self.now)

    def view(self, match: str) -> View:
        """Return what a spectator of a match is sent now."""
        return self.core._matches.rooms[match].public_view.make_view(self.now)

    def unfinished(self) -> list[UnfinishedMatch]:
        """Return the store's data of matches without a record."""
        return [*unfinished(self.effects)]

    def restored(self) -> Arena:
        """Return the arena of a core that goes on after this one was killed, an hour later by a clock of its own."""
        sessions = {each.name: each.hash for each in self.of(SaveSession)}
        kept = msgspec.structs.asdict(self.settings)
        arena = Arena(core=Core(self.settings, b"another seed", 0), **kept)
        matches = self.unfinished()
        names = {name for each in matches for name in msgspec.structs.astuple(each.terms.players)}
        arena.give(RestoreMatches(matches, {name: sessions[name] for name in sorted(names & set(sessions))}))
        return arena


def two(**settings: Any) -> tuple[Arena, Peer, Peer]:
    """Return an arena with two bots, anna and bert."""
    arena = Arena(**settings)
    return arena, arena.enter("anna"), arena.enter("bert")


def in_match(tc: str = "20+1", *, margin: int = 100, **settings: Any) -> tuple[Arena, Peer, Peer, str]:
    """Return an arena with a match of anna and bert that both are ready for, and its id."""
    arena, anna, bert = two(**settings)
    return arena, anna, bert, arena.begin(anna, bert, tc, margin=margin)


def unfinished(effects: list[Effect]) -> Iterator[UnfinishedMatch]:
    """Yield the matches that were opened and not closed, as a journal has them."""
    opened = {each.terms.match: each for each in effects if isinstance(each, OpenMatch)}
    closed = {each.record.match for each in effects if isinstance(each, CloseMatch)}
    for match, opening in opened.items():
        if match in closed:
            continue
        events: list[TimedEvent] = []
        for each in effects:
            if isinstance(each, AppendEvent) and each.match == match:
                events += [each.turn] if each.turn is not None else []
                events.append((each.at, each.event))
                assert each.seq == len(events), "an event of the journal is missing"
        yield UnfinishedMatch(opening.terms, opening.started, events)


def followed_topics(peer: Peer) -> set[str]:
    """Return the topics that an edge has a client follow, by what it was sent."""
    topics: set[str] = set()
    for message in peer.heard:
        if isinstance(message, View):
            topics.add(message.match)
        elif isinstance(message, End):
            topics.discard(message.match)
        elif isinstance(message, Listing):
            topics.add(LISTING_TOPIC)
    return topics


def answer(peer: Peer, cell: object, elapsed_ns: int | None = None) -> Turn:
    """Play a move in answer to the next turn."""
    turn = peer.hear(Turn)
    peer.say(Move(turn.match, turn.ply, cell), elapsed_ns)
    return turn


def play_line(maxie: Peer, minnie: Peer, cells: tuple[int, ...] = LINE) -> None:
    """Play these cells in turn."""
    for ply, cell in enumerate(cells):
        answer((maxie, minnie)[ply % 2], cell)


def play_on(arena: Arena, cells: tuple[int, ...] = LINE, only: Collection[str] | None = None) -> None:
    """Let all who are connected play these cells in each of their matches, until nothing is to be answered.

    only   names of the bots that play; by default all
    """
    quiet = False
    while not quiet:
        quiet = True
        for peer in list(arena.peers.values()):
            if only is not None and peer.name not in only:
                continue
            for message in peer.news():
                match message:
                    case Start(match):
                        peer.say(Ready(match))
                    case Turn(match, ply):
                        peer.say(Move(match, ply, cells[ply]))
                    case _:
                        continue
                quiet = False
