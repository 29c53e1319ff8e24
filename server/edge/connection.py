"""Connection of one client: its socket, from the first byte to the last.

    bytes, stamped with their arrival -> rate limit of the address -> `websockets` -> frames -> session

The library `websockets` implements the protocol, by its Sans-I/O layer. Input is limited before it is parsed: it is read in
small chunks, and an address may send a limited number of chunks per second.

A player's chunk within that limit is parsed immediately. Any other chunk is buffered, and parsed a few frames at a time
when the fair queue serves the connection. Until then, reading is paused.
"""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from websockets.exceptions import InvalidMessage
from websockets.frames import Opcode
from websockets.http11 import Request as HttpRequest
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import SUBPROTOCOL
from arena.server.abuse_counter import make_address_key
from arena.server.edge import handshake, plain_requests
from arena.server.edge.addresses import get_peer_ip_address
from arena.server.edge.pings import PING_INTERVAL_SECONDS, PingTracker
from arena.server.edge.request import Request
from arena.server.edge.responses import MakeResponse, Response, encode_response
from arena.server.edge.session import ADMITTED, AWAITING_ADMISSION, BACKLOGGED
from arena.server.edge.token_bucket import TokenBucket

if TYPE_CHECKING:
    from arena.server.edge.edge import Edge
    from arena.server.edge.session import Session

log = logging.getLogger("arena.connection")

OPEN_WEBSOCKET_STATE = State.OPEN
"""State `OPEN` of a websocket, looked up once, because access to an enum member takes 0.1 µs in Python 3.11."""
BYTES_PARSED_PER_WORK_SLICE = 128
"""Number of bytes of a websocket that are parsed each time the fair queue (of clients with work) serves it: six messages."""
HEADER_END_BYTES = b"\r\n\r\n"
"""Bytes at the end of a request's headers: the end of a line, and an empty line."""
HTTP_RESPONSE_TIMEOUT_SECONDS = 310.0
"""Longest time to prepare the response to a plain HTTP request, in seconds. Web pages have shorter limits of their own."""
WEBSOCKET_CLOSE_TIMEOUT_SECONDS = 2.0
"""Longest time for the closing handshake, in seconds. During it, the peer can still read the last messages."""
SLOW_PEER_THRESHOLD_BYTES = 64 * 1024
"""Number of unsent bytes in the transport above which the peer counts as slow."""
SLOW_PEER_MAX_UNSENT_BYTES = 128 * 1024
"""Number of unsent bytes above which a slow peer's connection is closed."""
MAX_BYTES_READ_AFTER_CLOSE = 4096
"""Maximum number of bytes to read after the close frame was sent. An honest client has only a few in transit."""
MAX_BYTES_DISCARDED_AFTER_CLOSE = 16 * 1024 * 1024
"""Maximum number of bytes to read and discard after the server has ended its stream. After more, the connection is reset."""
CONNECTION_CPU_COST_US = 150.0
"""Estimated CPU time to accept and close a connection, in µs, without the work that the fair queue does and measures."""
HELLO_CPU_COST_US = 600.0
"""Estimated CPU time of a client's `hello` message, in µs, without the work that the fair queue does and measures.

The estimate covers the lookup of the name, the work of the server's core and the store's commit, each for the client's
arrival and for its departure.
"""
MESSAGE_CPU_COST_US = 300.0
"""Estimated CPU time that a message other than a hello causes outside of the fair queue, in µs.

The edge's fair queue adds the measured time of its own work for the message, and then pauses in proportion to the sum.
"""
MAX_CLOSE_REASON_BYTES = 120
"""Maximum size of the reason in a close frame, in bytes. The frame has room for 123 bytes beside the close code."""
POLL_HANG_UP_EVENT = getattr(select, "POLLRDHUP", 0)
"""Event by which `poll` reports that the peer has ended its stream; 0 on systems without this event."""
PROTOCOL_ERROR_CLOSE_CODES = frozenset({1002, 1003, 1007, 1008, 1009})
"""Websocket close codes that the server sends for protocol errors of a client."""


