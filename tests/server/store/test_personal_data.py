from __future__ import annotations

import json
import re
from functools import partial

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.core import Player
from arena.match.referee_events import PlayerResigned, ProtocolViolated
from arena.match.replay import verify_record
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import Record, parse_record_line
from arena.protocol.values import Players
from arena.server.core.bot import hash_secret
from arena.server.core.effects import SaveSession
from arena.server.store import personal_data, tokens
from arena.server.store.address_uses import AddressUse, store_address_uses
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import verify_ratings
from arena.server.store.archive import export_archive_lines
from arena.server.store.database import run_in_transaction
from arena.server.store.directives import issue_directive, load_directives
from arena.server.store.invitations import (
    create_invitations,
    find_invited_owner,
    register_name_and_issue_token,
)
from arena.server.store.journal.journal import open_journal
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.names import HIDDEN_BOT_NAME_PREFIX
from arena.server.store.owners import load_names_of_owner
from arena.server.store.packing import unpack_match, unpack_record
from arena.server.store.personal_data import (
    NameInUse,
    forget_name,
    is_name_stored,
    load_personal_data,
    rename_in_store,
)
from arena.server.store.renaming import make_name_changes_hiding_bots
from arena.server.store.schema import metadata
from arena.server.store.tokens import TokenError
from tests.server.journals import make_close_match, make_open_match
from tests.server.matches import record, terms
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, store_match

ADA = "ada lovelace"


async def read_rows_as_text(engine: AsyncEngine, *without: str) -> list[str]:
    """Return the rows of all tables except `without` as texts, with unpacked records."""
    found = []
    async with engine.connect() as connection:
        for table in metadata.sorted_tables:
            if table.name in without:
                continue
            for row in (await connection.execute(sa.select(table))).mappings():
                row_values = dict(row)
                if table.name == "records":
                    row_values["packed"] = (
                        unpack_match(row["packed"]) if row["whole"] else unpack_record(row["packed"])
                    )
                found.append(repr((table.name, row_values)))
    return sorted(found)


async def read_store_as_text(engine: AsyncEngine) -> str:
    return "\n".join(await read_rows_as_text(engine))


async def fill_store(engine: AsyncEngine) -> None:
    """Store data of every kind that contain a name; some matches are packed."""
    engines = EnginesBySeat(EngineInfo("from lovelace.toml"), EngineInfo("greedy"))
    for number, maxie in enumerate((ADA, "bert", ADA)):
        minnie = "bert" if maxie == ADA else ADA
        moves = MAXIE_WINS if number % 2 else MINNIE_WINS
        await store_match(engine, day(number + 1), events(moves), maxie=maxie, minnie=minnie)
    crash = PlayerResigned(Player.MAXIE, "crash", "FileNotFoundError: lovelace.toml")
    await store_match(engine, day(5), events((4,), crash), maxie=ADA, minnie="bert")
    rude = ProtocolViolated(Player.MAXIE, "nonsense")
    await store_match(engine, day(5), events((4,), rude), maxie=ADA, minnie="bert")
    await store_match(engine, day(6), events(MAXIE_WINS), maxie="bert", minnie="carl")
    await pack_finished_matches(engine)
    await add_new_matches_to_aggregates(engine)
    async with open_journal(engine, "north") as journal:
        agreed = replace(terms(), players=Players(ADA, "bert"), engines=engines)
        await journal.commit(
            [SaveSession(ADA, hash_secret("s")), make_open_match("last", agreed, rated=True)]
        )
        played = replace(record("last"), players=agreed.players, engines=engines)
        await journal.commit([make_close_match(played, rated=True)])
    await tokens.create_token(engine, ADA, "bot", "byron")
    await tokens.create_token(engine, "bert", "bot")
    await issue_directive(engine, "name", ADA, "a ban", 3600)
    await run_in_transaction(
        engine, partial(store_address_uses, address_uses=[AddressUse(ADA, "2026-11-26", "x")])
    )
    async with engine.begin() as connection:
        plan = json.dumps({"bots": [{"name": ADA}, {"name": "bert"}]}, separators=(",", ":"))
        values = {"uid": "u", "kind": "ladder", "named": True, "plan": plan, "started": day(1)}
        await connection.execute(
            sa.insert(metadata.tables["ladders"]).values(event="a ladder", finished=day(2), **values)
        )
        asked = {
            "server": "",
            "request": json.dumps({"withdraw": ADA}),
            "answer": f"{ADA} is out",
            "done": True,
        }
        await connection.execute(sa.insert(metadata.tables["requests"]).values(**asked))


