from __future__ import annotations

import asyncio
import gc
import sqlite3
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite
import anyio
import anyio.to_thread
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.atomic_file import create_file_atomically
from arena.match.referee_events import TurnStarted
from arena.server.store import backup as backup_module
from arena.server.store import database, lease, migrations, schema, sqlite, tokens
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.backup import StoreCounts, create_backup, restore_backup
from arena.server.store.database import open_store
from arena.server.store.errors import StoreError
from arena.server.store.journal.journal import open_journal
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.lease import ACQUISITION_RETRY_PAUSE_SECONDS
from tests.full_disk import limit_file_size
from tests.hurried_clock import HurriedClock
from tests.server.journals import ELSEWHERE, make_append_event, make_open_match, take_lease
from tests.server.played import MAXIE_WINS, RESIGNS, day, events, store_match


async def fill_store(engine: AsyncEngine) -> None:
    await store_match(engine, day(1), events(MAXIE_WINS))
    await store_match(engine, day(2), events((4,), RESIGNS))
    await tokens.create_token(engine, "anna", "bot")
    await tokens.create_token(engine, "müller", "admin")
    async with engine.begin() as connection:
        change = database.make_upsert(engine.dialect.name, schema.sessions)
        await connection.execute(change, [{"server": "", "name": "anna", "hash": "x", "since": 0}])
    await add_new_matches_to_aggregates(engine)


async def read_all_rows(engine: AsyncEngine) -> dict[str, list[tuple[Any, ...]]]:
    async with engine.connect() as connection:
        return {
            table.name: [
                tuple(row)
                for row in await connection.execute(sa.select(table).order_by(*table.primary_key.columns))
            ]
            for table in schema.metadata.sorted_tables
            if table is not schema.servers  # a backup leaves out the leases
        }


