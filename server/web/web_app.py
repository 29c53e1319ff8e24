"""Responses to HTTP requests on the server's port: health, metrics, the web page and its data.

The server's process makes responses from memory, and answers POST requests. The page process makes all other responses.

The cost of a request is taken from the budget of the client's address. If the budget is too small, the response has
status 429.

Responses are cached for a while, and equal requests that arrive together share one response, so that many reloads do
not slow down matches.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from http import HTTPStatus

import anyio

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.games.catalogue import CATALOGUE
from arena.maps.game_on_map import DEFAULT_MAP
from arena.maps.loader import list_built_in_map_names
from arena.server.abuse_counter import MAX_WRONG_TOKENS_PER_WINDOW, AbuseCounter
from arena.server.edge import responses
from arena.server.edge.handshake import find_origin_refusal
from arena.server.edge.page_client import PageClient
from arena.server.edge.request import Request
from arena.server.edge.responses import MakeResponse, Response
from arena.server.edge.work_budget import WorkBudget
from arena.server.metrics import Metrics
from arena.server.store.database import Engine
from arena.server.store.errors import OperationRefused, describe_store_failure
from arena.server.store.stored_requests import SendRequestViaStore
from arena.server.web import link_previews
from arena.server.web.admin_page import AdminPageHandler
from arena.server.web.event_progress import FindEventProgress
from arena.server.web.owner_page import OwnerPageHandler
from arena.server.web.page_messages import PageProcessConfig, PageRequest, ServerInfo
from arena.server.web.page_process import PageProcess
from arena.server.web.renames import RenameQueue
from arena.server.web.request_queue import RequestQueue, ServerBusy
from arena.server.web.routes import BadRequest, RouteMatch, accepts_gzip, parse_request_target
from arena.server.web.static_files import load_page_files

log = logging.getLogger("arena.pages")

METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METRICS_CACHE_SECONDS = 0.5
"""Time for which the rendered metrics are cached, in seconds."""
MAX_CACHED_RESPONSES, MAX_CACHED_BYTES = 1024, 16 * 1024 * 1024
"""Maximum number of cached responses, and of bytes in all their bodies together."""
MAX_WAITING_POSTS_PER_ADDRESS = 64
"""Maximum number of POST requests of one client address that may wait for their turn.

The number is high, because all students of a course may share an address.
"""
CACHED_RESPONSE_COST_MICROSECONDS = 200
"""Cost of a response from the cache, in µs, unless its route costs less. The client's work budget pays the cost.

