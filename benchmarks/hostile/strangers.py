"""A process of strangers who keep within every limit of a server and send as much as those allow: its URL as argument.

The first line of its standard input has the tokens of the names under which its clients play, as JSON. Each line after
that is an order: a kind of request, the addresses to send it from, how many clients each of these has, and for how many
seconds. For an order it lets the clients in, prints a line, waits for a line, sends for so long, and prints what came
of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

import uvloop

from benchmarks.hostile.kinds import KINDS, LINE, THINKERS, Client, Kind, World
from benchmarks.hostile.stranger import Stranger, Tally, entered, get
from benchmarks.kit.script import script
from testkit.wire import report

LEARNER = "127.9.9.9"
"""The address from which is learnt what there is to be asked for."""


async def learn(world: World) -> None:
    """Find out what there is to be asked for, and play a match of one's own."""
    tally = Tally()
    page = (await get(world.url, LEARNER, "/", tally)).decode()
    found = re.search(r"/web/\w+/js/main\.bundle\.js", page)
    if found is None:
        raise RuntimeError("the page has no module")
    world.file = found[0]
    world.long = await finished(world, f"limit=50&bot={THINKERS[0]}")
    await _play_own(world)
    for name in world.names[:2]:
        mine = await finished(world, f"limit=1&bot={name.replace(' ', '%20')}")
        world.own += [(match, name) for match in mine]


async def finished(world: World, which: str) -> list[str]:
    """The finished matches that a question of the page is answered by."""
    answer = await get(world.url, LEARNER, f"/api/records?{which}", Tally())
    return [each["match"] for each in json.loads(answer)["matches"]]


async def _play_own(world: World) -> None:
    """Play one match of two clients of one's own to its end."""
    tally, kind = Tally(), KINDS["move"]
    async with AsyncExitStack() as stack:
        players = [await _enter(world, stack, number, LEARNER, kind.role, tally) for number in range(2)]
        playing = [
            asyncio.create_task(_work(kind, Client(world, number, LEARNER, tally, kind.answers, each)))
            for number, each in enumerate(players)
        ]
        while tally.answered < len(script()) and not any(each.done() for each in playing):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for each in playing:
            each.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def follow(world: World) -> None:
    """Keep up with the matches in progress, until cancelled."""
    async with entered(world.url, LEARNER, Tally(), name="learner", role="spectator") as learner:
        await learner.say(type="browse")
        while True:
            told = await learner.hear()
            if told.type == "listing":
                world.live = [each["match"] for each in told.matches][:LINE]


async def _enter(
    world: World, stack: AsyncExitStack, number: int, source: str, role: str, tally: Tally
) -> Stranger:
    name = f"guest-{number}" if role == "guest" else world.names[number]
    more: dict[str, Any] = {"role": "spectator"} if role == "spectator" else {}
    if role == "bot":
        more = {"token": world.tokens[name], "pool": False, "matches": 8}
    return await stack.enter_async_context(entered(world.url, source, tally, name=name, **more))


async def obey(world: World, kind: Kind, order: dict[str, Any], go: Callable[[], Awaitable[None]]) -> Tally:
    """Let the clients of an order in, wait for `go`, and let them send for as long as the order says."""
    tally = Tally()
    async with AsyncExitStack() as stack:
        clients = [
            Client(world, number, source, tally, kind.answers)
            for number, source in enumerate(
                source for source in order["addresses"] for _ in range(order["clients"])
            )
        ]
        if kind.role:
            for client in clients:
                try:
                    client.stranger = await _enter(
                        world, stack, client.number, client.source, kind.role, tally
                    )
                except (OSError, EOFError):
                    tally.lost += 1
        await go()
        working = [asyncio.create_task(_work(kind, client)) for client in clients]
        await asyncio.sleep(order["seconds"])
        for each in working:
            each.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        for each in working:
            if not each.cancelled() and (failed := each.exception()) is not None:
                raise failed
    return tally


async def _work(kind: Kind, client: Client) -> None:
    try:
        await kind.work(client)
    except* (OSError, EOFError):
        client.tally.lost += 1


async def _line() -> str:
    return await asyncio.to_thread(sys.stdin.readline)


async def main(url: str) -> None:
    """Obey orders until there are no more."""
    world = World(url, json.loads(await _line()))
    await learn(world)
    following = asyncio.create_task(follow(world))
    report(learnt=True)
    while text := await _line():
        order = json.loads(text)
        kind = KINDS[order["kind"]]
        if kind.of == "GET /api/record/":
            world.finished = await finished(world, "limit=50")

        async def go() -> None:
            report(there=True)
            await _line()

        tally = await obey(world, kind, order, go)
        report(**asdict(tally))
        if following.done():
            following.result()
    following.cancel()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
