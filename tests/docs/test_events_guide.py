"""docs/events.md, typed as shown beside a server that runs."""

from __future__ import annotations

import re
import shlex

import anyio

from arena.protocol.messages import EnterEvent, EventStatus
from arena.server.core.settings import OPEN_POOL_EVENT_NAME
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.shell.house_processes import HouseEnginePlan, parse_house_engines
from tests.bots.command_line import arena
from tests.docs.pages import ROOT
from tests.server.peer import enter

GUIDE = ROOT / "docs" / "events.md"


def commands() -> list[list[str]]:
    """Return the commands in the guide's blocks, but for those that run until they are told to stop."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for kind, block in blocks if not kind for line in block.splitlines()]
    return [words for line in lines if (words := shlex.split(line)[1:])[0] == "event"]


async def test_what_is_typed_works(database: str) -> None:
    told: dict[str, str] = {}
    settings = make_private_server_settings(database_url=database, anyone=True)
    house = HouseEnginePlan(parse_house_engines(["greedy"]), admits_guests=True)
    async with (
        open_arena_server(settings, resumed_event_name=OPEN_POOL_EVENT_NAME, house_engine_plan=house) as host,
        enter(host, "my_bot") as bot,
    ):
        for words in commands():
            if words[1] == "enter":
                await bot.say(EnterEvent("weekly"))
                status = await bot.hear(EventStatus)
                assert status.entered
                assert status.event.startswith("weekly-")
            shown = await anyio.to_thread.run_sync(
                lambda words=words: arena(*words, "--db", database)  # type: ignore[misc]
            )
            told[words[1]] = shown.stdout + shown.stderr
            assert shown.code == (1 if words[1] in ("pause", "resume") else 0), shown
    assert re.search(r"weekly-\S+ is announced; the event begins at \S+Z, entries close at \S+Z", told["new"])
    assert "house-greedy is in weekly-" in told["enter"]
    assert "house-greedy is withdrawn from weekly-" in told["withdraw"]
    assert re.search(r"weekly-\S+\s*\|\s*open\s*\|.*\| swiss\s*\| 1", told["list"])
    assert "my_bot" in told["show"]
    assert "is open" in told["pause"], "only what has begun can be paused"
    assert "is cancelled" in told["cancel"]
