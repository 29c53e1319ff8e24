"""Edge for tests, without sockets and real time: transports in memory, a scripted core, and a virtual clock."""

from __future__ import annotations

import asyncio
import http.client
import io
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response as HandshakeResponse
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.messages import (
    SUBPROTOCOL,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    Turn,
    Welcome,
)
from arena.protocol.values import ClientLimits, Clocks
from arena.server.core.effects import PublishToTopic, SendToClient
from arena.server.core.limits import ServerLimits
from arena.server.edge.connection import Connection
from arena.server.edge.edge import Edge
from arena.server.edge.request import Request
from arena.server.edge.responses import (
    PAGE_NOT_FOUND_RESPONSE,
    MakeResponse,
    Response,
    encode_response,
    make_text_response,
)
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.ports import AdmissionRequest, MessageToCore, MessageToEdge
from testkit.virtual_time import VIRTUAL_CLOCK

M = TypeVar("M")
ADDRESS = "198.51.100.1"
OTHER_ADDRESS = "198.51.100.2"
CLOCKS = Clocks(10_000, 10_000)
SECRET = "s" * 32
PROGRAM = "test"


class ScriptedCore:
    """Core that records the messages of the edge. It admits every client, unless `welcomes` is False."""

    def __init__(self) -> None:
        self.received: list[MessageToCore] = []
        self.edge: Edge | None = None
        self.welcomes = True

    def submit(self, message: MessageToCore) -> None:
        self.received.append(message)
        if isinstance(message, AdmissionRequest) and self.welcomes:
            self.deliver_soon(SendToClient(message.client_number, make_welcome(message.hello)))

    def deliver_soon(self, *messages: MessageToEdge) -> None:
        """Deliver messages to the edge in the next iteration of the event loop, as the real core does after a commit."""
        asyncio.get_running_loop().call_soon(self.deliver, *messages)

    def deliver(self, *messages: MessageToEdge) -> None:
        assert self.edge is not None
        self.edge.deliver_from_core(messages)

    def list_received(self, kind: type[M]) -> list[M]:
        return [each for each in self.received if isinstance(each, kind)]

    def get_last(self, kind: type[M]) -> M:
        return self.list_received(kind)[-1]


def make_welcome(hello: Hello) -> Welcome:
    session = "" if hello.role == "spectator" else SECRET
    return Welcome("test", hello.name, session, ClientLimits(16 * 1024, hello.matches, 1000))


def make_turn(ply: int = 0, match: str = "m") -> Turn:
    return Turn(match, ply, [0] * ply, CLOCKS, 0)


class MemoryTransport(asyncio.Transport):
    """Transport of the edge for a connection in memory, whose other end is a `Peer`."""

    def __init__(self, peer: Peer, address: str, *, eof: bool) -> None:
        super().__init__({"peername": (address, 4321)})
        self.peer = peer
        self.protocol: Connection | None = None
        self.eof = eof
        """True if the transport can end one direction of the connection, as TCP can and TLS cannot."""
        self.inbound = b""
        """Data that the peer has sent but the edge has not read."""
        self.reads: list[int] = []
        """Size of each chunk that the edge has read, in bytes."""
        self.outbound = b""
        """Data that the edge has written but the peer has not read."""
        self.high = 64 * 1024
        self.choked = False
        self.paused = False
        self.ended = False
        """True once the edge has ended its stream."""
        self.closing = False
        self.lost = asyncio.Event()
        self._pumping = False
        self._end: Callable[[], None] | None = None
        """Function that reports the end of the peer's stream, called after all data is read; None before the end."""
        self._socket: socket.socket | None = None
        """Socket whose peer is closed, so that `poll` reports it; None until the peer has ended its stream."""

    # called by the edge

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else super().get_extra_info(name, default)

    def write(self, data: Any) -> None:
        assert not self.ended, "written after the end of the stream"
        if self.closing:
            return
        self.outbound += bytes(data)
        if self.peer.is_reading:
            self.flush()
        elif len(self.outbound) > self.high and not self.choked and self.protocol is not None:
            self.choked = True
            self.protocol.pause_writing()

    def flush(self) -> None:
        data, self.outbound = self.outbound, b""
        if data:
            self.peer.handle_data(data)
        if self.choked and self.protocol is not None:
            self.choked = False
            self.protocol.resume_writing()
        if self.ended:
            self.peer.handle_eof()

    def get_write_buffer_size(self) -> int:
        return len(self.outbound)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high or self.high

    def can_write_eof(self) -> bool:
        return self.eof

    def write_eof(self) -> None:
        self.ended = True
        if self.peer.is_reading:
            self.peer.handle_eof()

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        if self.peer.is_reading:
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
        self.peer.handle_eof()
        self.lost.set()

    # called by the peer

    def feed_data(self, data: bytes) -> None:
        self.inbound += data
        self.pump()

    def pump(self) -> None:
        """Let the edge read a chunk or the end in the next iteration of the event loop, unless its reading is paused."""
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

    def feed_eof(self) -> None:
        """End the peer's stream, as when the peer closes the connection or its half of it."""
        assert self.protocol is not None
        protocol = self.protocol

        def end() -> None:
            protocol.eof_received()
            self.close()

        self._feed_end(end)

    def reset(self) -> None:
        """Reset the connection by the peer."""
        self._feed_end(self._lose)

    def _feed_end(self, end: Callable[[], None]) -> None:
        if self.closing:
            return
        if self._socket is None:
            self._socket, far = socket.socketpair()
            far.close()
        self._end = end
        self.pump()