class Connection(asyncio.BufferedProtocol):
    """TCP or TLS connection of one client, which sends plain HTTP requests or opens a websocket."""

    address: str
    """Address of the client, under which the connection is counted. Behind a trusted proxy: the address that the proxy names."""
    pings: PingTracker
    """Pings that the server has sent on the websocket, and their round-trip times. Set when the websocket opens."""
    address_bucket: TokenBucket
    """Token bucket that limits how many chunks (reads from a socket) the address may send. Set when the websocket opens."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._is_admitted = False
        """True from the admission of the connection (`ConnectionAdmission.try_admit_connection`) to its end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        edge = self._edge
        self.transport = cast("asyncio.Transport", transport)
        self.address = get_peer_ip_address(transport.get_extra_info("peername"))
        if not edge.admission.try_admit_connection(self.address):
            # A refused connection gets no further objects: refusals must be cheap.
            edge.admission.hold_and_close_refused_connection(self.transport)
            return
        self._is_admitted = True
        self._is_counted = True
        """True while the connection counts towards the limits of its address."""
        self._address_key = make_address_key(self.address)
        """Address as the fair queue counts it: an IPv4 address, or the /64 network of an IPv6 address."""
        self._protocol = self._make_protocol()
        self.session: Session | None = None
        """Session of the websocket; None before the websocket is open."""
        self._unparsed_bytes = b""
        """Bytes that were read but not parsed yet."""
        self._arrived_ns = 0
        """Arrival time of the bytes in `_unparsed_bytes`, in monotonic ns."""
        self._is_queued = False
        """True while the connection waits in the fair queue."""
        self._request_tail = b""
        """Last three bytes of an incomplete request; empty between two requests.

        They may be the beginning of `HEADER_END_BYTES`, split between two reads.
        """
        self._is_answering = False
        """True while no further request is parsed, because a response is being prepared or the last one was sent."""
        self._response_count = 0
        """Number of plain requests answered so far."""
        self.is_slow = False
        """True while more than `SLOW_PEER_THRESHOLD_BYTES` are unsent."""
        self._is_closing = False
        """True once the connection is about to end, by the closing handshake or after its last response."""
        self._bytes_after_close = 0
        """Number of bytes received since this side began to close the connection."""
        self._has_ended_stream = False
        """True once the server has ended its side of the connection. Whatever arrives afterwards is discarded."""
        self.has_peer_ended_stream = False
        """True once the peer is known to send nothing more. Of the messages still waiting, only moves and resignations count.
        """
        self._ping_timer: asyncio.TimerHandle | None = None
        self._timeout_timer: asyncio.TimerHandle | None = None
        self.transport.set_write_buffer_limits(high=SLOW_PEER_THRESHOLD_BYTES)
        self.schedule_timeout(edge.limits.hello_seconds, self._close_after_request_timeout)
        edge.add_connection(self)

    def _make_protocol(self) -> ServerProtocol:
        """Return a protocol object of `websockets`, for one request and for the websocket that the request may open."""
        return ServerProtocol(
            subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=self._edge.limits.message_bytes
        )

    # reading

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  chunks are small on purpose
        # All connections share one buffer: its content is copied out before the next read.
        return (
            self._edge.discard_buffer
            if self._is_admitted and self._has_ended_stream
            else self._edge.read_buffer
        )

    def buffer_updated(self, nbytes: int) -> None:
        if not self._is_admitted:
            return
        if self._has_ended_stream:
            # A peer that is still sending a huge message reads the refusal only after it has sent the whole message.
            self._bytes_after_close += nbytes
            if self._bytes_after_close > MAX_BYTES_DISCARDED_AFTER_CLOSE:
                self.transport.abort()
            return
        edge = self._edge
        now = edge.now_ns()
        data = bytes(edge.read_buffer[:nbytes])
        session = self.session
        if (
            session is not None
            and session.played_matches
            and session.state == ADMITTED
            and not self._unparsed_bytes
            and self.address_bucket.try_take_token(now)
        ):
            frames = self._parse_websocket_frames(data, now)
            if frames > 1:
                self.address_bucket.take_tokens_with_debt(frames - 1)
            return
        self._unparsed_bytes += data
        self._arrived_ns = now
        self.pause_or_resume_reading()

    def pause_or_resume_reading(self) -> None:
        """Pause reading from the socket while received bytes wait to be parsed; otherwise resume reading.

        If there is work that may be done now, put the connection into the fair queue (of clients with work).
        """
        if self._unparsed_bytes:
            self.transport.pause_reading()
        elif self._bytes_after_close <= MAX_BYTES_READ_AFTER_CLOSE:
            self.transport.resume_reading()
        if (self._unparsed_bytes and self._may_parse_more_bytes) or (
            self.session is not None and self.session.waiting_messages
        ):
            self.enter_fair_queue()

    @property
    def _may_parse_more_bytes(self) -> bool:
        session = self.session
        if session is None:
            # A client that reads no responses gets no further ones, which would only use up memory here.
            return not (self._is_answering or self.is_slow)
        return session.state not in {AWAITING_ADMISSION, BACKLOGGED}

    def enter_fair_queue(self) -> None:
        if not self._is_queued:
            self._is_queued = True
            self._edge.fair_queue.enqueue(self._address_key, self.run_work_slice_and_get_cost_us)

    def run_work_slice_and_get_cost_us(self) -> float:
        """Do one piece of work, because the fair queue serves the connection now: parse some bytes, or handle a message.

        Return the cost in µs: the CPU time of the work, plus an estimate for the further work that it causes.
        """
        self._is_queued = False
        if not self._is_admitted or self._has_ended_stream:
            return 0.0
        start_ns = self._edge.clock.cpu_time_ns()
        try:
            cost = self._parse_bytes_or_handle_message()
            self.pause_or_resume_reading()
        except Exception:
            log.exception("a connection failed", extra={"address": self.address})
            self.transport.abort()
            return 0.0
        return cost + (self._edge.clock.cpu_time_ns() - start_ns) / 1000

    def _parse_bytes_or_handle_message(self) -> float:
        """Do the next piece of waiting work: parse some bytes, or handle a message.

        Return the estimated cost of the further work that this causes, in µs.
        """
        session = self.session
        if session is None:
            data, self._unparsed_bytes = self._unparsed_bytes, b""
            return self._parse_request_bytes(data) if data else 0.0
        chunk_bytes = BYTES_PARSED_PER_WORK_SLICE
        if len(self._unparsed_bytes) > chunk_bytes and self._has_peer_hung_up():
            # The event loop reports the end of the stream only after all earlier data, and reading is paused.
            self.has_peer_ended_stream = True
            if not session.has_unanswered_turn:
                self._unparsed_bytes = b""
                self.transport.abort()
                return 0.0
            session.drop_queued_messages()
            chunk_bytes = len(self._unparsed_bytes)
        if not (self._unparsed_bytes and self._may_parse_more_bytes):
            return session.handle_queued_message_and_get_cost_us()
        data, self._unparsed_bytes = self._unparsed_bytes[:chunk_bytes], self._unparsed_bytes[chunk_bytes:]
        submitted_before = session.submitted_message_count
        cost_per_message = MESSAGE_CPU_COST_US if session.client_number else HELLO_CPU_COST_US
        self._parse_websocket_frames(data, self._arrived_ns)
        return cost_per_message * (session.submitted_message_count - submitted_before)

    def _parse_websocket_frames(self, data: bytes, arrived_ns: int) -> int:
        """Parse received bytes as websocket frames, and pass the frames to the session. Return the number of frames.

        arrived_ns  arrival time of the bytes, in monotonic ns
        """
        if self._is_closing:
            self._bytes_after_close += len(data)
            if self._bytes_after_close > MAX_BYTES_READ_AFTER_CLOSE:
                self.transport.pause_reading()
                return 0
        protocol = self._protocol
        protocol.receive_data(data)
        frames = protocol.events_received()
        for frame in frames:
            self.session.receive_frame(frame, arrived_ns)  # type: ignore[union-attr, arg-type]
        writes = protocol.data_to_send()
        if writes:
            closed_by_peer = any(frame.opcode is Opcode.CLOSE for frame in frames)  # type: ignore[union-attr]
            self._write_websockets_library_output(writes, closed_by_peer=closed_by_peer)
        return len(frames)

    def _has_peer_hung_up(self) -> bool:
        """Return True if the peer has closed or reset the connection, even while reading is paused."""
        plain_socket = self.transport.get_extra_info("socket")
        if plain_socket is None:  # a transport in memory has no socket
            return False
        poll = select.poll()
        poll.register(plain_socket.fileno(), POLL_HANG_UP_EVENT)
        return bool(poll.poll(0))

    def reset_flooding_client(self, frame_kind: str) -> None:
        """Reset the connection of a client that sends too many frames of a kind: `control frames` or `fragments`."""
        self._edge.admission.record_misbehaving_connection(self.address)
        self._unparsed_bytes = b""
        if self.session is not None:
            self.session.handle_disconnect(f"too many {frame_kind}")
        self.transport.abort()

    def eof_received(self) -> None:
        if not self._is_admitted:
            return
        self._handle_remaining_bytes()
        self._protocol.receive_eof()
        self._write_websockets_library_output(self._protocol.data_to_send())
        if self.session is not None:
            self.session.handle_disconnect(None)
        # A peer that has stopped sending may have stopped reading too.
        self.schedule_timeout(WEBSOCKET_CLOSE_TIMEOUT_SECONDS, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the reason makes no difference
        if not self._is_admitted:
            return
        self._handle_remaining_bytes()
        self._is_admitted = False
        self._unparsed_bytes = b""
        self.schedule_timeout(None)
        if self._ping_timer is not None:
            self._ping_timer.cancel()
        if self.session is not None:
            self.session.handle_disconnect(None)
        if self._is_counted:
            self._edge.admission.stop_counting_connection(self.address)
        self._edge.remove_connection(self)
        self._break_protocol_reference_cycles()
        self.session = None

    def _break_protocol_reference_cycles(self) -> None:
        """Break the reference cycles of the `websockets` protocol object, so that no garbage collection is needed to free it.

        A garbage collection stalls all clients, and clients that connect again and again would cause many. Two objects
        refer back to the protocol object: its parser, and the traceback of an error that was raised in the parser.
        """
        vars(self._protocol).clear()

    def _handle_remaining_bytes(self) -> None:
        """Handle the last received bytes, because a player's last move counts even if the connection then breaks."""
        self.has_peer_ended_stream = True
        session = self.session
        if session is None:
            return
        if self._unparsed_bytes and session.state == ADMITTED:
            data, self._unparsed_bytes = self._unparsed_bytes, b""
            self._parse_websocket_frames(data, self._arrived_ns)

    # requests

    def _parse_request_bytes(self, data: bytes) -> float:
        """Parse received bytes of an HTTP request, and keep the bytes after the request for later.

        Return the estimated cost of the further work that the request causes, in µs.
        """
        head_bytes = self._request_tail + data
        head_end = head_bytes.find(HEADER_END_BYTES)
        if head_end >= 0:
            head_size = head_end + len(HEADER_END_BYTES) - len(self._request_tail)
            data, self._unparsed_bytes = data[:head_size], data[head_size:]
            self._request_tail = b""
        else:
            self._request_tail = head_bytes[1 - len(HEADER_END_BYTES) :]
        is_first = not self._response_count
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            self._handle_request(cast("HttpRequest", event))
        writes, handshake_error = self._protocol.data_to_send(), self._protocol.handshake_exc
        if isinstance(handshake_error, InvalidMessage):  # the library has refused it without a response
            self._write_response(
                handshake.make_unreadable_request_response(handshake_error.__cause__), is_last=True
            )
        else:
            self._write_websockets_library_output(writes)
        return CONNECTION_CPU_COST_US if head_end >= 0 and is_first else 0.0

    def _handle_request(self, event: HttpRequest) -> None:
        edge = self._edge
        self._is_answering = True
        request = Request(event.path, event.headers, event.method, event.protocol, self.transport.is_closing)
        client_address = edge.admission.find_client_address(request, self.address)
        ban_reason = edge.directives.find_ban_reason(client_address)
        if ban_reason:
            self._write_response(handshake.make_banned_response(ban_reason), is_last=True)
            return
        if not request.wants_websocket:
            page_response = plain_requests.make_page_response(edge.page_handler, request, client_address)
            if isinstance(page_response, Response):
                # Most responses are cached or refusals. A task for each would cost more than the response.
                self._send_response(request, page_response)
            else:
                self.schedule_timeout(HTTP_RESPONSE_TIMEOUT_SECONDS, self.transport.abort)
                edge.start_soon(self._send_response_when_ready, request, page_response)
            return
        refusal = (
            handshake.find_method_refusal(request)
            or self._refuse_or_count_proxied_client(client_address)
            or handshake.find_subprotocol_refusal(request)
            or (handshake.NO_CORE_RESPONSE if edge.is_cut_off_from_core else None)
            or (None if edge.allows_any_origin else handshake.find_origin_refusal(request))
        )
        if refusal is not None:
            self._write_response(refusal, is_last=True)
            return
        response = self._protocol.accept(event)
        response.headers["Server"] = edge.program
        self._protocol.send_response(response)
        event.headers.clear()  # the library keeps the request until the connection ends
        if self._protocol.state is OPEN_WEBSOCKET_STATE:
            self.pings = PingTracker()
            self.address_bucket = edge.admission.find_or_add_read_bucket(self.address)
            self.session = edge.make_session(edge, self)
            self.schedule_timeout(edge.limits.hello_seconds, self.session.handle_hello_timeout)
            self._ping_timer = edge.clock.call_later(edge.compute_first_ping_delay_s(), self._send_ping)

    def _refuse_or_count_proxied_client(self, client_address: str) -> Response | None:
        """Count this connection towards the limits of the client's own address, if it came through a proxy.

        Return the response that refuses a client with too many connections; None if the client may connect.
        """
        admission = self._edge.admission
        if client_address == self.address:
            return None
        admission.stop_counting_connection(self.address)
        self._is_counted = admission.try_admit_connection(client_address)
        if not self._is_counted:
            return handshake.TOO_MANY_CONNECTIONS_RESPONSE
        self.address, self._address_key = client_address, make_address_key(client_address)
        return None

    async def _send_response_when_ready(self, request: Request, make_response: MakeResponse) -> None:
        self._send_response(request, await make_response())

    def _send_response(self, request: Request, response: Response) -> None:
        """Send the response to a plain HTTP request. Then wait for the next request, or end the connection."""
        edge = self._edge
        if self.transport.is_closing():
            return
        self._response_count += 1
        is_last = (
            not request.allows_another_request
            or self.has_peer_ended_stream
            or self._response_count >= plain_requests.MAX_REQUESTS_PER_CONNECTION
            or not edge.admission.may_connection_stay_open(self.address)
        )
        self._write_response(response, is_last=is_last, omits_body=request.method == "HEAD")
        if not is_last:
            # The time limit of the first request applies to the next one too.
            self._break_protocol_reference_cycles()
            self._protocol = self._make_protocol()
            self._is_answering = False
            self.schedule_timeout(edge.limits.hello_seconds, self._close_after_request_timeout)
            self.pause_or_resume_reading()

    def _write_response(self, response: Response, *, is_last: bool, omits_body: bool = False) -> None:
        self.transport.write(
            encode_response(response, self._edge.program, is_last=is_last, omits_body=omits_body)
        )
        if is_last:
            self._is_closing = True
            self._end_outgoing_stream()
            self.schedule_timeout(self._edge.limits.hello_seconds, self.transport.abort)

    def _close_after_request_timeout(self) -> None:
        """Close a connection on which no request came in time.

        A connection without a single byte is no misbehaviour, because browsers open some in advance and may never use them.
        """
        if self._request_tail or self._unparsed_bytes:
            self._edge.admission.record_misbehaving_connection(self.address)
        self.transport.abort()

    # writing

    @property
    def unsent_byte_count(self) -> int:
        """Number of bytes that wait in this process to be sent, without those in the buffers of the operating system."""
        return self.transport.get_write_buffer_size()

    def write_or_disconnect_slow_client(self, encoded_frames: bytes) -> None:
        """Write frames without waiting. If too many bytes already wait for the client, disconnect the client instead."""
        if self.is_slow and self.session is not None and self.unsent_byte_count > SLOW_PEER_MAX_UNSENT_BYTES:
            self.session.close_slow_client()
        else:
            self.transport.write(encoded_frames)

    def pause_writing(self) -> None:
        self.is_slow = True

    def resume_writing(self) -> None:
        self.is_slow = False
        if self._is_admitted and self.session is None:
            self.pause_or_resume_reading()

    def _write_websockets_library_output(
        self, outgoing_frames: list[bytes], *, closed_by_peer: bool = False
    ) -> None:
        """Write frames that the `websockets` library generates itself, such as pongs.

        outgoing_frames  frames; empty bytes stand for the end of the stream
        closed_by_peer   True if the peer has sent a close frame, whose code the library repeats. If False, a close code among
                         `PROTOCOL_ERROR_CLOSE_CODES` means that the peer has violated the protocol
        """
        for data in outgoing_frames:
            if self.transport.is_closing():
                break
            if data:
                self.transport.write(data)
            else:
                self._end_outgoing_stream()
        protocol = self._protocol
        if self._is_closing or not protocol.close_expected():
            return
        self._is_closing = True
        self.schedule_timeout(WEBSOCKET_CLOSE_TIMEOUT_SECONDS, self.transport.abort)
        if self.session is None:
            self._is_answering = True
            return
        fault = None
        if not closed_by_peer:
            protocol.receive_eof()  # only after the end of the stream does the library show the close frame it sent
            self._unparsed_bytes = b""
            close_frame = protocol.close_exc.sent
            if close_frame is not None and close_frame.code in PROTOCOL_ERROR_CLOSE_CODES:
                fault = close_frame.reason or f"close code {close_frame.code}"
                self._edge.admission.record_misbehaving_connection(self.address)
        self.session.handle_disconnect(fault)

    def _end_outgoing_stream(self) -> None:
        self._has_ended_stream = True
        self._unparsed_bytes = b""
        if not self.transport.can_write_eof():  # TLS cannot close only one direction
            self.transport.close()
            return
        self.transport.resume_reading()
        try:
            self.transport.write_eof()
        except OSError:  # the peer has reset the connection, and the event loop has not noticed yet
            self.transport.abort()

    def _send_ping(self) -> None:
        protocol, now = self._protocol, self._edge.now_ns()
        if protocol.state is not OPEN_WEBSOCKET_STATE:
            return
        if (
            self.pings.is_pong_overdue(now) and not self._unparsed_bytes
        ):  # its pong may be in the unparsed bytes
            protocol.fail(1011, "keepalive ping timeout")
        else:
            protocol.send_ping(self.pings.record_ping_and_make_payload(now))
            self._ping_timer = self._edge.clock.call_later(PING_INTERVAL_SECONDS, self._send_ping)
        self._write_websockets_library_output(protocol.data_to_send())

    # the end

    def schedule_timeout(self, seconds: float | None, callback: Callable[[], None] | None = None) -> None:
        """Call `callback` after `seconds`, in place of the call scheduled before.

        If `seconds` is None, only cancel that call.
        """
        if self._timeout_timer is not None:
            self._timeout_timer.cancel()
            self._timeout_timer = None
        if seconds is not None and callback is not None:
            self._timeout_timer = self._edge.clock.call_later(seconds, callback)

    def close_websocket(self, close_code: int, reason: str, *, is_misbehaving: bool) -> None:
        """Send a close frame. If the peer has not answered after `WEBSOCKET_CLOSE_TIMEOUT_SECONDS`, reset the connection.

        close_code      websocket close code
        reason          text for the close frame, of which at most `MAX_CLOSE_REASON_BYTES` are sent
        is_misbehaving  True to count the connection as misbehaving, which may block its address
        """
        self._is_closing = True
        if is_misbehaving:
            self._edge.admission.record_misbehaving_connection(self.address)
        if self._protocol.state is OPEN_WEBSOCKET_STATE:
            self._protocol.send_close(
                close_code, reason.encode()[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore")
            )
            self._write_websockets_library_output(self._protocol.data_to_send())
        self.schedule_timeout(WEBSOCKET_CLOSE_TIMEOUT_SECONDS, self.transport.abort)
        self.pause_or_resume_reading()

    def send_reason_and_close(self, reason_code: ErrorCode) -> None:
        """Send the client an error with `reason_code`, and close the connection.

        Without an open websocket, only reset the connection.
        """
        if self.session is None:
            self.transport.abort()
        else:
            self.session.end_session(reason_code, reason_code.meaning)
