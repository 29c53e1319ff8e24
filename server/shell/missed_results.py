"""Missed results: the `end` of a match, read from the store, for a bot that was disconnected when the match ended."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from arena.clock import TimeSource
from arena.protocol.messages import End, Error, ServerMessage
from arena.protocol.record import parse_record_line
from arena.protocol.values import Clocks
from arena.server.core.effects import SendMissedResult, SendToClient
from arena.server.core.lobby import make_unknown_match_refusal
from arena.server.store.errors import describe_database_error

if TYPE_CHECKING:
    from arena.server.shell.shell import FindRecordLine, Shell

log = logging.getLogger("arena.shell")

MAX_QUEUED_RESULT_REQUESTS = 1_000
"""Maximum number of waiting requests for results that bots missed. Further requests are dropped.

If the bot sends another message about the match, the core repeats the request.
"""
RESULT_LOOKUP_TIMEOUT_SECONDS = 10.0
"""Time limit for looking up in the store the result of a match whose end a disconnected bot missed, in seconds."""
RESULT_LOOKUP_RETRY_PAUSE_SECONDS = 0.5
"""Pause before a failed lookup of a result that a disconnected bot missed is repeated, in seconds."""


class MissedResultSender:
    """Sender of results to bots that missed the end of a match. It works while `send_requested_results` is running."""

    def __init__(self, find_record_line: FindRecordLine, shell: Shell, clock: TimeSource) -> None:
        self._find_record_line = find_record_line
        self._shell = shell
        self._clock = clock
        self._send_stream, self._receive_stream = anyio.create_memory_object_stream[SendMissedResult](
            MAX_QUEUED_RESULT_REQUESTS
        )
        self._unanswered_requests: set[SendMissedResult] = set()
        """Requests not answered yet. If the core repeats one, for example after an edge has lost messages, drop the repetition.
        """
        shell.add_effect_handler(SendMissedResult, self._enqueue_request)

    def _enqueue_request(self, request: SendMissedResult) -> None:
        if request in self._unanswered_requests:
            return
        try:
            self._send_stream.send_nowait(request)
        except anyio.WouldBlock:
            log.warning(
                "too many requests for missed results: one is dropped", extra={"bot": request.bot_name}
            )
        else:
            self._unanswered_requests.add(request)

    async def send_requested_results(self) -> None:
        """Answer the requests of the server's core (`SendMissedResult`) until cancelled."""
        with self._send_stream, self._receive_stream:
            async for request in self._receive_stream:
                while (message := await self._find_result_message(request)) is None:
                    await self._clock.sleep(RESULT_LOOKUP_RETRY_PAUSE_SECONDS)
                self._unanswered_requests.discard(request)
                self._shell.send_bypassing_core(SendToClient(request.client_number, message))

    async def _find_result_message(self, request: SendMissedResult) -> ServerMessage | None:
        """Return the message that answers a request: the `end` of the match, or an error if the bot did not play the match.

        Return None if the store cannot answer now.
        """
        try:
            with anyio.fail_after(RESULT_LOOKUP_TIMEOUT_SECONDS):
                record_line = await self._find_record_line(request.match_id)
        except TimeoutError:
            log.warning(
                "the store took too long to read the result of match %s",
                request.match_id,
                extra={"bot": request.bot_name},
            )
            return None
        except Exception as error:
            why = describe_database_error(error)
            if why is None:
                raise
            log.warning(
                "cannot read the result of match %s: %s",
                request.match_id,
                why,
                extra={"bot": request.bot_name},
            )
            return None
        record = None if record_line is None else parse_record_line(record_line)
        if record is None or request.bot_name not in (record.players.maxie, record.players.minnie):
            refusal = make_unknown_match_refusal(request.match_id)
            return Error(refusal.code, refusal.detail, request.match_id)
        return End.from_record(record, Clocks(0, 0))  # the remaining times are not stored
