"""Databases for tests: an SQLite file, or a real PostgreSQL of this machine's own, started once a run.

A test that asks for `database` runs on both. Where there is no PostgreSQL it is skipped there, and says so.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
import pytest

from testkit.tools import find_missing_tool_reason, find_postgresql_folder

DATABASE_START_TIMEOUT_SECONDS = 150
EMPTYING = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
    DROP SCHEMA public CASCADE;
    CREATE SCHEMA public
"""
"""Makes a database as empty as a new one, whatever a test left in it."""


def _as_somebody() -> list[str]:
    """Return the prefix of a command that runs it as another user than root, as PostgreSQL requires."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid", _somebody(), "--regid", "65534", "--clear-groups"]


def _somebody() -> str:
    # initdb wants a user that has a name
    return "nobody"


@contextmanager
def one_at_a_time(made: Path) -> Iterator[None]:
    """Wait for one's turn among all workers of this run: whoever is first makes `made`, and the others find it."""
    with made.with_suffix(".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def _copy(data: Path, to: Path) -> None:
    """Copy the data of a PostgreSQL that does not run, with their owner and modes."""
    subprocess.run(["cp", "--archive", str(data), str(to)], check=True)


def _children(process: int) -> list[int]:
    listings = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for listing in listings for child in listing.read_text(encoding="ascii").split()]


def _ask(folder: Path, statement: str, database: str = "postgres") -> None:
    async def run() -> None:
        connection = await asyncpg.connect(host=str(folder), user="arena", database=database, timeout=500)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())


class Postgresql:
    """A PostgreSQL of our own in a folder; its user is `arena`, and it trusts whoever comes."""

    def __init__(self, binaries: Path, folder: Path, *, lasting: bool, template: Path | None = None) -> None:
        """Make its data.

        lasting   as a host has it, with its own settings and waiting for the disk at each commit; else small, and quick
        template  where such data are to be copied from; made by the first that asks, for it takes longer than to copy them
        """
        self.folder = folder
        self._binaries = binaries
        # Cleaning up goes through all databases for as long as the server runs, and tests make hundreds of them.
        quick = ("fsync=off", "shared_buffers=16MB", "autovacuum=off")
        self._settings = ("listen_addresses=", "max_connections=60", *(() if lasting else quick))
        self._before = _as_somebody()
        self._server: subprocess.Popen[bytes] | None = None
        self._empty: list[str] = []
        """The names of databases that are there for whoever needs one next."""
        if self._before:
            shutil.chown(folder, _somebody(), 65534)
        data = folder / "data"
        if template is None:
            self._make(data, lasting=lasting)
            return
        with one_at_a_time(template):
            if template.exists():
                _copy(template, data)
            else:
                self._make(data, lasting=lasting)
                _copy(data, template)

    def _make(self, data: Path, *, lasting: bool) -> None:
        command = [*self._before, str(self._binaries / "initdb"), "--pgdata", str(data)]
        command += [
            "--username",
            "arena",
            "--auth",
            "trust",
            "--encoding",
            "UTF8",
            "--locale",
            "C.UTF-8",
            "--no-sync",
        ]
        command += [] if lasting else ["--wal-segsize", "1"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    @property
    def processes(self) -> list[int]:
        """Return the server's process and the processes that serve its clients."""
        assert self._server is not None
        return [self._server.pid, *_children(self._server.pid)]

    def start(self) -> None:
        command = [*self._before, str(self._binaries / "postgres"), "-D", str(self.folder / "data")]
        command += ["-k", str(self.folder)]
        for setting in self._settings:
            command += ["-c", setting]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + DATABASE_START_TIMEOUT_SECONDS
        while True:
            try:
                _ask(self.folder, "SELECT 1")
            except (OSError, asyncpg.PostgresError):
                if self._server.poll() is not None or time.monotonic() > end:
                    raise AssertionError(
                        f"no PostgreSQL: {(self.folder / 'log').read_text()[-2000:]}"
                    ) from None
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)  # "fast": it throws its clients out, and ends
            self._server.wait(DATABASE_START_TIMEOUT_SECONDS)
            self._server = None

    def kill(self) -> None:
        """End it and whatever serves its clients without a word, as a crash does: the next start has to recover."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(DATABASE_START_TIMEOUT_SECONDS)
            self._server = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend the server and the processes of its clients during the block; data sent to it waits."""
        assert self._server is not None
        still = [self._server.pid]
        try:
            os.kill(self._server.pid, signal.SIGSTOP)  # first, so that it starts nothing more
            for process in _children(self._server.pid):
                os.kill(process, signal.SIGSTOP)
                still.append(process)
            yield
        finally:
            for process in reversed(still):
                os.kill(process, signal.SIGCONT)

    def new_database(self) -> str:
        """Return the URL of an empty database that nobody has used before."""
        return self._url(self._create())

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield the URL of an empty database, which is emptied for the next test: to make one costs several times as much."""
        name = self._empty.pop() if self._empty else self._create()
        yield self._url(name)
        _ask(self.folder, EMPTYING, name)
        self._empty.append(name)

    def _create(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        _ask(self.folder, f"CREATE DATABASE {name} STRATEGY file_copy")
        return name

    def _url(self, name: str) -> str:
        return f"postgresql://arena@/{name}?host={self.folder}"


@contextmanager
def made_postgresql(
    binaries: Path, *, lasting: bool = False, template: Path | None = None
) -> Iterator[Postgresql]:
    """Yield a PostgreSQL that does not run yet; stopped and gone afterwards."""
    # Not under pytest's folder, which only its owner may enter, and which is too long a name for a socket.
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-"))
    try:
        server = Postgresql(binaries, folder, lasting=lasting, template=template)
        try:
            yield server
        finally:
            server.kill()  # its data go with it, so that there is nothing to bring to an end
    finally:
        shutil.rmtree(folder)


@contextmanager
def running_postgresql(
    binaries: Path, *, lasting: bool = False, template: Path | None = None
) -> Iterator[Postgresql]:
    """Yield a PostgreSQL that runs, and is gone afterwards."""
    with made_postgresql(binaries, lasting=lasting, template=template) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a temporary folder that all workers of this run share."""
    mine = tmp_path_factory.getbasetemp()
    return mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine


@pytest.fixture(scope="session")
def postgresql_template(run_folder: Path) -> Path:
    """Return the folder with the data of a new PostgreSQL, shared by all workers of this run."""
    return run_folder / "postgresql"


def uses_postgresql(item: pytest.Item) -> bool:
    """Return True if a test uses the shared PostgreSQL: by its fixtures, or by the parameter of `database`."""
    if not isinstance(item, pytest.Function):
        return False
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return "postgresql" in item.fixturenames or params.get("database") == "postgresql"


@pytest.fixture(scope="session")
def shared_postgresql(
    request: pytest.FixtureRequest, postgresql_template: Path
) -> Iterator[Postgresql | None]:
    """Yield the PostgreSQL that all tests share; None if there is none, or if all tests of this run use SQLite."""
    binaries = find_postgresql_folder()
    if binaries is None or not any(map(uses_postgresql, request.session.items)):
        yield None
        return
    with running_postgresql(binaries, template=postgresql_template) as server:
        yield server


@pytest.fixture(scope="session")
def stopped_postgresql(postgresql_template: Path) -> Iterator[Postgresql]:
    """Yield the PostgreSQL of those that stop it: made once, as that takes longer than to start it; it runs for one test at a time."""
    binaries = find_postgresql_folder()
    if binaries is None:
        pytest.skip(str(find_missing_tool_reason("postgresql")))
    with made_postgresql(binaries, template=postgresql_template) as server:
        yield server


# What follows works in threads: the event loop of the test that asks is watched already.


@pytest.fixture
def postgresql(shared_postgresql: Postgresql | None) -> Postgresql:
    """Return the shared PostgreSQL; skips the test where there is none."""
    if shared_postgresql is None:
        pytest.skip(str(find_missing_tool_reason("postgresql")))
    return shared_postgresql


@pytest.fixture
async def own_postgresql(stopped_postgresql: Postgresql) -> AsyncIterator[Postgresql]:
    """Yield a PostgreSQL that a test may stop."""
    await asyncio.to_thread(stopped_postgresql.start)
    yield stopped_postgresql
    await asyncio.to_thread(stopped_postgresql.stop)


@asynccontextmanager
async def _database(server: Postgresql) -> AsyncIterator[str]:
    held = server.database()
    yield await asyncio.to_thread(held.__enter__)
    await asyncio.to_thread(held.__exit__, None, None, None)


@pytest.fixture
async def postgresql_database(postgresql: Postgresql) -> AsyncIterator[str]:
    """Yield the URL of an empty database on PostgreSQL."""
    async with _database(postgresql) as url:
        yield url


@pytest.fixture
async def other_database(postgresql: Postgresql) -> AsyncIterator[str]:
    """Yield the URL of one more empty database, on PostgreSQL."""
    async with _database(postgresql) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(
    request: pytest.FixtureRequest, tmp_path: Path, shared_postgresql: Postgresql | None
) -> AsyncIterator[str]:
    """Yield the URL of an empty database: the test runs on each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'arena.db'}"
        return
    if shared_postgresql is None:
        pytest.skip(str(find_missing_tool_reason("postgresql")))
    async with _database(shared_postgresql) as url:
        yield url


on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""Runs a test on SQLite alone: other tests run its statements on both."""
