"""An edge without sockets and without waiting: transports in memory, a core that a test speaks for, and virtual time."""

from __future__ import annotations

import asyncio
import http.client
import io
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response as HandshakeResponse
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from arena.protocol.codec import decode_server_message, encode
from arena.protocol.messages import (
    SUBPROTOCOL,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    Turn,
    Welcome,
)
from arena.protocol.values import Clocks, Limits
from arena.server.core.effects import PublishToTopic, SendToClient
from arena.server.core.limits import HostLimits
from arena.server.edge.connection import Connection
from arena.server.edge.edge import Edge
from arena.server.edge.request import Request
from arena.server.edge.responses import Response, encode_response, make_text_response
from arena.server.loop_lag import LoopLag
from arena.server.metrics import Metrics
from arena.server.ports import AdmissionRequest, MessageToCore, MessageToEdge
from testkit.virtual_time import CLOCK

M = TypeVar("M")
HERE = "198.51.100.1"
ELSEWHERE = "198.51.100.2"
CLOCKS = Clocks(10_000, 10_000)
SECRET = "s" * 32
PROGRAM = "test"


class ScriptedCore:
    """A core port that keeps what it is given. It welcomes every client, unless told otherwise."""

    def __init__(self) -> None:
        self.given: list[MessageToCore] = []
        self.edge: Edge | None = None
        self.welcomes = True

    def submit(self, message: MessageToCore) -> None:
        self.given.append(message)
        if isinstance(message, AdmissionRequest) and self.welcomes:
            self.soon(SendToClient(message.client, welcome(message.hello)))

    def soon(self, *messages: MessageToEdge) -> None:
        """Deliver in a later turn of the loop, as a shell does after its commit."""
        asyncio.get_running_loop().call_soon(self.deliver, *messages)

    def deliver(self, *messages: MessageToEdge) -> None:
        assert self.edge is not None
        self.edge.deliver(messages)

    def all(self, kind: type[M]) -> list[M]:
        return [each for each in self.given if isinstance(each, kind)]

    def last(self, kind: type[M]) -> M:
        return self.all(kind)[-1]


def welcome(hello: Hello) -> Welcome:
    session = "" if hello.role == "spectator" else SECRET
    return Welcome("test", hello.name, session, Limits(16 * 1024, hello.matches, 1000))


def turn(ply: int = 0, match: str = "m") -> Turn:
    return Turn(match, ply, [0] * ply, CLOCKS, 0)


class Wire(asyncio.Transport):
    """The edge's end of a connection in memory. The peer's end is a `Peer`."""

    def __init__(self, peer: Peer, address: str, *, eof: bool) -> None:
        super().__init__({"peername": (address, 4321)})
        self.peer = peer
        self.protocol: Connection | None = None
        self.eof = eof
        """True if half of the connection can be closed, as without TLS."""
        self.inbound = b""
        """Data that the peer has sent and the edge has not read."""
        self.reads: list[int] = []
        """Bytes of each piece that was read."""
        self.outbound = b""
        """Data that the peer has not read."""
        self.high = 64 * 1024
        self.choked = False
        self.paused = False
        self.ended = False
        """True if the edge has closed its half."""
        self.closing = False
        self.lost = asyncio.Event()
        self._pumping = False
        self._end: Callable[[], None] | None = None
        """Call for the end of the peer's stream, which the edge meets only behind all data, as on a socket."""
        self._socket: socket.socket | None = None
        """Socket whose peer has hung up, from the end of the peer's stream on."""

    # the edge's side

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else super().get_extra_info(name, default)

    def write(self, data: Any) -> None:
        assert not self.ended, "written after the end of the stream"
        if self.closing:
            return
        self.outbound += bytes(data)
        if self.peer.reading:
            self.flush()
        elif len(self.outbound) > self.high and not self.choked and self.protocol is not None:
            self.choked = True
            self.protocol.pause_writing()

    def flush(self) -> None:
        data, self.outbound = self.outbound, b""
        if data:
            self.peer.take(data)
        if self.choked and self.protocol is not None:
            self.choked = False
            self.protocol.resume_writing()
        if self.ended:
            self.peer.take_eof()

    def get_write_buffer_size(self) -> int:
        return len(self.outbound)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high or self.high

    def can_write_eof(self) -> bool:
        return self.eof

    def write_eof(self) -> None:
        self.ended = True
        if self.peer.reading:
            self.peer.take_eof()

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        if self.peer.reading:
            self.flush()
        self._lose()

    def abort(self) -> None:
        self._lose()

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False
        self.pump()

    def _lose(self) -> None:
        if not self.closing:
            self.closing = True
            if self._socket is not None:
                self._socket.close()
            asyncio.get_running_loop().call_soon(self._lost)

    def _lost(self) -> None:
        assert self.protocol is not None
        self.protocol.connection_lost(None)
        self.peer.take_eof()
        self.lost.set()

    # the peer's side

    def arrive(self, data: bytes) -> None:
        self.inbound += data
        self.pump()

    def pump(self) -> None:
        """Let the edge read a piece or the end in the next turn of the loop, if it reads."""
        if (self.inbound or self._end) and not (self._pumping or self.paused or self.closing):
            self._pumping = True
            asyncio.get_running_loop().call_soon(self._read)

    def _read(self) -> None:
        self._pumping = False
        if self.paused or self.closing:
            return
        assert self.protocol is not None
        if self.inbound:
            buffer = self.protocol.get_buffer(-1)
            piece, self.inbound = self.inbound[: len(buffer)], self.inbound[len(buffer) :]
            buffer[: len(piece)] = piece
            self.reads.append(len(piece))
            self.protocol.buffer_updated(len(piece))
            self.pump()
        elif self._end is not None:
            end, self._end = self._end, None
            end()

    def arrive_eof(self) -> None:
        """End the peer's stream, as when the peer closes the connection or its half of it."""
        assert self.protocol is not None
        protocol = self.protocol

        def end() -> None:
            protocol.eof_received()
            self.close()

        self._arrive_end(end)

    def reset(self) -> None:
        """Reset the connection by the peer."""
        self._arrive_end(self._lose)

    def _arrive_end(self, end: Callable[[], None]) -> None:
        if self.closing:
            return
        if self._socket is None:
            self._socket, far = socket.socketpair()
            far.close()
        self._end = end
        self.pump()


