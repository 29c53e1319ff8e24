"""Plan and progress of an event, from the server that plays it, from the store, and from its matches."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from arena.server.host import ArenaServer, open_arena_server
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.ladders import claim_ladder, finish_ladder
from arena.server.web.event_progress import EventProgress
from arena.server.web.page_messages import LiveSnapshot
from arena.server.web.routes import MAX_LISTED_BOTS, parse_request_target
from arena.server.web.store_data import StoreDataHandler
from tests.server.core.test_event import begin_event
from tests.server.played import MAXIE_WINS, day, events, insert_event, store_match
from tests.server.web.test_web_app import get, get_json, play

PLAN = {
    "game": "riskless",
    "maps": ["italy"],
    "bots": {f"bot {number}": "random" for number in range(MAX_LISTED_BOTS + 5)},
    "format": "swiss",
    "rounds": 3,
    "time control": "1+0",
}


async def test_the_plan_of_an_event_played_elsewhere_comes_from_the_store(host: ArenaServer) -> None:
    await claim_ladder(host.db_engine, "elsewhere", "ladder", "cup", "auto", PLAN)
    event = await get_json(host, "event?name=cup")
    assert (event["counted"], event["playing"], event["finished"]) == (0, 0, False)
    plan = event["plan"]
    assert (plan["format"], plan["rounds"], plan["maps"]) == ("swiss", 3, ["italy"])
    assert (plan["time_control"], plan["matches"], plan["due"]) == ("1+0", None, [])
    assert len(plan["bots"]) == MAX_LISTED_BOTS
    await finish_ladder(host.db_engine, "cup", "elsewhere")
    assert (await load_event(host))["finished"]


async def test_matches_without_a_plan_form_an_event(host: ArenaServer) -> None:
    await play(host, 1)
    await add_new_matches_to_aggregates(host.db_engine)
    event = await get_json(host, "event?name=test")
    assert (event["plan"], event["counted"], event["finished"]) == (None, 1, False)
    status, _, body = await get(host, "/api/event?name=none")
    assert (status, body.count(b"\n")) == (404, 1)


async def test_the_progress_of_an_event_comes_from_its_player() -> None:
    mine = EventProgress(
        "cup", "match", "tictactoe", [], "round-robin", 2, "1+0", {"a": "", "b": ""}, 1, 4, []
    )
    async with open_arena_server(find_event_progress=lambda event: mine if event == "cup" else None) as host:
        event = await get_json(host, "event?name=cup")
        assert (event["plan"]["played"], event["plan"]["matches"]) == (1, 4)
        assert (await get(host, "/api/event?name=other"))[0] == 404


async def test_an_event_in_progress_lists_its_due_matches(host: ArenaServer) -> None:
    event = begin_event("swiss", 4)
    await insert_event(host.db_engine, event.state)
    first, second = event.list_due_matches()
    assert [(each["maxie"], each["minnie"], each["round"]) for each in await load_due_matches(host)] == [
        (first.maxie, first.minnie, 1),
        (second.maxie, second.minnie, 1),
    ]
    for number, leg in enumerate(first.pair.make_pairings()):
        match = event.record_match_start(leg)
        await store_match(
            host.db_engine,
            day(1 + number),
            events(MAXIE_WINS),
            maxie=leg.maxie,
            minnie=leg.minnie,
            match=match,
            event="cup",
        )
    due_matches = await load_due_matches(host)
    assert [(each["maxie"], each["minnie"]) for each in due_matches] == [(second.maxie, second.minnie)]


async def test_a_cancelled_event_has_the_reason(host: ArenaServer) -> None:
    state = replace(begin_event("swiss", 4).state, phase="cancelled", cancel_reason="too few bots")
    await insert_event(host.db_engine, state)
    event = await get_json(host, "event?name=cup")
    assert (event["finished"], event["cancel_reason"]) == (True, "too few bots")


async def load_event(host: ArenaServer) -> Any:
    """Return the response for the event `cup`, without the cache of the page process."""
    route_match = parse_request_target("/api/event?name=cup")
    assert route_match is not None
    response = await StoreDataHandler(host.db_engine).handle_request(route_match, LiveSnapshot())
    return json.loads(response.body)


async def load_due_matches(host: ArenaServer) -> list[dict[str, object]]:
    due_matches: list[dict[str, object]] = (await load_event(host))["plan"]["due"]
    return due_matches
