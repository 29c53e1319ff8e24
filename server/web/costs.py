"""What each plain GET may cost the server. A path that has no line here is no page."""

from __future__ import annotations

from arena.server.web.heads import view_of

GET_COSTS: dict[str, int] = {
    "/": 200,
    "/match/": 3_500,
    "/embed/": 3_500,
    "/bot/": 3_500,
    "/event/": 3_500,
    "/table/": 3_500,
    "/play/": 2_000,
    "/file/": 200,
    "/maps/": 200,
    "/versus/": 2_000,
    "/search/": 200,
    "/picture/": 20_000,
    "/film/": 200_000,
    "/web/": 200,
    "/healthz": 0,
    "/readyz": 0,
    "/metrics": 2_000,
    "/api/about": 200,
    "/api/game/": 10_000,
    "/api/map/": 200,
    "/api/advice/": 250_000,
    "/api/records": 5_000,
    "/api/record/": 2_000,
    "/api/truth/": 20_000,
    "/api/table": 5_000,
    "/api/maps": 2_000,
    "/api/search": 20_000,
    "/api/versus": 5_000,
    "/api/event": 5_000,
    "/api/bot": 5_000,
    "/api/bot/": 5_000,
    "/api/log/": 20_000,
}
"""By path, or by how a path begins that ends in a slash: what the asking address pays, in µs of `WorkBudget`.

0: who looks after the server must always be answered, and only newcomers' turns bound how often.
"""


def cost_of(path: str) -> int | None:
    """What a GET of this path costs, in µs; None where there is no such page."""
    if path in GET_COSTS and (path == "/" or not path.endswith("/")):
        return GET_COSTS[path]
    if path != "/" and view_of(path) is not None:
        return GET_COSTS[f"/{view_of(path)}/"]
    for depth in (2, 1):
        parts = path.split("/", depth + 1)
        beginning = "/".join(parts[: depth + 1]) + "/"
        if len(parts) == depth + 2 and beginning in GET_COSTS:
            return GET_COSTS[beginning]
    return None
