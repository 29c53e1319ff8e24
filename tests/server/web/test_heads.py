"""The page at each of its addresses: its title, its preview, and who may show it within a page of their own."""

from __future__ import annotations

import re
from html import unescape

import anyio
import pytest
import sqlalchemy as sa

from arena.protocol.messages import Ready, Start
from arena.server.host import Host
from arena.server.net.request import Headers, Request
from arena.server.web.heads import GENERAL, Head, html
from arena.server.web.pages import ROUTES, Pages, route_of
from tests.server.matches import game_of, spec
from tests.server.peer import enter
from tests.server.web.test_pages import get, play

VIEWS = (Pages.start, Pages.view, Pages.embedded)


def told(body: bytes) -> dict[str, str]:
    found = re.findall(r'<meta property="og:([a-z_:]+)" content="([^"]*)">', body.decode())
    return {name: unescape(value) for name, value in found}


async def test_a_finished_match_says_who_played_and_how_it_ended(host: Host) -> None:
    (match,) = await play(host, 1)
    status, headers, body = await get(host, f"/match/{match}/2", Host="arena.example:8765")
    assert status == 200
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    og = told(body)
    assert og["title"] in ("anna v bert", "bert v anna")
    assert re.match(r"Tic-tac-toe, 2\+0\.1 · .* · \d plies · ply 2$", og["description"])
    assert og["url"] == f"http://arena.example:8765/match/{match}/2"
    assert og["image"] == f"http://arena.example:8765/picture/match/{match}/2.png"
    _, headers, _ = await get(host, f"/match/{match}/2", Host="arena.example:8765")
    again, _, nothing = await get(
        host, f"/match/{match}/2", Host="arena.example:8765", If_None_Match=headers["ETag"]
    )
    assert (again, nothing) == (304, b"")


async def test_a_match_in_progress_says_so(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        terms = spec("anna", "bert")
        tasks.start_soon(host.play, terms)
        await anna.hear(Start)
        og = told((await get(host, f"/match/{terms.match}"))[2])
        assert og["title"] == "anna v bert"
        assert og["description"] == "Tic-tac-toe, 2+0.1 · in progress, ply 0"
        await anna.say(Ready(terms.match))
        tasks.start_soon(anna.play, game_of())
        tasks.start_soon(bert.play, game_of())


async def test_a_match_alone_may_be_shown_within_other_pages(host: Host) -> None:
    (match,) = await play(host, 1)
    for name in ("", *(path.strip("/") for path, route in ROUTES.items() if route.answer in VIEWS)):
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
    ("/maps/world", "Map world"),
    ("/maps/..%2fworld", "Maps"),
    ("/versus/anna/bert", "anna against bert"),
    ("/table", "Table"),
]


async def test_each_address_has_its_title(host: Host) -> None:
    for path, title in TITLES:
        status, _, body = await get(host, path)
        assert (status, told(body)["title"]) == (200, title), path


async def test_the_page_is_shown_though_the_store_does_not_answer(host: Host) -> None:
    async with host.engine.connect() as connection:
        await connection.execute(sa.text("DROP TABLE standings"))
        await connection.commit()
    status, _, body = await get(host, "/bot/anna")
    assert status == 200
    assert told(body)["title"] == GENERAL.title


def test_no_name_and_no_header_gets_into_the_page_as_markup() -> None:
    evil = '"><script>alert(1)</script>'
    request = Request(f"/bot/{evil}", Headers([("Host", evil)]))
    made = html(Head(evil, evil, f"/picture/{evil}"), request, secure=False).decode()
    assert "<script" not in made
    assert 'og:image" content="/picture/' in made


@pytest.mark.parametrize(
    ("header", "secure", "scheme"), [("", False, "http"), ("https", False, "https"), ("", True, "https")]
)
def test_whole_addresses_are_those_under_which_the_page_was_asked_for(
    header: str, secure: bool, scheme: str
) -> None:
    fields = [("Host", "arena.example"), *([("X-Forwarded-Proto", header)] if header else [])]
    made = html(GENERAL, Request("/", Headers(fields)), secure=secure).decode()
    assert f'og:url" content="{scheme}://arena.example/"' in made


@pytest.mark.parametrize("path", ["", "/constructor", "/matches/1", "/api/match", "/web/match"])
def test_other_paths_are_no_views(path: str) -> None:
    found = route_of(path)
    assert found is None or ROUTES[found].answer not in VIEWS
