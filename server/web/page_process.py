"""Page process: a child process that makes slow responses, so that they do not delay the process that serves matches.

The first request starts the process. If the process ends, the next request starts it again. The process also ends with
its parent, because the socket between them then closes. Requests are queued fairly by client address, with a pause
after each response.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import count

import anyio
import anyio.to_thread
import msgspec

from arena.clock import TimeSource
from arena.server.edge.page_client import PageClient
from arena.server.web import page_messages
from arena.server.web.event_progress import FindEventProgress
from arena.server.web.link_previews import parse_shown_match_id
from arena.server.web.page_messages import (
    TITLE_LOOKUP_TIME_SHARE,
    LiveSnapshot,
    MessageFromPageProcess,
    PageProcessConfig,
    PageRequest,
    PageResponse,
)
from arena.server.web.request_queue import TOO_MANY_REQUESTS_REASON, RequestQueue, ServerBusy
from arena.server.web.routes import RouteMatch

log = logging.getLogger("arena.pages")

PAGE_PROCESS_COMMAND = (sys.executable, "-P", "-m", "arena.server.web")
MAX_PARALLEL_RESPONSES = 6
"""Maximum number of responses made in parallel, not counting slow routes.

At most one response on a slow route (`Route.is_slow`) is made besides these.
"""
PAGE_PROCESS_START_TIMEOUT_SECONDS = 120.0
"""Seconds within which the page process must start, or else it is killed."""
MAX_WAIT_FOR_START_SECONDS = 45.0
"""Maximum seconds that a request waits for a new page process. The wait does not count towards the request's time limit."""
RESPONSE_GRACE_SECONDS = 5.0
"""Seconds by which a response may exceed its request's time limit. After that, the page process is killed as hung."""
MIN_RESTART_PAUSE_SECONDS = 5.0
"""Minimum pause, in seconds, after a page process that ended before its first response, until another one is started."""

_decode_message = msgspec.msgpack.Decoder(MessageFromPageProcess).decode
"""Function that decodes a message from the page process, which renders pages for the server."""


class PageProcess:
    """Client of the page process, a child process that makes the web page's responses. The first request starts it."""

    def __init__(
        self,
        make_config: Callable[[], PageProcessConfig],
        page_client: PageClient,
        find_event_progress: FindEventProgress,
        clock: TimeSource,
    ) -> None:
        """Prepare to start the page process; the first request starts it.

        make_config: function that returns the configuration to send to the page process
        page_client: source of the list of matches in progress, and of spectators' views of them
        find_event_progress: function that returns the progress of an event that this server plays; None for any other event
        """
        self._make_config = make_config
        self._page_client = page_client
        self._find_event_progress = find_event_progress
        self._clock = clock
        self._quick_queue = RequestQueue(MAX_PARALLEL_RESPONSES, clock)
        self._slow_queue = RequestQueue(1, clock)
        self._start_task: asyncio.Task[_ChildProcess] | None = None
        self._child: _ChildProcess | None = None
        self._earliest_start_time = 0.0
        """Monotonic time in seconds before which the page process is not started again."""
        self._is_closed = False
        self.request_count = 0
        """Number of requests sent to the page process."""

    @property
    def pid(self) -> int | None:
        """Id of the page process; None if it is not running."""
        return None if self._child is None else self._child.process.pid

    async def answer_request(
        self, request: PageRequest, address: str, is_abandoned: Callable[[], bool]
    ) -> PageResponse | None:
        """Return the response to a request; None if all clients that wait for it leave while the request is queued.

        address: network address of the client, by which requests are queued
        is_abandoned: function that returns True if all waiting clients have left

        Raises ServerBusy if too many requests wait, or if there is no response in time.
        """
        route = request.route_match.route
        end_time = self._clock.now() + route.timeout_seconds
        queue = self._slow_queue if route.is_slow else self._quick_queue
        try:
            async with queue.wait_for_turn(address, route.cost_us, route.timeout_seconds):
                if is_abandoned():
                    return None
                seconds_left = end_time - self._clock.now()
                child = await self._ensure_child_started()
                self.request_count += 1
                start_time, live_snapshot = self._clock.now(), LiveSnapshot()
                with anyio.move_on_after(TITLE_LOOKUP_TIME_SHARE * seconds_left if route.is_page else None):
                    live_snapshot = await self._load_live_snapshot(request.route_match)
                seconds_left -= self._clock.now() - start_time
                return await child.request_page(
                    msgspec.structs.replace(request, live_snapshot=live_snapshot, seconds_left=seconds_left)
                )
        except TimeoutError:
            raise ServerBusy(TOO_MANY_REQUESTS_REASON) from None

    async def _ensure_child_started(self) -> _ChildProcess:
        """Return the page process once it has started. If the caller is cancelled, the start continues.

        Raises ServerBusy if the start takes longer than MAX_WAIT_FOR_START_SECONDS, during the pause after a process that ended
        without a response (MIN_RESTART_PAUSE_SECONDS), and after `close`.
        """
        if self._start_task is None:
            if self._child is not None:
                return self._child
            if self._is_unavailable():
                raise ServerBusy("the web page is temporarily unavailable: try again")
            self._start_task = asyncio.create_task(self._start_child())
        try:
            with anyio.fail_after(MAX_WAIT_FOR_START_SECONDS):
                return await asyncio.shield(self._start_task)
        except TimeoutError:
            raise ServerBusy("the web page is still starting: try again") from None

    async def _start_child(self) -> _ChildProcess:
        try:
            server_socket, child_socket = socket.socketpair()
            with child_socket:
                # In a thread, because starting a process may take some milliseconds.
                process = await anyio.to_thread.run_sync(partial(_start_process, child_socket))
            reader, writer = await asyncio.open_connection(sock=server_socket)
            self._child = child = _ChildProcess(process, writer)
            child.write_message(self._make_config())
            child.reading_task = asyncio.create_task(self._read_messages(child, reader))
            if self._is_unavailable():  # closed meanwhile
                child.kill()
            with anyio.move_on_after(PAGE_PROCESS_START_TIMEOUT_SECONDS) as timeout:
                await child.ready.wait()
            if timeout.cancelled_caught:
                child.kill()
            return child
        finally:
            self._start_task = None

    def _is_unavailable(self) -> bool:
        return self._is_closed or self._clock.now() < self._earliest_start_time

    async def _read_messages(self, child: _ChildProcess, reader: asyncio.StreamReader) -> None:
        """Handle the messages from the page process until the process ends."""
        try:
            while True:
                message = _decode_message(await page_messages.read_frame(reader))
                if isinstance(message, PageResponse):
                    child.deliver_response(message)
                else:
                    child.ready.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._child = None
            if not child.has_answered:
                self._earliest_start_time = self._clock.now() + MIN_RESTART_PAUSE_SECONDS
            child.kill_and_fail_requests()
            if not self._is_closed:
                with anyio.CancelScope(shield=True):
                    exit_code = await anyio.to_thread.run_sync(child.process.wait)
                log.warning(
                    "the page process ended (exit code %d): the next request starts another", exit_code
                )

    async def _load_live_snapshot(self, route_match: RouteMatch) -> LiveSnapshot:
        """Return the live data on the match or tournament that a request is for; empty if the request is for neither."""
        if route_match.route_key == "/api/event":
            event = route_match.parameters["name"]
            listing = await self._page_client.request_lobby_listing_or_last_known()
            playing = sum(match.event == event for match in listing.matches)
            return LiveSnapshot(None, playing, self._find_event_progress(event))
        match_id = parse_shown_match_id(route_match.path, route_match.query)
        if match_id or route_match.route_key == "/":
            # The start page shows any Riskless match.
            live_matches = (await self._page_client.request_lobby_listing_or_last_known()).matches
            live_match = next(
                (
                    match.match
                    for match in live_matches
                    if (match.match == match_id if match_id else match.game == "riskless")
                ),
                None,
            )
            return LiveSnapshot(await self._page_client.request_view(live_match) if live_match else None)
        return LiveSnapshot()

    def close(self) -> None:
        """Kill the page process, and do not start it again."""
        self._is_closed = True
        if self._child is not None:
            self._child.reading_task.cancel()
            self._child.kill()
            self._child.process.wait()


