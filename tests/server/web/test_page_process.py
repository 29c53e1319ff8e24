"""The page process: its start, its end and its restart, time limits, and the cost of requests for the serving process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from functools import partial
from http import HTTPStatus
from itertools import count
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import sqlalchemy as sa
from websockets.datastructures import Headers

from arena.clock import TimeSource
from arena.protocol.messages import Listing, View
from arena.server.core.inputs import MessageReceived
from arena.server.core.limits import ServerLimits
from arena.server.edge.page_client import (
    CORE_ANSWER_TIMEOUT_SECONDS,
    PAUSE_AFTER_UNANSWERED_REQUEST_SECONDS,
    ConnectedClient,
    PageClient,
)
from arena.server.edge.request import Request
from arena.server.edge.responses import Response
from arena.server.edge.work_budget import WorkBudget
from arena.server.host import ArenaServer
from arena.server.metrics import Metrics
from arena.server.store import database
from arena.server.store.database import (
    Engine,
    create_or_migrate_store,
    open_engine,
    open_store,
    open_store_readonly,
)
from arena.server.store.stored_requests import send_request_via_store
from arena.server.store.tokens import StoredToken
from arena.server.web import owner_page, page_process
from arena.server.web.__main__ import MIN_CACHE_SECONDS, PageRequestHandler
from arena.server.web.credentials import find_valid_token
from arena.server.web.page_messages import (
    TITLE_LOOKUP_TIME_SHARE,
    LiveSnapshot,
    PageProcessConfig,
    PageRequest,
    PageResponse,
    ServerInfo,
)
from arena.server.web.page_process import PageProcess
from arena.server.web.routes import ROUTES, parse_request_target
from arena.server.web.web_app import WebApp
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.server.databases import Postgresql
from tests.server.edge.rig import await_response, open_rig
from tests.server.web.test_match_log import basic
from tests.server.web.test_web_app import get_pages, play
from tests.virtual import virtual

SLOW_QUERY = """WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000)
SELECT * FROM old_standings WHERE (SELECT max(n) FROM numbers) > 0"""
"""SQL of a view whose query takes SQLite some tenths of a second."""


class EmptyPageClient(PageClient):
    """Client that sees no matches and no bots."""

    def __init__(self) -> None:
        """Connect to no edge."""

    async def request_view(self, match: str) -> View | None:
        return None

    async def request_lobby_listing_or_last_known(self) -> Listing:
        return Listing([], [], [])

    async def request_lobby_listing(self) -> Listing:
        return await self.request_lobby_listing_or_last_known()

    def list_admitted_clients(self) -> list[ConnectedClient]:
        return []


@pytest.fixture
async def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    async with open_engine(url) as engine:
        await create_or_migrate_store(engine)
    return url


@pytest.fixture
async def pages(url: str) -> AsyncIterator[WebApp]:
    async with open_engine(url) as engine:
        pages = make_pages(engine)
        yield pages
        pages.page_process.close()


def make_pages(engine: Engine) -> WebApp:
    return WebApp(
        ServerInfo("test", admits_anyone=True),
        engine,
        EmptyPageClient(),
        Metrics(),
        WorkBudget(ServerLimits(work_ms_per_second=1e6)),
        lambda: "",
        send_request_via_store=partial(send_request_via_store, engine),
    )


async def get(pages: WebApp, path: str, **headers: str) -> tuple[int, str]:
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    answer = await await_response(pages(Request(path, Headers(fields)), "192.0.2.1"))
    return int(answer.status), answer.body.decode(errors="replace")


async def test_a_slow_query_runs_in_the_page_process(pages: WebApp, url: str) -> None:
    """The serving process runs no code of the store for the query, and only a few functions of its own."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as store, store:
        store.execute("ALTER TABLE standings RENAME TO old_standings")
        store.execute(f"CREATE VIEW standings AS {SLOW_QUERY}")
    assert (await get(pages, "/api/maps"))[0] == 200  # starts the page process
    assert pages.page_process.pid not in (None, os.getpid())
    called: Counter[str] = Counter()
    package = str(Path(sys.modules["arena.server"].__file__ or "").resolve().parent)

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            called[frame.f_code.co_filename.removeprefix(f"{package}/").partition("/")[0]] += 1

    sys.setprofile(count)
    try:
        answered = await get(pages, "/api/bot/anna")
    finally:
        sys.setprofile(None)
    assert answered == (404, "the bot 'anna' has no finished match\n")
    assert not called["store"]
    assert called.total() < 80, called