async def load_exported_records(engine: AsyncEngine) -> list[Record]:
    return [parse_record_line(line) async for line in export_archive_lines(engine)]


async def test_a_deleted_name_leaves_no_trace_and_its_matches_stay(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "RENAMED_MATCHES_PER_TRANSACTION", 2)
    await fill_store(engine)
    before = await load_exported_records(engine)
    other, count = await forget_name(engine, ADA)
    assert count == 6
    assert other.startswith("deleted-")
    row_values = await read_store_as_text(engine)
    assert "lovelace" not in row_values
    assert "byron" not in row_values
    after = await load_exported_records(engine)
    assert [each.moves for each in after] == [each.moves for each in before]
    assert [each.result.winner for each in after] == [each.result.winner for each in before]
    assert [each.players for each in after] == [
        Players(*(other if name == ADA else name for name in (each.players.maxie, each.players.minnie)))
        for each in before
    ]
    for each in after:
        verify_record(each)
    await pack_finished_matches(engine)
    assert await load_exported_records(engine) == after
    assert await verify_ratings(engine) is not None
    assert "lovelace" not in await read_store_as_text(engine)
    assert "deleted-" in await read_store_as_text(engine)


async def test_a_rename_changes_nothing_but_the_name(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "RENAMED_MATCHES_PER_TRANSACTION", 2)
    await fill_store(engine)
    await add_new_matches_to_aggregates(engine)
    gone = "requests", "sessions", "tokens"
    before = await read_rows_as_text(engine, *gone)
    assert await rename_in_store(engine, ADA, "wolf", transfers_ban=True) == 6
    after = await read_rows_as_text(engine, *gone)
    assert after == sorted(each.replace(ADA, "wolf") for each in before)
    found = {each.name: each for each in await tokens.list_tokens(engine)}
    assert found[ADA].revocation_time is not None
    assert (found["wolf"].owner, found["wolf"].revocation_time) == ("byron", None)
    assert found["wolf"].token_hash == found[ADA].token_hash
    assert await verify_ratings(engine) is not None
    with pytest.raises(TokenError, match=f"'{ADA}' is taken"):
        await rename_in_store(engine, "bert", ADA, transfers_ban=True)
    assert await rename_in_store(engine, "wolf", ADA, transfers_ban=True) == 6
    assert await read_rows_as_text(engine, *gone) == before


@pytest.mark.parametrize(("moves_ban", "banned"), [(True, "wolf"), (False, ADA)])
async def test_a_ban_moves_to_the_new_name_only_on_request(
    engine: AsyncEngine, moves_ban: bool, banned: str
) -> None:
    await fill_store(engine)
    assert await rename_in_store(engine, ADA, "wolf", transfers_ban=moves_ban) == 6
    bans = [each.subject for each in await load_directives(engine) if each.kind == "name"]
    assert bans == [banned]


async def test_a_repeatedly_interrupted_rename_is_resumed(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "RENAMED_MATCHES_PER_TRANSACTION", 1)
    left = 0
    await fill_store(engine)

    @sa.event.listens_for(engine.sync_engine, "begin")
    def interrupt(_connection: sa.Connection) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise TimeoutError

    for step in range(1, 40):
        left = step
        try:
            await rename_in_store(engine, ADA, "wolf", transfers_ban=True)
        except TimeoutError:
            continue
        break
    left = 0
    assert step > 5
    assert ADA not in "".join(await read_rows_as_text(engine, "tokens"))
    assert await verify_ratings(engine) is not None


async def test_a_refused_rename_changes_nothing(engine: AsyncEngine) -> None:
    await fill_store(engine)
    await add_new_matches_to_aggregates(engine)
    before = await read_store_as_text(engine)
    for name, other, why in (
        ("nobody", "wolf", "no bot with an owner is called 'nobody'"),
        (ADA, "bert", "'bert' is taken"),
        (ADA, "carl", "'carl' is taken"),
        (ADA, " wolf", "is not a valid name"),
        (ADA, "house-wolf", "looks like a name of the server's own engines"),
        (ADA, ADA, "is taken"),
    ):
        with pytest.raises(TokenError, match=why):
            await rename_in_store(engine, name, other, transfers_ban=True)
        assert await read_store_as_text(engine) == before, other


