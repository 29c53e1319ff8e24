"""What the store knows of before: the unfinished matches of an event, and their bots' sessions."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace

from arena.games.core import Player
from arena.match.events import GotReady, Opened
from arena.server.rooms.member import secret_hash
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.recovery import kept_sessions, unfinished
from tests.server.journals import playing
from tests.server.matches import record, terms


async def test_unfinished_matches_come_back_with_all_that_happened(database: str) -> None:
    asked = replace(terms(game="riskless"), match="open")
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        for match, event in (("open", "serve"), ("over", "serve"), ("other", "ladder")):
            journal.open_match(replace(asked, match=match, event=event, rated=True), "2026-11-20T12:00:00Z")
            journal.append(match, 0, 5, Opened())
            journal.append(match, 1, 7, GotReady(Player.MINNIE))
        journal.close_match(record("over"))
        await journal.drain()
        (found,) = await unfinished(engine, "serve")
        tasks.cancel_scope.cancel()
    assert replace(found.terms, game=asked.game) == replace(
        asked, match=found.terms.match, event="serve", rated=True
    )
    assert found.terms.game.setup() == asked.game.setup()
    assert found.started == "2026-11-20T12:00:00Z"
    assert found.events == [(5, Opened()), (7, GotReady(Player.MINNIE))]


async def test_a_server_goes_on_with_its_own_matches_only(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        for server in ("north", "south"):
            journal = Journal(engine, server=server)
            tasks.start_soon(journal.run)
            journal.open_match(
                replace(terms(), match=f"of the {server}", event="serve"), "2026-11-20T12:00:00Z"
            )
            await journal.drain()
        found = {server: await unfinished(engine, "serve", server) for server in ("north", "south", "")}
        tasks.cancel_scope.cancel()
    assert {
        server: [each.terms.match for each in unfinished_matches]
        for server, unfinished_matches in found.items()
    } == {
        "north": ["of the north"],
        "south": ["of the south"],
        "": [],
    }


async def test_of_many_matches_those_without_a_record_are_found_with_what_happened_in_each(
    database: str,
) -> None:
    async with open_store(database) as engine, playing(engine, server="north") as journal:
        names = [f"match {number}" for number in range(7)]
        for name in names:
            journal.open_match(replace(terms(), match=name, event="serve"), "2026-11-20T12:00:00Z")
        for seq in range(1, 5):
            for name in names[: 2 * seq]:
                journal.append(name, seq, seq, Opened())
            await journal.drain()
        for name in names[2:]:
            await journal.durable(journal.close_match(record(name)))
        found = {each.terms.match: each.events for each in await unfinished(engine, "serve", "north")}
        assert found == {name: [(seq, Opened()) for seq in range(1, 5)] for name in names[:2]}


async def test_the_last_session_of_a_bot_is_known_and_only_by_its_hash(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        for secret in ("first", "second"):
            journal.keep_session("anna", secret_hash(secret))
            await journal.drain()
        known = await kept_sessions(engine, ["anna", "bert"])
        tasks.cancel_scope.cancel()
    assert known == {"anna": secret_hash("second")}


@pytest.mark.parametrize("names", [[], ["nobody"]])
async def test_nobody_is_known_of_whom_nothing_was_kept(database: str, names: list[str]) -> None:
    async with open_store(database) as engine:
        assert await kept_sessions(engine, names) == {}