class Peer:
    """A client on a connection in memory."""

    def __init__(self, edge: Edge, address: str = HERE, *, eof: bool = True) -> None:
        self.reading = True
        self.wire = Wire(self, address, eof=eof)
        self.bytes = b""
        """All that has come and was not taken."""
        self.frames: list[Frame] = []
        self.library: ClientProtocol | None = None
        self.is_over = False
        self._news = asyncio.Event()
        self.wire.protocol = edge.make_connection()
        self.wire.protocol.connection_made(self.wire)

    # what comes

    def take(self, data: bytes) -> None:
        if self.library is None:
            self.bytes += data
        else:
            self.library.receive_data(data)
            self._parse()
        self._news.set()

    def take_eof(self) -> None:
        self.is_over = True
        if self.library is not None:
            self.library.receive_eof()
        self._news.set()

    def _parse(self) -> None:
        assert self.library is not None
        self.frames += [event for event in self.library.events_received() if isinstance(event, Frame)]
        for data in self.library.data_to_send():
            if data and not self.wire.closing:
                self.wire.arrive(data)

    async def news(self, done: Callable[[], bool]) -> None:
        """Wait until `done`."""
        async with asyncio.timeout(1000):
            while not done():
                self._news.clear()
                await self._news.wait()

    def read(self) -> None:
        """Read again, and all that waits."""
        self.reading = True
        self.wire.flush()

    # websockets

    async def open(self, **headers: str) -> HandshakeResponse:
        """Shake hands. Return the edge's answer."""
        library = ClientProtocol(
            parse_uri("ws://here/"), subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=None
        )
        request = library.connect()
        for name, value in headers.items():
            request.headers[name.replace("_", "-")] = value
        library.send_request(request)
        self.wire.arrive(b"".join(library.data_to_send()))
        await self.news(lambda: b"\r\n\r\n" in self.bytes)
        self.library = library
        data, self.bytes = self.bytes, b""
        library.receive_data(data)
        [response, *frames] = library.events_received()
        assert isinstance(response, HandshakeResponse)
        self.frames += [each for each in frames if isinstance(each, Frame)]
        return response

    def say(self, *messages: ClientMessage | bytes | str) -> None:
        """Send messages, or frames that are none, in one delivery."""
        self.wire.arrive(b"".join(masked(each) for each in messages))

    async def hear(self, kind: type[M]) -> M:
        """Return the next message of that type, and drop those before it."""
        while True:
            await self.news(lambda: any(each.opcode is Opcode.BINARY for each in self.frames) or self.is_over)
            while self.frames:
                frame = self.frames.pop(0)
                if frame.opcode is Opcode.BINARY:
                    message = decode_server_message(bytes(frame.data))
                    if isinstance(message, kind):
                        return message
            assert not self.is_over, f"no {kind.__name__} came"

    def heard(self) -> list[ServerMessage]:
        """Return all messages that have come."""
        frames, self.frames = self.frames, []
        return [decode_server_message(bytes(each.data)) for each in frames if each.opcode is Opcode.BINARY]

    async def closed(self) -> tuple[int | None, str]:
        """Wait for the end, and return the close code and reason."""
        assert self.library is not None
        await self.wire.lost.wait()
        return self.library.close_code, self.library.close_reason or ""

    async def refused(self) -> tuple[Error, int | None]:
        """Wait for the fatal error and for the end. Return the error and the close code."""
        while not (error := await self.hear(Error)).fatal:
            pass
        self.finish()
        return error, (await self.closed())[0]

    def finish(self) -> None:
        """Answer a close frame by the end of the stream, as a client does."""
        if self.library is not None and self.library.state is not State.OPEN and not self.wire.closing:
            self.wire.arrive_eof()