async def test_a_name_in_a_match_or_in_an_unfinished_event_is_not_deleted(engine: AsyncEngine) -> None:
    await fill_store(engine)
    await add_new_matches_to_aggregates(engine)
    ladders = metadata.tables["ladders"]

    async def assert_not_deleted(why: str) -> None:
        before = await read_store_as_text(engine)
        with pytest.raises(NameInUse, match=why):
            await forget_name(engine, ADA)
        assert await read_store_as_text(engine) == before

    async with engine.begin() as connection:
        await connection.execute(sa.update(ladders).values(finished=None))
    await assert_not_deleted("in the event 'a ladder'")
    async with engine.begin() as connection:
        await connection.execute(sa.update(ladders).values(finished=day(2)))
    async with open_journal(engine, "north") as journal:
        await journal.commit([make_open_match("in play", replace(terms(), players=Players(ADA, "bert")))])
    await assert_not_deleted("has a match in progress")


async def test_an_owner_leaves_no_trace_once_the_last_bot_is_deleted(engine: AsyncEngine) -> None:
    codes = await create_invitations(engine, ["ada byron", "bob"], 2, 3600)
    for name in ("wolf", "lynx"):
        await register_name_and_issue_token(engine, "ada byron", name)
    await issue_directive(engine, "owner", "ada byron", "a ban", 3600)
    await forget_name(engine, "wolf")
    assert await find_invited_owner(engine, codes["ada byron"]) == "ada byron", (
        "the owner still has the bot lynx"
    )
    await forget_name(engine, "lynx")
    assert await find_invited_owner(engine, codes["ada byron"]) is None
    await forget_name(engine, "bob")
    assert not re.search("ada byron|bob|wolf|lynx", await read_store_as_text(engine))


async def test_the_stored_data_of_an_owner_are_complete_and_contain_no_secret(engine: AsyncEngine) -> None:
    await fill_store(engine)
    await create_invitations(engine, ["byron"], 2, 3600)
    names = await load_names_of_owner(engine, "byron")
    assert names == [ADA, "byron"]
    kept = await load_personal_data(engine, names)
    found = {
        table: [row.get("name") or row.get("subject") or row.get("bot") or row["owner"] for row in rows]
        for table, rows in kept.items()
    }
    both = [ADA, ADA]  # ratings of the game, and of the game with this time control
    same = {
        "tokens": [ADA],
        "sessions": [ADA],
        "directives": [ADA],
        "standings": both,
        "addresses": [ADA],
    }
    assert found == same | {"invitations": ["byron"]}
    assert "hash" not in str(kept)
    own = [parse_record_line(line) async for line in export_archive_lines(engine, bot_names=names)]
    assert len(own) == 6
    assert all(ADA in (each.players.maxie, each.players.minnie) for each in own)


async def test_a_name_with_only_matches_counts_as_stored(
    engine: AsyncEngine,
) -> None:
    await store_match(engine, day(1), events(MAXIE_WINS), maxie="anna", minnie="bert")
    assert [await is_name_stored(engine, name) for name in ("anna", "bert", "carl")] == [
        True,
        True,
        False,
    ]


async def test_all_bots_of_an_owner_are_hidden_except_hidden_ones(engine: AsyncEngine) -> None:
    for name in ("wolf", "lynx", "bear"):
        await tokens.create_token(engine, name, "bot", "byron")
    await tokens.revoke_token(engine, "lynx")
    await store_match(engine, day(1), events(MAXIE_WINS), maxie="lynx", minnie="bert")
    hidden = personal_data.make_hidden_name()
    await rename_in_store(engine, "bear", hidden, transfers_ban=True)
    changes = {each.name: each.new_name for each in await make_name_changes_hiding_bots(engine, "byron")}
    assert changes.keys() == {"lynx", "wolf"}, "a bot with a revoked token that has played is hidden too"
    assert all(other.startswith(HIDDEN_BOT_NAME_PREFIX) for other in changes.values())
