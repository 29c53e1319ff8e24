"""Responses to requests for pages, files and data."""

from __future__ import annotations

import asyncio
import base64
import csv
import gzip
import http.client
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import anyio
import pytest
import sqlalchemy as sa
from websockets.datastructures import Headers

from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.messages import Ready, Start
from arena.protocol.record import parse_record_line
from arena.server.core.limits import ServerLimits
from arena.server.edge import responses
from arena.server.edge.request import Request
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.web import request_queue
from arena.server.web.page_messages import LiveSnapshot
from arena.server.web.page_process import MAX_PARALLEL_RESPONSES
from arena.server.web.routes import ROUTES, parse_request_target
from arena.server.web.store_data import StoreDataHandler
from arena.server.web.web_app import ResponseCache, WebApp
from tests.server.databases import Postgresql
from tests.server.edge.rig import await_response
from tests.server.matches import game_of, spec
from tests.server.peer import enter


async def get(
    host: ArenaServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send a request, and return the status, headers and body of the response."""

    def fetch() -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(host.url.removeprefix("ws://"), timeout=500)
        try:
            connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    return await asyncio.to_thread(fetch)


def get_pages(host: ArenaServer) -> WebApp:
    pages = host.edge.page_handler
    assert isinstance(pages, WebApp)
    return pages


async def get_json(host: ArenaServer, path: str) -> Any:
    status, _, body = await get(host, f"/api/{path}")
    assert status == 200, body
    return json.loads(body)


async def play(host: ArenaServer, count: int) -> list[str]:
    """Play `count` matches to their ends, and return their ids."""
    ids = []
    for _ in range(count):
        async with live_match(host) as match:
            ids.append(match)
    return ids


@asynccontextmanager
async def live_match(host: ArenaServer, game: str = "tictactoe") -> AsyncIterator[str]:
    """Yield the id of a match that waits until both players are ready. After the block, play the match to its end."""
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        terms = spec("anna", "bert", game=game)
        tasks.start_soon(host.shell.play_match, terms)
        await anna.hear(Start)
        yield terms.match
        await anna.say(Ready(terms.match))
        for peer in (anna, bert):
            tasks.start_soon(peer.play, game_of(game))


async def test_browsers_revalidate_the_page_and_cache_its_files(host: ArenaServer) -> None:
    status, headers, body = await get(host, "/")
    assert status == 200
    assert headers["Cache-Control"] == "no-cache"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    again, _, nothing = await get(host, "/", If_None_Match=headers["ETag"])
    assert (again, nothing) == (304, b"")
    files = re.findall(r'(?:src|href)="(/web/[^"]+)"', body.decode())
    assert {file.rpartition("/")[2] for file in files} == {
        "icon.svg",
        "inter.woff2",
        "main.bundle.js",
        "manifest.webmanifest",
        "page.bundle.css",
    }
    for file in files:
        status, headers, whole = await get(host, file)
        assert status == 200, file
        assert "immutable" in headers["Cache-Control"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        _, headers, packed = await get(host, file, Accept_Encoding="br, gzip")
        if "Content-Encoding" in headers:
            assert gzip.decompress(packed) == whole


async def test_json_is_compressed_for_a_client_that_accepts_gzip(host: ArenaServer) -> None:
    _, headers, whole = await get(host, "/api/maps")
    assert (headers["Vary"], "Content-Encoding" in headers) == ("Accept-Encoding", False)
    _, headers, packed = await get(host, "/api/maps", Accept_Encoding="gzip")
    assert (headers["Vary"], headers["Content-Encoding"]) == ("Accept-Encoding", "gzip")
    assert gzip.decompress(packed) == whole
    assert "Content-Encoding" not in (await get(host, "/api/bot/nobody", Accept_Encoding="gzip"))[1]


MISSING_PATHS = [
    "/web/x/js/main.js",
    "/web/../pages.py",
    "/web/%2e%2e/pages.py",
    "/nothing",
    "/api/",
    "/api/nothing",
    "/api/map/..%2fm2",
    "/api/map/nowhere",
    "/api/record/none",
    "/api/truth/none",
    "/api/record/%27%20or%201=1",
    "/api/bot/nobody",
    "/api/table?event=none",
    "/api/about/more",
    "/api/search?like=none",
]
"""Paths that get a 404."""


INVALID_QUERIES = {
    "records?limit=0": "the parameter 'limit' must be",
    "records?limit=51": "the parameter 'limit' must be",
    "records?limit=-1": "the parameter 'limit' must be",
    "records?limit=1e9": "the parameter 'limit' must be",
    f"records?limit={'9' * 100}": "the parameter 'limit' must be",
    "records?limit=%C2%B2": "the parameter 'limit' must be",
    "records?game=chess": "",
    "records?x=1": "unknown parameter 'x'",
    "records?before=yesterday": "the parameter 'before' must be",
    "records?before=2026-01-01|a'b": "the parameter 'before' must be",
    "records?bot=%ff": "",
    f"records?bot={'x' * 200}": "",
    f"records?{'&'.join(f'a{n}=1' for n in range(20))}": "",
    f"records?bot={'x' * 3000}": "",
    "records?event=test&bot=anna": "cannot be combined with 'bot' or 'game'",
    "search?opponent=bert": "the parameter 'opponent' needs 'bot'",
    "search?result=won": "the parameter 'result' must be maxie, minnie, drawn",
    "search?bot=anna&result=anna": "the parameter 'result' must be won, lost, maxie, minnie, drawn",
}
"""Invalid requests for finished matches, with a part of the error; empty for any error."""


async def test_a_missing_page_or_an_invalid_query_is_reported_in_one_line(host: ArenaServer) -> None:
    for expected, path, why in (
        *((404, path, "") for path in MISSING_PATHS),
        *((400, f"/api/{query}", why) for query, why in INVALID_QUERIES.items()),
    ):
        status, _, body = await get(host, path)
        assert (status, body.count(b"\n"), why in body.decode()) == (expected, 1, True), path


async def test_an_impossible_name_never_reaches_the_database(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """PostgreSQL refuses NUL, so that anybody could fill the server's log with errors."""
    async with open_arena_server(make_private_server_settings(database_url=database)) as host:
        token = host.issue_token("anna")
        credentials = base64.b64encode(f"anna:{token}".encode()).decode()
        for path in ("bot/a%00b", "table?event=%00", "records?bot=%0a", "record/%1b", "log/%00"):
            status, _, body = await get(host, f"/api/{path}", Authorization=f"Basic {credentials}")
            assert (status, body.count(b"\n")) == (400, 1), path
            assert not caplog.records, path


async def test_simultaneous_equal_requests_share_one_response(host: ArenaServer) -> None:
    """Many reloads of a page, by one client or by many, must not keep the store busy."""
    await play(host, 1)
    await add_new_matches_to_aggregates(host.db_engine)
    async with anyio.create_task_group() as tasks:
        for number in range(40):
            letter = "t" if number % 2 else "%74"  # the same request, written differently
            tasks.start_soon(get_json, host, f"table?event={letter}est")
    assert get_pages(host).page_process.request_count == 1


async def test_finished_matches_are_listed_newest_first_in_pages(host: ArenaServer) -> None:
    ids = await play(host, 3)
    first = await get_json(host, "records?limit=2")
    rest = await get_json(host, f"records?limit=2&before={quote(first['next'])}")
    rows = [*first["matches"], *rest["matches"]]
    assert [each["match"] for each in rows] == ids[::-1]
    assert rest["next"] is None
    assert rows[0]["players"] == {"maxie": "anna", "minnie": "bert"}
    status, headers, body = await get(host, f"/api/record/{ids[0]}?download")
    assert status == 200
    assert headers["Content-Disposition"].startswith("attachment")
    record = parse_record_line(body.strip())
    assert (record.match, len(record.moves)) == (ids[0], rows[-1]["plies"])
    status, headers, body = await get(host, f"/api/record/{ids[0][:10]}")
    assert (status, headers["Cache-Control"]) == (200, "no-cache")
    assert parse_record_line(body.strip()) == record
    assert not (await get_json(host, "records?bot=carl"))["matches"]
    assert len((await get_json(host, "records?bot=anna&game=tictactoe"))["matches"]) == 3


@pytest.mark.smoke
async def test_the_table_of_an_event_has_scores_and_cross_table(host: ArenaServer) -> None:
    await play(host, 2)
    await add_new_matches_to_aggregates(host.db_engine)
    table = await get_json(host, "table?event=test")
    assert table["counted"] == 2
    winner = table["rows"][0]
    assert winner["won"] + winner["drawn"] + winner["lost"] == 2
    status, headers, body = await get(host, "/api/table.csv?event=test")
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert [
        {name: str("" if value is None else value) for name, value in row.items()} for row in table["rows"]
    ] == rows
    assert (await get(host, "/api/table.csv?event=none"))[0] == 404
    crosses = {each["bot"]: each for each in table["crosses"]}
    assert crosses["anna"]["won"] == crosses["bert"]["lost"]
    rated = await get_json(host, "table")
    assert rated["events"] == [{"event": "test", "matches": 2}]
    assert rated["standings"] == []
    bot = await get_json(host, "bot/anna")
    assert len(bot["matches"]) == 2


async def test_the_table_of_an_event_is_empty_during_its_first_match(host: ArenaServer) -> None:
    await get_json(host, "maps")  # starts the page process before the match
    async with live_match(host):
        empty = {"event": "test", "rows": [], "crosses": [], "counted": 0, "bracket": []}
        assert await get_json(host, "table?event=test") == empty


async def test_a_map_and_the_description_of_the_server_are_served(host: ArenaServer) -> None:
    about = await get_json(host, "about")
    assert "world" in about["maps"]
    assert about["map"] == DEFAULT_MAP
    assert (about["anyone"], about["guests"], about["house"]) == (False, False, [])
    world = await get_json(host, "map/world")
    assert world["wraps"] is True
    assert len(world["continents"]) == 6
    assert (await get_json(host, "map/usa"))["short_names"][:2] == ["AL", "AZ"]


async def test_a_stopping_server_is_healthy_but_not_ready(host: ArenaServer) -> None:
    assert await get_plain(host, "/readyz") == (200, "ready\n")
    assert await host.shell.drain_matches(0) == 0
    assert await get_plain(host, "/readyz") == (503, "not ready: the server is about to stop\n")
    assert await get_plain(host, "/healthz") == (200, "ok\n")


async def get_plain(host: ArenaServer, path: str) -> tuple[int, str]:
    status, _, body = await get(host, path)
    return status, body.decode()


async def test_an_address_over_its_work_budget_is_refused_alone() -> None:
    # A full budget of 40 ms suffices for eight requests of 5 ms each.
    async with open_arena_server(
        make_private_server_settings(limits=ServerLimits(work_ms_per_second=2), proxies=["127.0.0.0/8"])
    ) as host:
        statuses = [404]
        while statuses[-1] == 404:  # on a busy machine, the budget grows by one request or more meanwhile
            status, headers, body = await get(host, f"/api/bot/{len(statuses)}", X_Forwarded_For="192.0.2.1")
            statuses.append(status)
        assert statuses[-1] == 429
        assert len(statuses[1:-1]) >= 8
        assert int(headers["Retry-After"]) >= 1
        assert body.decode().startswith("too many requests")
        assert (await get(host, "/healthz", X_Forwarded_For="192.0.2.1"))[0] == 200
        assert (await get(host, "/api/table", X_Forwarded_For="192.0.2.2"))[0] == 200


async def test_a_request_that_takes_too_long_gets_a_503_and_its_query_is_cancelled(
    own_postgresql: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lock the tables, as an example of a slow database."""
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_arena_server(make_private_server_settings(database_url=url)) as host:
        pages = get_pages(host)
        assert await get_status(pages, "/api/maps") == 200  # starts the page process
        for path, route in ROUTES.items():
            monkeypatch.setitem(ROUTES, path, route._replace(timeout_seconds=0.5))
        async with host.db_engine.connect() as locking:
            await locking.execute(
                sa.text("LOCK TABLE matches, standings, event_totals IN ACCESS EXCLUSIVE MODE")
            )
            async with anyio.create_task_group() as tasks:
                for path in ("records", "table", "table?event=x", "bot/anna", "record/a", "records?bot=anna"):
                    tasks.start_soon(expect_busy, pages, f"/api/{path}")
            waiting = "SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            with anyio.fail_after(500):  # on a busy machine, a query ends some time after it is cancelled
                while True:
                    await locking.execute(sa.text("SELECT pg_stat_clear_snapshot()"))
                    left = (await locking.execute(sa.text(waiting))).scalars().all()
                    # The server's own queries may wait too: it packs and counts matches, and looks up accounts.
                    of_the_server = ("whole", "counted", "tokens")
                    own = [each for each in left if any(word in each for word in of_the_server)]
                    if left == own:
                        break
                    await anyio.sleep(0.05)
        monkeypatch.undo()
        assert await get_status(pages, "/api/records") == 200


async def get_status(pages: WebApp, path: str) -> int:
    answer = await await_response(pages(Request(path, Headers([])), "127.0.0.1"))
    return answer.status


async def expect_busy(pages: WebApp, path: str) -> None:
    answer = await await_response(pages(Request(path, Headers([])), "127.0.0.1"))
    assert (answer.status, answer.body) == (503, b"the store is busy: try again\n")


async def test_a_list_of_matches_reads_no_records(host: ArenaServer) -> None:
    ids = await play(host, 3)
    statements: list[str] = []
    pages = StoreDataHandler(host.db_engine)
    sa.event.listen(
        host.db_engine.sync_engine,
        "before_cursor_execute",
        lambda *arguments: statements.append(arguments[2]),
    )
    for bot in ("", "anna", "bert"):
        asked = parse_request_target(f"/api/records?limit=50&game=tictactoe&bot={bot}")
        assert asked is not None
        data = json.loads((await pages.handle_request(asked, LiveSnapshot())).body)
        assert [each["match"] for each in data["matches"]] == ids[::-1]
    assert len((await get_json(host, "bot/anna"))["matches"]) == 3
    # Meanwhile, the server itself may read packed records.
    assert not [each for each in statements if "packed" in each and "whole" not in each]


async def test_no_response_is_made_for_a_client_that_has_left(
    host: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pauses are ten times as long as usual, so that they outlast the test on a busy machine.
    monkeypatch.setattr(request_queue, "MAX_PROCESSOR_CORE_SHARE", 0.02)
    # These requests and the pauses after them take all turns.
    for number in range(MAX_PARALLEL_RESPONSES):
        assert await get_status(get_pages(host), f"/api/bot/first{number}") == 404
    gone = Request("/api/bot/gone", Headers([]), is_abandoned=lambda: True)
    answer = await await_response(get_pages(host)(gone, "127.0.0.1"))
    assert answer.status == 408
    assert get_pages(host).page_process.request_count == MAX_PARALLEL_RESPONSES
    assert await get_status(get_pages(host), "/api/bot/last") == 404


def test_the_response_cache_is_limited_in_number_bytes_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.server.web.web_app.MAX_CACHED_RESPONSES", 3)
    monkeypatch.setattr("arena.server.web.web_app.MAX_CACHED_BYTES", 100)
    kept = ResponseCache()
    for number in range(5):
        kept.put((number,), responses.make_text_response("x" * 9), expiry_time_seconds=10.0)
    assert [kept.get((number,), 9.0) is None for number in range(5)] == [True, True, False, False, False]
    assert kept.get((4,), 10.0) is None
    kept.put((4,), responses.make_text_response("y" * 89), expiry_time_seconds=20.0)
    assert [kept.get((number,), 9.0) is None for number in range(2, 5)] == [True, False, False]
    kept.put((5,), responses.make_text_response("z" * 200), expiry_time_seconds=20.0)
    assert kept.get((5,), 9.0) is None


async def test_a_browser_gets_an_html_page_for_an_unknown_path(host: ArenaServer) -> None:
    for accept, kind in (("text/html,*/*;q=0.8", "text/html"), ("*/*", "text/plain")):
        status, headers, _ = await get(host, "/nowhere", Accept=accept)
        assert (status, headers["Content-Type"]) == (404, f"{kind}; charset=utf-8")


@pytest.mark.parametrize(
    ("origins", "allowed", "vary"),
    [
        ((), None, None),
        (("*",), "*", None),
        (("https://course.example",), "https://course.example", "Origin"),
        (("https://other.example",), None, "Origin"),
    ],
)
async def test_pages_of_allowed_origins_may_read_json(
    origins: tuple[str, ...], allowed: str | None, vary: str | None
) -> None:
    settings = make_private_server_settings()
    settings.server.origins = origins
    async with open_arena_server(settings) as host:
        for path, status in (("/api/about", 200), ("/api/bot/nobody", 404), ("/api/table?x=1", 400)):
            found_status, headers, _ = await get(host, path, Origin="https://course.example")
            assert (found_status, headers.get("Access-Control-Allow-Origin"), headers.get("Vary")) == (
                status,
                allowed,
                vary,
            )
        for path in ("/", "/metrics", "/healthz"):
            _, headers, _ = await get(host, path, Origin="https://course.example")
            assert "Access-Control-Allow-Origin" not in headers, path
