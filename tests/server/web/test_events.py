"""Progress of an event, as reported by its player, by the store, and by its matches."""

from __future__ import annotations

import json

from arena.server.host import Host, open_host
from arena.server.store.aggregates.counting import refresh
from arena.server.store.ladders import claim, finish
from arena.server.web.live import EventProgress
from arena.server.web.routes import parse
from arena.server.web.store_pages import MAX_BOTS, StorePages
from tests.server.web.test_pages import ask, get, nothing_is_live, play

PLAN = {
    "game": "riskless",
    "maps": ["italy"],
    "bots": {f"bot {number}": "random" for number in range(MAX_BOTS + 5)},
    "format": "swiss",
    "rounds": 3,
    "time control": "1+0",
}


async def test_an_event_that_is_played_elsewhere_is_told_from_the_store(host: Host) -> None:
    async with claim(host.engine, "ladder", "cup", "auto", PLAN):
        told = await ask(host, "event?name=cup")
        assert (told["counted"], told["playing"], told["finished"]) == (0, 0, False)
        plan = told["plan"]
        assert (plan["format"], plan["rounds"], plan["maps"]) == ("swiss", 3, ["italy"])
        assert (plan["time_control"], plan["matches"], plan["due"]) == ("1+0", None, [])
        assert len(plan["bots"]) == MAX_BOTS
    await finish(host.engine, "cup")
    asked = parse("/api/event?name=cup")
    assert asked is not None
    over = await StorePages(host.engine, nothing_is_live).answer(asked, gzip=False)
    assert json.loads(over.body)["finished"]


async def test_matches_without_a_plan_are_an_event_too(host: Host) -> None:
    await play(host, 1)
    await refresh(host.engine)
    told = await ask(host, "event?name=test")
    assert (told["plan"], told["counted"], told["finished"]) == (None, 1, False)
    status, _, body = await get(host, "/api/event?name=none")
    assert (status, body.count(b"\n")) == (404, 1)


async def test_whoever_plays_the_event_says_how_it_goes() -> None:
    mine = EventProgress(
        "cup", "match", "tictactoe", [], "round-robin", 2, "1+0", {"a": "", "b": ""}, 1, 4, []
    )
    async with open_host(progress=lambda event: mine if event == "cup" else None) as host:
        told = await ask(host, "event?name=cup")
        assert (told["plan"]["played"], told["plan"]["matches"]) == (1, 4)
        assert (await get(host, "/api/event?name=other"))[0] == 404