class Peer:
    """Client at the other end of a connection in memory."""

    def __init__(self, edge: Edge, address: str = ADDRESS, *, eof: bool = True) -> None:
        self.is_reading = True
        self.transport = MemoryTransport(self, address, eof=eof)
        self.bytes = b""
        """Bytes received before the websocket is open, and not taken by the test."""
        self.frames: list[Frame] = []
        self.library: ClientProtocol | None = None
        self.is_over = False
        self._changed = asyncio.Event()
        self.transport.protocol = Connection(edge)
        self.transport.protocol.connection_made(self.transport)

    # called by the transport

    def handle_data(self, data: bytes) -> None:
        if self.library is None:
            self.bytes += data
        else:
            self.library.receive_data(data)
            self._parse()
        self._changed.set()

    def handle_eof(self) -> None:
        self.is_over = True
        if self.library is not None:
            self.library.receive_eof()
        self._changed.set()

    def _parse(self) -> None:
        assert self.library is not None
        self.frames += [event for event in self.library.events_received() if isinstance(event, Frame)]
        for data in self.library.data_to_send():
            if data and not self.transport.closing:
                self.transport.feed_data(data)

    async def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until `done()` is true. It is checked after each received chunk."""
        async with asyncio.timeout(1000):
            while not done():
                self._changed.clear()
                await self._changed.wait()

    def resume_reading(self) -> None:
        """Read again, and read all unread data."""
        self.is_reading = True
        self.transport.flush()

    # websockets

    async def open_websocket(self, **headers: str) -> HandshakeResponse:
        """Send the request that opens a websocket, and return the edge's response."""
        library = ClientProtocol(
            parse_uri("ws://here/"), subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=None
        )
        request = library.connect()
        for name, value in headers.items():
            request.headers[name.replace("_", "-")] = value
        library.send_request(request)
        self.transport.feed_data(b"".join(library.data_to_send()))
        await self.wait_until(lambda: b"\r\n\r\n" in self.bytes)
        self.library = library
        data, self.bytes = self.bytes, b""
        library.receive_data(data)
        [response, *frames] = library.events_received()
        assert isinstance(response, HandshakeResponse)
        self.frames += [each for each in frames if isinstance(each, Frame)]
        return response

    def send(self, *messages: ClientMessage | bytes | str) -> None:
        """Send messages, or invalid frames given as bytes or text, in one chunk."""
        self.transport.feed_data(b"".join(encode_client_frame(each) for each in messages))

    async def receive(self, kind: type[M]) -> M:
        """Return the next message of the type `kind`, and drop the messages before it."""
        while True:
            await self.wait_until(
                lambda: any(each.opcode is Opcode.BINARY for each in self.frames) or self.is_over
            )
            while self.frames:
                frame = self.frames.pop(0)
                if frame.opcode is Opcode.BINARY:
                    message = decode_server_message(bytes(frame.data))
                    if isinstance(message, kind):
                        return message
            assert not self.is_over, f"no {kind.__name__} came"

    def take_messages(self) -> list[ServerMessage]:
        """Return and forget all messages received so far."""
        frames, self.frames = self.frames, []
        return [decode_server_message(bytes(each.data)) for each in frames if each.opcode is Opcode.BINARY]

    async def wait_closed(self) -> tuple[int | None, str]:
        """Wait until the connection is lost, and return the code and reason of the close frame."""
        assert self.library is not None
        await self.transport.lost.wait()
        return self.library.close_code, self.library.close_reason or ""

    async def wait_refused(self) -> tuple[Error, int | None]:
        """Wait for a fatal error, answer the close frame, and return the error and the close code."""
        while not (error := await self.receive(Error)).fatal:
            pass
        self.answer_close()
        return error, (await self.wait_closed())[0]

    def answer_close(self) -> None:
        """End the stream if the edge has sent a close frame, as a real client does."""
        if self.library is not None and self.library.state is not State.OPEN and not self.transport.closing:
            self.transport.feed_eof()


