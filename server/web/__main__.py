"""Page process: a child process of the server that makes most of the web page's responses.

The server starts this process as `python -m arena.server.web`. The standard input of the process is a socket, on which the
server sends requests for responses.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
import traceback
from functools import partial
from http import HTTPStatus
from urllib.parse import unquote

import anyio
import anyio.to_thread
import msgspec

from arena.clock import TimeSource
from arena.games.catalogue import CATALOGUE
from arena.processes import supervisor
from arena.server.edge import responses
from arena.server.edge.responses import INTERNAL_ERROR_RESPONSE, Response
from arena.server.store import database, errors
from arena.server.web import link_previews, page_messages
from arena.server.web.analysis import analyse_position, review_moves
from arena.server.web.custom_game_boards import answer_board_request
from arena.server.web.event_calendar import answer_calendar_request
from arena.server.web.initial_page import INTRODUCTION_ELEMENT, InitialPage
from arena.server.web.link_previews import LinkPreviewHandler
from arena.server.web.maps import answer_map_list_request, answer_map_request
from arena.server.web.match_log import MatchLogHandler
from arena.server.web.page_messages import (
    TITLE_LOOKUP_TIME_SHARE,
    PageProcessConfig,
    PageProcessReady,
    PageRequest,
    PageResponse,
)
from arena.server.web.routes import BadRequest, NotFound, Route
from arena.server.web.store_data import StoreDataHandler

MIN_CACHE_SECONDS, CACHE_SECONDS_PER_SECOND, MAX_CACHE_SECONDS = 1.0, 200.0, 10.0
"""Cache time of a response: 200 s for each second of work that the response took, but at least 1 s and at most 10 s."""
PAGE_CACHE_SECONDS = 2.0
"""Time for which an HTML page is cached, in seconds: a short time, because pages show matches in progress."""
STABLE_RESPONSE_CACHE_SECONDS = 3600.0
"""Time, in seconds, for which a response is cached that rarely or never changes."""


class PageRequestHandler:
    """Handler of all requests to the page process (the child process that makes the web page's responses)."""

    def __init__(self, config: PageProcessConfig, engine: database.Engine, clock: TimeSource) -> None:
        self._engine = engine
        # The cost of a response is its work, without the time it waits for a free CPU: otherwise, a busy machine would
        # cache responses for longer. SQLite works in this process, so CPU time measures its work. Other databases work
        # in other processes, so their work can only be measured as elapsed time.
        self._read_work_clock_ns = clock.cpu_time_ns if engine.dialect.name == "sqlite" else clock.now_ns
        self._templates = config.templates
        self._initial_page = InitialPage()
        self._preview_handler = LinkPreviewHandler(engine)
        self._store_data_handler = StoreDataHandler(engine)
        self._match_log_handler = MatchLogHandler(engine, admits_anyone=config.server_info.admits_anyone)
        self._admits_guests = config.server_info.admits_guests

    async def handle_request(self, request: PageRequest) -> PageResponse:
        """Return the response to a request. Any exception becomes a response with an error status."""
        start_ns, error_text = self._read_work_clock_ns(), ""
        try:
            with anyio.fail_after(request.seconds_left):
                response = await self._answer_request(request)
        except BadRequest as bad_request:
            response = responses.make_bad_request_response(str(bad_request))
        except NotFound as not_found:
            response = responses.make_text_response(str(not_found), HTTPStatus.NOT_FOUND)
        except TimeoutError:
            response = responses.make_text_response(
                "the store is busy: try again", HTTPStatus.SERVICE_UNAVAILABLE
            )
        except Exception as error:  # noqa: BLE001  the parent logs it
            response, error_text = _make_failure_response(error)
        compress = partial(responses.compress_if_accepted, response, accepts_gzip=request.accepts_gzip)
        needs_thread = request.accepts_gzip and responses.is_worth_compressing(response)
        response = await anyio.to_thread.run_sync(compress) if needs_thread else compress()
        cost = (self._read_work_clock_ns() - start_ns) / 1e9
        cache_seconds = _choose_cache_seconds(request.route_match.route, response, cost)
        return PageResponse(response, request.request_number, cache_seconds, error_text)

    async def _answer_request(self, request: PageRequest) -> Response:
        route_match = request.route_match
        if route_match.route.is_page:
            return await self._render_page(request)
        match route_match.route_key:
            case "/picture/" | "/film/":
                return await self._preview_handler.answer_picture_request(
                    unquote(route_match.path), request.live_snapshot.match_view
                )
            case "/events.ics":
                return await answer_calendar_request(self._engine, request.origin)
            case "/api/log/":
                return await self._match_log_handler.handle_request(
                    route_match.path_argument, request.authorization
                )
            case "/api/game/":
                return await answer_board_request(route_match.path_argument, route_match.parameters)
            case "/api/advice/" | "/api/review" | "/api/review/" if not self._admits_guests:
                raise NotFound("this server offers no analysis, because guests may not use its engines")
            case "/api/review":
                return await review_moves(route_match.parameters)
            case "/api/advice/":
                return await analyse_position(route_match.path_argument, route_match.parameters)
            case "/api/map/":
                return answer_map_request(route_match.path_argument)
            case "/api/maps":
                return answer_map_list_request()
        return await self._store_data_handler.handle_request(route_match, request.live_snapshot)

    async def _render_page(self, request: PageRequest) -> Response:
        """Respond with an HTML page that has a title and a link preview of its own.

        If the store is slow or unavailable, the page has the general title and preview of the site.
        """
        route_match, view = request.route_match, request.live_snapshot.match_view
        initial_html = (
            self._initial_page.render(view) if route_match.route_key == "/" else INTRODUCTION_ELEMENT
        )
        preview = link_previews.DEFAULT_LINK_PREVIEW
        with anyio.move_on_after(TITLE_LOOKUP_TIME_SHARE * request.seconds_left):
            try:
                preview = await self._preview_handler.find_preview(route_match.path, route_match.query, view)
            except Exception as error:
                if errors.describe_database_error(error) is None and not isinstance(error, TimeoutError):
                    raise
        head = link_previews.render_preview(preview, request.origin, route_match.path)
        is_start_page, is_embedded = route_match.route_key == "/", route_match.route_key == "/embed/"
        return self._templates.render_page(
            head, initial_html, is_start_page=is_start_page, is_embedded=is_embedded
        )


def _make_failure_response(error: Exception) -> tuple[Response, str]:
    """Return the error response to a request whose handling raised `error`, and a message for the server's log."""
    why = errors.describe_database_error(error)
    if why is not None:
        line = responses.make_text_response("the store does not answer", HTTPStatus.SERVICE_UNAVAILABLE)
        return line, f"the store does not answer: {why}"
    return INTERNAL_ERROR_RESPONSE, "".join(traceback.format_exception(error))


def _choose_cache_seconds(route: Route, response: Response, render_seconds: float) -> float:
    """Return the time for which a response may be cached, in seconds; 0 if it must not be cached.

    render_seconds: seconds of work that the response took
    """
    if route.is_personal or response.status >= 500:
        return 0.0
    if route.is_page:
        return PAGE_CACHE_SECONDS
    if "max-age" in response.headers.get("Cache-Control", ""):
        return STABLE_RESPONSE_CACHE_SECONDS
    return min(MAX_CACHE_SECONDS, max(MIN_CACHE_SECONDS, CACHE_SECONDS_PER_SECOND * render_seconds))


async def serve() -> None:
    """Answer the requests that the parent process sends through the socket on standard input.

    End this process when the parent closes the socket.
    """
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=os.dup(0)))
    decode = msgspec.msgpack.Decoder(page_messages.MessageToPageProcess).decode
    config = decode(await page_messages.read_frame(reader))
    if not isinstance(config, PageProcessConfig):
        raise TypeError(f"the first frame must be PageProcessConfig, not {type(config).__name__}")
    for game in config.games:
        CATALOGUE.register_game(game)

    async def answer_request(request: PageRequest) -> None:
        writer.write(page_messages.encode_frame(await handler.handle_request(request)))
        await writer.drain()

    async with database.open_store_readonly(config.store_url) as engine, anyio.create_task_group() as tasks:
        # The CPU time of the whole process, because queries of SQLite run in threads.
        clock = TimeSource(cpu_time_ns=time.process_time_ns)
        handler = PageRequestHandler(config, engine, clock)
        writer.write(page_messages.encode_frame(PageProcessReady()))
        while True:
            try:
                message = decode(await page_messages.read_frame(reader))
            except (asyncio.IncompleteReadError, ConnectionError):
                # The parent is gone, so work in threads is not awaited.
                os._exit(0)
            if isinstance(message, PageRequest):
                tasks.start_soon(answer_request, message)


def main() -> None:
    """Run this process, which makes the web page's responses, until the parent process closes its socket."""
    # Matches have priority over pages.
    os.nice(supervisor.DEFAULT_NICENESS)
    # The parent handles these signals, and this process ends with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(serve())


if __name__ == "__main__":
    main()
