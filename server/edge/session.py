"""Session of one websocket as a client of the server's core, from its hello (first message) to its end.

    frame -> message -> limits -> core.submit(MessageReceived)       SendToClient -> frame -> connection

The move that answers a `turn` message goes to the core immediately, with the time that the bot took to answer. The cost
of any other message (`MESSAGE_COSTS_US`; 0 in a match that the bot plays) is charged to the CPU time budget of the client's
address. A message that has a cost waits in the fair queue, which serves the addresses in rotation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET
from msgspec.structs import replace
from websockets.frames import Frame, Opcode

from arena.protocol.codec import DecodeError, decode_client_message, encode_message
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Accepted,
    Browse,
    ClientMessage,
    End,
    Error,
    Hello,
    Listing,
    Move,
    Ready,
    Resign,
    ServerMessage,
    Standing,
    Start,
    Turn,
    Unwatch,
    View,
    Watch,
    Welcome,
    redact_secrets,
)
from arena.server import loop_lag
from arena.server.core.effects import LOBBY_LISTING_TOPIC, SendToClient
from arena.server.core.inputs import ClientAdmitted, ClientDisconnected, MessageReceived, TurnSent
from arena.server.edge.message_costs import MESSAGE_COSTS_US
from arena.server.edge.token_bucket import TokenBucket
from arena.server.ports import AdmissionRequest

if TYPE_CHECKING:
    from arena.server.edge.connection import Connection
    from arena.server.edge.edge import Edge
    from arena.server.edge.topics import Topic

log = logging.getLogger("arena.session")
wire_log = logging.getLogger("arena.wire")

AWAITING_HELLO, AWAITING_ADMISSION, ADMITTED, BACKLOGGED, CLOSED = range(5)
"""States of a session, in the order in which it passes them.

A session that is BACKLOGGED is admitted, but nothing is read from its client until fewer of its messages are queued.
"""
STATES_WITHOUT_MESSAGE_HANDLING = frozenset({AWAITING_ADMISSION, CLOSED})
"""States of a session in which no message is handled. Messages are kept for later in AWAITING_ADMISSION, and dropped in CLOSED.
"""
MAX_MESSAGES_IN_FAIR_QUEUE = 256
"""Number of a client's messages in the fair queue (of clients with work) at which the server stops reading from the client."""
CONTROL_OPCODES = frozenset({Opcode.PING, Opcode.PONG, Opcode.CLOSE})
BINARY_OPCODE = Opcode.BINARY
TEXT_OPCODE = Opcode.TEXT
PONG_OPCODE = Opcode.PONG
CLOSE_CODE_BY_ORDERLY_END = {ErrorCode.SHUTTING_DOWN: 1001, ErrorCode.EVENT_OVER: 1000}
"""Websocket close code for each orderly end of a session: the server stops, or the event (tournament) is over.

A session that ends for any other reason has the code 1008, or 1007 or 1009 after an invalid frame.
"""
ERROR_CODES_WITHOUT_MISBEHAVIOUR = frozenset(
    {ErrorCode.REPLACED, ErrorCode.NAME_TAKEN, *CLOSE_CODE_BY_ORDERLY_END}
)
"""Reasons for ending a session that do not count as misbehaviour.

These reasons are: the bot has reconnected, its name is taken, the server stops, or the event (tournament) is over.
"""
MAX_MESSAGE_BURST_SECONDS = 4
"""Time without messages in which a client's allowance of messages grows from nothing to its maximum, in seconds."""
ADMISSION_TIMEOUT_SECONDS = 60.0
"""Longest time for the server's core to answer a client's `hello` message, in seconds, as while a standby core takes over."""
CONTROL_FRAMES_PER_SECOND = 10.0
"""Average number of control frames (pings, pongs) per second that a client may send. The server answers each ping."""
MAX_CONTROL_FRAMES_IN_BURST = 100
"""Maximum number of control frames (pings, pongs) that a client may send without a pause."""
MESSAGE_FRAGMENTS_PER_SECOND = 1000.0
"""Average number of fragments (frames with parts of a message) that a client may send per second.

The last fragment of each message is not counted.
"""
MAX_MESSAGE_FRAGMENTS_IN_BURST = 1024
"""Maximum number of fragments (frames with parts of a message) that a client may send without a pause."""
UNLIMITED_TOKEN_BUCKET = TokenBucket(1e12, 1e12, 0)
"""Token bucket that never becomes empty, for the server's own bots."""
MAX_QUOTED_FRAME_BYTES = 24
"""Maximum number of bytes of an invalid frame, or of characters if it is text, that an error quotes."""