async def test_matches_go_on_while_a_request_waits(host: ArenaServer) -> None:
    assert (await get(get_pages(host), "/api/maps"))[0] == 200
    pid = get_pages(host).page_process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    results: list[tuple[int, str]] = []

    async def ask() -> None:
        results.append(await get(get_pages(host), "/api/bot/anna"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        (match,) = await play(host, 1)
        assert not results
        os.kill(pid, signal.SIGCONT)
    ((status, body),) = results
    assert status == 200
    assert [each["match"] for each in json.loads(body)["matches"]] == [match]


async def test_a_request_does_not_wait_for_a_slow_start_which_continues(
    pages: WebApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as impatient:
        impatient.setattr(page_process, "MAX_WAIT_FOR_START_SECONDS", 0.0)
        for _ in range(2):
            assert await get(pages, "/api/maps") == (503, "the web page is still starting: try again\n")
    while pages.page_process.pid is None:
        await anyio.sleep(0.01)
    pid = pages.page_process.pid
    assert (await get(pages, "/api/maps"))[0] == 200
    assert pages.page_process.pid == pid


async def test_a_killed_page_process_is_started_again(
    pages: WebApp, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await get(pages, "/api/maps"))[0] == 200
    pid = pages.page_process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # so that the request is in progress when the process ends
    results: list[int] = []

    async def ask() -> None:
        results.append((await get(pages, "/api/bot/anna"))[0])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        while not pages.page_process.request_count > 1:
            await anyio.lowlevel.checkpoint()
        os.kill(pid, signal.SIGKILL)
    assert results == [503]
    assert (await get(pages, "/api/bot/anna"))[0] == 404
    assert pages.page_process.pid not in (None, pid)
    with anyio.fail_after(500):  # a thread waits for the exit code, perhaps until after the next start
        while not (warnings := [each.getMessage() for each in caplog.records if each.name == "arena.pages"]):
            await anyio.lowlevel.checkpoint()
    assert warnings == ["the page process ended (exit code -9): the next request starts another"]


async def test_a_page_process_that_never_answers_is_killed(
    pages: WebApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.server.web.page_process.RESPONSE_GRACE_SECONDS", 0.1)
    assert (await get(pages, "/api/maps"))[0] == 200
    pid = pages.page_process.pid
    assert pid is not None
    monkeypatch.setattr("arena.server.web.routes.ROUTES", make_quick_routes())
    os.kill(pid, signal.SIGSTOP)
    assert (await get(pages, "/api/bot/anna"))[0] == 503
    monkeypatch.undo()
    while pages.page_process.pid == pid:
        await anyio.sleep(0.01)
    assert (await get(pages, "/api/bot/anna"))[0] == 404


def make_quick_routes() -> dict[str, Any]:
    return {path: route._replace(timeout_seconds=0.1) for path, route in ROUTES.items()}


async def test_the_page_process_ends_with_its_parent(url: str) -> None:
    """Test this with a parent that is killed, which cannot end the page process itself."""
    code = f"""
import asyncio, os
from arena.server.store.database import make_engine
from tests.server.web.test_page_process import get, make_pages

async def main():
    pages = make_pages(make_engine({url!r}))
    print((await get(pages, "/api/maps"))[0], pages.page_process.pid, flush=True)
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    result = await anyio.run_process([sys.executable, "-c", code], check=False, stderr=subprocess.STDOUT)
    status, pid = map(int, result.stdout.split())
    assert status == 200
    with anyio.fail_after(500):
        while is_running(pid):
            await anyio.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_closed_page_process_is_not_started_again(pages: WebApp) -> None:
    assert (await get(pages, "/api/maps"))[0] == 200
    pid = pages.page_process.pid
    assert pid is not None
    pages.page_process.close()
    assert not is_running(pid)
    assert (await get(pages, "/api/bot/anna"))[0] == 503
    assert (await get(pages, "/api/about"))[0] == 200
    status, page = await get(pages, "/match/0")
    assert status == 200
    assert "<title>Riskless Arena</title>" in page


@virtual
async def test_a_core_that_does_not_answer_delays_one_page_for_a_short_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_rig() as arena:
        monkeypatch.setitem(ROUTES, "/match/", ROUTES["/match/"]._replace(timeout_seconds=10.0))
        process = PageProcess(refuse_to_start, arena.edge.page_client, lambda _event: None, VIRTUAL_CLOCK)
        given: list[PageRequest] = []

        class Child:
            async def request_page(self, request: PageRequest) -> PageResponse:
                given.append(request)
                return PageResponse(Response(HTTPStatus.OK, "text/html", b""))

        monkeypatch.setattr(process, "_child", Child())

        async def find_delay(path: str) -> float:
            """Return the seconds before the page process is asked, which it does not have for its response."""
            await asyncio.sleep(1)  # the pause after the previous response
            route_match = parse_request_target(path)
            assert route_match is not None
            start_time = VIRTUAL_CLOCK.now()
            await process.answer_request(
                PageRequest(route_match, accepts_gzip=False), "192.0.2.1", lambda: False
            )
            delay = VIRTUAL_CLOCK.now() - start_time
            assert given[-1].seconds_left == pytest.approx(route_match.route.timeout_seconds - delay)
            assert given[-1].live_snapshot == LiveSnapshot()
            return delay

        for path in (
            "/picture/arena.png",
            "/picture/bot/anna.png",
            "/picture/event/cup.png",
            "/picture/map/italy.png",
            "/embed/event/cup",
            "/match/",
        ):
            assert await find_delay(path) == 0, path
        assert not arena.core.list_received(MessageReceived)
        assert await find_delay("/match/m1") == pytest.approx(10 * TITLE_LOOKUP_TIME_SHARE)
        for path in ("/match?name=m1", "/match/m2/7", "/embed/m1", "/picture/match/m1.png", "/"):
            assert await find_delay(path) == 0, path
        await asyncio.sleep(PAUSE_AFTER_UNANSWERED_REQUEST_SECONDS)
        assert await find_delay("/picture/match/m1/3.png") == pytest.approx(CORE_ANSWER_TIMEOUT_SECONDS)


def refuse_to_start() -> PageProcessConfig:
    raise AssertionError("no page process is needed")


async def test_a_fault_of_the_page_process_is_logged_by_its_parent(
    pages: WebApp, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as store, store:
        store.execute("DROP TABLE standings")
    assert await get(pages, "/api/bot/anna") == (503, "the store does not answer\n")
    (message,) = [each.getMessage() for each in caplog.records if each.name == "arena.pages"]
    assert message == "/api/bot/anna: the store does not answer: no such table: standings"


async def test_the_page_process_cannot_write_to_the_store(url: str) -> None:
    async with open_store_readonly(url) as engine:
        with pytest.raises(sa.exc.OperationalError, match="readonly"):
            async with engine.begin() as connection:
                await connection.execute(sa.text("DELETE FROM matches"))


async def test_the_cache_time_depends_on_cpu_time_and_not_on_waiting(pages: WebApp, url: str) -> None:
    """Otherwise, a busy machine would show old lists for longer."""
    moments = count(step=60 * 10**9)
    clock = TimeSource(now_ns=lambda: next(moments), cpu_time_ns=lambda: 0)
    routes = parse_request_target("/api/records")
    assert routes is not None
    async with open_store_readonly(url) as engine:
        handler = PageRequestHandler(pages._make_page_process_config(), engine, clock)
        reply = await handler.handle_request(PageRequest(routes, accepts_gzip=False, seconds_left=60))
    assert (reply.response.status, reply.cache_seconds) == (200, MIN_CACHE_SECONDS)


async def test_a_response_ready_at_its_time_limit_is_sent(pages: WebApp, url: str) -> None:
    routes = parse_request_target("/api/maps")
    assert routes is not None
    async with open_store_readonly(url) as engine:
        handler = PageRequestHandler(pages._make_page_process_config(), engine, TimeSource())
        reply = await handler.handle_request(PageRequest(routes, accepts_gzip=True, seconds_left=0))
    assert (reply.response.status, reply.response.headers["Content-Encoding"]) == (200, "gzip")


async def test_only_ten_of_a_hundred_wrong_tokens_are_looked_up(
    pages: WebApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up, statuses = list[str](), Counter[int]()

    async def look_up(engine: Engine, authorization: str) -> StoredToken | None:
        looked_up.append(authorization)
        return await find_valid_token(engine, authorization)

    monkeypatch.setattr(owner_page, "find_valid_token", look_up)

    async def guess() -> None:
        status, _ = await post_wrong_token(pages)
        statuses[status] += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(guess)
    assert 0 < len(looked_up) <= 10
    assert statuses[401] == len(looked_up)
    assert set(statuses) <= {401, 429, 503}


async def post_wrong_token(pages: WebApp) -> tuple[int, str]:
    request = Request("/api/token/rotate?name=tiger", Headers(Authorization=basic("tiger", "x")), "POST")
    answer = await await_response(pages(request, "192.0.2.1"))
    return int(answer.status), answer.body.decode()


async def test_a_post_fails_long_before_a_database_command_times_out(
    own_postgresql: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(await asyncio.to_thread(own_postgresql.new_database)) as engine:
        pages = make_pages(engine)
        assert (await post_wrong_token(pages))[0] == 401
        with monkeypatch.context() as quick, own_postgresql.frozen():
            quick.setattr("arena.server.web.routes.ROUTES", make_quick_routes())
            quick.setattr(database, "MAX_SECONDS_PAST_QUERY_DEADLINE", 0.1)
            start_time = monotonic()
            assert await post_wrong_token(pages) == (
                503,
                "the server cannot reach its store: try again\n",
            )
            assert monotonic() - start_time < database.DEFAULT_DATABASE_TIMEOUTS.command_seconds - 5
        assert (await post_wrong_token(pages))[0] == 401


async def test_a_cached_response_costs_little(pages: WebApp) -> None:
    path, headers = "/api/table", {"Accept_Encoding": "gzip", "Host": "localhost"}
    assert (await get(pages, path, **headers))[0] == 200
    request = Request(path, Headers([(name.replace("_", "-"), value) for name, value in headers.items()]))
    assert count_calls(lambda: pages(request, "192.0.2.1")) <= 15


def count_calls(ask: Callable[[], Any]) -> int:
    """Return the number of Python function calls that the response to a request takes."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        answer = ask()
    finally:
        sys.setprofile(None)
    assert isinstance(answer, Response), "the response is not made immediately"
    return calls
