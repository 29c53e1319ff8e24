"""HTTP requests: headers with lists, and requests for a websocket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers

from arena.server.edge.request import Request


@given(st.lists(st.lists(st.text("ab-.", min_size=1, max_size=5), min_size=1, max_size=4), max_size=4))
def test_a_list_header_may_be_split_into_several_headers(lists: list[list[str]]) -> None:
    words = [word for each in lists for word in each]
    many = Headers(("Accept", ", ".join(each)) for each in lists)
    assert Request("/", many).list_header_values("accept") == words
    if words:
        assert Request("/", Headers([("ACCEPT", " ,\t".join(words))])).list_header_values("accept") == words


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ([("Upgrade", "websocket"), ("Connection", "Upgrade")], True),
        ([("upgrade", "WebSocket")], True),
        ([("Upgrade", "h2c, websocket")], True),
        ([("Upgrade", "h2c"), ("Upgrade", "websocket")], True),
        ([("Upgrade", "h2c")], False),
        ([("Upgrade", "websockets")], False),
        ([("Connection", "websocket")], False),
        ([], False),
    ],
)
def test_the_upgrade_header_asks_for_a_websocket(fields: list[tuple[str, str]], wanted: bool) -> None:
    assert Request("/", Headers(fields)).wants_websocket is wanted