@dataclass(eq=False, slots=True)
class PlayedMatchState:
    """State of a client in a match that it plays: the turn (request for a move) yet to be answered, and its time of sending."""

    unanswered_start_message_count: int = 0
    """Number of `start` messages that the bot has not answered with `ready`. A repeated `start` counts too."""
    unanswered_ply: int = -1
    """Ply of the turn (request for a move) that the client has yet to answer; -1 if there is none."""
    turn_sent_ns: int = 0
    """Time at which the turn (request for a move) was written to the connection, in monotonic ns."""
    clock_ran_ns: int = 0
    """Time that the move's clock had already run when the turn was written, in ns; 0 unless the turn was sent again."""
    total_stall_ns_at_turn: int = 0
    """Total time of all stalls of the event loop since its start, in ns, at the moment when the turn was written.

    A stall is a long delay of the event loop. Only later stalls are left out of the client's thinking time.
    """
    has_match_ended: bool = False
    """True if the match ended while the client had a turn to answer. The move may still arrive, and is then dropped."""
    unconfirmed_answer: MessageReceived | None = None
    """Client's move in answer to the turn, until the server's core accepts or rejects the move; otherwise None.

    If the core is replaced in between, the new core gets the answer too.
    """


class Session:
    """Session of one open websocket: decodes the client's messages, enforces limits, and passes them to the server's core."""

    def __init__(self, edge: Edge, connection: Connection) -> None:
        self._edge = edge
        self._connection = connection
        limits, now = edge.limits, edge.now_ns()
        self.client_number = 0
        """Number by which the server's core knows the client; 0 until the client has sent its hello."""
        self.hello: Hello | None = None
        """Hello of the client; None before it arrives.

        Messages of the core update the session secret and the quota (number of matches still wanted) in the hello.
        """
        self.state = AWAITING_HELLO
        """Current state of the session: AWAITING_HELLO, AWAITING_ADMISSION, ADMITTED, BACKLOGGED or CLOSED."""
        self.connected_since_ns = now
        """Time at which the session was opened, in monotonic ns."""
        self.submitted_message_count = 0
        """Number of messages passed to the server's core so far. Each costs the client's address some CPU time."""
        self.played_matches: dict[str, PlayedMatchState] = {}
        """State of the client in each of its matches in progress, by match id."""
        self._topics: dict[str, Topic | None] = {}
        """Topics that the client follows, by name.

        The value is None for a match that the client has asked to watch, until the core's `view` arrives.
        """
        self._message_bucket = TokenBucket(
            limits.messages_per_second, MAX_MESSAGE_BURST_SECONDS * limits.messages_per_second, now
        )
        """Token bucket that limits the client's unrequested messages: all but answers to a `turn` or a `start`."""
        self._control_bucket = TokenBucket(CONTROL_FRAMES_PER_SECOND, MAX_CONTROL_FRAMES_IN_BURST, now)
        self._fragment_bucket: TokenBucket | None = None
        """Token bucket of message fragments; None until the first fragment."""
        self._message_parts: bytearray | None = None
        """Fragments so far of an incomplete message; None if there is none."""
        self._message_opcode = BINARY_OPCODE
        """Websocket opcode of the message in `_message_parts`."""
        self.waiting_messages: list[tuple[ClientMessage, int, int]] = []
        """Messages that wait in the fair queue, each with its arrival time (monotonic ns) and its cost in µs."""
        self._early_frames: list[tuple[Frame, int]] = []
        """Frames that arrived before the server's core answered the hello, each with its arrival time (monotonic ns)."""
        self._has_sent_welcome = False
        """True once the `welcome` message of the server's core, and the messages that belong to it, are written.

        A `start` message before that time repeats a match that is already in progress. A later one begins a new match.
        """
        self._is_traced = wire_log.isEnabledFor(logging.DEBUG)

    @property
    def name(self) -> str:
        """Name of the client, for lines in the server's log; `?` before its `hello` message."""
        return self.hello.name if self.hello else "?"

    @property
    def _log_fields(self) -> dict[str, str]:
        return {"bot": self.name, "address": self._connection.address, "trace": f"{self.client_number:x}"}

    @property
    def has_unanswered_turn(self) -> bool:
        """True if the client has yet to answer a turn (request for a move) in a match that is not over."""
        return any(
            played_match.unanswered_ply >= 0
            and played_match.unconfirmed_answer is None
            and not played_match.has_match_ended
            for played_match in self.played_matches.values()
        )

    # from the client

    def receive_frame(self, frame: Frame, arrived_ns: int) -> None:
        """Handle a frame that arrived at `arrived_ns` (monotonic).

        A move that answers a `turn` message goes to the core immediately, with the time since the message was sent.
        """
        data: bytes | str | None = frame.data  # type: ignore[assignment]
        if (
            frame.opcode is not BINARY_OPCODE
            or not frame.fin
            or self.state in STATES_WITHOUT_MESSAGE_HANDLING
        ):
            data = self._reassemble_message(frame, arrived_ns)
            if data is None:
                return
        edge = self._edge
        try:
            message = decode_client_message(data, edge.limits.message_bytes)  # type: ignore[arg-type]
        except DecodeError as error:
            self._refuse_invalid_frame(data, error, arrived_ns)  # type: ignore[arg-type]
            return
        edge.metrics.message_counts[type(message)] += 1
        if self._is_traced:
            wire_log.debug("> %s %s", self.name, redact_secrets(message))
        if isinstance(message, Move):
            played_match = self.played_matches.get(message.match)
            if (
                played_match is not None
                and played_match.unanswered_ply == message.ply
                and played_match.unconfirmed_answer is None
            ):
                if played_match.has_match_ended:
                    del self.played_matches[message.match]
                    return
                # A stall of the event loop after the turn was written, even one that is still going on, does not count.
                lateness_ns = arrived_ns - edge.loop_lag.next_measurement_ns
                lateness_ns = lateness_ns if lateness_ns > loop_lag.MIN_STALL_LAG_NS else 0
                stalled_ns = (
                    edge.loop_lag.total_stalled_ns + lateness_ns - played_match.total_stall_ns_at_turn
                )
                elapsed_ns = (
                    max(0, arrived_ns - played_match.turn_sent_ns - stalled_ns) + played_match.clock_ran_ns
                )
                played_match.unconfirmed_answer = received = MessageReceived(
                    self.client_number, message, arrived_ns, elapsed_ns
                )
                self.submitted_message_count += 1
                edge.core.submit(received)
                return
        self._handle_message_outside_turn(message, arrived_ns)

    def _handle_control_frame(self, frame: Frame, arrived_ns: int) -> None:
        # The library answers pings and closes by itself.
        if frame.opcode is PONG_OPCODE:
            self._connection.pings.handle_pong(bytes(frame.data), arrived_ns)
        if not self._control_bucket.try_take_token(arrived_ns):
            self._connection.reset_flooding_client("control frames")

    def _reassemble_message(self, frame: Frame, arrived_ns: int) -> bytes | str | None:
        """Handle a control frame, or a frame with a part of a message. Return the message that it completes; None if none."""
        if frame.opcode in CONTROL_OPCODES:
            self._handle_control_frame(frame, arrived_ns)
            return None
        if self.state in STATES_WITHOUT_MESSAGE_HANDLING:
            if self.state == AWAITING_ADMISSION:
                self._early_frames.append((frame, arrived_ns))
            return None
        if self._message_parts is None:
            self._message_opcode = frame.opcode
            self._message_parts = bytearray()
        self._message_parts += frame.data
        if not frame.fin:
            if self._fragment_bucket is None:
                self._fragment_bucket = TokenBucket(
                    MESSAGE_FRAGMENTS_PER_SECOND, MAX_MESSAGE_FRAGMENTS_IN_BURST, arrived_ns
                )
            if not self._fragment_bucket.try_take_token(arrived_ns):
                self._connection.reset_flooding_client("fragments")
            return None
        data, self._message_parts = bytes(self._message_parts), None
        return data.decode(errors="replace") if self._message_opcode is TEXT_OPCODE else data

    def _handle_message_outside_turn(self, message: ClientMessage, arrived_ns: int) -> None:
        """Check a message that does not answer a `turn` message against the client's rate limits.

        Pass the message to the server's core, put it into the fair queue, or refuse it.
        """
        if self.state == AWAITING_HELLO:
            self._handle_hello(message)
            return
        played_match = (
            self.played_matches.get(message.match) if isinstance(message, (Move, Ready, Resign)) else None
        )
        if played_match is not None and played_match.has_match_ended:
            played_match = None
        if self._connection.has_peer_ended_stream and (played_match is None or type(message) is Ready):
            return  # nobody waits for the answer
        if (
            played_match is not None
            and played_match.unanswered_start_message_count
            and type(message) is Ready
        ):
            played_match.unanswered_start_message_count -= 1
        elif not self._message_bucket.try_take_token(arrived_ns):
            self._end_flooding_session()
            return
        cost = 0 if played_match is not None else MESSAGE_COSTS_US[type(message)]
        if not cost or self._is_exempt_from_message_limits:
            self._submit_to_core(message, arrived_ns)
            return
        wait_seconds = self._edge.work_budget.charge_or_compute_wait_seconds(
            self._connection.address, cost, arrived_ns / 1e9
        )
        if wait_seconds > 0:
            detail = f"too many requests from your address: try again in {wait_seconds:.1f} s"
            match_and_ply = getattr(message, "match", None), getattr(message, "ply", None)
            self._send_error(Error(ErrorCode.RATE_LIMITED, detail, *match_and_ply))
        else:
            self.waiting_messages.append((message, arrived_ns, cost))
            if len(self.waiting_messages) >= MAX_MESSAGES_IN_FAIR_QUEUE:
                self.state = BACKLOGGED
            self._connection.enter_fair_queue()

    @property
    def _is_exempt_from_message_limits(self) -> bool:
        """True for the server's own bots, known by their names. Other programs at the same address have limits."""
        hello = self.hello
        return hello is not None and hello.role == "bot" and hello.name in self._edge.rate_exempt_names

    def _submit_to_core(self, message: ClientMessage, arrived_ns: int) -> None:
        if type(message) is Watch:
            self._topics.setdefault(message.match, None)
        elif type(message) is Unwatch:
            self._unfollow_topic(message.match)
        self.submitted_message_count += 1
        self._edge.core.submit(MessageReceived(self.client_number, message, arrived_ns))

    def handle_queued_message_and_get_cost_us(self) -> float:
        """Handle the message that has waited longest. Return its cost in µs of CPU time; 0 if none waits."""
        if not self.waiting_messages:
            return 0.0
        message, arrived_ns, cost = self.waiting_messages.pop(0)
        if self.state == BACKLOGGED and len(self.waiting_messages) < MAX_MESSAGES_IN_FAIR_QUEUE:
            self.state = ADMITTED
        self._submit_to_core(message, arrived_ns)
        return cost

    def drop_queued_messages(self) -> None:
        """Drop the client's messages that wait in the fair queue (of clients with work)."""
        self.waiting_messages.clear()
        if self.state == BACKLOGGED:
            self.state = ADMITTED

    def _handle_hello(self, message: ClientMessage) -> None:
        if type(message) is not Hello:
            type_name = type(message).__name__.lower()
            self.end_session(ErrorCode.HELLO_FIRST, f"the first message must be hello, not {type_name}")
            return
        self.hello = message
        self.apply_directives(is_notice_new=False)
        if self.state == CLOSED:
            return
        self.state = AWAITING_ADMISSION
        self.client_number = self._edge.add_client(self)
        self.submitted_message_count += 1
        self._connection.schedule_timeout(ADMISSION_TIMEOUT_SECONDS, self._handle_admission_timeout)
        self.send_hello_to_core()

    def send_hello_to_core(self) -> None:
        """Send the client's `hello` message to the server's core, for the first time or, if another core takes over, again."""
        if self.hello is not None:
            self._edge.core.submit(AdmissionRequest(self.client_number, self.hello, self._connection.address))

    def _handle_admission_timeout(self) -> None:
        self.end_session(ErrorCode.SHUTTING_DOWN, "the server did not answer in time: reconnect")

    # refusals

    def handle_hello_timeout(self) -> None:
        """Close the session of a client that has not sent its first message, `hello`, in time."""
        self.end_session(
            ErrorCode.HELLO_FIRST, f"no hello arrived within {self._edge.limits.hello_seconds:g} s"
        )

    def _refuse_invalid_frame(self, frame: bytes | str, error: DecodeError, arrived_ns: int) -> None:
        if self._is_traced:
            # Frames before the hello is accepted may hold a token.
            frame_text = (
                ""
                if self.state == AWAITING_HELLO
                else frame.hex()
                if isinstance(frame, bytes)
                else repr(frame)
            )
            wire_log.debug("> %s %s: %s", self.name, frame_text[:200], error)
        if error.code is ErrorCode.UNKNOWN_TYPE:
            if self.state == AWAITING_HELLO:
                self.end_session(ErrorCode.HELLO_FIRST, f"the first message must be hello; {error.detail}")
            elif self._message_bucket.try_take_token(arrived_ns):
                self._send_error(Error(error.code, error.detail))
            else:
                self._end_flooding_session()
            return
        detail = (
            f"{error.detail}; {_quote_frame_start(frame)}"
            if error.code is ErrorCode.BAD_MESSAGE
            else error.detail
        )
        close_code = 1009 if error.code is ErrorCode.TOO_LARGE else 1007
        self.end_session(error.code, detail, detail, close_code)

    def _end_flooding_session(self) -> None:
        detail = f"too many messages: at most {self._edge.limits.messages_per_second:g} a second are allowed"
        self.end_session(ErrorCode.RATE_LIMITED, detail, detail)

    def apply_directives(self, *, is_notice_new: bool) -> None:
        """Close the session if the client is banned.

        Otherwise, if `is_notice_new`, send it the operator's new notice to all clients.
        """
        directives = self._edge.directives
        why = directives.find_ban_reason(self._connection.address, self.hello.name if self.hello else "")
        if why:
            self.end_session(ErrorCode.REMOVED, why)
        elif is_notice_new and self._has_sent_welcome and self.state != CLOSED:
            self._send_message_now(directives.notice)

    def end_session(
        self,
        reason_code: ErrorCode,
        detail: str,
        protocol_violation: str | None = None,
        close_code: int | None = None,
    ) -> None:
        """Send the client a fatal error, and close the session and its connection. Further calls do nothing.

        protocol_violation  description of the client's violation, to report to the core; None if there was none
        close_code          websocket close code; None for the one of `CLOSE_CODE_BY_ORDERLY_END`, or 1008
        """
        if self.state == CLOSED:
            return
        self._send_error(Error(reason_code, detail, fatal=True))
        if self.state == CLOSED:  # even this message was too much for a slow reader
            return
        self.handle_disconnect(protocol_violation)
        if close_code is None:
            close_code = CLOSE_CODE_BY_ORDERLY_END.get(reason_code, 1008)
        # The detail may quote the peer; the connection shortens it to fit into a close frame.
        self._connection.close_websocket(
            close_code,
            f"{reason_code}: {detail}",
            is_misbehaving=reason_code not in ERROR_CODES_WITHOUT_MISBEHAVIOUR,
        )

    def close_slow_client(self) -> None:
        """Close the connection of a client with too many unread bytes. A bot that reconnects gets the missed messages."""
        if self.state == CLOSED:
            return
        log.warning(
            "disconnected: the client reads too slowly, and %d bytes are unsent",
            self.unsent_byte_count,
            extra=self._log_fields,
        )
        self.handle_disconnect(None)
        # A client that starts to read during the closing handshake still gets the reason.
        self._connection.close_websocket(1008, ErrorCode.TOO_SLOW.value, is_misbehaving=True)

    def handle_disconnect(self, protocol_violation: str | None) -> None:
        """Close the session: leave its topics (matches, listing), and report the disconnection to the core.

        Further calls do nothing.

        protocol_violation  description of the violation for which the client is disconnected; None if there was none
        """
        if self.state == CLOSED:
            return
        if self.state >= ADMITTED and self.hello is not None and self.hello.role == "bot":
            if protocol_violation is not None:
                log.warning("protocol error: %s", protocol_violation, extra=self._log_fields)
            else:
                log.info("disconnected", extra=self._log_fields)
        self.state = CLOSED
        self.waiting_messages.clear()
        self._early_frames.clear()
        for topic in list(self._topics):
            self._unfollow_topic(topic)
        self.played_matches.clear()
        if self.client_number:
            self._edge.drop_client(self.client_number)
            self._edge.core.submit(ClientDisconnected(self.client_number, protocol_violation))

    # to the client

    @property
    def unsent_byte_count(self) -> int:
        """Number of bytes that wait in this process to be sent, without those in the buffers of the operating system."""
        return self._connection.unsent_byte_count

    def try_spend_work_budget(self, cost_us: int) -> bool:
        """Take `cost_us` µs from the CPU time that the client's address may use. Return False if less is left."""
        return (
            self._edge.work_budget.charge_or_compute_wait_seconds(
                self._connection.address, cost_us, self._edge.clock.now()
            )
            <= 0
        )

    def write_frames(self, encoded_frames: bytes) -> None:
        """Write encoded frames about a match, or with the listing (matches, bots, challenges), that the client follows."""
        if self._is_traced:
            wire_log.debug("< %s %s", self.name, encoded_frames.hex())
        self._connection.write_or_disconnect_slow_client(encoded_frames)

    def send(self, effect: SendToClient) -> None:
        """Send the client a message from the server's core, and update the session's state, such as the move that it awaits."""
        message = effect.message
        message_type = type(message)
        if message_type is Turn:
            self._send_turn(message, effect.clock_ran_ns)  # type: ignore[arg-type]
            return
        if message_type in self._OUTGOING_HANDLERS:
            self._OUTGOING_HANDLERS[message_type](self, message)
        if message_type is View or message_type is Listing:
            self.write_frames(self._edge.encode_shared_frame(message))
        else:
            self._send_message_now(message)

    def _send_message_now(self, message: ServerMessage) -> None:
        if self._is_traced:
            wire_log.debug("< %s %s", self.name, redact_secrets(message))
        connection = self._connection
        frame = Frame(BINARY_OPCODE, encode_message(message)).serialize(mask=False)
        if connection.is_slow:
            connection.write_or_disconnect_slow_client(frame)
        else:
            connection.transport.write(frame)

    def _send_error(self, error: Error) -> None:
        self._edge.metrics.rejections.labels(error.code.value).inc()
        self._send_message_now(error)

    def _send_turn(self, turn: Turn, clock_ran_ns: int) -> None:
        played_match = self.played_matches.get(turn.match)
        if played_match is None:
            played_match = self.played_matches[turn.match] = PlayedMatchState()
        elif played_match.unconfirmed_answer is not None and played_match.unanswered_ply == turn.ply:
            # The core that received the answer is gone, and the new core does not know the answer.
            repeated_answer = MessageReceived(
                self.client_number,
                played_match.unconfirmed_answer.message,
                self._edge.now_ns(),
                played_match.unconfirmed_answer.elapsed_ns,
            )
            self._edge.core.submit(repeated_answer)
            return
        self._send_message_now(turn)
        edge = self._edge
        now = edge.now_ns()
        (
            played_match.unanswered_ply,
            played_match.turn_sent_ns,
            played_match.clock_ran_ns,
            played_match.unconfirmed_answer,
        ) = turn.ply, now, clock_ran_ns, None
        lateness_ns = now - edge.loop_lag.next_measurement_ns
        played_match.total_stall_ns_at_turn = edge.loop_lag.total_stalled_ns + (
            lateness_ns if lateness_ns > loop_lag.MIN_STALL_LAG_NS else 0
        )
        if self.state != CLOSED:
            lag_ns = self._connection.pings.min_round_trip_ns
            edge.core.submit(TurnSent(self.client_number, turn.match, turn.ply, now, lag_ns))

    def _handle_outgoing_accepted(self, accepted: Accepted) -> None:
        played_match = self.played_matches.get(accepted.match)
        if (
            played_match is not None
            and played_match.unanswered_ply == accepted.ply
            and played_match.unconfirmed_answer is not None
        ):
            self._edge.metrics.move_seconds.observe(
                (self._edge.now_ns() - played_match.unconfirmed_answer.arrived_ns) / 1e9
            )
            played_match.unanswered_ply, played_match.unconfirmed_answer = -1, None

    def _handle_outgoing_start(self, start: Start) -> None:
        if (
            start.match not in self.played_matches
            and self._has_sent_welcome
            and self.hello is not None
            and self.hello.quota
        ):
            self.hello = replace(self.hello, quota=self.hello.quota - 1)
        for match in [
            match for match, played_match in self.played_matches.items() if played_match.has_match_ended
        ]:
            del self.played_matches[match]
        self.played_matches.setdefault(start.match, PlayedMatchState()).unanswered_start_message_count += 1

    def _handle_outgoing_end(self, end: End) -> None:
        played_match = self.played_matches.get(end.match)
        if (
            played_match is not None
            and played_match.unanswered_ply >= 0
            and played_match.unconfirmed_answer is None
        ):
            played_match.has_match_ended = True
        else:
            self.played_matches.pop(end.match, None)

    def _handle_outgoing_error(self, error: Error) -> None:
        self._edge.metrics.rejections.labels(error.code.value).inc()
        if error.match is not None:
            played_match = self.played_matches.get(error.match)
            if played_match is not None:
                played_match.unconfirmed_answer = None
            if self._topics.get(error.match) is None:
                self._topics.pop(error.match, None)

    def _handle_outgoing_welcome(self, welcome: Welcome) -> None:
        if self.state == AWAITING_ADMISSION and self.hello is not None:
            if self.hello.role == "bot":
                event_text = "reconnected" if self.hello.session else "connected"
                address, program = self._connection.address, self.hello.program
                log.info("%s from %s (%s)", event_text, address, program, extra=self._log_fields)
            self.hello = replace(self.hello, session=welcome.session)
            self.state = ADMITTED
            self._connection.schedule_timeout(None)
            if self._is_exempt_from_message_limits:
                self._connection.address_bucket = UNLIMITED_TOKEN_BUCKET
            self._edge.clock.call_later(0, self._handle_frames_kept_during_admission)

    def _handle_outgoing_standing(self, standing: Standing) -> None:
        if self.hello is not None:
            self.hello = replace(self.hello, quota=UNSET if standing.quota is None else standing.quota)

    def _handle_frames_kept_during_admission(self) -> None:
        """Handle the frames that the client has sent since its hello.

        Then send it the operator's notice to all clients, if any.

        Call this only after the core's `welcome`, and the messages that follow it, are written.
        """
        self._has_sent_welcome = True
        if self._edge.directives.notice.text and self.state != CLOSED:
            self._send_message_now(self._edge.directives.notice)
        while self._early_frames and self.state == ADMITTED:
            self.receive_frame(*self._early_frames.pop(0))
        self._connection.pause_or_resume_reading()

    def _handle_outgoing_view(self, view: View) -> None:
        if view.match in self._topics:
            self._follow_topic(view.match)

    def _handle_outgoing_lobby_listing(self, _listing: Listing) -> None:
        self._follow_topic(LOBBY_LISTING_TOPIC)

    def _follow_topic(self, topic_name: str) -> None:
        topic = self._topics.get(topic_name)
        if topic is None:
            topic = self._topics[topic_name] = self._edge.find_or_add_topic(topic_name)
        topic.add_follower(self)

    def _unfollow_topic(self, topic_name: str) -> None:
        topic = self._topics.pop(topic_name, None)
        if topic is not None:
            topic.remove_follower(self)
            self._edge.forget_topic_without_followers(topic)

    def handle_topic_end(self, topic_name: str) -> None:
        """Forget a match that the client followed, because the match has ended. `topic_name`: id of the match."""
        self._topics.pop(topic_name, None)

    def request_whole_match_again(self, match_id: str) -> None:
        """Ask the server's core for a whole match (`view` message), because the client has missed messages about the match."""
        self._edge.core.submit(MessageReceived(self.client_number, Watch(match_id), self._edge.now_ns()))

    # resync

    def make_resync_entry(self) -> ClientAdmitted | None:
        """Return the client's entry in `EdgeResynced`, the list of clients for a new core; None if it is not admitted."""
        if self.hello is None or self.state not in {ADMITTED, BACKLOGGED}:
            return None
        address = self._connection.address
        return ClientAdmitted(
            self.client_number, self.hello, address, owner=address, session_secret="", role=self.hello.role
        )

    def resubscribe_to_core(self) -> None:
        """Send the client's requests to follow topics (matches, or the listing) to a new server core.

        If no core has answered the client's hello yet, send only the hello.
        """
        if self.state == AWAITING_ADMISSION:
            self.send_hello_to_core()
            return
        now = self._edge.now_ns()
        for name, topic in self._topics.items():
            if topic is None or not topic.has_match_ended:
                message = Browse() if name == LOBBY_LISTING_TOPIC else Watch(name)
                self._edge.core.submit(MessageReceived(self.client_number, message, now))

    _OUTGOING_HANDLERS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        Accepted: _handle_outgoing_accepted,
        Start: _handle_outgoing_start,
        End: _handle_outgoing_end,
        Error: _handle_outgoing_error,
        Standing: _handle_outgoing_standing,
        Welcome: _handle_outgoing_welcome,
        View: _handle_outgoing_view,
        Listing: _handle_outgoing_lobby_listing,
    }
    """Methods that update the session when a message is sent to the client, by the type of the message."""


def _quote_frame_start(frame: bytes | str) -> str:
    """Return a phrase for an error message that quotes the start of an invalid frame, to help the client's author."""
    if isinstance(frame, str):
        return f"it begins {frame[:MAX_QUOTED_FRAME_BYTES]!r}"
    return f"its {len(frame)} bytes begin {frame[:MAX_QUOTED_FRAME_BYTES].hex(' ')}"
