from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.rating.glicko import GlickoRating
from arena.server.core.effects import DeleteSession, SaveSession
from arena.server.store import tokens
from arena.server.store.accounts import StoredAccount, load_accounts
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.ratings import load_rating_rows
from arena.server.store.journal.journal import open_journal
from tests.server.played import MAXIE_WINS, day, events, store_match


async def test_one_query_reads_the_accounts_of_many_names(engine: AsyncEngine) -> None:
    crowd = [f"bot {number}" for number in range(600)]
    async with open_journal(engine, "north") as journal:
        opened = await tokens.create_token(engine, "anna", "bot", "class")
        watches = await tokens.create_token(engine, "eve", "spectator")
        await tokens.create_token(engine, "bert", "bot")
        await tokens.revoke_token(engine, "bert")
        await store_match(engine, day(1), events(MAXIE_WINS))
        await add_new_matches_to_aggregates(engine)
        rated = {row.bot: GlickoRating(row.rating, row.deviation) for row in await load_rating_rows(engine)}
        await journal.commit(
            [SaveSession("anna", b"1"), SaveSession("carl", b"2"), SaveSession("dora", b"3")]
        )
        await journal.commit([SaveSession("anna", b"4"), DeleteSession("dora")])
        requests: list[str] = []
        sa.event.listen(engine.sync_engine, "before_cursor_execute", lambda *told: requests.append(told[2]))
        found = await load_accounts(engine, "north", ["anna", "bert", "carl", "dora", "eve", *crowd[:100]])
        assert len([each for each in requests if "UNION" in each]) == 1
        assert found.pop("anna") == StoredAccount(
            tokens.hash_token(opened), "bot", False, b"4", {"tictactoe": rated["anna"]}, "class"
        )
        bert = found.pop("bert")
        assert (bert.is_revoked, bert.session_hash, bert.ratings) == (True, b"", {"tictactoe": rated["bert"]})
        assert found.pop("carl") == StoredAccount(session_hash=b"2")
        assert found.pop("dora") == StoredAccount()
        assert found.pop("eve") == StoredAccount(tokens.hash_token(watches), "spectator", owner="eve")
        assert found == {name: StoredAccount() for name in crowd[:100]}
        assert set(await load_accounts(engine, "north", crowd)) == set(crowd)
        assert (await load_accounts(engine, "south", ["anna"]))["anna"].session_hash == b""
        assert await load_accounts(engine, "north", []) == {}
