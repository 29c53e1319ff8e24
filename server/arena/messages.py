"""What the servers of an arena tell each other, as typed structs, and the packets and beats that carry it.

Everything is decoded as strictly as what a bot sends: its size is bounded before it is looked at, and each field has a
type. Times are durations in ns, measured by one machine: no clock of one means anything to another.
"""

from __future__ import annotations

from math import isfinite
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

from arena.games.core import Player
from arena.match.events import BrokeProtocol, GotReady, Moved, Resigned
from arena.protocol.codes import EndReason
from arena.protocol.engines import Name
from arena.protocol.messages import (
    Accept,
    Accepted,
    Challenge,
    Challenged,
    ChallengeOver,
    Decline,
    End,
    Error,
    Hello,
    LiveMatch,
    Queued,
    Standing,
    Start,
    Thought,
    Turn,
    Update,
    View,
    Withdraw,
)
from arena.protocol.moves import MovesSoFar
from arena.protocol.values import MatchId, Players, Ply, Seat

T = TypeVar("T")

PACKET_BYTES = 1024 * 1024
"""The largest packet that is taken, which is what a bus lets through."""
MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message, in pieces: a match start on a map of 1,000 territories has room, and its terms too."""
BEAT_BYTES = 256 * 1024
"""The largest beat that is taken."""
MOST_MESSAGES = 10_000
"""Messages that one packet may hold."""

Count = Annotated[int, Meta(ge=0, le=2**62)]
Duration = Annotated[int, Meta(ge=0, le=2**62)]
Text = Annotated[str, Meta(max_length=1024)]


class BadPacket(ValueError):
    """Bytes from the bus that are none of ours: one line that says why."""


class Here(Struct, frozen=True, array_like=True, tag="here"):
    """A bot is connected to the sender, or something about it has changed."""

    name: Name
    entry: Count
    """The number of its connection; each later one of the name has a higher number."""
    session: Count
    """The entry with which its session began."""
    hello: Hello
    """What it says of itself, without secrets; `quota` as of now."""
    guest: bool
    address: Annotated[str, Meta(max_length=64)]
    again: bool
    """Whether it is told again only because something has changed, and nothing can have been missed."""


class Gone(Struct, frozen=True, array_like=True, tag="gone"):
    """A connection of a bot to the sender has ended."""

    name: Name
    entry: Count
    fault: Text | None
    """What was wrong with what it sent, if anything."""


class Leaving(Struct, frozen=True, array_like=True, tag="leaving"):
    """The sender stops: its bots go to others, and its matches too."""


class Opened(Struct, frozen=True, array_like=True, tag="opened"):
    """The sender has the room of a match: a new one, or one that goes on."""

    live: LiveMatch
    anew: bool
    weight: Annotated[int, Meta(ge=1, le=100_000)]
    """What it weighs where matches are weighed."""


class Ended(Struct, frozen=True, array_like=True, tag="ended"):
    """A match is over; its record may not be in the store yet."""

    match: MatchId


class Kept(Struct, frozen=True, array_like=True, tag="kept"):
    """The record of a match is in the store."""

    match: MatchId
    players: Players
    winner: Seat | None
    reason: EndReason
    plies: Count
    answered: tuple[bool | None, bool | None]
    """Whether Maxie and Minnie moved when it was their turn; None where they had none."""


class Snapshot(Struct, frozen=True, array_like=True, tag="snapshot"):
    """All that was to be told from the beginning has been told: what was known before, and was not told again, is over."""


class Told(Struct, frozen=True, array_like=True, tag="told"):
    """A message to a bot that is connected to the receiver."""

    name: Name
    entry: Count
    message: Start | Turn | Accepted | End | Error | Standing | Challenged | Queued | ChallengeOver
    ran: Duration
    """For how long the clock of a turn has run already."""


class Did(Struct, frozen=True, array_like=True, gc=False, tag="did"):
    """A player that is connected to the sender did something in a match of the receiver's."""

    match: MatchId
    entry: Count
    event: Moved | GotReady | Resigned | BrokeProtocol
    spent: Duration
    """From the leaving of the turn to the arrival of the move."""
    lag: Duration
    """The least recent ping time of its connection."""


class Overdue(Struct, frozen=True, array_like=True, tag="overdue"):
    """The time of a player of the receiver's has run out, for a move or to be ready, as far as the sender knows."""

    match: MatchId
    player: Player
    entry: Count
    ply: Ply
    allowed: Duration
    """How long that may take from when the player was asked."""


class Waited(Struct, frozen=True, array_like=True, tag="waited"):
    """Nothing has come for so long as it may take; had it come in time, it would have been told before."""

    match: MatchId
    player: Player
    entry: Count
    ply: Ply


class Place(Struct, frozen=True, array_like=True, tag="place"):
    """The matchmaker wants a match to be played by the receiver."""

    term: Count
    terms: Annotated[str, Meta(max_length=MESSAGE_BYTES)]
    """As `match.terms.to_json` writes them."""


class Wants(Struct, frozen=True, array_like=True, tag="wants"):
    """A bot of the sender's says something of a challenge to the matchmaker."""

    name: Name
    entry: Count
    message: Challenge | Accept | Decline | Withdraw


class Settles(Struct, frozen=True, array_like=True, tag="settles"):
    """A bot of the sender's takes another number of matches from now on: what had the matchmaker given it before?"""

    name: Name
    entry: Count
    number: Count
    """Of this question."""


class Given(Struct, frozen=True, array_like=True, tag="given"):
    """The answer to `Settles`."""

    name: Name
    entry: Count
    number: Count
    matches: Annotated[list[MatchId], Meta(max_length=MOST_MESSAGES)]
    """Those that are not over, begun or not."""


