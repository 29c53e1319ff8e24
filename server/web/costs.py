"""What each plain GET may cost the server. A path that has no line here is no page."""

from __future__ import annotations

GET_COSTS: dict[str, int] = {
    "/": 200,
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
    for depth in (2, 1):
        parts = path.split("/", depth + 1)
        beginning = "/".join(parts[: depth + 1]) + "/"
        if len(parts) == depth + 2 and beginning in GET_COSTS:
            return GET_COSTS[beginning]
    return None
