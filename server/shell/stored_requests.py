"""Requests to the core, for example to announce an event (a tournament): from `arena` commands and owners' web pages.

A command stores its request, and reads the answer from the store. A web page gets the answer as the result of a call.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from arena.server.core.effects import StoredRequestAnswered
from arena.server.core.inputs import FindConnectedClient, NumberedStoredRequest, StoredRequest
from arena.server.store.database import Engine
from arena.server.store.stored_requests import RequestAnswer, load_pending_requests, send_request_via_store

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell


log = logging.getLogger("arena.requests")


class StoredRequestHandler:
    """Handler of the requests that the operator of a server and the owners of bots send to the server.

    Requests that are kept in the store are handled by calls of `submit_stored_requests`.
    """

    def __init__(self, db_engine: Engine, server_name: str, shell: Shell) -> None:
        self._db_engine = db_engine
        self._server_name = server_name
        self._shell = shell
        self._last_request_number = 0
        """Number of the last request from a web page. Such numbers are negative, because stored requests have positive numbers.
        """
        self._pending_answers: dict[int, asyncio.Future[RequestAnswer]] = {}
        """Future for each answer that a web page waits for, by number of the request."""
        self._last_core = shell.core
        """Server core that got the requests in `_should_log_refusal`. Its successor gets the unanswered ones again."""
        self._should_log_refusal: dict[int, bool] = {}
        """Requests from the store that the core has got, by number: True if a refusal by the core is written to the log.

        A refusal of `FindConnectedClient` is not logged, because this request is only a question.
        """
        shell.add_effect_handler(StoredRequestAnswered, self._resolve_pending_answer)

    async def send_request_via_store(self, server_name: str, request: StoredRequest) -> RequestAnswer | None:
        """Pass a request to this server's core or, if it is for another server, put it into the store for that server.

        Return the answer once it is stored; None if another server does not answer in time. This method has the type
        `SendRequestViaStore`. After a cancellation, the request may still be carried out.
        """
        if server_name != self._server_name:
            return await send_request_via_store(self._db_engine, server_name, request)
        self._last_request_number -= 1
        number = self._last_request_number
        self._pending_answers[number] = asyncio.get_running_loop().create_future()
        try:
            self._shell.submit(NumberedStoredRequest(number, request))
            return await self._pending_answers[number]
        finally:
            del self._pending_answers[number]

    def _resolve_pending_answer(self, answer: StoredRequestAnswered) -> None:
        """Give the answer to the web page that waits for it.

        Log a refusal of a request from the store, because the command that stored the request may have ended without
        the answer.
        """
        if not answer.succeeded and self._should_log_refusal.get(answer.request_number, False):
            log.warning("a request of the host is refused: %s", answer.answer)
        future = self._pending_answers.get(answer.request_number)
        if future is not None and not future.done():
            future.set_result(RequestAnswer(answer.answer, answer.succeeded))

    async def submit_stored_requests(self) -> None:
        """Pass new requests in the store to the server's core. A core that was rebuilt gets all unanswered requests again.

        Raises any database error.
        """
        requests = await load_pending_requests(self._db_engine, self._server_name)
        if self._shell.core is not self._last_core:
            self._last_core, self._should_log_refusal = self._shell.core, {}
        for request in requests:
            if request.request_number not in self._should_log_refusal:
                self._should_log_refusal[request.request_number] = not isinstance(
                    request.request, FindConnectedClient
                )
                self._shell.submit(request)