class Open(Struct, frozen=True, array_like=True, tag="open"):
    """The challenges that are open, as the matchmaker lists them."""

    challenges: Annotated[list[Challenged], Meta(max_length=2000)]


class Watching(Struct, frozen=True, array_like=True, tag="watching"):
    """Somebody at the sender's watches a match of the receiver's from now on, or nobody does any more."""

    match: MatchId
    on: bool


class Shown(Struct, frozen=True, array_like=True, tag="shown"):
    """What spectators of a match are shown."""

    match: MatchId
    message: View | Update | Thought | End


class Plies(Struct, frozen=True, array_like=True, tag="plies"):
    """How far matches of the sender's are."""

    plies: Annotated[dict[MatchId, Ply], Meta(max_length=MOST_MESSAGES)]


Counted = Annotated[dict[Annotated[str, Meta(max_length=64)], Count], Meta(max_length=MOST_MESSAGES)]
"""By address."""


class Spent(Struct, frozen=True, array_like=True, tag="spent"):
    """What addresses have asked of the sender and done to it since it told so last."""

    work: Counted
    """The work that they asked for, in µs."""
    wrong: Counted
    """Wrong tokens that came from them."""
    cut_off: Counted
    """Their connections that had to be cut off."""
    connections: Counted
    """How many connections they have now."""


class Part(Struct, frozen=True, array_like=True, tag="part"):
    """A piece of a message that is too large for one packet; the pieces come one after another."""

    piece: Annotated[bytes, Meta(max_length=PACKET_BYTES)]
    last: bool


ArenaMessage = (
    Here
    | Gone
    | Leaving
    | Opened
    | Ended
    | Kept
    | Snapshot
    | Told
    | Did
    | Overdue
    | Waited
    | Place
    | Wants
    | Settles
    | Given
    | Open
    | Watching
    | Shown
    | Plies
    | Spent
    | Part
)


class Packet(Struct, frozen=True, array_like=True, tag="packet"):
    """Numbered messages of one server to another."""

    sender: Name
    number: Count
    """That of the sender's lease."""
    to: Count
    """That of the receiver's lease, as the sender knows it."""
    stream: Count
    """A later stream of the same sender has a higher number; each begins with message 1."""
    first: Count
    messages: Annotated[list[ArenaMessage], Meta(max_length=MOST_MESSAGES)]


class Line(Struct, frozen=True, array_like=True):
    """How the sender of a beat stands with one other server."""

    server: Name
    number: Count
    stream: Count
    """The stream that it sends there, and the number of the last message in it."""
    sent: Count
    heard: Count
    """The stream that it hears from there, and the number of the last message that it has taken."""
    taken: Count
    lacks: bool
    """Whether something after that one is missing, and is to be sent again."""


class Beat(Struct, frozen=True, array_like=True, tag="beat"):
    """What each server tells all others four times a second."""

    sender: Name
    number: Count
    count: Count
    """Each beat of a server has a higher one than those before; what comes late says nothing."""
    places: Count
    """How many matches it may have in progress."""
    load: Count
    """How many it has."""
    takes: bool
    """Whether it takes new matches."""
    store: bool
    """Whether it reaches the store."""
    lines: Annotated[list[Line], Meta(max_length=1000)]


class _Sent(Struct, frozen=True, array_like=True, tag="packet"):
    """A packet whose messages are encoded already."""

    sender: str
    number: int
    to: int
    stream: int
    first: int
    messages: list[Raw]


def _encoded(data: object) -> Raw:
    if isinstance(data, MovesSoFar):
        return Raw(data.encoded())
    raise NotImplementedError(f"a message holds no {type(data).__name__}")


_encoder = msgspec.msgpack.Encoder(enc_hook=_encoded)
_packet = msgspec.msgpack.Decoder(Packet)
_beat = msgspec.msgpack.Decoder(Beat)
_message = msgspec.msgpack.Decoder(ArenaMessage)


def encode(message: ArenaMessage) -> bytes:
    """A message as it stands in a packet."""
    return _encoder.encode(message)


def packet(sender: str, number: int, to: int, stream: int, first: int, messages: list[bytes]) -> bytes:
    """A packet of messages that are encoded already."""
    return _encoder.encode(_Sent(sender, number, to, stream, first, [Raw(each) for each in messages]))


def beat(told: Beat) -> bytes:
    """A beat as it is sent."""
    return _encoder.encode(told)


def decode_packet(data: bytes) -> Packet:
    """The packet in these bytes. Raises BadPacket."""
    decoded = _decoded(_packet, "packet", data, PACKET_BYTES)
    for message in decoded.messages:
        _check(message)
    return decoded


def decode_message(data: bytes) -> ArenaMessage:
    """The message that came in pieces. Raises BadPacket."""
    message: ArenaMessage = _decoded(_message, "message", data, MESSAGE_BYTES)
    _check(message)
    return message


def _check(message: ArenaMessage) -> None:
    if type(message) is Did and not _finite(message):
        raise BadPacket("a value that is no finite number")


def _finite(did: Did) -> bool:
    thinking = did.event.thinking if type(did.event) is Moved else None
    return thinking is None or thinking.value is None or isfinite(thinking.value)


def decode_beat(data: bytes) -> Beat:
    """The beat in these bytes. Raises BadPacket."""
    return _decoded(_beat, "beat", data, BEAT_BYTES)


def _decoded(decoder: msgspec.msgpack.Decoder[T], what: str, data: bytes, most: int) -> T:
    """What these bytes stand for, which may be so many. Raises BadPacket."""
    if len(data) > most:
        raise BadPacket(f"a {what} has {len(data)} bytes, and may have {most}")
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadPacket(f"no {what}: {error}") from None