A work budget limits how much work each client address may cause per second.
"""
HOST_HEADER_PATTERN = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,255}")
"""Pattern of a Host header that is safe to insert into a page."""
ABANDONED_RESPONSE = responses.make_text_response(
    "nobody waits for this response", HTTPStatus.REQUEST_TIMEOUT
)
"""Result of a request whose clients all left while it was queued. The response is never sent."""

CacheKey = tuple[object, ...]
"""Key of a cached response: everything on which the response depends."""


class WebApp:
    """HTTP application of a server: the handler of all requests that are not WebSocket handshakes."""

    def __init__(
        self,
        server_info: ServerInfo,
        engine: Engine,
        page_client: PageClient,
        metrics: Metrics,
        work_budget: WorkBudget,
        describe_outage: Callable[[], str],
        *,
        send_request_via_store: SendRequestViaStore,
        find_event_progress: FindEventProgress = lambda _event: None,
        origins: Collection[str] = (),
        clock: TimeSource = MONOTONIC_CLOCK,
    ) -> None:
        """Set up the application, without starting the page process.

        server_info: settings of the server that the responses need
        engine: SQLAlchemy engine of the database that the pages read and write
        page_client: source of live data for the pages
        metrics: metrics to render for `/metrics`
        work_budget: budget of each client address, from which the costs of its requests are taken
        describe_outage: function that returns the reason why no match can begin now; empty if matches can begin
        send_request_via_store: function that sends an owner's request to the server that plays an event, and returns the answer
        find_event_progress: function that returns the progress of an event played by this server
        origins: origins of other sites whose pages may read JSON responses (CORS); `*` for all
        """
        self._info = server_info
        self._store_url = engine.url.render_as_string(hide_password=False)
        # A POST request may lock the store exclusively, so only one is answered at a time.
        self._post_queue = RequestQueue(1, clock, MAX_WAITING_POSTS_PER_ADDRESS)
        self._metrics = metrics
        self._work_budget = work_budget
        self._describe_outage = describe_outage
        self._origins = frozenset(origins)
        self._clock = clock
        self._static_files = load_page_files()
        self.rename_queue = RenameQueue(self._store_url)
        """Queue of the renames of bots that admins have requested. The caller must run `rename_queue.run`."""
        self._owner_page_handler = OwnerPageHandler(engine, send_request_via_store)
        self._admin_page_handler = AdminPageHandler(engine, page_client, self.rename_queue)
        self.page_process = PageProcess(
            self._make_page_process_config, page_client, find_event_progress, clock
        )
        """Process that makes the slow responses. The caller must close it."""
        self._cache = ResponseCache()
        self._failed_login_counter = AbuseCounter()
        """Counts of failed logins, by IP address."""
        self._pending_responses: dict[CacheKey, _PendingResponse] = {}
        head = link_previews.render_preview(link_previews.DEFAULT_LINK_PREVIEW, "", "/")
        render_page = self._static_files.templates.render_page
        self._general_pages = {"index": render_page(head), "embed": render_page(head, is_embedded=True)}
        """Pages with a general title, used if the page process does not answer."""
        self._about_response = responses.make_json_response(
            {
                "program": server_info.program,
                "anyone": server_info.admits_anyone,
                "guests": server_info.admits_guests,
                "house": server_info.house_bots,
                "games": sorted(CATALOGUE.list_game_names()),
                "maps": list_built_in_map_names(),
                "map": DEFAULT_MAP,
                "page": self._static_files.digest,
            }
        )

    def clear_cache(self) -> None:
        """Discard all cached responses, for example after a bot was banned."""
        self._cache = ResponseCache()

    def __call__(self, request: Request, address: str) -> Response | MakeResponse:
        """Return the response to a request, or, if it cannot be made at once, an async function that makes it.

        address: network address of the client
        """
        response = self._find_response(request, address)
        if not self._origins or request.method == "POST" or not request.path.startswith("/api/"):
            return response
        if callable(response):
            return partial(self._make_response_with_cors, response, request)
        return self._add_cors_headers(response, request)

    async def _make_response_with_cors(self, make_response: MakeResponse, request: Request) -> Response:
        return self._add_cors_headers(await make_response(), request)

    def _add_cors_headers(self, response: Response, request: Request) -> Response:
        """Return a response with CORS headers for the allowed origins.

        See https://fetch.spec.whatwg.org/#http-cors-protocol.
        """
        if "*" in self._origins:
            return replace(response, headers={**response.headers, "Access-Control-Allow-Origin": "*"})
        vary = ", ".join(filter(None, (response.headers.get("Vary"), "Origin")))
        headers = {**response.headers, "Vary": vary}
        origin = ",".join(request.headers.get_all("Origin"))
        if origin in self._origins:
            headers["Access-Control-Allow-Origin"] = origin
        return replace(response, headers=headers)

    def _find_response(self, request: Request, address: str) -> Response | MakeResponse:
        try:
            route_match = parse_request_target(request.path)
        except BadRequest as error:
            return responses.make_bad_request_response(str(error))
        if route_match is None:
            return self._make_not_found_page(request)
        route = route_match.route
        if route.is_post or request.method == "POST":
            return self._admit_post(route_match, request, address)
        accepted_encodings = request.headers.get_all("Accept-Encoding")
        can_use_gzip = accepts_gzip(
            accepted_encodings[0] if len(accepted_encodings) == 1 else ",".join(accepted_encodings)
        )
        if route.is_answered_from_memory:
            wait_seconds = self._work_budget.charge_or_compute_wait_seconds(
                address, route.cost_us, self._clock.now()
            )
            return (
                responses.make_too_many_requests_response(wait_seconds)
                if wait_seconds > 0
                else self._answer_from_memory(route_match, accepts_gzip=can_use_gzip)
            )
        origin = self._find_origin(request) if route.is_page or route.response_has_absolute_urls else ""
        authorization = ",".join(request.headers.get_all("Authorization")) if route.is_personal else ""
        key = route_match.cache_key, can_use_gzip, origin, authorization
        now = self._clock.now()
        if (
            authorization
            and (wait_seconds := self._failed_login_counter.get_refusal_seconds_left(address, now)) > 0
        ):
            return responses.make_too_many_requests_response(wait_seconds)
        response = self._cache.get(key, now)
        wait_seconds = self._work_budget.charge_or_compute_wait_seconds(
            address,
            route.cost_us if response is None else min(CACHED_RESPONSE_COST_MICROSECONDS, route.cost_us),
            now,
        )
        if wait_seconds > 0:
            return responses.make_too_many_requests_response(wait_seconds)
        if response is None:
            pending = self._pending_responses.get(key)
            if pending is None:
                page_request = PageRequest(route_match, can_use_gzip, origin, authorization)
                pending = self._pending_responses[key] = _PendingResponse()
                pending.task = asyncio.create_task(self._make_response(key, pending, page_request, address))
            pending.abandonment_checks.append(request.is_abandoned)
            return partial(
                self._wait_for_response, pending.task, request, address, has_secret=bool(authorization)
            )
        return _make_not_modified_response(response, request)

    async def _wait_for_response(
        self, task: asyncio.Task[Response], request: Request, address: str, *, has_secret: bool
    ) -> Response:
        """Return the response that `task` makes. If the caller is cancelled, the task goes on, because others may wait for it.

        has_secret: True if the request has a token or another secret; a response with status 401 then counts as a
            failed login from `address`
        """
        response = await asyncio.shield(task)
        if has_secret and response.status is HTTPStatus.UNAUTHORIZED:
            self._failed_login_counter.record_abuse(address, self._clock.now(), MAX_WRONG_TOKENS_PER_WINDOW)
        return _make_not_modified_response(response, request)

    def _admit_post(self, route_match: RouteMatch, request: Request, address: str) -> Response | MakeResponse:
        """Return the response to a POST request, or an async function that makes it, for the caller to await.

        The response is an error if the request comes from a page of another site, exceeds a limit, or uses a wrong method.
        """
        route = route_match.route
        if not (route.is_post and request.method == "POST"):
            return responses.make_method_not_allowed_response("POST" if route.is_post else "GET, HEAD")
        refusal = find_origin_refusal(request)
        if refusal is not None:
            return refusal
        now = self._clock.now()
        wait_seconds = max(
            self._failed_login_counter.get_refusal_seconds_left(address, now),
            self._work_budget.charge_or_compute_wait_seconds(address, route.cost_us, now),
        )
        if wait_seconds > 0:
            return responses.make_too_many_requests_response(wait_seconds)
        return partial(self._run_post_in_turn, route_match, request, address)

    async def _run_post_in_turn(self, route_match: RouteMatch, request: Request, address: str) -> Response:
        route = route_match.route
        end_time = self._clock.now() + route.timeout_seconds
        try:
            async with self._post_queue.wait_for_turn(address, route.cost_us, route.timeout_seconds):
                if request.is_abandoned():
                    return ABANDONED_RESPONSE
                now = self._clock.now()
                if (wait_seconds := self._failed_login_counter.get_refusal_seconds_left(address, now)) > 0:
                    return responses.make_too_many_requests_response(wait_seconds)
                with anyio.fail_after(end_time - now):
                    response = await self._dispatch_post(route_match, request)
                if response.status is HTTPStatus.UNAUTHORIZED:
                    self._failed_login_counter.record_abuse(
                        address, self._clock.now(), MAX_WRONG_TOKENS_PER_WINDOW
                    )
        except ServerBusy as busy:
            return responses.make_text_response(str(busy), HTTPStatus.SERVICE_UNAVAILABLE)
        except BadRequest as error:
            return responses.make_bad_request_response(str(error))
        except OperationRefused as refused:
            return responses.make_text_response(str(refused), HTTPStatus.CONFLICT)
        except Exception as error:
            if describe_store_failure(error) is None and not isinstance(error, TimeoutError):
                raise
            log.error("the store does not answer: %s", str(error) or "it took too long")  # noqa: TRY400  one line, no stack
            return responses.make_text_response(
                "the server cannot reach its store: try again", HTTPStatus.SERVICE_UNAVAILABLE
            )
        return response

    async def _dispatch_post(self, route_match: RouteMatch, request: Request) -> Response:
        authorization = ",".join(request.headers.get_all("Authorization"))
        if route_match.route_key == "/api/host":
            return await self._admin_page_handler.handle_request(route_match.parameters, authorization)
        return await self._owner_page_handler.handle_request(route_match, authorization)

    async def _make_response(
        self, cache_key: CacheKey, pending_response: _PendingResponse, request: PageRequest, address: str
    ) -> Response:
        try:
            page_response = await self.page_process.answer_request(
                request, address, pending_response.is_abandoned
            )
        except ServerBusy as busy:
            if request.route_match.route.is_page:  # the plain page shows matches in progress too
                return self._general_pages["embed" if request.route_match.route_key == "/embed/" else "index"]
            return responses.make_text_response(str(busy), HTTPStatus.SERVICE_UNAVAILABLE)
        finally:
            del self._pending_responses[cache_key]
        if page_response is None:
            return ABANDONED_RESPONSE
        if page_response.error_text:
            log.error("%s: %s", request.route_match.path, page_response.error_text)
        if page_response.cache_seconds > 0:
            self._cache.put(
                cache_key, page_response.response, self._clock.now() + page_response.cache_seconds
            )
        return page_response.response

    def _make_page_process_config(self) -> PageProcessConfig:
        return PageProcessConfig(
            self._store_url, CATALOGUE.list_file_game_specs(), self._info, self._static_files.templates
        )

    def _find_origin(self, request: Request) -> str:
        """Return the beginning of a request's URL, such as `https://arena.example`; empty if unknown."""
        host = ", ".join(request.headers.get_all("Host"))
        if not HOST_HEADER_PATTERN.fullmatch(host):
            return ""
        is_https_proxied = request.headers.get_all("X-Forwarded-Proto") == ["https"]
        return f"{'https' if self._info.uses_tls or is_https_proxied else 'http'}://{host}"

    def _make_not_found_page(self, request: Request) -> Response:
        """Return a response with status 404: the HTML page for a browser, and a line of text for any other client."""
        media_types = [value.partition(";")[0] for value in request.list_header_values("Accept")]
        return (
            replace(self._general_pages["index"], status=HTTPStatus.NOT_FOUND)
            if "text/html" in media_types
            else responses.PAGE_NOT_FOUND_RESPONSE
        )

    def _answer_from_memory(self, route_match: RouteMatch, *, accepts_gzip: bool) -> Response:
        """Return the response on a route that needs no other process, such as a file."""
        match route_match.route_key:
            case "/web/":
                file_response = self._static_files.answer_file(
                    route_match.encoded_path_argument, accepts_gzip=accepts_gzip
                )
                return file_response or responses.PAGE_NOT_FOUND_RESPONSE
            case "/sw.js":
                return self._static_files.answer_service_worker(accepts_gzip=accepts_gzip)
            case "/readyz":
                why = self._describe_outage()
                if not why:
                    return responses.make_text_response("ready")
                return responses.make_text_response(f"not ready: {why}", HTTPStatus.SERVICE_UNAVAILABLE)
            case "/metrics":
                return self._make_metrics_response()
            case "/api/about":
                return self._about_response
        return responses.make_text_response("ok")

    def _make_metrics_response(self) -> Response:
        """Respond with the metrics. Rendering them takes up to 2 ms, so the response is cached for METRICS_CACHE_SECONDS."""
        key, now = ("/metrics",), self._clock.now()
        response = self._cache.get(key, now)
        if response is None:
            response = Response(HTTPStatus.OK, METRICS_CONTENT_TYPE, self._metrics.render_prometheus_text())
            self._cache.put(key, response, now + METRICS_CACHE_SECONDS)
        return response