def masked(message: ClientMessage | bytes | str) -> bytes:
    """Return the frame in which a client sends a message."""
    if isinstance(message, str):
        return Frame(Opcode.TEXT, message.encode()).serialize(mask=True)
    data = message if isinstance(message, bytes) else encode(message)
    return Frame(Opcode.BINARY, data).serialize(mask=True)


def no_pages(request: Request, _address: str) -> Response | None:
    return make_text_response(request.path) if request.path.startswith("/page") else None


async def settled(answer: Response | Callable[[], Awaitable[Response | None]] | None) -> Response | None:
    """Return an answer, also one that has to be made first."""
    return await answer() if callable(answer) else answer


class ResponseSocket:
    """Bytes of a response, in place of the socket from which `http.client` reads."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._sent)


def parse_response(response: Response, *, is_last: bool = True) -> tuple[http.client.HTTPResponse, bytes]:
    """Encode a response, parse it with another library, and return the parsed response and its body."""
    data = ResponseSocket(encode_response(response, PROGRAM, is_last=is_last))
    parsed = http.client.HTTPResponse(data, method="GET")  # type: ignore[arg-type]
    parsed.begin()
    return parsed, parsed.read()


class Rig:
    """An edge, and whoever connects to it."""

    def __init__(self, core: ScriptedCore, edge: Edge) -> None:
        self.core = core
        self.edge = edge

    async def connect(self, address: str = HERE, **headers: str) -> Peer:
        """Return a client that has shaken hands."""
        peer = Peer(self.edge, address)
        assert (await peer.open(**headers)).status_code == 101
        return peer

    async def knock(self, hello: Hello) -> tuple[Peer, int]:
        """Return a client whose hello has no answer yet, and its number."""
        self.core.welcomes = False
        peer = await self.connect()
        peer.say(hello)
        await asyncio.sleep(0.05)
        return peer, self.core.last(AdmissionRequest).client

    async def enter(self, name: str = "anna", address: str = HERE, role: Any = "bot") -> tuple[Peer, int]:
        """Return a client that is in, and its number."""
        peer = await self.connect(address)
        peer.say(Hello(name, role=role))
        await peer.hear(Welcome)
        await asyncio.sleep(0)
        return peer, self.core.last(AdmissionRequest).client

    def send(self, client: int, *messages: ServerMessage) -> None:
        self.core.deliver(*(SendToClient(client, each) for each in messages))

    def publish(self, topic: str, *messages: ServerMessage) -> None:
        self.core.deliver(*(PublishToTopic(topic, each, (self.edge.number,)) for each in messages))


@asynccontextmanager
async def rig(limits: HostLimits | None = None, **options: Any) -> AsyncIterator[Rig]:
    """Open an edge on the running loop, whose time is virtual."""
    core = ScriptedCore()
    pages = options.pop("pages", no_pages)
    metrics = Metrics()
    edge = Edge(
        1,
        core,
        limits or HostLimits(),
        metrics=metrics,
        program=PROGRAM,
        lag=LoopLag(CLOCK, metrics.loop_seconds.observe),
        clock=CLOCK,
        **options,
    )
    edge.pages = pages
    core.edge = edge
    async with edge:
        yield Rig(core, edge)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


@asynccontextmanager
async def entered(limits: HostLimits | None = None, **options: Any) -> AsyncIterator[tuple[Rig, Peer, int]]:
    """Open an edge with one client that is in, anna. Yield the edge, the client, and its number."""
    async with rig(limits, **options) as arena:
        yield arena, *await arena.enter()
