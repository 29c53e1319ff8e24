"""`arena forget`, `rename`, `owner` and `export --owner`, while a server runs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Hello, Standing, Start, Status
from arena.server import host as hosts
from arena.server.core.settings import OPEN_POOL_EVENT_NAME
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import renaming
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.schema import ladders
from tests.bots.command_line import Result, arena, fails
from tests.server.matches import game_of, spec
from tests.server.peer import Peer, dial, enter
from tests.server.web.test_match_log import basic
from tests.server.web.test_web_app import get


@pytest.fixture(autouse=True)
def _poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "DIRECTIVE_POLL_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(renaming, "DIRECTIVE_EFFECT_DELAY_SECONDS", 0.5)


async def run(database: str, *words: str) -> Result:
    """Run a command in a thread, while a server runs. Fail unless its exit code is 0."""
    result = await anyio.to_thread.run_sync(lambda: arena(*words, "--db", database))
    assert result.code == 0, result
    return result


async def play(host: ArenaServer, *peers: Peer) -> str:
    """Play a rated match of two connected bots, and return its id."""
    async with anyio.create_task_group() as tasks:
        for peer in peers:
            tasks.start_soon(peer.play, game_of())
        terms = replace(spec(*(peer.welcome.name for peer in peers)), rated=True)
        record = await host.shell.play_match(terms)
    return record.match


async def test_a_connected_bot_is_disconnected_and_forgotten(database: str, tmp_path: Path) -> None:
    file = tmp_path / "anna.jsonl"
    command = partial(run, database)
    token = (await command("token", "create", "anna", "--owner", "ada")).stdout.strip()
    async with (
        open_arena_server(make_private_server_settings(database_url=database)) as host,
        enter(host, "bert") as bert,
        dial(host.url) as anna,
    ):
        await anna.hello("anna", token)
        await play(host, anna, bert)
        await command("export", str(file), "--owner", "ada")
        result = await command("forget", "anna")
        assert "anna is deleted; its 1 matches now belong to deleted-" in result.stderr
        assert (await anna.hear(Error)).code is ErrorCode.REMOVED
    kept, *matches = map(json.loads, file.read_text().splitlines())
    assert (kept["owner"], kept["names"], kept["tokens"][0]["name"]) == ("ada", ["ada", "anna"], "anna")
    assert [match["players"]["maxie"] for match in matches] == ["anna"]
    shown = (await command("export", "-")).stdout + (await command("token", "list")).stdout
    assert "anna" not in shown


async def refusal(host: ArenaServer, name: str, token: str) -> str:
    async with dial(host.url) as peer:
        await peer.say(Hello(name, token))
        return (await peer.hear(Error)).detail


@pytest.mark.slow
async def test_a_bot_is_renamed_and_hidden_while_the_server_runs(
    database: str,
) -> None:
    token = (await run(database, "token", "create", "anna", "--owner", "ada")).stdout.strip()
    async with (
        open_arena_server(make_private_server_settings(database_url=database)) as host,
        enter(host, "bert") as bert,
        dial(host.url) as anna,
    ):
        await anna.hello("anna", token)
        match = await play(host, anna, bert)

        async def shown() -> str:
            """Return all pages and data with the bot and its match. Later calls may get cached responses."""
            await add_new_matches_to_aggregates(host.db_engine)
            paths = "api/table", "api/records", f"api/record/{match}", "api/search?bot=bert", f"match/{match}"
            return " ".join([(await get(host, f"/{path}"))[2].decode() for path in paths])

        assert "anna" in await shown()
        assert (
            await run(database, "rename", "anna", "wolf")
        ).stderr == "anna is renamed to wolf, with 1 matches\n"
        error = await anna.hear(Error)
        # A busy server may see only the state after the rename.
        assert (error.code, error.detail) in [
            (ErrorCode.REMOVED, "the host renames it"),
            (ErrorCode.REMOVED, "this name is 'wolf' now"),
        ]
        with anyio.fail_after(500):
            while host.edge.directives.banned_names.get("anna") != "this name is 'wolf' now":
                await anyio.sleep(0.01)
        assert await refusal(host, "anna", token) == "this name is 'wolf' now"
        pages_text = await shown()
        assert "anna" not in pages_text
        assert pages_text.count("wolf") > 4
        assert (await get(host, f"/api/log/{match}", Authorization=basic("wolf", token)))[0] == 200
        async with dial(host.url) as wolf:
            await wolf.hello("wolf", token)
            rows = (await run(database, "owner", "hide", "ada")).stdout
            assert (await wolf.hear(Error)).code is ErrorCode.REMOVED
        hidden = re.search(r"\| wolf +\| (hidden-\w+)", rows)
        assert hidden is not None, rows
        pages_text = await shown()
        assert not re.search("anna|wolf", pages_text)
        assert hidden[1] in pages_text
        async with dial(host.url) as other:
            await other.hello(hidden[1], token)
            await run(database, "owner", "ban", "ada", "--reason", "enough")
            assert (await other.hear(Error)).detail == "enough"
        assert await refusal(host, hidden[1], token) == "enough"
        authorization = basic(hidden[1], token)
        assert (await get(host, "/api/me", "POST", Authorization=authorization))[::2] == (
            403,
            b"removed: enough\n",
        )
        [line] = json.loads((await run(database, "owner", "list", "--json", "-")).stdout)
        assert (line["owner"], line["bots"], line["banned"]) == ("ada", [hidden[1]], "enough")
        assert "| owner ada " in (await run(database, "ban")).stdout
        await run(database, "owner", "ban", "ada", "--lift")
        assert (await run(database, "owner", "list")).stdout.count("enough") == 0


async def test_a_bot_in_a_match_is_renamed_after_the_match(database: str) -> None:
    async with (
        open_arena_server(
            make_private_server_settings(database_url=database, anyone=True, grace_seconds=1)
        ) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(host.shell.play_match, spec("anna", "bert", ready=2000))
        await anna.hear(Start)
        await bert.hear(Start)
        assert (
            "anna is renamed to wolf, with 1 matches"
            in (await run(database, "rename", "anna", "wolf")).stderr
        )


async def test_a_bot_entered_in_a_series_is_renamed_and_forgotten_before_the_event(database: str) -> None:
    command = partial(run, database)
    for name in ("anna", "bert"):
        await command("token", "create", name)

    async def entries() -> str:
        return " ".join(json.loads((await command("event", "show", "weekly", "--json", "-")).stdout)["bots"])

    async with open_arena_server(
        make_private_server_settings(database_url=database), resumed_event_name=OPEN_POOL_EVENT_NAME
    ):
        in_days = f"{datetime.now(UTC) + timedelta(days=3):%a} 20:00"  # it does not begin during the test
        words = ("--at", in_days, "--every", "week", "--invite", "anna,bert")
        await command("event", "new", "weekly", *words)
        for name in ("anna", "bert"):
            await command("event", "enter", "weekly", name)
        await command("rename", "anna", "wolf")
        assert await entries() == "wolf bert"
        await command("event", "withdraw", "weekly", "wolf")
        await command("event", "enter", "weekly", "wolf")
        assert await entries() == "bert wolf", "the invitation covers the new name"
        await command("forget", "wolf")
        assert await entries() == "bert"


def test_an_unknown_owner_cannot_be_banned(database: str) -> None:
    assert arena("invite", "eve", "--db", database).code == 0
    fails("""no owner is called 'evee'; did you mean "eve"?\n""", 1, "owner", "ban", "evee", "--db", database)
    fails("no owner is called 'zoe': `arena owner list`", 1, "owner", "ban", "zoe", "--db", database)
    assert "eve" not in arena("ban", "--db", database).stdout
    for _ in range(2):
        assert arena("owner", "ban", "eve", "--db", database).code == 0


async def test_an_unknown_name_cannot_be_forgotten(database: str) -> None:
    for words in (("token", "create", "anna"), ("invite", "bob"), ("ban", "mallory")):
        await run(database, *words)
    result = await anyio.to_thread.run_sync(lambda: arena("forget", "ana", "--db", database))
    assert (result.code, result.stderr) == (
        1,
        "arena: nothing is stored about 'ana'; did you mean \"anna\"?\n",
    )
    for name in ("anna", "bob", "mallory"):
        assert f"{name} is deleted" in (await run(database, "forget", name)).stderr


async def test_a_bot_that_cannot_be_renamed_during_an_event_stays_connected(database: str) -> None:
    token = (await run(database, "token", "create", "anna")).stdout.strip()
    async with (
        open_arena_server(make_private_server_settings(database_url=database)) as host,
        dial(host.url) as anna,
    ):
        await anna.hello("anna", token)
        row = {"event": "cup", "uid": "u", "kind": "ladder", "named": True, "started": "2026-11-26T10:00:00Z"}
        async with host.db_engine.begin() as connection:
            await connection.execute(sa.insert(ladders).values(plan='{"bots": ["anna"]}', **row))
        result = await anyio.to_thread.run_sync(lambda: arena("rename", "anna", "wolf", "--db", database))
        assert (result.code, result.stderr) == (
            1,
            "arena: 'anna' is in the event 'cup': wait until the event is over\n",
        )
        await anna.say(Status())
        await anna.hear(Standing)
