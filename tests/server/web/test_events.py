"""How an event goes, as whoever plays it says, as the store has it, and as its matches show it."""

from __future__ import annotations

from arena.server.host import Host, open_host
from arena.server.store.aggregates.counting import refresh
from arena.server.store.ladders import claimed, finish
from arena.server.store.queries import Queries
from arena.server.web.events import MOST_BOTS, Events
from arena.server.web.progress import EventProgress, nobody_plays
from tests.server.web.test_pages import ask, get, play

PLAN = {
    "game": "riskless",
    "maps": ["italy"],
    "bots": {f"bot {number}": "random" for number in range(MOST_BOTS + 5)},
    "format": "swiss",
    "rounds": 3,
    "time control": "1+0",
}


async def test_an_event_that_is_played_elsewhere_is_told_from_the_store(host: Host) -> None:
    async with claimed(host.engine, "ladder", "cup", "auto", PLAN):
        told = await ask(host, "event?name=cup")
        assert (told["counted"], told["playing"], told["finished"]) == (0, 0, False)
        plan = told["plan"]
        assert (plan["format"], plan["rounds"], plan["maps"]) == ("swiss", 3, ["italy"])
        assert (plan["time_control"], plan["matches"], plan["due"]) == ("1+0", None, [])
        assert len(plan["bots"]) == MOST_BOTS
    await finish(host.engine, "cup")
    over = await Events(Queries(host.engine), nobody_plays, list).told("cup")
    assert over is not None
    assert over.finished


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
