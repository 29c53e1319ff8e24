from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest

from arena.processes.private_nats import NatsNotStarted, open_private_nats
from arena.server.cluster.bus import BusError
from arena.server.cluster.nats import NatsBus, open_nats_bus
from testkit.tools import mark_requires
from tests.processes.test_supervisor import is_alive


@mark_requires("nats")
async def test_only_clients_with_the_password_can_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_private_nats() as nats:
        with pytest.raises(BusError, match="rejects this user"):
            async with open_nats_bus(nats.url.replace("arena@", "arena:guess@"), connection_name="test"):
                pytest.fail("it lets anybody in")
        assert nats.password_file.parent.stat().st_mode & 0o077 == 0
        monkeypatch.setenv("ARENA_BUS_PASSWORD_FILE", str(nats.password_file))
        async with open_nats_bus(nats.url, connection_name="test") as bus:
            assert bus.is_connected


@mark_requires("nats")
async def test_it_is_started_again_at_the_same_address_and_gone_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_private_nats() as nats:
        monkeypatch.setenv("ARENA_BUS_PASSWORD_FILE", str(nats.password_file))
        async with open_nats_bus(nats.url, connection_name="test") as bus:
            first, url = find_server_id(nats.password_file.parent), nats.url
            os.kill(first, signal.SIGKILL)
            with anyio.fail_after(500):
                for wanted in (False, True):
                    await becomes(bus, connected=wanted)
            second = find_server_id(nats.password_file.parent)
            assert second != first
            assert nats.url == url
    assert not is_alive(second)


@mark_requires("nats")
async def test_a_restart_that_fails_is_repeated(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_private_nats() as nats:
        monkeypatch.setenv("ARENA_BUS_PASSWORD_FILE", str(nats.password_file))
        async with open_nats_bus(nats.url, connection_name="test") as bus:
            config = nats.password_file.with_name("nats.conf")
            config.unlink()
            config.mkdir()
            os.kill(find_server_id(config.parent), signal.SIGKILL)
            with anyio.fail_after(500):
                await becomes(bus, connected=False)
                while ": Is a directory" not in caplog.text:
                    await anyio.sleep(0.005)
                config.rmdir()
                await becomes(bus, connected=True)


async def becomes(bus: NatsBus, *, connected: bool) -> None:
    while bus.is_connected is not connected:
        await anyio.sleep(0.005)


def find_server_id(folder: Path) -> int:
    """Return the process id of the NATS server that has written its ports file into `folder`."""
    (file,) = folder.glob("*.ports")
    return int(file.stem.rpartition("_")[2])


async def test_without_nats_server_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("arena.processes.private_nats.EXTRA_PROGRAM_FOLDERS", ())
    with pytest.raises(NatsNotStarted, match=r"install the package nats-server, or set bus\.url"):
        async with open_private_nats():
            pytest.fail("there is one")
