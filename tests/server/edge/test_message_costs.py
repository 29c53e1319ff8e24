"""Cost of each kind of message, in the code and in SECURITY.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from arena.protocol.messages import ClientMessage
from arena.server.edge import connection
from arena.server.edge.message_costs import MESSAGE_COSTS_US
from arena.server.web import page_process
from arena.server.web.routes import ROUTES

TABLE = re.findall(
    r"^\| `([a-z_]+)` \| ([\d,]+) \|", (Path(__file__).parents[3] / "SECURITY.md").read_text(), re.MULTILINE
)


def test_every_kind_of_message_has_a_cost() -> None:
    assert set(MESSAGE_COSTS_US) == set(get_args(ClientMessage))


def test_security_md_lists_the_cost_of_every_message() -> None:
    costs = {name: int(cost.replace(",", "")) for name, cost in TABLE}
    messages = {str(kind.__struct_config__.tag): cost for kind, cost in MESSAGE_COSTS_US.items()}
    assert costs == messages


def test_every_route_has_a_shorter_time_limit_than_the_connection() -> None:
    longest = max(route.timeout_seconds for route in ROUTES.values())
    assert (
        longest + page_process.MAX_WAIT_FOR_START_SECONDS + page_process.RESPONSE_GRACE_SECONDS
        < connection.HTTP_RESPONSE_TIMEOUT_SECONDS
    )


def test_no_unexpected_message_is_free() -> None:
    assert min(MESSAGE_COSTS_US.values()) > 0
