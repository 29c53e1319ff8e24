"""Searches, head-to-heads and lists of an event, as the page asks for them."""

from __future__ import annotations

import pytest

from arena.server.host import Host
from tests.server.web.test_pages import get


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("search?opponent=bert", "opponent works only together with bot"),
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
