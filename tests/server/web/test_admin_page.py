"""The host page: connected bots, directives and renames, with the token of an admin."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import anyio
import anyio.lowlevel
import sqlalchemy as sa
from msgspec.structs import replace

from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Move, Ready, Start, Turn
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import tokens
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import open_store, redirect_transactions, run_in_transaction
from arena.server.store.directives import load_directives
from arena.server.store.renaming import NameChange
from arena.server.web.admin_page import AdminPageHandler
from arena.server.web.renames import RenameQueue, RequestedRename
from tests.server.databases import on_sqlite
from tests.server.matches import spec
from tests.server.peer import dial, enter
from tests.server.web.test_match_log import basic
from tests.server.web.test_page_process import EmptyPageClient
from tests.server.web.test_web_app import get, get_pages


@on_sqlite
async def test_an_admin_sees_the_connected_bots_and_issues_directives(database: str) -> None:
    async with (
        open_arena_server(make_private_server_settings(database_url=database, anyone=True)) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        dial(host.url) as eve,
    ):
        await eve.hello("eve", role="spectator")
        secret = basic("tower", await tokens.create_token(host.db_engine, "tower", "admin"))

        async def state(**given: str) -> dict[str, Any]:
            status, _, body = await get(host, f"/api/host?{urlencode(given)}", "POST", Authorization=secret)
            assert status == 200, body
            response = json.loads(body)
            assert isinstance(response, dict)
            return response

        async with anyio.create_task_group() as tasks:
            terms = replace(spec("bert", "anna", "600+0", ready=600_000), rated=True)
            tasks.start_soon(host.shell.play_match, terms)
            for peer in (anna, bert):
                await peer.hear(Start)
                await peer.say(Ready(terms.match))
            await bert.hear(Turn)
            await bert.say(Move(terms.match, 0, 99))
            assert (await bert.hear(Error)).code is ErrorCode.ILLEGAL_MOVE, "bert forfeits"
        await add_new_matches_to_aggregates(host.db_engine)
        with anyio.fail_after(500):
            while (response := await state())["bots"] is None:  # a busy core does not list them in time
                pass
        assert response["spectators"] == 1
        by_name = {each["name"]: each for each in response["bots"]}
        assert set(by_name) == {"anna", "bert"}
        assert by_name["anna"]["address"] == "127.0.0.1"
        assert 0 <= by_name["anna"]["seconds"] < 300
        assert [by_name[name]["forfeits"] for name in ("anna", "bert")] == [0, 1]

        assert (await state(do="notice", text="At eight."))["directives"][0]["text"] == "At eight."
        assert (await state(do="lift"))["directives"] == []
        await tokens.create_token(host.db_engine, "wolf", "bot", "carl")
        await state(do="kick", name="anna", text="stand back")
        await state(do="ban", name="bert")
        response = await state(do="ban", owner="carl")
        assert {(each["kind"], each["subject"], each["text"]) for each in response["directives"]} == {
            ("name", "anna", "stand back"),
            ("name", "bert", "banned by the host"),
            ("owner", "carl", "banned by the host"),
        }
        for name in ("anna", "bert"):
            await state(do="lift", name=name)
        assert (await state(do="lift", owner="carl"))["directives"] == []
        for wrong in (
            {"do": "kick"},
            {"do": "kick", "owner": "anna"},
            {"do": "dance", "name": "anna"},
            {"do": "ban", "name": " "},
            {"do": "ban", "owner": " "},
            {"do": "ban", "name": "anna", "owner": "anna"},
            {"do": "rename", "name": "anna"},
            {"do": "hide"},
        ):
            query = urlencode(wrong)
            assert (await get(host, f"/api/host?{query}", "POST", Authorization=secret))[0] == 400


async def test_a_ban_is_stored_even_if_the_time_limit_passes_meanwhile(database: str) -> None:

    async with open_store(database) as engine:
        secret = basic("tower", await tokens.create_token(engine, "tower", "admin"))
        begun, store_is_free = anyio.Event(), anyio.Event()

        async def write_later(operation: Callable[[sa.Connection], Any]) -> Any:
            begun.set()
            await store_is_free.wait()
            return await run_in_transaction(engine, operation)

        page = AdminPageHandler(
            redirect_transactions(engine, write_later), EmptyPageClient(), RenameQueue(database)
        )

        async def ban() -> None:
            with time_limit:
                await page.handle_request({"do": "ban", "name": "anna"}, secret)

        time_limit = anyio.CancelScope()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ban)
            await begun.wait()
            time_limit.cancel()
            await anyio.lowlevel.checkpoint()
            store_is_free.set()
        assert [each.subject for each in await load_directives(engine)] == ["anna"]


async def test_only_an_admin_sees_the_host_page(host: ArenaServer) -> None:
    for role in ("bot", "spectator"):
        secret = basic(role, await tokens.create_token(host.db_engine, role, role))
        assert (await get(host, "/api/host", "POST", Authorization=secret))[0] == 401
    secret = basic("tower", await tokens.create_token(host.db_engine, "tower", "admin"))
    await tokens.revoke_token(host.db_engine, "tower")
    assert (await get(host, "/api/host", "POST", Authorization=secret))[0] == 401
    async with dial(host.url):
        assert (await get(host, "/api/host", "POST"))[0] == 401


@on_sqlite
async def test_an_admin_renames_hides_and_restores_bots(database: str) -> None:
    async with (
        open_arena_server(make_private_server_settings(database_url=database)) as host,
        dial(host.url) as anna,
    ):
        secret = basic("tower", await tokens.create_token(host.db_engine, "tower", "admin"))
        token = await tokens.create_token(host.db_engine, "anna", "bot", "ada")
        await anna.hello("anna", token)

        async def post(**given: str) -> tuple[int, Any]:
            status, _, body = await get(host, f"/api/host?{urlencode(given)}", "POST", Authorization=secret)
            return status, json.loads(body) if status == 200 else body.decode()

        async def renamed(**given: str) -> dict[str, str]:
            """Return the new names of the bots that an action renames, once they have them."""
            status, response = await post(**given)
            assert status == 200, response
            begun = [(each["name"], each["other"]) for each in response["renames"] if each["problem"] is None]
            while any(each.problem is None for each in get_pages(host).rename_queue.list_renames()):
                await anyio.sleep(0.05)
            status, response = await post()
            ended = {(each["name"], each["other"]): each["problem"] for each in response["renames"]}
            assert [ended[each] for each in begun] == [""]
            return dict(begun)

        while (response := (await post())[1])["bots"] is None:  # a busy core does not list them in time
            pass
        assert [(each["name"], each["owner"]) for each in response["bots"]] == [("anna", "ada")]
        [(name, hidden)] = (await renamed(do="hide", owner="ada")).items()
        assert (name, hidden[:7]) == ("anna", "hidden-")
        assert (await anna.hear(Error)).code is ErrorCode.REMOVED
        assert await renamed(do="rename", name=hidden, to="wolf") == {hidden: "wolf"}
        for wrong, why in (
            ({"do": "rename", "name": "wolf", "to": "tower"}, "'tower' is taken: choose another name"),
            ({"do": "hide", "owner": "carl"}, "'carl' has no bots"),
            ({"do": "ban", "owner": "aida"}, """no owner is called 'aida'; did you mean "ada"?"""),
        ):
            status, response = await post(**wrong)
            assert status == 409
            assert why in response


@on_sqlite
async def test_a_failed_rename_has_the_reason(database: str) -> None:
    """Test the rename of a bot that does not exist, as if another host had renamed it meanwhile."""
    renames = RenameQueue(database)
    async with open_store(database), open_background_tasks() as tasks:
        tasks.start_soon(renames.run)
        change = NameChange("anna", "wolf")
        renames.add(change)
        renames.add(change)
        assert renames.list_renames() == [RequestedRename("anna", "wolf", None)]
        while (listed := renames.list_renames())[0].problem is None:
            await anyio.sleep(0.05)
    assert [each.problem for each in listed] == [
        "no bot with an owner is called 'anna': `arena owner list` lists these bots"
    ]
