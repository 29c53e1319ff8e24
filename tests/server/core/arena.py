"""Core of an arena for tests: without sockets, on a clock that the test sets, with all effects kept in a list."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeVar

import msgspec

from arena.match.referee_events import TimedEvent
from arena.match.terms import encode_game_hook
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
from arena.protocol.moves import MovesSnapshot
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.server.core.core import Core
from arena.server.core.effects import (
    LOBBY_LISTING_TOPIC,
    AppendMatchEvent,
    CloseClient,
    Effect,
    PublishToTopic,
    SaveFinishedMatch,
    SaveNewMatch,
    SaveSession,
    SendToClient,
)
from arena.server.core.inputs import (
    EDGE_NUMBER_SHIFT_BITS,
    ClientAdmitted,
    ClientDisconnected,
    Input,
    MatchRequested,
    MessageReceived,
    RestoredState,
    Tick,
    TurnSent,
    UnfinishedMatch,
)
from arena.server.core.settings import CoreSettings, GameAtTimeControl, Pool
from tests.server.matches import game_of, spec

MS = 1_000_000
SECOND = 1_000 * MS
SEED = b"seed"
FAST = TimeControl.parse("2+0.1")
TICTACTOE = Challenge(game="tictactoe", time_control=FAST)
POOL = Pool(games=(GameAtTimeControl(game_of(), FAST),), ready_timeout_ms=5_000)
LINE = (0, 3, 1, 4, 2)
"""Cells of a whole game of tic-tac-toe that Maxie wins."""

Message = TypeVar("Message", bound=ServerMessage)


def _encode_value(value: object) -> object:
    """Return a value of an effect in a form that msgspec can encode."""
    return list(value) if isinstance(value, MovesSnapshot) else encode_game_hook(value)  # type: ignore[arg-type]


def encode_effects(effects: list[Effect]) -> bytes:
    return msgspec.json.encode(effects, enc_hook=_encode_value)


class Peer:
    """Client of the core, with all messages that the client has received."""

    def __init__(self, arena: Arena, client: int, hello: Hello) -> None:
        self.arena = arena
        self.client = client
        self.hello = hello
        self.received: list[ServerMessage] = []
        self.closed: CloseClient | None = None
        self._read_count = 0
        """Number of messages in `received` that the test has read."""

    @property
    def name(self) -> str:
        return self.hello.name

    @property
    def session(self) -> str:
        return self.all(Welcome)[-1].session

    def all(self, kind: type[Message]) -> list[Message]:
        """Return all received messages of this class."""
        return [each for each in self.received if isinstance(each, kind)]

    def receive(self, kind: type[Message]) -> Message:
        """Return the next unread message of this class, and skip other messages."""
        while self._read_count < len(self.received):
            message = self.received[self._read_count]
            self._read_count += 1
            if isinstance(message, kind):
                return message
        raise AssertionError(f"{self.name} received no {kind.__name__}: {self.received[-5:]}")

    def pop_unread(self) -> list[ServerMessage]:
        """Return all unread messages."""
        unread, self._read_count = self.received[self._read_count :], len(self.received)
        return unread

    def send(self, message: ClientMessage, elapsed_ns: int | None = None) -> Peer:
        self.arena.handle(MessageReceived(self.client, message, self.arena.now, elapsed_ns))
        return self

    def disconnect(self, fault: str | None = None) -> list[Effect]:
        return self.arena.handle(ClientDisconnected(self.client, fault))

    def reconnect(self, **changes: Any) -> Peer:
        """Return a new connection that resumes the session of this one."""
        hello = msgspec.structs.replace(self.hello, session=self.session)
        return self.arena.connect(hello, **changes)


class Arena:
    """Core with its clients and its clock. `now` is the current time, in ns."""

    def __init__(self, core: Core | None = None, *, reports_turns: bool = True, **settings: Any) -> None:
        self.now = 0
        self.settings = CoreSettings(**{"server_program": "test 1", **settings})
        self.core = core or Core(self.settings, SEED, 0)
        self.peers: dict[int, Peer] = {}
        self.effects: list[Effect] = []
        self.inputs: list[tuple[int, Input]] = []
        self.reports_turns = reports_turns
        """True if the edge reports each turn as sent at once."""
        self.client_count = 0

    # inputs

    def handle(self, input: Input) -> list[Effect]:
        """Pass an input to the core, deliver the effects to the clients, and report turns as sent."""
        self.inputs.append((self.now, input))
        effects = self.core.handle_input(input, self.now)
        self.effects += effects
        for effect in effects:
            match effect:
                case SendToClient(client, message) if client in self.peers:
                    self.peers[client].received.append(message)
                case CloseClient(client) if client in self.peers:
                    self.peers[client].closed = effect
                case PublishToTopic(_, message, edges):
                    for peer in self.peers.values():
                        if (
                            peer.client >> EDGE_NUMBER_SHIFT_BITS in edges
                            and effect.topic_name in followed_topics(peer)
                        ):
                            peer.received.append(message)
        if self.reports_turns:
            for effect in effects:
                if isinstance(effect, SendToClient) and isinstance(effect.message, Turn):
                    turn = effect.message
                    self.handle(TurnSent(effect.client_number, turn.match, turn.ply, self.now))
        return effects

    def wait(self, ms: float) -> None:
        """Advance the clock by `ms`, and handle each deadline on the way."""
        until = self.now + round(ms * MS)
        while (due := self.core.next_deadline_ns) is not None and due <= until:
            self.now = max(self.now, due)
            self.handle(Tick())
        self.now = until

    def connect(self, hello: Hello | str, *, edge: int = 0, owner: str = "", **changes: Any) -> Peer:
        """Connect a client by its hello or its name. `changes`: other fields of `ClientAdmitted`."""
        hello = Hello(hello, pool=self.settings.pool is not None) if isinstance(hello, str) else hello
        self.client_count += 1
        client = edge << EDGE_NUMBER_SHIFT_BITS | self.client_count
        peer = self.peers[client] = Peer(self, client, hello)
        admission = ClientAdmitted(
            client, hello, "192.0.2.1", owner or hello.name, f"secret {self.client_count}", hello.role
        )
        self.handle(msgspec.structs.replace(admission, **changes))
        return peer

    def request_match(self, maxie: Peer | str, minnie: Peer | str, tc: str = "20+1", **limits: int) -> str:
        """Request a match, as an event does, and return its id."""
        names = [each if isinstance(each, str) else each.name for each in (maxie, minnie)]
        match = f"{len(self.inputs):032x}"
        margin, ready = limits.get("margin", 100), limits.get("ready", 5000)
        terms = spec(names[0], names[1], tc, margin=margin, ready=ready)
        self.handle(MatchRequested(msgspec.structs.replace(terms, match=match)))
        return match

    def begin_match(self, maxie: Peer, minnie: Peer, tc: str = "20+1", **limits: int) -> str:
        """Begin a match for which both bots are ready, and return its id."""
        match = self.request_match(maxie, minnie, tc, **limits)
        for peer in (maxie, minnie):
            peer.send(Ready(match))
        return match

    # effects and state

    def of(self, kind: type[Any]) -> list[Any]:
        """Return all effects so far of this class."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def records(self) -> list[Record]:
        return [each.record for each in self.of(SaveFinishedMatch)]

    def listing(self) -> Listing:
        """Return the listing that a browsing client would get now."""
        return self.core._lobby_listing_publisher.build_lobby_listing(self.now)

    def view(self, match: str) -> View:
        """Return the view that a spectator of a match would get now."""
        return self.core._matches.rooms[match].public_view.make_view_message(self.now)

    def unfinished(self) -> list[UnfinishedMatch]:
        """Return the matches without a record, as the store has them."""
        return [*list_unfinished(self.effects)]

    def restore(self) -> Arena:
        """Return an arena whose core continues the matches of this one after a crash. Its clock starts at 0."""
        sessions = {each.bot_name: each.secret_hash for each in self.of(SaveSession)}
        settings = msgspec.structs.asdict(self.settings)
        arena = Arena(core=Core(self.settings, b"another seed", 0), **settings)
        matches = self.unfinished()
        names = {name for each in matches for name in msgspec.structs.astuple(each.terms.players)}
        arena.handle(RestoredState(matches, {name: sessions[name] for name in sorted(names & set(sessions))}))
        return arena


