"""Data of people: a name that is deleted leaves no trace, and an owner is given all that is kept."""

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
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.record import Record, from_line
from arena.protocol.values import Players
from arena.server.core.bot import hash_secret
from arena.server.core.effects import SaveSession
from arena.server.store import personal_data, tokens
from arena.server.store.address_uses import AddressUse, store_address_uses
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.aggregates.recompute import recompute_ratings
from arena.server.store.archive import export_lines
from arena.server.store.compaction import pack_finished_matches
from arena.server.store.database import write
from arena.server.store.directives import issue_directive, load_directives
from arena.server.store.invitations import create_invitations, find_invited_owner, register_name
from arena.server.store.journal.journal import open_journal
from arena.server.store.names import HIDDEN_PREFIX
from arena.server.store.owners import load_names_of_owner
from arena.server.store.packing import unpack_match, unpack_record
from arena.server.store.personal_data import (
    NameInUse,
    forget_name,
    is_name_stored,
    load_stored_data,
    rename_in_store,
)
from arena.server.store.renaming import make_hiding_renames
from arena.server.store.schema import metadata
from arena.server.store.tokens import TokenError
from tests.server.journals import ends, opens
from tests.server.matches import record, terms
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, keep

ADA = "ada lovelace"


async def contents(engine: AsyncEngine, *without: str) -> list[str]:
    """Return every row of the store but of these tables, as text; packed pieces unpacked."""
    found = []
    async with engine.connect() as connection:
        for table in metadata.sorted_tables:
            if table.name in without:
                continue
            for row in (await connection.execute(sa.select(table))).mappings():
                told = dict(row)
                if table.name == "records":
                    told["packed"] = (
                        unpack_match(row["packed"]) if row["whole"] else unpack_record(row["packed"])
                    )
                found.append(repr((table.name, told)))
    return sorted(found)


async def everything(engine: AsyncEngine) -> str:
    return "\n".join(await contents(engine))


async def fill(engine: AsyncEngine) -> None:
    """Store everything that a name can leave behind, some of it packed and some not."""
    engines = Engines(EngineInfo("from lovelace.toml"), EngineInfo("greedy"))
    for number, maxie in enumerate((ADA, "bert", ADA)):
        minnie = "bert" if maxie == ADA else ADA
        moves = MAXIE_WINS if number % 2 else MINNIE_WINS
        await keep(engine, day(number + 1), events(moves), maxie=maxie, minnie=minnie)
    crash = PlayerResigned(Player.MAXIE, "crash", "FileNotFoundError: lovelace.toml")
    await keep(engine, day(5), events((4,), crash), maxie=ADA, minnie="bert")
    rude = ProtocolViolated(Player.MAXIE, "nonsense")
    await keep(engine, day(5), events((4,), rude), maxie=ADA, minnie="bert")
    await keep(engine, day(6), events(MAXIE_WINS), maxie="bert", minnie="carl")
    await pack_finished_matches(engine)
    await count_new_matches(engine)
    async with open_journal(engine, "north") as journal:
        agreed = replace(terms(), players=Players(ADA, "bert"), engines=engines)
        await journal.commit([SaveSession(ADA, hash_secret("s")), opens("last", agreed, rated=True)])
        played = replace(record("last"), players=agreed.players, engines=engines)
        await journal.commit([ends(played, rated=True)])
    await tokens.create_token(engine, ADA, "bot", "byron")
    await tokens.create_token(engine, "bert", "bot")
    await issue_directive(engine, "name", ADA, "a ban", 3600)
    await write(engine, partial(store_address_uses, uses=[AddressUse(ADA, "2026-11-26", "x")]))
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


async def lines(engine: AsyncEngine) -> list[Record]:
    return [from_line(line) async for line in export_lines(engine)]


async def test_a_name_that_is_deleted_leaves_no_trace_and_its_matches_stay(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "MATCHES_PER_TRANSACTION", 2)
    await fill(engine)
    before = await lines(engine)
    other, count = await forget_name(engine, ADA)
    assert count == 6
    assert other.startswith("deleted-")
    told = await everything(engine)
    assert "lovelace" not in told
    assert "byron" not in told
    after = await lines(engine)
    assert [each.moves for each in after] == [each.moves for each in before]
    assert [each.result.winner for each in after] == [each.result.winner for each in before]
    assert [each.players for each in after] == [
        Players(*(other if name == ADA else name for name in (each.players.maxie, each.players.minnie)))
        for each in before
    ]
    for each in after:
        verify_record(each)
    await pack_finished_matches(engine)
    assert await lines(engine) == after
    assert await recompute_ratings(engine) is not None
    assert "lovelace" not in await everything(engine)
    assert "deleted-" in await everything(engine)


async def test_a_name_that_becomes_another_one_leaves_nothing_else_changed(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "MATCHES_PER_TRANSACTION", 2)
    await fill(engine)
    await count_new_matches(engine)
    gone = "requests", "sessions", "tokens"
    before = await contents(engine, *gone)
    assert await rename_in_store(engine, ADA, "wolf", moves_ban=True) == 6
    after = await contents(engine, *gone)
    assert after == sorted(each.replace(ADA, "wolf") for each in before)
    found = {each.name: each for each in await tokens.list_tokens(engine)}
    assert found[ADA].revoked is not None
    assert (found["wolf"].owner, found["wolf"].revoked) == ("byron", None)
    assert found["wolf"].hash == found[ADA].hash
    assert await recompute_ratings(engine) is not None
    with pytest.raises(TokenError, match=f"'{ADA}' is taken"):
        await rename_in_store(engine, "bert", ADA, moves_ban=True)
    assert await rename_in_store(engine, "wolf", ADA, moves_ban=True) == 6
    assert await contents(engine, *gone) == before


