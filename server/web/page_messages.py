"""Frames between the process that serves matches and its page process, over one socket.

    down    PageSetup, then PageRequest and LiveResponse
    up      PageReady, then PageResponse and LiveRequest

A frame is a length in four bytes, followed by a msgpack message of that length.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
from msgspec import Struct

from arena.protocol.messages import ListedBot, View
from arena.server.edge.page_client import ConnectedClient
from arena.server.edge.responses import Response
from arena.server.store.directives import EndedDirective, NewDirective
from arena.server.store.events import NewRequest
from arena.server.store.invitations import NewName
from arena.server.store.tokens import TokenChange
from arena.server.web.live import EventProgress
from arena.server.web.renames import NameChanges, Rename
from arena.server.web.routes import RouteMatch
from arena.server.web.static import Templates


class PageSetup(Struct, frozen=True, tag="setup"):
    """First frame: configuration of the page process."""

    store: str
    """Database URL."""
    games: list[str]
    """User-written games loaded in this server, as `FILE.py:Class`."""
    anyone: bool
    """True if any name may be used without a token."""
    guests: bool
    """True if people without a token may play the server's own bots."""
    templates: Templates


Change = TokenChange | NewName | NewDirective | EndedDirective | NewRequest | NameChanges
"""Change of the store, which the page process checks and prepares, and the process that serves matches makes."""


class PageRequest(Struct, frozen=True, tag="question"):
    """HTTP request that the page process must answer."""

    number: int
    route_match: RouteMatch
    gzip: bool
    """True if the client accepts gzip."""
    seconds: float
    """Time left for the answer, in seconds."""
    origin: str = ""
    """Scheme and host of the request; empty if unknown."""
    authorization: str = ""
    """Authorization header, for answers that depend on it."""


class LiveRequest(Struct, frozen=True, tag="wanted"):
    """Request for live data: about all clients, a match or an event; otherwise about the first Riskless match."""

    match: str = ""
    event: str = ""
    clients: bool = False
    number: int = 0


class LiveResponse(Struct, frozen=True, tag="given"):
    """Answer to a `LiveRequest`, with live data."""

    number: int = 0
    view: View | None = None
    playing: int = 0
    """Number of the event's matches in progress."""
    progress: EventProgress | None = None
    bots: list[ListedBot] | None = None
    """Connected bots; None if the core does not answer in time."""
    connected: list[ConnectedClient] = []
    renames: list[Rename] = []


class PageResponse(Struct, frozen=True, tag="reply"):
    """Answer to a `PageRequest`, with the fields of `responses.Response`."""

    number: int
    status: int
    content_type: str
    body: bytes
    headers: dict[str, str]
    seconds: float = 0.0
    """Time for which the answer may be cached, in seconds."""
    fault: str = ""
    """Text for the log; empty if there was no error."""
    change: Change | None = None
    """Change to make before the answer is sent; None for none. If it fails, the page process gets the request again.

    Renames take long, so the answer is sent as soon as they have begun.
    """


class PreparedResponse(NamedTuple):
    """Answer, and the change to make before the answer is sent."""

    answer: Response
    change: Change | None = None


AskLive = Callable[[LiveRequest], Awaitable[LiveResponse]]
"""Function that requests live data from the process that serves matches, and returns them."""


class PageReady(Struct, frozen=True, tag="ready"):
    """Message of the page process that it has started."""


ToPageProcess = PageSetup | PageRequest | LiveResponse
FromPageProcess = PageReady | PageResponse | LiveRequest

_encode = msgspec.msgpack.encode


def encode_frame(message: ToPageProcess | FromPageProcess) -> bytes:
    """Encode a message as a frame, with its length."""
    body = _encode(message)
    return len(body).to_bytes(4) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Read the body of the next frame. Raises asyncio.IncompleteReadError at the end of the stream."""
    length = int.from_bytes(await reader.readexactly(4))
    return await reader.readexactly(length)