def encode_client_frame(message: ClientMessage | bytes | str) -> bytes:
    """Return the masked frame in which a client sends a message."""
    if isinstance(message, str):
        return Frame(Opcode.TEXT, message.encode()).serialize(mask=True)
    data = message if isinstance(message, bytes) else encode_message(message)
    return Frame(Opcode.BINARY, data).serialize(mask=True)


def echo_page_path(request: Request, _address: str) -> Response:
    return make_text_response(request.path) if request.path.startswith("/page") else PAGE_NOT_FOUND_RESPONSE


async def await_response(answer: Response | MakeResponse) -> Response:
    """Return the response of a page handler, and await it if the handler has returned a coroutine function."""
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
    """Edge under test with its scripted core, and functions that connect clients to it."""

    def __init__(self, core: ScriptedCore, edge: Edge) -> None:
        self.core = core
        self.edge = edge

    async def connect(self, address: str = ADDRESS, **headers: str) -> Peer:
        """Return a client with an open websocket, which has sent no hello."""
        peer = Peer(self.edge, address)
        assert (await peer.open_websocket(**headers)).status_code == 101
        return peer

    async def request_admission(self, hello: Hello) -> tuple[Peer, int]:
        """Return a client whose hello the core has not answered, and its number."""
        self.core.welcomes = False
        peer = await self.connect()
        peer.send(hello)
        await asyncio.sleep(0.05)
        return peer, self.core.get_last(AdmissionRequest).client_number

    async def admit_client(
        self, name: str = "anna", address: str = ADDRESS, role: Any = "bot"
    ) -> tuple[Peer, int]:
        """Return a client that the core has admitted, and its number."""
        peer = await self.connect(address)
        peer.send(Hello(name, role=role))
        await peer.receive(Welcome)
        await asyncio.sleep(0)
        return peer, self.core.get_last(AdmissionRequest).client_number

    def send(self, client: int, *messages: ServerMessage) -> None:
        self.core.deliver(*(SendToClient(client, each) for each in messages))

    def publish(self, topic: str, *messages: ServerMessage) -> None:
        self.core.deliver(*(PublishToTopic(topic, each, (self.edge.number,)) for each in messages))


@asynccontextmanager
async def open_rig(limits: ServerLimits | None = None, **options: Any) -> AsyncIterator[Rig]:
    """Yield an edge on the running event loop, whose time must be virtual. `options`: further arguments of `Edge`."""
    core = ScriptedCore()
    pages = options.pop("pages", echo_page_path)
    metrics = Metrics()
    edge = Edge(
        1,
        core,
        limits or ServerLimits(),
        metrics=metrics,
        server_program=PROGRAM,
        loop_lag=EventLoopLag(VIRTUAL_CLOCK, metrics.loop_lag_seconds.observe),
        clock=VIRTUAL_CLOCK,
        **options,
    )
    edge.page_handler = pages
    core.edge = edge
    async with edge:
        yield Rig(core, edge)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


@asynccontextmanager
async def open_rig_with_client(
    limits: ServerLimits | None = None, **options: Any
) -> AsyncIterator[tuple[Rig, Peer, int]]:
    """Yield an edge with one admitted client, named anna, the client, and its number."""
    async with open_rig(limits, **options) as arena:
        yield arena, *await arena.admit_client()