@pytest.mark.parametrize(("moves_ban", "banned"), [(True, "wolf"), (False, ADA)])
async def test_only_a_ban_by_the_host_moves_to_the_new_name(
    engine: AsyncEngine, moves_ban: bool, banned: str
) -> None:
    await fill(engine)
    assert await rename_in_store(engine, ADA, "wolf", moves_ban=moves_ban) == 6
    bans = [each.subject for each in await load_directives(engine) if each.kind == "name"]
    assert bans == [banned]


async def test_a_rename_that_is_interrupted_again_and_again_goes_on(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "MATCHES_PER_TRANSACTION", 1)
    left = 0
    await fill(engine)

    @sa.event.listens_for(engine.sync_engine, "begin")
    def interrupt(_connection: sa.Connection) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise TimeoutError

    for step in range(1, 40):
        left = step
        try:
            await rename_in_store(engine, ADA, "wolf", moves_ban=True)
        except TimeoutError:
            continue
        break
    left = 0
    assert step > 5
    assert ADA not in "".join(await contents(engine, "tokens"))
    assert await recompute_ratings(engine) is not None


async def test_a_name_that_cannot_be_had_changes_nothing(engine: AsyncEngine) -> None:
    await fill(engine)
    await count_new_matches(engine)
    before = await everything(engine)
    for name, other, why in (
        ("nobody", "wolf", "'nobody' is not a bot with an owner"),
        (ADA, "bert", "'bert' is taken"),
        (ADA, "carl", "'carl' is taken"),
        (ADA, " wolf", "is not a valid name"),
        (ADA, "house-wolf", "looks like a name of the server's own engines"),
        (ADA, ADA, "is taken"),
    ):
        with pytest.raises(TokenError, match=why):
            await rename_in_store(engine, name, other, moves_ban=True)
        assert await everything(engine) == before, other


async def test_a_name_in_play_or_in_an_event_that_is_not_over_is_left_as_it_is(engine: AsyncEngine) -> None:
    await fill(engine)
    await count_new_matches(engine)
    ladders = metadata.tables["ladders"]

    async def stays(why: str) -> None:
        before = await everything(engine)
        with pytest.raises(NameInUse, match=why):
            await forget_name(engine, ADA)
        assert await everything(engine) == before

    async with engine.begin() as connection:
        await connection.execute(sa.update(ladders).values(finished=None))
    await stays("in the event 'a ladder'")
    async with engine.begin() as connection:
        await connection.execute(sa.update(ladders).values(finished=day(2)))
    async with open_journal(engine, "north") as journal:
        await journal.commit([opens("in play", replace(terms(), players=Players(ADA, "bert")))])
    await stays("has a match in progress")


async def test_an_owner_leaves_no_trace_once_the_last_bot_is_deleted(engine: AsyncEngine) -> None:
    codes = await create_invitations(engine, ["ada byron", "bob"], 2, 3600)
    for name in ("wolf", "lynx"):
        await register_name(engine, "ada byron", name)
    await issue_directive(engine, "owner", "ada byron", "a ban", 3600)
    await forget_name(engine, "wolf")
    assert await find_invited_owner(engine, codes["ada byron"]) == "ada byron", "lynx is left"
    await forget_name(engine, "lynx")
    assert await find_invited_owner(engine, codes["ada byron"]) is None
    await forget_name(engine, "bob")
    assert not re.search("ada byron|bob|wolf|lynx", await everything(engine))


async def test_an_owner_is_given_all_that_is_kept_of_its_names_and_no_secret(engine: AsyncEngine) -> None:
    await fill(engine)
    await create_invitations(engine, ["byron"], 2, 3600)
    names = await load_names_of_owner(engine, "byron")
    assert names == [ADA, "byron"]
    kept = await load_stored_data(engine, names)
    found = {
        table: [row.get("name") or row.get("subject") or row.get("bot") or row["owner"] for row in rows]
        for table, rows in kept.items()
    }
    both = [ADA, ADA]  # in its game, and in its game with this time control
    same = {
        "tokens": [ADA],
        "sessions": [ADA],
        "directives": [ADA],
        "standings": both,
        "addresses": [ADA],
    }
    assert found == same | {"invitations": ["byron"]}
    assert "hash" not in str(kept)
    own = [from_line(line) async for line in export_lines(engine, bots=names)]
    assert len(own) == 6
    assert all(ADA in (each.players.maxie, each.players.minnie) for each in own)


async def test_a_name_is_stored_if_it_has_played_even_if_nothing_else_is_kept_of_it(
    engine: AsyncEngine,
) -> None:
    await keep(engine, day(1), events(MAXIE_WINS), maxie="anna", minnie="bert")
    assert [await is_name_stored(engine, name) for name in ("anna", "bert", "carl")] == [
        True,
        True,
        False,
    ]


async def test_all_bots_of_an_owner_are_hidden_but_those_that_are_hidden_already(engine: AsyncEngine) -> None:
    for name in ("wolf", "lynx", "bear"):
        await tokens.create_token(engine, name, "bot", "byron")
    await tokens.revoke_token(engine, "lynx")
    await keep(engine, day(1), events(MAXIE_WINS), maxie="lynx", minnie="bert")
    hidden = personal_data.make_hidden_name()
    await rename_in_store(engine, "bear", hidden, moves_ban=True)
    changes = {each.name: each.new_name for each in await make_hiding_renames(engine, "byron")}
    assert changes.keys() == {"lynx", "wolf"}, "a bot whose token was revoked is hidden too"
    assert all(other.startswith(HIDDEN_PREFIX) for other in changes.values())
