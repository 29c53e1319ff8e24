"""The commands that open a store, on that of an earlier release: a copy first, and a line that says where."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import anyio
import pytest

from arena.server.processes.identity import PROGRAM
from arena.server.store import migrations
from testkit.crash import Server
from tests.e2e.commands import arena
from tests.server.releases import RELEASES, STORES, everything, rows

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("loaded_commands")]
RELEASE = RELEASES[0]


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """A store of the release, in a folder of its own."""
    store = f"sqlite:///{tmp_path / 'arena.db'}"
    await RELEASE.put(store)
    return store


def test_a_command_keeps_a_copy_and_says_where(url: str, tmp_path: Path) -> None:
    done = arena("token", "list", "--db", url, folder=tmp_path)
    assert done.code == 0, done.stderr
    assert "| dora | bot  | 2026" in done.stdout
    *progress, line = done.stderr.splitlines()
    assert all(each.startswith("bringing the store to schema ") for each in progress), progress
    found = re.search(r"; a backup of it as it was is (/\S+)$", line)
    assert found
    assert everything(Path(found[1])) == everything(STORES / f"{RELEASE.name}.sqlite")
    again = arena("token", "list", "--db", url, folder=tmp_path)
    assert (again.code, again.stdout, again.stderr) == (0, done.stdout, "")


def test_a_store_of_a_later_version_is_refused_in_one_line(url: str, tmp_path: Path) -> None:
    assert arena("token", "list", "--db", url, folder=tmp_path).code == 0
    rows(tmp_path / "arena.db", "UPDATE about SET schema_version = 99, program = 'riskless-arena 9.1'")
    refused = arena("serve", "--db", url, "--port", "0", folder=tmp_path)
    assert refused.code == 1
    assert refused.stderr.count("\n") == 1
    assert (
        f": it has schema 99, written by riskless-arena 9.1, and this is {PROGRAM}, which knows schemas up to"
        f" {migrations.SCHEMA_VERSION}: use a version that knows it" in refused.stderr.replace("\n", " ")
    )


async def test_a_server_takes_up_the_matches_and_keeps_no_copy_where_none_is_wanted(
    url: str, tmp_path: Path
) -> None:
    server = Server(tmp_path, 1, "--set=store.backup=false")
    try:
        server.start()
        with anyio.fail_after(60):
            while "going on with 2 matches" not in server.log.read_text():
                await anyio.sleep(0.05)
        await server.stop(signal.SIGKILL)
        told = server.log.read_text()
    finally:
        server.close()
    assert f"the store had schema {int(RELEASE.name)} and now has {migrations.SCHEMA_VERSION}" in told
    assert "; there is no backup of it" in told
    assert list(tmp_path.glob("*-schema-*")) == []
