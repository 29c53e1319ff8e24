"""Internal client through which the server's own web page sees the arena.

To the core (the part of the server that runs matches), this client is a spectator without a socket. Like any spectator,
it sees matches in progress and the listing (matches, bots, open challenges and events).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Browse,
    ClientMessage,
    Error,
    Hello,
    Listing,
    ServerMessage,
    Unwatch,
    View,
    Watch,
    Welcome,
)
from arena.server.core.effects import SendToClient
from arena.server.core.inputs import ClientAdmitted, ClientDisconnected, MessageReceived
from arena.server.edge.session import ADMITTED, BACKLOGGED
from arena.server.ports import AdmissionRequest

if TYPE_CHECKING:
    from arena.server.edge.edge import Edge

PAGE_CLIENT_HELLO = Hello("page", role="spectator", program="page")
"""Hello message with which the web page's internal client asks the server's core for admission, as a spectator."""
CORE_ANSWER_TIMEOUT_SECONDS = 2.0
"""Longest time to wait for the server's core (which runs matches) to answer a request of the web page, in seconds."""
IDLE_SECONDS_BEFORE_DISCONNECT = 30.0
"""Seconds without a request after which `PageClient`, which fetches live data for web pages, disconnects from the core."""
PAUSE_AFTER_UNANSWERED_REQUEST_SECONDS = 10.0
"""Pause, in seconds, after a request for the listing that the server's core did not answer, until the next such request."""
MAX_LOBBY_LISTING_AGE_SECONDS = 0.25
"""Maximum age, in seconds, at which the last listing (matches, bots …) is returned without a new request to the core."""


class ConnectedClient(Struct, frozen=True):
    """Client that the server's core has admitted, as listed on the web page for the server's operator."""

    name: str
    role: str
    address: str
    connected_seconds: int
    """Time since the client connected, in seconds."""


