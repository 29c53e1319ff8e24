"""What each kind of message costs, here and in SECURITY.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from arena.protocol.messages import ClientMessage
from arena.server.lobby.costs import MESSAGE_COSTS, OUT_OF_PLACE_COSTS
from arena.server.web.pages import ROUTES, route_of

TABLE = re.findall(
    r"^\| `([^`]+)` \| ([\d,]+) \|", (Path(__file__).parents[3] / "SECURITY.md").read_text(), re.MULTILINE
)


def test_every_message_has_its_line() -> None:
    assert set(MESSAGE_COSTS) == set(get_args(ClientMessage))


def test_security_tells_what_every_message_and_every_get_costs() -> None:
    told = {name: int(cost.replace(",", "")) for name, cost in TABLE}
    messages = {str(kind.__struct_config__.tag): cost for kind, cost in MESSAGE_COSTS.items()}
    assert told == messages | {f"GET {path}": route.cost for path, route in ROUTES.items()}


def test_what_is_free_costs_something_out_of_place() -> None:
    assert set(OUT_OF_PLACE_COSTS) == {kind for kind, cost in MESSAGE_COSTS.items() if not cost}
    assert min(OUT_OF_PLACE_COSTS.values()) > 0


def test_each_path_finds_its_own_line() -> None:
    for path in ROUTES:
        assert route_of(f"{path}x/y" if path.endswith("/") and path != "/" else path) == path
    for path in ("", "/x", "/web", "/api", "/api/", "/api/map", "/api/x/y", "/healthz/", "/api/records/1"):
        assert route_of(path) is None, path
