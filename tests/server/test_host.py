"""The host over real sockets: matches, refusals, changed settings, and data in the store."""

from __future__ import annotations

import gc
import re
import weakref
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic_ns

import anyio
import anyio.lowlevel
import pytest
import sqlalchemy as sa
from websockets.exceptions import InvalidHandshake, InvalidStatus

from arena.clock import TimeSource
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    End,
    Error,
    Hello,
    Ready,
    Start,
    Unwatch,
    View,
    Watch,
    Welcome,
)
from arena.protocol.record import Record, Result
from arena.server import host as hosts
from arena.server.core.limits import ServerLimits
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import schema
from arena.server.store.database import Engine, open_store
from arena.server.store.errors import StoreError
from arena.server.store.pruning import Retention
from testkit.stored_records import load_event_records
from tests.server.matches import game_of, spec, terms
from tests.server.peer import Peer, dial, enter


async def test_two_bots_play_a_match_to_its_end(host: ArenaServer) -> None:
    game = game_of("riskless")
    records: list[Record] = []
    ends: list[End] = []

    async def bot(peer: Peer) -> None:
        ends.append(await peer.play(game))

    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(bot, anna)
        tasks.start_soon(bot, bert)
        records.append(await host.shell.play_match(spec("anna", "bert", game="riskless")))
    (record,) = records
    assert ends[0] == ends[1]
    assert [each.move for each in record.moves] == ends[0].moves
    assert record.result.reason is ends[0].reason
    assert record.players.maxie == "anna"
    assert record.time_control == "600+1"
    assert await load_event_records(host.db_engine, "test") == [record]


@pytest.mark.parametrize("watched", [False, True])
async def test_a_finished_match_leaves_no_reference_cycles(watched: bool) -> None:
    game = game_of()
    over = anyio.Event()

    async def end(_record: Record) -> None:
        over.set()

    gc.collect()
    gc.disable()
    try:
        async with (
            open_arena_server(on_record=end) as host,
            enter(host, "anna") as anna,
            enter(host, "bert") as bert,
            enter(host, "carl") as carl,
        ):
            await anna.say(Challenge("bert", game="tictactoe"))
            await bert.say(Accept((await bert.hear(Challenged)).challenge))
            start = await anna.hear(Start)
            if watched:
                await carl.say(Watch(start.match))
                await carl.hear(View)
            (room,) = host.shell.core._matches.rooms.values()
            left = [weakref.ref(each) for each in (room, room.referee, room.public_view)]
            del room
            await anna.say(Ready(start.match))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anna.play, game)
                tasks.start_soon(bert.play, game)
            if watched:
                await carl.hear(End)
                await carl.say(Unwatch(start.match))
            with anyio.fail_after(500):
                await over.wait()
                # The shell keeps references to the effects of its last round until the next round.
                await anna.say(Challenge("bert", game="tictactoe"))
                await bert.say(Accept((await bert.hear(Challenged)).challenge))
                await bert.hear(Start)
                while any(each() is not None for each in left):
                    await anyio.sleep(0.01)
    finally:
        gc.enable()


async def test_a_cancelled_host_still_commits_arrived_messages(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    result = Result("maxie", EndReason.RESIGNATION)
    played = terms()
    record = played.make_record("2026-11-20T12:00:00Z", [], result)
    with anyio.fail_after(500):
        with anyio.CancelScope() as scope:
            async with (
                open_arena_server(make_private_server_settings(database_url=url)) as host,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(host.shell.store_record, played, record)
                await anyio.lowlevel.checkpoint()
                scope.cancel()
                await anyio.sleep_forever()
        async with open_arena_server(make_private_server_settings(database_url=url)) as again:
            assert await load_event_records(again.db_engine, record.event) == [record]


async def test_a_store_that_fails_at_the_start_is_refused_in_one_line(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    async with open_store(database) as engine, engine.begin() as connection:
        await connection.execute(sa.schema.DropTable(schema.servers))
    with pytest.raises(StoreError, match=re.escape(f"cannot use {database}: no such table: servers")):
        async with open_arena_server(make_private_server_settings(database_url=database)):
            pytest.fail("the host was opened")


async def test_a_page_of_another_site_may_connect_only_if_no_token_is_needed() -> None:
    for anyone in (False, True):
        async with (
            open_arena_server(make_private_server_settings(anyone=anyone)) as host,
            AsyncExitStack() as stack,
        ):
            await stack.enter_async_context(dial(host.url))
            own = host.url.replace("ws:", "http:")
            await stack.enter_async_context(dial(host.url, origin=own))
            if anyone:
                await stack.enter_async_context(dial(host.url, origin="https://evil.example"))
                continue
            with pytest.raises(InvalidStatus) as refused:
                await stack.enter_async_context(dial(host.url, origin="https://evil.example"))
            assert refused.value.response.status_code == 403


async def test_an_address_with_many_wrong_tokens_is_admitted_again_within_the_grace_period() -> None:
    grace, ahead = 100.0, 0.0
    clock = TimeSource(lambda: monotonic_ns() + round(ahead * 1e9))
    async with open_arena_server(make_private_server_settings(grace_seconds=grace), clock=clock) as host:
        token = host.issue_token("anna")
        for _ in range(10):
            async with dial(host.url) as peer:
                await peer.say(Hello("anna", "wrong"))
                assert (await peer.hear(Error)).code is ErrorCode.BAD_TOKEN
        for ahead in (0, grace / 8):  # noqa: B007  the clock reads it
            async with dial(host.url) as peer:
                await peer.say(Hello("anna", token))
                refused = await peer.hear(Error)
                assert refused.code is ErrorCode.RATE_LIMITED
        ahead = grace / 2
        async with dial(host.url) as peer:
            await peer.say(Hello("anna", token))
            await peer.hear(Welcome)


async def test_finished_matches_are_packed_while_the_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "RECORD_PACKING_INTERVAL_SECONDS", 0.01)
    async with open_arena_server() as host, enter(host, "anna") as anna, enter(host, "bert") as bert:
        async with anyio.create_task_group() as tasks:
            for peer in (anna, bert):
                tasks.start_soon(peer.play, game_of("tictactoe"))
            await host.shell.play_match(spec("anna", "bert"))
        with anyio.fail_after(500):
            found: list[bool] = []
            while found != [True]:
                async with host.db_engine.connect() as connection:
                    found = list((await connection.execute(sa.select(schema.records.c.whole))).scalars())


async def test_changed_settings_are_applied_while_the_server_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removed = anyio.Event()
    wanted = Retention(max_age_days=90)

    async def apply_retention(_engine: Engine, retention: Retention | None) -> None:
        if retention == wanted:
            removed.set()

    monkeypatch.setattr(hosts, "PRUNING_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(hosts, "apply_retention", apply_retention)
    settings = make_private_server_settings(limits=ServerLimits())
    async with open_arena_server(settings) as host, AsyncExitStack() as stack:
        await stack.enter_async_context(dial(host.url))
        for key, value in (
            ("limits.connections", 1),
            ("matches.adjudicate", "limit=4"),
            ("matches.thinking", "end"),
            ("store.keep", "90d"),
            ("pool.concurrency", 7),
        ):
            settings.change_setting(key, value)
        host.apply_changed_settings(None)
        with pytest.raises(InvalidHandshake):
            await stack.enter_async_context(dial(host.url))
        with anyio.fail_after(500):
            await removed.wait()
        core_settings = host.shell.core._lobby.settings
        assert core_settings.adjudication == settings.matches.adjudication
        assert core_settings.analysis_visibility == "end"
        assert (core_settings.concurrency, core_settings.concurrency_counts_threads) == (7, False)
