"""Searches, head-to-heads and lists of an event, as the page asks for them."""

from __future__ import annotations

import pytest

from arena.server.host import Host
from arena.server.store.aggregates.match_counting import count_new_matches
from tests.server.web.test_pages import ask, get, play


async def test_matches_are_found_by_both_players_by_event_and_by_opening(host: Host) -> None:
    ids = await play(host, 2)
    await count_new_matches(host.engine)
    for question in (
        "search",
        "search?bot=anna&opponent=bert",
        "search?bot=bert&game=tictactoe&event=test",
        f"search?like={ids[0]}",
        "records?event=test",
    ):
        found = await ask(host, question)
        assert [each["match"] for each in found["matches"]] == ids[::-1], question
    first = await ask(host, "records?event=test&limit=1")
    rest = await ask(host, f"records?event=test&limit=1&before={first['next'].replace('|', '%7C')}")
    assert [each["match"] for each in first["matches"] + rest["matches"]] == ids[::-1]
    won = await ask(host, "search?bot=anna&result=won")
    lost = await ask(host, "search?bot=anna&result=lost")
    drawn = await ask(host, "search?bot=anna&result=drawn")
    by_seat = [await ask(host, f"search?bot=anna&result={seat}") for seat in ("maxie", "minnie")]
    assert sum(len(each["matches"]) for each in (*by_seat, drawn)) == 2
    assert sum(len(each["matches"]) for each in (won, lost, drawn)) == 2
    assert await ask(host, "search?map=usa") == {"matches": [], "next": None}
    assert await ask(host, "versus?bot=anna&opponent=bert") == []  # these were not rated


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("search?opponent=bert", "opponent needs bot"),
        ("search?result=won", "result must be maxie, minnie, drawn"),
        ("search?bot=anna&result=anna", "result must be won, lost, maxie, minnie, drawn"),
        ("search?limit=0", "limit must be"),
        ("search?before=x", "before must be"),
        ("search?plies=3", "unknown parameter 'plies'"),
        ("records?event=test&bot=anna", "cannot be combined with bot or game"),
    ],
)
async def test_an_invalid_query_is_refused_in_one_line(host: Host, query: str, why: str) -> None:
    status, _, body = await get(host, f"/api/{query}")
    assert status == 400
    assert why in body.decode()
    assert body.count(b"\n") == 1


async def test_an_opening_of_no_match_is_told(host: Host) -> None:
    status, _, body = await get(host, "/api/search?like=none")
    assert (status, body.count(b"\n")) == (404, 1)
