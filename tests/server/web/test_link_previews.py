"""Titles and link previews of the pages, and the pages that other sites may embed."""

from __future__ import annotations

import re
from html import unescape

import anyio
import pytest
import sqlalchemy as sa
from websockets.datastructures import Headers

from arena.server.edge.request import Request
from arena.server.host import ArenaServer
from arena.server.web.link_previews import DEFAULT_LINK_PREVIEW, LinkPreview, render_preview
from arena.server.web.routes import ROUTES, find_route_key
from tests.server.edge.rig import await_response
from tests.server.web.test_web_app import get, get_pages, live_match, play


def preview_tags(body: bytes) -> dict[str, str]:
    tags = re.findall(r'<meta property="og:([a-z_:]+)" content="([^"]*)">', body.decode())
    return {name: unescape(value) for name, value in tags}


async def page_at(host: ArenaServer, path: str, **headers: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the headers and preview tags of a page. Repeat the request while the store is too slow for the page's own tags."""
    with anyio.fail_after(500):
        while True:
            status, page_headers, body = await get(host, path, **headers)
            assert status == 200, path
            if (tags := preview_tags(body))["title"] != DEFAULT_LINK_PREVIEW.title:
                return page_headers, tags


async def test_the_preview_of_a_finished_match_has_its_players_and_result(host: ArenaServer) -> None:
    (match,) = await play(host, 1)
    headers, og = await page_at(host, f"/match/{match}/2", Host="arena.example:8765")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert og["title"] in ("anna v bert", "bert v anna")
    assert re.fullmatch(r"Tic-tac-toe, 600\+1 · move 2 of \d", og["description"]), "the result is not told"
    _, whole = await page_at(host, f"/match/{match}")
    assert re.fullmatch(r"Tic-tac-toe, 600\+1 · .*(won|draw).* · \d moves", whole["description"])
    assert og["url"] == f"http://arena.example:8765/match/{match}/2"
    assert og["image"] == f"http://arena.example:8765/picture/match/{match}/2.png"
    _, headers, _ = await get(host, f"/match/{match}/2", Host="arena.example:8765")
    again, _, nothing = await get(
        host, f"/match/{match}/2", Host="arena.example:8765", If_None_Match=headers["ETag"]
    )
    assert (again, nothing) == (304, b"")


async def test_the_preview_of_a_match_in_progress_says_that_it_is_live(host: ArenaServer) -> None:
    await get(host, "/api/maps")  # starts the page process before the match
    async with live_match(host) as match:
        _, og = await page_at(host, f"/match/{match}")
        assert og["title"] == "anna v bert"
        assert og["description"] == "Tic-tac-toe, 600+1 · live, move 0"
        assert (await page_at(host, f"/match?name={match}"))[1]["description"] == og["description"]
        status, headers, _ = await get(host, f"/picture/match/{match}.png")
        assert (status, headers["Content-Type"]) == (200, "image/png")


async def test_only_single_matches_and_events_can_be_embedded(host: ArenaServer) -> None:
    (match,) = await play(host, 1)
    for name in ("", *(path.strip("/") for path, route in ROUTES.items() if route.is_page)):
        status, headers, body = await get(host, f"/{name}/{match}" if name else "/")
        assert status == 200
        within = "frame-ancestors *" in headers["Content-Security-Policy"]
        assert within == (name == "embed")
        assert (b"js/main.bundle.js" in body) == (name != "embed")
        assert "default-src 'none'" in headers["Content-Security-Policy"]


TITLES = [
    ("/", "Riskless Arena"),
    ("/match/none", "Riskless Arena"),
    ("/match/%27%20or%201=1", "Riskless Arena"),
    ("/bot/nobody", "nobody"),
    ("/bot?name=..", ".."),
    ("/event/none", "none"),
    ("/embed/event/none", "none"),
    ("/maps/world", "World"),
    ("/maps/..%2fworld", "Maps"),
    ("/versus/anna/bert", "anna against bert"),
    ("/table", "Ratings"),
    ("/tv/4", "Arena TV"),
]


async def test_each_page_has_its_title(host: ArenaServer) -> None:
    for path, title in TITLES:
        if title == DEFAULT_LINK_PREVIEW.title:
            status, _, body = await get(host, path)
            assert (status, preview_tags(body)["title"]) == (200, title), path
        else:
            assert (await page_at(host, path))[1]["title"] == title


async def test_a_page_is_served_while_the_store_does_not_answer(host: ArenaServer) -> None:
    async with host.db_engine.connect() as connection:
        await connection.execute(sa.text("DROP TABLE standings"))
        await connection.commit()
    status, _, body = await get(host, "/bot/anna")
    assert status == 200
    assert preview_tags(body)["title"] == DEFAULT_LINK_PREVIEW.title


def test_names_and_headers_are_escaped_in_pages() -> None:
    evil = '"><script>alert(1)</script>'
    made = render_preview(LinkPreview(evil, evil, f"/picture/{evil}"), "", f"/bot/{evil}").decode()
    assert "<script" not in made
    assert 'og:image" content="/picture/' in made


async def test_absolute_urls_have_the_host_of_the_request(host: ArenaServer) -> None:
    for fields, origin in (
        ([("Host", "arena.example:80")], "http://arena.example:80"),
        ([("Host", "arena.example"), ("X-Forwarded-Proto", "https")], "https://arena.example"),
        ([("Host", '"><script>')], ""),
        ([], ""),
    ):
        answer = await await_response(get_pages(host)(Request("/table", Headers(fields)), "127.0.0.1"))
        assert preview_tags(answer.body)["url"] == f"{origin}/table"


@pytest.mark.parametrize("path", ["", "/constructor", "/matches/1", "/api/match", "/web/match"])
def test_unknown_paths_are_not_pages(path: str) -> None:
    found = find_route_key(path)
    assert found is None or not ROUTES[found].is_page