def arena_with_two_bots(**settings: Any) -> tuple[Arena, Peer, Peer]:
    """Return an arena with two connected bots, anna and bert."""
    arena = Arena(**settings)
    return arena, arena.connect("anna"), arena.connect("bert")


def arena_in_match(tc: str = "20+1", *, margin: int = 100, **settings: Any) -> tuple[Arena, Peer, Peer, str]:
    """Return an arena, the bots anna and bert, and the id of their match, for which both are ready."""
    arena, anna, bert = arena_with_two_bots(**settings)
    return arena, anna, bert, arena.begin_match(anna, bert, tc, margin=margin)


def list_unfinished(effects: list[Effect]) -> Iterator[UnfinishedMatch]:
    """Yield the matches that were opened and not closed, with their events in the journal."""
    opened = {each.terms.match: each for each in effects if isinstance(each, SaveNewMatch)}
    closed = {each.record.match for each in effects if isinstance(each, SaveFinishedMatch)}
    for match, opening in opened.items():
        if match in closed:
            continue
        events: list[TimedEvent] = []
        for each in effects:
            if isinstance(each, AppendMatchEvent) and each.match_id == match:
                events += [each.turn_start] if each.turn_start is not None else []
                events.append((each.time_ns, each.event))
                assert each.event_number == len(events), "an event of the journal is missing"
        yield UnfinishedMatch(opening.terms, opening.start_time_utc, events)


def followed_topics(peer: Peer) -> set[str]:
    """Return the topics that a client follows, according to the messages that it has received."""
    topics: set[str] = set()
    for message in peer.received:
        if isinstance(message, View):
            topics.add(message.match)
        elif isinstance(message, End):
            topics.discard(message.match)
        elif isinstance(message, Listing):
            topics.add(LOBBY_LISTING_TOPIC)
    return topics


def answer_turn(peer: Peer, cell: object, elapsed_ns: int | None = None) -> Turn:
    """Answer the next turn with a move, and return the turn."""
    turn = peer.receive(Turn)
    peer.send(Move(turn.match, turn.ply, cell), elapsed_ns)
    return turn


def play_line(maxie: Peer, minnie: Peer, cells: tuple[int, ...] = LINE) -> None:
    """Play these cells alternately, Maxie first."""
    for ply, cell in enumerate(cells):
        answer_turn((maxie, minnie)[ply % 2], cell)


def play_until_quiet(
    arena: Arena, cells: tuple[int, ...] = LINE, only: Collection[str] | None = None
) -> None:
    """Let the connected bots play these cells in each of their matches, until no message is left to answer.

    only   names of the bots that play; None for all
    """
    is_quiet = False
    while not is_quiet:
        is_quiet = True
        for peer in list(arena.peers.values()):
            if only is not None and peer.name not in only:
                continue
            for message in peer.pop_unread():
                match message:
                    case Start(match):
                        peer.send(Ready(match))
                    case Turn(match, ply):
                        peer.send(Move(match, ply, cells[ply]))
                    case _:
                        continue
                is_quiet = False
