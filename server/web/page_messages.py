"""Messages between the process that serves matches and its page process (child process for slow responses), over a socket.

    to the page process      PageProcessConfig first, then any number of PageRequest
    from the page process    PageProcessReady first, then one PageResponse for each request

Each message is encoded as a frame: a length in four bytes, the highest byte first, then a msgpack message of that many
bytes.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct, field

from arena.protocol.messages import View
from arena.server.edge.responses import Response
from arena.server.web.event_progress import EventProgress
from arena.server.web.routes import RouteMatch
from arena.server.web.static_files import PageTemplates

TITLE_LOOKUP_TIME_SHARE = 0.15
"""Time limit of each of the two steps that find the title of an HTML page, as a share of the time left for the response.

The steps are the request for data on matches in progress, and the query of the store. If a step takes longer, the page
gets a general title instead of, for example, the names of the players.
"""


class ServerInfo(Struct, frozen=True):
    """Settings of the server that its web pages and HTTP responses need."""

    program: str
    """Name and version of the program."""
    admits_anyone: bool = False
    """True if a client without a token may use any name for which no token exists."""
    admits_guests: bool = False
    """True if people without a token may play the server's own bots."""
    house_bots: tuple[str, ...] = ()
    """Names of the server's own bots."""
    uses_tls: bool = False
    """True if the server itself uses TLS, so that its URLs begin with `https`."""


class PageProcessConfig(Struct, frozen=True, tag="setup"):
    """First message to the page process (the child process that makes the web page's responses): its configuration."""

    store_url: str
    """Database URL of the store."""
    games: list[str]
    """Custom games loaded in this server, each as `FILE.py:Class`."""
    server_info: ServerInfo
    templates: PageTemplates


class LiveSnapshot(Struct, frozen=True):
    """Data on matches and tournaments in progress that a response needs besides the data in the store.

    Fields that the response does not need have their defaults.
    """

    match_view: View | None = None
    """Spectators' view of the match that the response shows; None if it shows no match in progress."""
    current_match_count: int = field(name="in_progress_count", default=0)
    """Number of matches in progress in the event (such as a tournament) that the request is for."""
    event_progress: EventProgress | None = None
    """Progress of the tournament or ladder that the request is for; None if there is none, or if another server plays it."""


class PageRequest(Struct, frozen=True, tag="question"):
    """HTTP request that the page process must answer."""

    route_match: RouteMatch
    accepts_gzip: bool
    """True if the client accepts a response compressed with gzip."""
    origin: str = ""
    """Beginning of the request's URL, as in `https://arena.example`; empty if unknown or not needed."""
    authorization: str = ""
    """Authorization header; empty if the response does not depend on it."""
    live_snapshot: LiveSnapshot = LiveSnapshot()
    """Live data on the match or tournament of the request; set by `PageProcess` when it sends the request."""
    request_number: int = field(name="number", default=0)
    """Number that identifies the request and its response; set by `PageProcess` when it sends the request."""
    seconds_left: float = 0.0
    """Time left for the response, in seconds; set by `PageProcess` when it sends the request."""


class PageResponse(Struct, frozen=True, tag="reply"):
    """Response of the page process to a `PageRequest`."""

    response: Response
    request_number: int = field(name="number", default=0)
    cache_seconds: float = 0.0
    """Time for which the response may be cached, in seconds; 0 if it must not be cached."""
    error_text: str = ""
    """Description of an internal error, for the server's log; empty if there was none."""


class PageProcessReady(Struct, frozen=True, tag="ready"):
    """First message from the page process: it has started and accepts requests."""


MessageToPageProcess = PageProcessConfig | PageRequest
MessageFromPageProcess = PageProcessReady | PageResponse

_encode_message = msgspec.msgpack.encode


def encode_frame(message: MessageToPageProcess | MessageFromPageProcess) -> bytes:
    """Encode a message as a frame: its length in bytes, as four big-endian bytes, then the message in MessagePack."""
    body = _encode_message(message)
    return len(body).to_bytes(4) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the encoded message in the next frame. Raises asyncio.IncompleteReadError at the end of the stream."""
    length = int.from_bytes(await reader.readexactly(4))
    return await reader.readexactly(length)
