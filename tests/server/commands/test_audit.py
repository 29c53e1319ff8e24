"""`arena audit`: suspicious results, and bots that play from one address."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import anyio
import pytest
import sqlalchemy as sa

from arena.server import host as hosts
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import schema, tokens
from tests.bots.command_line import arena, fails
from tests.server.commands.test_owners import play
from tests.server.peer import dial
from tests.server.played import MAXIE_WINS, RESIGNS, events, store_matches_daily
from tests.server.store.test_personal_data import read_store_as_text


def test_suspicious_results_are_listed(database: str) -> None:
    store_matches_daily(database, *[events((), RESIGNS)] * 6)
    store_matches_daily(database, *[events(MAXIE_WINS)] * 6, maxie="carl", minnie="anna")
    code, out, err = arena("audit", "--json", "-", "--db", database)
    assert code == 0, err
    (found,) = json.loads(out)
    assert (found["check"], found["bot"], found["opponent"]) == ("resignation", "anna", "bert")
    code, out, _ = arena("audit", "--db", database)
    assert "6 of 6 losses by resignation, 0 of 6 to all others" in out
    why = "event 'none' does not exist, or has no finished matches: check its name"
    fails(why, 1, "audit", "--event", "none", "--db", database)


async def test_bots_that_play_from_one_address_are_listed_and_the_address_is_not_stored(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "ADDRESS_STORING_INTERVAL_SECONDS", 0.01)
    async with (
        open_arena_server(
            make_private_server_settings(database_url=database, proxies=["127.0.0.0/8"])
        ) as host,
        AsyncExitStack() as stack,
    ):
        peers = {}
        for name, address in (("anna", "2001:db8::1"), ("bert", "2001:db8::2"), ("carl", "192.0.2.1")):
            token = await tokens.create_token(host.db_engine, name, "bot")
            header = {"X-Forwarded-For": address}
            peers[name] = await stack.enter_async_context(dial(host.url, additional_headers=header))
            await peers[name].hello(name, token)
        await play(host, peers["anna"], peers["carl"])
        await play(host, peers["bert"], peers["carl"])
        count = sa.select(sa.func.count()).select_from(schema.addresses)
        while True:
            async with host.db_engine.connect() as connection:
                if await connection.scalar(count) == len(peers):
                    break
            await anyio.sleep(0.01)
        stored = await read_store_as_text(host.db_engine)
        assert "2001:db8" not in stored
        assert "192.0.2.1" not in stored
    code, out, err = await anyio.to_thread.run_sync(lambda: arena("audit", "--json", "-", "--db", database))
    assert code == 0, err
    (found,) = json.loads(out)
    assert (found["check"], found["bot"], found["opponent"]) == ("address", "anna", "bert")
    assert found["detail"].startswith("played from the same address on ")
