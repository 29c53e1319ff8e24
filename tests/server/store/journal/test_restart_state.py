from __future__ import annotations

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.core import Player
from arena.match.referee_events import MatchOpened, PlayerReady
from arena.server.core.effects import SaveSession
from arena.server.store.errors import StoreError
from arena.server.store.journal.journal import open_journal
from arena.server.store.journal.restart_state import load_restart_state
from arena.server.store.schema import matches
from tests.server.journals import make_append_event, make_close_match, make_open_match
from tests.server.matches import record, terms


async def test_unfinished_matches_are_loaded_with_all_their_events(engine: AsyncEngine) -> None:
    asked = replace(terms(game="riskless"), match="open")
    async with open_journal(engine) as journal:
        for match, event in (("open", "serve"), ("over", "serve"), ("other", "ladder")):
            await journal.commit(
                [
                    make_open_match(match, asked, event=event, rated=True),
                    make_append_event(1, at=5, match=match),
                    make_append_event(2, PlayerReady(Player.MINNIE), at=7, match=match),
                ]
            )
        await journal.commit([make_close_match(record("over"))])
        (found,) = (await journal.load_restart_state("serve")).unfinished_matches
        assert (await journal.load_restart_state(None)).unfinished_matches == []
    assert replace(found.terms, game=asked.game) == replace(asked, event="serve", rated=True)
    assert found.terms.game.setup() == asked.game.setup()
    assert found.start_time_utc == "2026-11-20T12:00:00Z"
    assert found.match_events == [(5, MatchOpened()), (7, PlayerReady(Player.MINNIE))]


async def test_a_server_loads_only_its_own_matches_and_sessions(
    engine: AsyncEngine,
) -> None:
    for server in ("north", "south"):
        async with open_journal(engine, server) as journal:
            await journal.commit([make_open_match(f"of the {server}"), SaveSession("anna", server.encode())])
    results = {server: await load_restart_state(engine, server, "test") for server in ("north", "south", "")}
    assert {
        server: ([each.terms.match for each in restore.unfinished_matches], restore.session_secret_hashes)
        for server, restore in results.items()
    } == {
        "north": (["of the north"], {"anna": b"north"}),
        "south": (["of the south"], {"anna": b"south"}),
        "": ([], {}),
    }
    async with engine.begin() as connection:
        north = matches.c.match == "of the north"
        terms_text: str = (await connection.execute(sa.select(matches.c.terms).where(north))).scalar_one()
        lost_game = terms_text.replace('"tictactoe"', '"lost-game"')
        await connection.execute(sa.update(matches).where(north).values(terms=lost_game))
    with pytest.raises(
        StoreError, match=r"^match of the north was in progress and cannot be resumed: .*lost-game"
    ):
        await load_restart_state(engine, "north", "test")
