"""Inputs of the core. They can be written to a file and replayed: `to_json`, `from_json`."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from arena.match.events import Timed
from arena.match.terms import Terms, game_from_setup, setup_of_game
from arena.protocol.codes import Code
from arena.protocol.messages import ClientMessage, Hello
from arena.protocol.values import Role
from arena.server.core.settings import Settings

EDGE_BITS = 40
"""Bits of a client's number below the number of its edge."""


def edge_of(client: int) -> int:
    """Return the number of the edge that holds the client's connection."""
    return client >> EDGE_BITS


class Enter(Struct, frozen=True, tag="enter", omit_defaults=True):
    """A client said hello and was authenticated by the shell."""

    client: int
    """Number of the connection, never used twice: `edge_of` finds its edge."""
    hello: Hello
    address: str
    owner: str
    """Owner of the bot's token, else its address (a /64 network in IPv6). Owners take turns."""
    secret: str
    """Fresh session secret, used where the hello does not return to its session."""
    role: Role = "bot"
    """Role that the token opens; of a client that needs no token, the role that it asks for."""
    guest: bool = False
    """True for a guest's name without a token."""
    local: bool = False
    """True for a bot that runs on the server's own machine."""
    known: bytes = b""
    """Hash of the name's session secret in the store; empty where there is none."""
    ratings: dict[str, float] = {}
    """Ratings of the bot, by game."""


class Said(Struct, frozen=True, gc=False, tag="said", omit_defaults=True):
    """A client's message arrived."""

    client: int
    message: ClientMessage
    at: int
    """Time of arrival at the edge, in ns of the core's clock."""
    spent: int | None = None
    """Of a move: ns from the turn's leaving to the arrival, as the edge measured them, with what `Send.ran` told it and
    without the time for which the edge itself was held up. None where the edge does not know the turn."""


class Gone(Struct, frozen=True, tag="gone", omit_defaults=True):
    """A client's connection is over."""

    client: int
    fault: str | None = None
    """Breach of the protocol for which it was closed; None where there was none."""


class TurnSent(Struct, frozen=True, gc=False, tag="turn_sent", omit_defaults=True):
    """An edge has written a turn: the mover's clock runs from `at`."""

    client: int
    match: str
    ply: int
    at: int
    lag: int = 0
    """Least recent ping time of the connection, in ns; 0 where unknown."""


class Tick(Struct, frozen=True, tag="tick", omit_defaults=True):
    """A deadline may have fallen, and all that had arrived before was given already."""

    held_up: int = 0
    """Time for which the server itself was held up just before, in ns."""


class Play(Struct, frozen=True, tag="play"):
    """An event asks for one match. It begins as soon as each of its bots has room for it, connected or not."""

    terms: Terms


class Crashed(Struct, frozen=True, tag="crashed"):
    """The process of a bot that the server runs has ended. A house engine is started again, and loses nothing."""

    name: str
    how: str


class HouseLost(Struct, frozen=True, tag="house_lost"):
    """A house engine cannot be started any more."""

    name: str


class Drain(Struct, frozen=True, tag="drain"):
    """Begin no new match from now on."""


class Reconfigure(Struct, frozen=True, tag="reconfigure"):
    """Go by other settings from now on. Matches in progress keep their terms, and the house its engines."""

    settings: Settings


class Kick(Struct, frozen=True, tag="kick"):
    """Close the connection of a bot, as when its token is revoked."""

    name: str
    code: Code
    detail: str


class Unfinished(Struct, frozen=True):
    """A match without a record, as the journal has it."""

    terms: Terms
    started: str
    events: list[Timed]


class Restore(Struct, frozen=True, tag="restore", omit_defaults=True):
    """Go on with the matches of a core that is gone. The first input, before any client enters."""

    matches: list[Unfinished]
    sessions: dict[str, bytes] = {}
    """Hashes of the session secrets of their bots, by name."""


class StoreBack(Struct, frozen=True, tag="store_back"):
    """The store took no writes for a while, and nobody was told anything: the clocks of all turns begin anew."""


class EdgeGone(Struct, frozen=True, tag="edge_gone"):
    """An edge is lost, with the connections of all its clients."""

    edge: int


class EdgeHere(Struct, frozen=True, tag="edge_here"):
    """An edge says who is connected to it (resync): after messages were lost, or to a core that took over.

    After it the edge says `watch` and `browse` again for the clients that follow something.
    """

    edge: int
    clients: list[Enter]
    """Each with the secret of its present session in `hello.session`."""


class Rated(Struct, frozen=True, tag="rated"):
    """The rating of a bot in a game has changed."""

    game: str
    name: str
    rating: float


Input = (
    Enter
    | Said
    | Gone
    | TurnSent
    | Tick
    | Play
    | Crashed
    | HouseLost
    | Drain
    | Reconfigure
    | Kick
    | Restore
    | StoreBack
    | EdgeGone
    | EdgeHere
    | Rated
)

_encoder = msgspec.json.Encoder(enc_hook=setup_of_game)
_decoder: msgspec.json.Decoder[Input] = msgspec.json.Decoder(Input, dec_hook=game_from_setup)


def to_json(given: Input) -> bytes:
    """Return an input as one line of JSON."""
    return _encoder.encode(given)


def from_json(line: bytes) -> Input:
    """Return the input of which `to_json` made this line. Raises games.core.GameError, msgspec.DecodeError."""
    return _decoder.decode(line)
