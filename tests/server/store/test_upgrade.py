"""The store of an earlier release, taken up by this version."""

from __future__ import annotations

import re
import stat
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.catalogue import make_game
from arena.protocol.codes import FORFEITS, EndReason
from arena.protocol.messages import End, Move, Start, Turn
from arena.protocol.record import Record, from_line
from arena.server.host import open_host
from arena.server.processes.identity import PROGRAM
from arena.server.settings import private
from arena.server.store import lease, migrations, schema, tokens
from arena.server.store.aggregates.counting import refresh
from arena.server.store.aggregates.recompute import recompute
from arena.server.store.aggregates.standings import ratings_of
from arena.server.store.archive import export_lines
from arena.server.store.backup import copy_into_file, restore
from arena.server.store.database import StoreError, close, exclusive, make_engine, open_store
from arena.server.store.journal.reader import events_of
from arena.server.store.journal.writer import open_writer
from arena.server.store.lease import Lease, NameHeld
from arena.server.store.upgrade import make_ready
from tests.server.peer import Peer, dial
from tests.server.releases import RELEASES, STORES, Release, everything
from tests.server.store.test_lease import ELSEWHERE, run_out


@pytest.fixture(params=RELEASES, ids=lambda release: release.name)
def release(request: pytest.FixtureRequest) -> Release:
    """Each release of which a store is kept."""
    found: Release = request.param
    return found


