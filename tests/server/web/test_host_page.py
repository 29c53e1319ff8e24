"""The host's page: connected bots and the host's orders, with the token of an admin."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code
from arena.protocol.messages import Error, Move, Notice, Ready, Start, Turn
from arena.server import host as hosts
from arena.server.host import Host, open_host
from arena.server.settings import private_settings
from arena.server.store import tokens
from arena.server.store.aggregates.counting import refresh
from arena.server.store.directives import issue
from tests.server.matches import spec
from tests.server.peer import dial, enter
from tests.server.web.test_match_log import basic
from tests.server.web.test_pages import get


async def test_an_admin_sees_who_is_there_and_acts(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "LOOK_SECONDS", 0.01)
    async with (
        open_host(private_settings(database=database, anyone=True)) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        dial(host.url) as eve,
    ):
        await eve.hello("eve", role="spectator")
        secret = basic("tower", await tokens.create(host.engine, "tower", "admin"))

        async def state(**given: str) -> dict[str, Any]:
            status, _, body = await get(host, f"/api/host?{urlencode(given)}", "POST", Authorization=secret)
            assert status == 200, body
            told = json.loads(body)
            assert isinstance(told, dict)
            return told

        async with anyio.create_task_group() as tasks:
            terms = replace(spec("bert", "anna", "600+0", ready=600_000), rated=True)
            tasks.start_soon(host.play, terms)
            for peer in (anna, bert):
                await peer.hear(Start)
                await peer.say(Ready(terms.match))
            await bert.hear(Turn)
            await bert.say(Move(terms.match, 0, 99))
            assert (await bert.hear(Error)).code is Code.ILLEGAL_MOVE, "bert forfeits"
        await refresh(host.engine)
        with anyio.fail_after(500):
            # A core that is too busy to list the bots leaves them out.
            while not (told := await state())["bots"]:
                pass
        assert told["spectators"] == 1
        by_name = {each["name"]: each for each in told["bots"]}
        assert set(by_name) == {"anna", "bert"}
        assert by_name["anna"]["address"] == "127.0.0.1"
        assert 0 <= by_name["anna"]["seconds"] < 300
        assert [by_name[name]["forfeits"] for name in ("anna", "bert")] == [0, 1]

        assert (await state(do="notice", text="At eight."))["directives"][0]["text"] == "At eight."
        assert (await eve.hear(Notice)).text == "At eight."
        assert (await state(do="lift"))["directives"] == []
        await state(do="kick", name="anna", text="stand back")
        assert (await anna.hear(Error)).detail == "stand back"
        told = await state(do="ban", name="bert")
        error = await bert.hear(Error)
        assert (error.code, error.detail) == (Code.REMOVED, "the host has banned it")
        assert {(each["kind"], each["subject"]) for each in told["directives"]} == {
            ("name", "anna"),
            ("name", "bert"),
        }
        await issue(host.engine, "owner", "carl", "enough", 60)
        for name in ("anna", "bert", "carl"):
            told = await state(do="lift", name=name)
        assert told["directives"] == []
        for wrong in ({"do": "kick"}, {"do": "dance", "name": "anna"}, {"do": "ban", "name": " "}):
            query = urlencode(wrong)
            assert (await get(host, f"/api/host?{query}", "POST", Authorization=secret))[0] == 400


async def test_nobody_but_an_admin_is_told(host: Host) -> None:
    for role in ("bot", "spectator"):
        secret = basic(role, await tokens.create(host.engine, role, role))
        assert (await get(host, "/api/host", "POST", Authorization=secret))[0] == 401
    secret = basic("tower", await tokens.create(host.engine, "tower", "admin"))
    await tokens.revoke(host.engine, "tower")
    assert (await get(host, "/api/host", "POST", Authorization=secret))[0] == 401
    async with dial(host.url):
        assert (await get(host, "/api/host", "POST"))[0] == 401