class _ChildProcess:
    """Running page process (child process that makes responses), with the requests that wait for its responses."""

    def __init__(self, process: subprocess.Popen[bytes], writer: asyncio.StreamWriter) -> None:
        self.process = process
        self.ready = asyncio.Event()
        """`asyncio.Event` that is set when the page process has started or ended."""
        self.has_answered = False
        """True once the page process has answered a request."""
        self.reading_task: asyncio.Task[None]
        self._writer = writer
        self._numbers = count()
        self._pending: dict[int, asyncio.Future[PageResponse]] = {}

    async def request_page(self, request: PageRequest) -> PageResponse:
        """Send a request to the page process, and return its response.

        Raises ServerBusy if the process ends before its response. If there is no response RESPONSE_GRACE_SECONDS after the time
        limit of the request, the process counts as hung: it is killed, and TimeoutError is raised.
        """
        if self._writer.is_closing():
            raise ServerBusy("the web page had to restart: try again")
        number = next(self._numbers)
        future: asyncio.Future[PageResponse] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        self.write_message(msgspec.structs.replace(request, request_number=number))
        try:
            with anyio.fail_after(max(0.0, request.seconds_left) + RESPONSE_GRACE_SECONDS):
                return await future
        except TimeoutError:
            self.kill()
            raise
        finally:
            self._pending.pop(number, None)

    def write_message(self, message: page_messages.MessageToPageProcess) -> None:
        """Send a message to the page process, unless the page process has ended."""
        if not self._writer.is_closing():
            self._writer.write(page_messages.encode_frame(message))

    def deliver_response(self, response: PageResponse) -> None:
        """Deliver a response to the task that waits in `request_page`."""
        self.has_answered = True
        future = self._pending.pop(response.request_number, None)
        if future is not None and not future.done():
            future.set_result(response)

    def kill(self) -> None:
        self._writer.close()
        self.process.kill()

    def kill_and_fail_requests(self) -> None:
        """Kill the page process, and let all pending calls of `request_page` raise ServerBusy."""
        self.kill()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ServerBusy("the web page had to restart: try again"))
        self._pending.clear()
        self.ready.set()


def _start_process(child_socket: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(PAGE_PROCESS_COMMAND, stdin=child_socket.fileno(), stdout=subprocess.DEVNULL)  # noqa: S603  our own program