def list_file_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_a_backup_contains_all_data_and_opens_as_a_store(database: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    async with open_store(database) as engine:
        await fill_store(engine)
        assert await create_backup(database, file) == StoreCounts(
            match_count=2, finished_match_count=2, token_count=2
        )
        before = await read_all_rows(engine)
    assert list_file_names(tmp_path) - {"arena.db", "arena.db-shm", "arena.db-wal"} == {"backup.db"}
    assert stat.S_IMODE((await anyio.Path(file).stat()).st_mode) == 0o600
    async with open_store(f"sqlite:///{file}") as engine:
        assert await read_all_rows(engine) == before


async def test_a_backup_can_be_restored_into_either_kind_of_store(
    database: str, other_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup.db"
    async with open_store(database) as engine:
        await fill_store(engine)
        before = await read_all_rows(engine)
        await create_backup(database, file)
    contents = await anyio.Path(file).read_bytes()
    for url in (other_database, f"sqlite:///{tmp_path / 'restored.db'}"):
        async with open_store(url) as engine:
            assert (await restore_backup(url, file)).match_count == 2
            assert await read_all_rows(engine) == before
            with pytest.raises(StoreError, match="the store already has 2 matches and 2 tokens"):
                await restore_backup(url, file)
            assert await read_all_rows(engine) == before
            async with open_journal(engine) as journal:
                await journal.commit([make_open_match()])
    assert await anyio.Path(file).read_bytes() == contents


async def test_a_backup_of_a_store_in_use_is_a_consistent_snapshot(database: str, tmp_path: Path) -> None:
    appended = 0
    async with (
        open_store(database) as engine,
        open_journal(engine) as journal,
        anyio.create_task_group() as tasks,
    ):
        await journal.commit([make_open_match()])

        async def write() -> None:
            nonlocal appended
            while True:
                await journal.commit([make_append_event(appended, TurnStarted(appended))])
                appended += 1

        tasks.start_soon(write)
        for number in range(4):
            while appended < 20 * number:
                await anyio.sleep(0.001)
            before = appended
            file = tmp_path / f"backup-{number}.db"
            await create_backup(database, file)
            after = appended
            async with open_store(f"sqlite:///{file}") as copied:
                times = [at for at, _ in await load_events_of_match(copied, "m" * 32)]
            assert times == list(range(len(times)))
            # One event may be committed before the count of the confirmed ones grows.
            assert before <= len(times) <= after + 1
        tasks.cancel_scope.cancel()


async def test_rows_of_several_chunks_are_all_copied(postgresql_database: str, tmp_path: Path) -> None:
    async with open_store(postgresql_database) as engine:
        rows = [
            {"server": "", "name": f"bot {number}", "hash": "x", "since": 0}
            for number in range(2 * backup_module.ROWS_COPIED_AT_ONCE + 1)
        ]
        async with engine.begin() as connection:
            await connection.execute(sa.insert(schema.sessions), rows)
        await create_backup(postgresql_database, tmp_path / "backup.db")
        async with open_store(f"sqlite:///{tmp_path / 'backup.db'}") as copied:
            assert await read_all_rows(copied) == await read_all_rows(engine)


async def test_an_existing_file_is_not_overwritten(database: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    file.write_text("precious")
    async with open_store(database):
        with pytest.raises(FileExistsError, match="name another one"):
            await create_backup(database, file)
    assert file.read_text() == "precious"


async def test_a_failed_backup_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="not a database"):
        await create_backup(f"sqlite:///{tmp_path / 'no.db'}", tmp_path / "backup.db")
    assert list_file_names(tmp_path) == {"no.db"}


async def test_a_full_disk_is_an_error_of_the_backup(database: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    what = (
        rf"^cannot copy .*arena\.db to {file}: " if database.startswith("sqlite") else f"^cannot use {file}: "
    )
    async with open_store(database):
        for max_bytes in (0, 5_000, 50_000):
            with limit_file_size(max_bytes), pytest.raises(StoreError, match=f"{what}the disk cannot be"):
                await create_backup(database, file)
            assert not await anyio.Path(file).exists()


@pytest.mark.parametrize("by_scope", [True, False], ids=["cancel scope", "Ctrl-C"])
async def test_a_cancelled_backup_interrupts_sqlite_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, by_scope: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    is_copied_next = False
    steps: list[str] = []
    is_copying, is_interrupted = threading.Event(), threading.Event()
    require_store, interrupt = backup_module._require_store_tables, aiosqlite.Connection.interrupt
    execute, create = aiosqlite.Connection.execute_fetchall, create_file_atomically
    monkeypatch.setattr(sqlite, "INSTRUCTIONS_PER_DEADLINE_CHECK", 1)

    async def require_store_before_copy(engine: AsyncEngine) -> None:
        nonlocal is_copied_next
        await require_store(engine)
        is_copied_next = True

    def block_copy(_deadline: sqlite.QueryDeadline) -> bool:
        if is_copied_next:
            is_copying.set()
            is_interrupted.wait(10)
        return False

    async def note_interrupt(connection: aiosqlite.Connection) -> None:
        await interrupt(connection)
        is_interrupted.set()

    async def note_end_of_copying(*arguments: Any) -> Iterable[sqlite3.Row]:
        try:
            return await execute(*arguments)
        finally:
            steps.append("copying ended")

    @contextmanager
    def note_deletion(path: Path) -> Iterator[Path]:
        with create(path) as part:
            try:
                yield part
            finally:
                steps.append("folder is deleted")

    monkeypatch.setattr(backup_module, "_require_store_tables", require_store_before_copy)
    monkeypatch.setattr(backup_module, "create_file_atomically", note_deletion)
    monkeypatch.setattr(sqlite.QueryDeadline, "has_passed", block_copy)
    monkeypatch.setattr(aiosqlite.Connection, "interrupt", note_interrupt)
    async with open_store(url):
        monkeypatch.setattr(aiosqlite.Connection, "execute_fetchall", note_end_of_copying)
        async with anyio.create_task_group() as tasks:
            if by_scope:
                tasks.start_soon(create_backup, url, tmp_path / "backup.db")
                await anyio.to_thread.run_sync(is_copying.wait, 10)
                tasks.cancel_scope.cancel()
            else:
                copying = asyncio.create_task(create_backup(url, tmp_path / "backup.db"))
                await anyio.to_thread.run_sync(is_copying.wait, 10)
                copying.cancel()
                await asyncio.wait({copying})
                del copying
        assert is_interrupted.is_set()
        assert steps == ["copying ended", "folder is deleted"]
        assert not [name for name in list_file_names(tmp_path) if "backup" in name]
    gc.collect()  # asyncio logs an exception that nobody has read when its task is deleted
    assert not caplog.records


async def test_a_store_of_a_later_version_is_copied_by_sqlite_and_refused_by_postgresql(
    database: str, tmp_path: Path
) -> None:
    async with open_store(database) as engine, engine.begin() as connection:
        await connection.execute(schema.about.update().values(schema_version=99))
    file = tmp_path / "backup.db"
    if database.startswith("sqlite"):
        await create_backup(database, file)
        with closing(sqlite3.connect(file)) as found:
            assert found.execute("SELECT schema_version FROM about").fetchall() == [(99,)]
    else:
        with pytest.raises(StoreError, match=f"schema 99, .* needs schema {migrations.SCHEMA_VERSION}"):
            await create_backup(database, file)


@pytest.mark.parametrize("content", [b"not a database, whatever its name says" * 50, b""])
async def test_a_file_that_is_not_a_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "backup.db").write_bytes(content)
    with pytest.raises(StoreError, match=rf"^(cannot use )?{tmp_path / 'backup.db'}(:| is) .*not a "):
        await restore_backup(f"sqlite:///{tmp_path / 'arena.db'}", tmp_path / "backup.db")
    assert list_file_names(tmp_path) == {"backup.db"}, "no store may be created"


async def list_tables(engine: AsyncEngine) -> list[str]:
    async with engine.connect() as connection:
        return await connection.run_sync(lambda each: sorted(sa.inspect(each).get_table_names()))


async def test_nothing_is_restored_from_a_damaged_backup(other_database: str, tmp_path: Path) -> None:
    backup_folder, target_folder = tmp_path / "backups", tmp_path / "targets"
    backup_folder.mkdir()
    target_folder.mkdir()
    file, source_url = backup_folder / "backup.db", f"sqlite:///{backup_folder / 'arena.db'}"
    async with open_store(source_url) as engine:
        await fill_store(engine)
        await create_backup(source_url, file)
    whole = file.read_bytes()
    with closing(sqlite3.connect(file)) as found:
        page_bytes = found.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'tokens' AND type = 'table'"
        page = found.execute(query).fetchone()[0]
    start = (page - 1) * page_bytes
    zeroed = whole[:start] + bytes(page_bytes) + whole[start + page_bytes :]
    new_url = f"sqlite:///{target_folder / 'new.db'}"
    empty = database.make_engine(other_database)
    for content in (whole[: len(whole) // 2 + 7], whole[:-page_bytes], zeroed):
        file.write_bytes(content)
        for url in (new_url, other_database):
            with pytest.raises(StoreError, match=rf"{file}( is|: the file is) damaged: .*restore an"):
                await restore_backup(url, file)
        assert list_file_names(target_folder) == set()
        assert await list_tables(empty) == []
    file.write_bytes(whole)
    with closing(sqlite3.connect(file)) as found:
        found.execute("DROP TABLE sessions")
    for url in (new_url, other_database):
        with pytest.raises(StoreError, match=f"cannot use {file}: no such table: sessions"):
            await restore_backup(url, file)
    assert list_file_names(target_folder) == set()
    assert await list_tables(empty) == []
    await empty.dispose()


async def test_a_cancelled_restore_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, source_url = tmp_path / "backup.db", f"sqlite:///{tmp_path / 'arena.db'}"
    async with open_store(source_url) as engine:
        await fill_store(engine)
        await create_backup(source_url, file)
    before = list_file_names(tmp_path)

    async def cancel_copy(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(backup_module, "_copy_rows_of_all_tables", cancel_copy)
    with pytest.raises(asyncio.CancelledError):
        await restore_backup(f"sqlite:///{tmp_path / 'new.db'}", file)
    assert list_file_names(tmp_path) == before


async def test_a_store_that_another_process_creates_during_the_checks_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, source_url, url = (
        tmp_path / "backup.db",
        f"sqlite:///{tmp_path / 'a.db'}",
        f"sqlite:///{tmp_path / 'b.db'}",
    )
    async with open_store(source_url) as engine:
        await fill_store(engine)
        await create_backup(source_url, file)

    async def create_store_during_check(*_: object) -> None:
        async with open_store(url) as engine:
            await fill_store(engine)

    monkeypatch.setattr(backup_module, "_require_intact_store", create_store_during_check)
    with pytest.raises(StoreError, match="already has 2 matches"):
        await restore_backup(url, file)
    async with open_store(url) as engine:
        assert (await read_all_rows(engine))["matches"]


@pytest.mark.parametrize("copying_fails", [True, False])
async def test_a_store_that_a_server_creates_during_the_copying_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copying_fails: bool
) -> None:
    file, source_url, url = (
        tmp_path / "backup.db",
        f"sqlite:///{tmp_path / 'a.db'}",
        f"sqlite:///{tmp_path / 'b.db'}",
    )
    copy_rows = backup_module._copy_rows_of_all_tables
    async with open_store(source_url):
        await create_backup(source_url, file)

    async def create_store_during_copying(*arguments: Any) -> None:
        async with open_store(url) as new:
            await fill_store(new)
        if copying_fails:
            raise StoreError("the copying fails")
        await copy_rows(*arguments)

    monkeypatch.setattr(backup_module, "_copy_rows_of_all_tables", create_store_during_copying)
    why = "the copying fails" if copying_fails else r"b\.db was created by another process meanwhile"
    with pytest.raises(StoreError, match=why):
        await restore_backup(url, file)
    async with open_store(url) as engine:
        assert (await read_all_rows(engine))["matches"]
    assert list_file_names(tmp_path) == {"a.db", "b.db", "backup.db"}


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
async def test_nothing_is_restored_beside_the_log_of_a_deleted_store(tmp_path: Path, suffix: str) -> None:
    file, backup_file = tmp_path / "arena.db", tmp_path / "backup.db"
    url, log_file = f"sqlite:///{file}", tmp_path / f"arena.db{suffix}"
    async with open_store(url) as engine:
        await create_backup(url, backup_file)
        await fill_store(engine)
        log = (tmp_path / "arena.db-wal").read_bytes()
    file.unlink()
    log_file.write_bytes(log)
    with pytest.raises(StoreError, match=f"arena.db{suffix} is left from a deleted database"):
        await restore_backup(url, backup_file)
    assert list_file_names(tmp_path) == {"backup.db", log_file.name}
    log_file.write_bytes(b"")
    assert await restore_backup(url, backup_file) == StoreCounts(
        match_count=0, finished_match_count=0, token_count=0
    )
    async with open_store(url) as engine:
        assert not (await read_all_rows(engine))["matches"]


async def test_the_file_of_a_store_in_use_is_refused_as_a_backup(tmp_path: Path) -> None:
    url, new_url = f"sqlite:///{tmp_path / 'arena.db'}", f"sqlite:///{tmp_path / 'new.db'}"
    async with open_store(url) as engine:
        await fill_store(engine)
        with pytest.raises(
            StoreError, match=r"is not a backup, because some of its data are in arena\.db-wal"
        ):
            await restore_backup(new_url, tmp_path / "arena.db")
        link = tmp_path / "link.db"
        link.symlink_to("arena.db")
        with pytest.raises(StoreError, match=r"some of its data are in arena\.db-wal"):
            await restore_backup(new_url, link)
    assert list_file_names(tmp_path) == {"arena.db", "link.db"}


async def test_a_backup_of_a_store_in_use_has_no_lease(database: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    async with open_store(database) as engine, open_journal(engine, "north") as journal:
        await journal.commit([make_open_match()])
        await create_backup(database, file)
        clock = HurriedClock()
        async with open_store(f"sqlite:///{file}") as copy, open_journal(copy, "north", clock=clock) as other:
            await other.commit([make_append_event(1)])
        assert ACQUISITION_RETRY_PAUSE_SECONDS not in clock.slept


async def test_nothing_is_restored_into_the_store_of_a_running_server(
    database: str, other_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup.db"
    async with open_store(database):
        await create_backup(database, file)
    async with open_store(other_database) as engine, open_journal(engine, "north"):
        with pytest.raises(StoreError, match="the server 'north' is running on this store already"):
            await restore_backup(other_database, file)


async def test_no_server_gets_a_lease_while_a_backup_is_restored(
    postgresql_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, source_url = tmp_path / "backup.db", f"sqlite:///{tmp_path / 'arena.db'}"
    copy_rows = backup_module._copy_rows_of_all_tables
    async with open_store(source_url) as source:
        await fill_store(source)
        await create_backup(source_url, file)

    async def start_server_during_copy(*arguments: Any) -> None:
        async with open_store(postgresql_database) as other, other.connect() as connection:
            await connection.exec_driver_sql("SET LOCAL lock_timeout = 1")
            with pytest.raises(sa.exc.DBAPIError, match="lock timeout"):
                await connection.run_sync(
                    partial(lease.try_acquire_lease, server_name="north", process=ELSEWHERE)
                )
        await copy_rows(*arguments)

    async with open_store(postgresql_database) as target:
        monkeypatch.setattr(backup_module, "_copy_rows_of_all_tables", start_server_during_copy)
        assert (await restore_backup(postgresql_database, file)).match_count == 2
        await take_lease(target, "north")