class _PendingResponse:
    """Response in preparation, and the clients that wait for it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Response]
        self.abandonment_checks: list[Callable[[], bool]] = []
        """Function for each waiting client that returns True if the client has left."""

    def is_abandoned(self) -> bool:
        """Return True if no client waits for the response any more."""
        return all(has_left() for has_left in self.abandonment_checks)


class ResponseCache:
    """Cache of responses, each with an expiry time. A full cache drops the responses that were stored first."""

    def __init__(self) -> None:
        self._bytes = 0
        self._responses: OrderedDict[CacheKey, tuple[float, Response]] = OrderedDict()

    def get(self, key: CacheKey, now_seconds: float) -> Response | None:
        """Return the cached response for `key`; None if there is none, or it has expired at `now_seconds` (monotonic)."""
        entry = self._responses.get(key)
        return entry[1] if entry is not None and now_seconds < entry[0] else None

    def put(self, key: CacheKey, response: Response, expiry_time_seconds: float) -> None:
        """Cache a response until `expiry_time_seconds` (monotonic).

        Drop the responses that were stored first if the cache exceeds MAX_CACHED_RESPONSES or MAX_CACHED_BYTES.
        """
        replaced_entry = self._responses.pop(key, None)
        self._bytes += len(response.body) - (len(replaced_entry[1].body) if replaced_entry is not None else 0)
        self._responses[key] = expiry_time_seconds, response
        while len(self._responses) > MAX_CACHED_RESPONSES or self._bytes > MAX_CACHED_BYTES:
            self._bytes -= len(self._responses.popitem(last=False)[1][1].body)


def _make_not_modified_response(response: Response, request: Request) -> Response:
    """Return the response, or one with status 304 and no body if the client has the same version already (by ETag)."""
    if "ETag" not in response.headers:
        return response
    tags = ",".join(request.headers.get_all("If-None-Match")).split(",")
    if response.headers["ETag"] not in (tag.strip().removeprefix("W/") for tag in tags):
        return response
    return replace(response, status=HTTPStatus.NOT_MODIFIED, body=b"")