@pytest.fixture
async def old(release: Release, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The URL of a store of an earlier release, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    await release.put(database)
    return database


def backups(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-schema-*"))


async def go_on(peer: Peer, matches: int) -> dict[str, tuple[int, End]]:
    """Go on with so many matches, always with the last legal move: the first ply that was asked for, and the end."""
    games, first, over = {}, dict[str, int](), dict[str, tuple[int, End]]()
    while len(over) < matches:
        match await peer.next():
            case Start() as start:
                games[start.match] = make_game(start.game, start.setup)
            case Turn(match=match, ply=ply, moves=moves):
                game = games[match]
                first.setdefault(match, ply)
                position = game.start()
                for move in moves:
                    position = game.play(position, game.move_from_data(move))
                await peer.say(Move(match, ply, game.move_to_data(game.moves(position)[-1])))
            case End() as end:
                over[end.match] = first[end.match], end
    return over


async def test_matches_go_on_with_the_bots_that_played_them(old: str, release: Release) -> None:
    played = release.moves()
    in_play = {match: moves for match, moves in played.items() if match not in release.records()}
    ended: dict[str, dict[str, tuple[int, End]]] = {}
    async with open_host(private(database=old, grace_seconds=60.0), going_on="serve") as host:
        assert set(host.rooms) == set(in_play)

        async def play(name: str, matches: int) -> None:
            async with dial(host.url) as peer:
                token, session = (release.secrets[kind][name] for kind in ("tokens", "sessions"))
                await peer.hello(name, token, session, pool=False, matches=8)
                ended[name] = await go_on(peer, matches)

        async with anyio.create_task_group() as tasks:
            for name, matches in (("anna", 1), ("cleo", 1), ("dora", 2)):
                tasks.start_soon(play, name, matches)
        assert await host.drain(10) == 0
        kept = {record.match: record async for record in exported(host.engine)}
    assert set(ended["dora"]) == set(in_play) == set(ended["anna"]) | set(ended["cleo"])
    for name, matches_of_one in ended.items():
        for match, (ply, end) in matches_of_one.items():
            before = in_play[match]
            assert list(end.moves[: len(before)]) == before
            assert ply in (len(before), len(before) + 1), name
            assert end.reason not in FORFEITS | {EndReason.SERVER_FAULT}
            assert [each.move for each in kept[match].moves] == list(end.moves)
    assert set(kept) == set(played)


async def exported(engine: AsyncEngine) -> AsyncIterator[Record]:
    async for line in export_lines(engine):
        yield from_line(line)


async def test_what_is_over_stays_as_it_was(old: str, release: Release) -> None:
    async with open_store(old, make_ready) as engine:
        assert await refresh(engine) == 0, "everything was counted before"
        records = {record.match: record async for record in exported(engine)}
        assert records == release.records()
        for match, happened in release.events().items():
            assert await events_of(engine, match) == happened
        for (game, bot), rating in release.ratings().items():
            assert (await ratings_of(engine, game, [bot]))[bot].rating == rating
        rated = [match for (match,) in release.rows("SELECT match FROM matches WHERE counted")]
        assert (await recompute(engine)).matches == len(rated) > 0


async def test_tokens_open_what_they_opened(old: str, release: Release) -> None:
    async with open_store(old, make_ready) as engine:
        for name, token in release.secrets["tokens"].items():
            found = await tokens.find(engine, name)
            assert found is not None
            assert found.hash == tokens.hashed(token)


async def test_the_store_as_it_was_is_kept_in_a_file_and_the_log_says_where(
    old: str, release: Release, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(old, make_ready):
        pass
    (copy,) = backups(tmp_path)
    assert re.fullmatch(rf"\w+-schema-{int(release.name)}-\d{{8}}T\d{{6}}Z\.db", copy.name)
    assert everything(copy) == everything(STORES / f"{release.name}.sqlite")
    (line,) = [record.getMessage() for record in caplog.records if record.name == "arena.store"]
    now = migrations.SCHEMA_VERSION
    assert (
        line
        == f"the store had schema {int(release.name)} and now has {now}; a backup of it as it was is {copy}"
    )
    async with open_store(old, make_ready):
        assert backups(tmp_path) == [copy], "it is made once"


async def test_the_backup_can_be_restored_by_this_version(
    old: str, other_database: str, release: Release, tmp_path: Path
) -> None:
    async with open_store(old, make_ready):
        pass
    (copy,) = backups(tmp_path)
    async with open_store(other_database) as engine:
        contents = await restore(engine, copy)
        assert contents.finished == len(release.records())
        assert {record.match: record async for record in exported(engine)} == release.records()


async def test_an_old_store_that_everybody_could_read_is_closed_to_others(
    release: Release, tmp_path: Path
) -> None:
    file = tmp_path / "arena.db"
    await release.put(f"sqlite:///{file}")
    file.chmod(0o664)
    async with open_store(f"sqlite:///{file}", make_ready):
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    (copy,) = backups(tmp_path)
    assert found.pop(copy.name) == 0o600
    assert set(found.values()) == {0o660}


async def test_without_a_backup_none_is_made(
    old: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(old, partial(make_ready, back_up=False)):
        assert backups(tmp_path) == []
    assert "; there is no backup of it" in caplog.text


async def test_a_new_store_needs_no_backup_and_says_nothing(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_store(database, make_ready):
        assert backups(tmp_path) == []
    assert caplog.text == ""


async def snapshot_of(url: str, file: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that is in a store, whatever its version."""
    engine = make_engine(url)
    try:
        await copy_into_file(engine, file)
    finally:
        await close(engine)
    return everything(file)


async def test_a_migration_that_fails_leaves_the_store_as_it_was_and_no_backup(
    old: str, tmp_path: Path
) -> None:
    before = await snapshot_of(old, tmp_path / "before.db")
    engine = make_engine(old)
    try:
        async with engine.begin() as connection:
            # In the way of what a migration makes after it has changed other things.
            await connection.execute(sa.text("CREATE TABLE sessions_of_servers (cat VARCHAR(9))"))
        with pytest.raises(StoreError) as failed:
            await make_ready(engine)
        assert "sessions_of_servers" in str(failed.value)
        assert "\n" not in str(failed.value)
        async with engine.begin() as connection:
            await connection.execute(sa.text("DROP TABLE sessions_of_servers"))
        assert backups(tmp_path) == []
        assert await snapshot_of(old, tmp_path / "after.db") == before
        await make_ready(engine)
    finally:
        await close(engine)


async def test_a_backup_that_cannot_be_written_leaves_the_store_as_it_was(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A name to which nothing can be added: no file system takes more than 255 bytes.
    file = tmp_path / f"{'a' * 240}.db"
    url = f"sqlite:///{file}"
    await release.put(url)
    before = everything(file)
    with pytest.raises(StoreError) as failed:
        async with open_store(url, make_ready):
            pass
    assert re.search(
        r"the store has schema \d, and cannot be copied to /\S+ before it is brought up to date: File name too long;"
        r" make room there, or give `arena serve --set store.backup=false` once$",
        str(failed.value),
    )
    assert everything(file) == before
    async with open_store(url, partial(make_ready, back_up=False)) as engine:
        assert {record.match: record async for record in exported(engine)} == release.records()


async def taken_before(engine: AsyncEngine) -> Lease:
    """The lease of a process of another machine, by a version that knew no arenas."""
    now = (
        "extract(epoch from clock_timestamp())"
        if engine.dialect.name == "postgresql"
        else "(julianday('now') - 2440587.5) * 86400.0"
    )
    values = f"'north', 1, 'elsewhere', {ELSEWHERE.pid}, '{ELSEWHERE.place}', '1', {now}, {now}, {now} + {lease.LEASE_SECONDS}"
    names = "name, number, host, pid, place, started, since, renewed, until"
    async with engine.begin() as connection:
        await connection.exec_driver_sql(f"INSERT INTO servers ({names}) VALUES ({values})")
    return Lease("north", 1)


async def leased(url: str) -> AsyncEngine:
    """A store of the first schema with leases."""
    engine = make_engine(url)
    async with exclusive(engine) as connection:
        await connection.run_sync(migrations.upgrade, 2)
    return engine


async def test_a_store_on_which_a_server_runs_is_left_alone(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = await leased(database)
    refused: list[str] = []

    async def upgrade() -> None:
        with pytest.raises(NameHeld) as held:
            await make_ready(engine)
        refused.append(str(held.value))

    try:
        held = await taken_before(engine)
        async with open_writer(engine) as writer, anyio.create_task_group() as tasks:
            tasks.start_soon(upgrade)
            with anyio.fail_after(20):
                while not refused:
                    await anyio.sleep(0.1)
                    await writer.write(partial(lease.renew, lease=held))
        assert "the server 'north' is running on this store already: on elsewhere, process " in refused[0]
        assert backups(tmp_path) == []
        async with engine.connect() as connection:
            assert await connection.run_sync(migrations.version_of) == 2
    finally:
        await close(engine)


async def test_a_server_that_was_killed_elsewhere_is_waited_for(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = await leased(database)
    try:
        await taken_before(engine)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(make_ready, engine)
            await anyio.sleep(0.1)
            assert backups(tmp_path) == []
            await run_out(engine)
        assert len(backups(tmp_path)) == 1
    finally:
        await close(engine)


async def test_servers_that_start_at_once_on_an_old_store_change_it_once(old: str, tmp_path: Path) -> None:
    engines = [make_engine(old) for _ in range(3)]
    try:
        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(make_ready, engine)
        assert len(backups(tmp_path)) == 1
        async with engines[0].connect() as connection:
            (row,) = (await connection.execute(sa.select(schema.about))).all()
        assert (row.schema_version, row.program) == (migrations.SCHEMA_VERSION, PROGRAM)
    finally:
        for engine in engines:
            await close(engine)