class PageClient:
    """Client of the server's core through which the web page gets live matches. The client disconnects when idle."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._client_number = 0
        """Number by which the server's core knows this client; 0 while the client is not connected."""
        self._admission: asyncio.Future[None] | None = None
        """Future that is done once the server's core has admitted the client; None before the first request."""
        self._open_requests: dict[str, asyncio.Future[ServerMessage | None]] = {}
        """Future for the answer to each open request, by match id, or by an empty key for the listing.

        The answer is None if there is no such match.
        """
        self._last_lobby_listing = Listing([], [], [])
        self._last_lobby_listing_s = float("-inf")
        """Time at which the last listing arrived, in monotonic seconds."""
        self._last_failure_s = float("-inf")
        """Time at which `request_lobby_listing_or_last_known` last got no answer, in monotonic seconds."""
        self._idle_timer: asyncio.TimerHandle | None = None

    async def request_view(self, match_id: str) -> View | None:
        """Return a match as spectators see it; None if the match is not in progress, or the server's core does not answer."""
        reply = await self._request_from_core(match_id, Watch(match_id))
        return reply if isinstance(reply, View) else None

    async def request_lobby_listing_or_last_known(self) -> Listing:
        """Return the listing (matches, bots, challenges, events), or the last known one if the server's core does not answer.

        If the core has not answered, return the last known listing at once for the next
        `PAUSE_AFTER_UNANSWERED_REQUEST_SECONDS`. Before the core's first answer, that listing is empty.
        """
        has_failed = self._last_failure_s > self._last_lobby_listing_s
        if (
            has_failed
            and self._edge.clock.now() - self._last_failure_s < PAUSE_AFTER_UNANSWERED_REQUEST_SECONDS
        ):
            return self._last_lobby_listing
        listing = None
        try:
            listing = await self.request_lobby_listing()
        finally:
            if listing is None:  # also if the caller has stopped waiting
                self._last_failure_s = self._edge.clock.now()
        return listing or self._last_lobby_listing

    async def request_lobby_listing(self) -> Listing | None:
        """Return a listing (matches, bots, challenges and events) of age `MAX_LOBBY_LISTING_AGE_SECONDS` at most.

        Return None if the server's core does not answer.
        """
        if self._edge.clock.now() - self._last_lobby_listing_s <= MAX_LOBBY_LISTING_AGE_SECONDS:
            return self._last_lobby_listing
        reply = await self._request_from_core("", Browse())
        return reply if isinstance(reply, Listing) else None

    def list_admitted_clients(self) -> list[ConnectedClient]:
        """Return the clients of this process that the server's core has admitted, longest connected first."""
        now = self._edge.now_ns()
        clients = [
            ConnectedClient(
                hello.name, hello.role, connection.address, (now - session.connected_since_ns) // 10**9
            )
            for connection in self._edge.connections
            if (session := connection.session) is not None
            and session.state in (ADMITTED, BACKLOGGED)
            and (hello := session.hello) is not None
        ]
        return sorted(clients, key=lambda client: (-client.connected_seconds, client.name))

    async def _request_from_core(self, request_key: str, message: ClientMessage) -> ServerMessage | None:
        """Return the answer of the server's core to a request; None if there is no such match.

        Return None too if the core does not answer within `CORE_ANSWER_TIMEOUT_SECONDS`. Concurrent calls with the same
        key send one request and share its answer.

        request_key  match id; empty for the listing
        message      message that makes the request
        """
        self._restart_idle_timer()
        try:
            async with asyncio.timeout(CORE_ANSWER_TIMEOUT_SECONDS):
                await self._connect_to_core()
                answer_future = self._open_requests.get(request_key)
                if answer_future is None:
                    answer_future = self._open_requests[request_key] = (
                        asyncio.get_running_loop().create_future()
                    )
                    self._submit_to_core(message)
                return await asyncio.shield(answer_future)
        except TimeoutError:
            self._open_requests.pop(request_key, None)
            return None

    async def _connect_to_core(self) -> None:
        if not self._client_number:
            self._admission = asyncio.get_running_loop().create_future()
            self._client_number = self._edge.add_client(self)
            self.resubscribe_to_core()
        if self._admission is not None:
            await asyncio.shield(self._admission)

    def _submit_to_core(self, message: ClientMessage) -> None:
        self._edge.core.submit(MessageReceived(self._client_number, message, self._edge.now_ns()))

    def _restart_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = self._edge.clock.call_later(
            IDLE_SECONDS_BEFORE_DISCONNECT, self.disconnect_from_core
        )

    def disconnect_from_core(self) -> None:
        """Disconnect from the server's core until the next request of the web page."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._client_number:
            client, self._client_number = self._client_number, 0
            self._edge.drop_client(client)
            self._edge.core.submit(ClientDisconnected(client))

    # called by the edge, as for any client

    def send(self, effect: SendToClient) -> None:
        """Handle a message from the server's core to this client. `effect`: effect of the core that holds the message."""
        message = effect.message
        if isinstance(message, Welcome):
            if self._admission is not None and not self._admission.done():
                self._admission.set_result(None)
        elif isinstance(message, View):
            self._submit_to_core(Unwatch(message.match))
            self._deliver_answer(message.match, message)
        elif isinstance(message, Listing):
            self._last_lobby_listing, self._last_lobby_listing_s = message, self._edge.clock.now()
            self._deliver_answer("", message)
        elif isinstance(message, Error) and message.match is not None:
            self._deliver_answer(message.match, None)

    def _deliver_answer(self, request_key: str, answer: ServerMessage | None) -> None:
        future = self._open_requests.pop(request_key, None)
        if future is not None and not future.done():
            future.set_result(answer)

    def end_session(self, _reason_code: ErrorCode, _detail: str) -> None:
        """Disconnect, because the server's core closes this client. The next request connects the client again.

        The arguments are ignored: the edge calls this method and `Session.end_session` alike.
        """
        self.disconnect_from_core()

    def make_resync_entry(self) -> ClientAdmitted | None:
        """Return the client's entry in `EdgeResynced`, the list of clients for a new core; None if it is not admitted."""
        if self._admission is None or not self._admission.done():
            return None
        return ClientAdmitted(
            self._client_number, PAGE_CLIENT_HELLO, "", owner="", session_secret="", role="spectator"
        )

    def resubscribe_to_core(self) -> None:
        """Send a new server core all unanswered requests; first this client's `hello`, if no core has answered that."""
        if self._admission is None or not self._admission.done():
            self._edge.core.submit(AdmissionRequest(self._client_number, PAGE_CLIENT_HELLO, ""))
        for key in self._open_requests:
            self._submit_to_core(Watch(key) if key else Browse())
