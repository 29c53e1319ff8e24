"""Plan and progress of an event, from the server that plays it, from the store, and from its matches."""

from __future__ import annotations

import json

from msgspec.structs import replace

from arena.server.host import Host, open_host
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.ladders import claim_ladder, finish_ladder
from arena.server.web.event_progress import EventProgress
from arena.server.web.page_messages import LiveData
from arena.server.web.routes import MAX_LISTED_BOTS, parse_target
from arena.server.web.store_pages import StorePages
from tests.server.core.test_event import begin_event
from tests.server.played import MAXIE_WINS, day, events, insert_event, store_match
from tests.server.web.test_pages import get, get_json, play

PLAN = {
    "game": "riskless",
    "maps": ["italy"],
    "bots": {f"bot {number}": "random" for number in range(MAX_LISTED_BOTS + 5)},
    "format": "swiss",
    "rounds": 3,
    "time control": "1+0",
}


async def test_the_plan_of_an_event_played_elsewhere_comes_from_the_store(host: Host) -> None:
    async with claim_ladder(host.engine, "ladder", "cup", "auto", PLAN):
        told = await get_json(host, "event?name=cup")
        assert (told["counted"], told["playing"], told["finished"]) == (0, 0, False)
        plan = told["plan"]
        assert (plan["format"], plan["rounds"], plan["maps"]) == ("swiss", 3, ["italy"])
        assert (plan["time_control"], plan["matches"], plan["due"]) == ("1+0", None, [])
        assert len(plan["bots"]) == MAX_LISTED_BOTS
    await finish_ladder(host.engine, "cup")
    asked = parse_target("/api/event?name=cup")
    assert asked is not None
    over = await StorePages(host.engine).handle_request(asked, LiveData())
    assert json.loads(over.body)["finished"]


async def test_matches_without_a_plan_form_an_event(host: Host) -> None:
    await play(host, 1)
    await count_new_matches(host.engine)
    told = await get_json(host, "event?name=test")
    assert (told["plan"], told["counted"], told["finished"]) == (None, 1, False)
    status, _, body = await get(host, "/api/event?name=none")
    assert (status, body.count(b"\n")) == (404, 1)


async def test_the_progress_of_an_event_comes_from_its_player() -> None:
    mine = EventProgress(
        "cup", "match", "tictactoe", [], "round-robin", 2, "1+0", {"a": "", "b": ""}, 1, 4, []
    )
    async with open_host(find_progress=lambda event: mine if event == "cup" else None) as host:
        told = await get_json(host, "event?name=cup")
        assert (told["plan"]["played"], told["plan"]["matches"]) == (1, 4)
        assert (await get(host, "/api/event?name=other"))[0] == 404


async def test_an_event_in_progress_lists_its_due_matches(host: Host) -> None:
    event = begin_event("swiss", 4)
    await insert_event(host.engine, event.state)
    first, second = event.list_due_matches()
    assert [(each["maxie"], each["minnie"], each["round"]) for each in await due(host)] == [
        (first.maxie, first.minnie, 1),
        (second.maxie, second.minnie, 1),
    ]
    for number, leg in enumerate(first.pair.matches()):
        match = event.start_match(leg)
        await store_match(
            host.engine,
            day(1 + number),
            events(MAXIE_WINS),
            maxie=leg.maxie,
            minnie=leg.minnie,
            match=match,
            event="cup",
        )
    assert [(each["maxie"], each["minnie"]) for each in await due(host)] == [(second.maxie, second.minnie)]


async def test_a_cancelled_event_has_the_reason(host: Host) -> None:
    state = replace(begin_event("swiss", 4).state, phase="cancelled", cancel_reason="too few bots")
    await insert_event(host.engine, state)
    told = await get_json(host, "event?name=cup")
    assert (told["finished"], told["cancel_reason"]) == (True, "too few bots")


async def due(host: Host) -> list[dict[str, object]]:
    """Return the due matches of the event from the store."""
    asked = parse_target("/api/event?name=cup")
    assert asked is not None
    answer = await StorePages(host.engine).handle_request(asked, LiveData())
    found: list[dict[str, object]] = json.loads(answer.body)["plan"]["due"]
    return found
