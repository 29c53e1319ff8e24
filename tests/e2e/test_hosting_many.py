"""docs/hosting.md, "Many servers, one arena", as far as it goes without a machine of its own: its NATS, with TLS and password.

The guide as a whole is typed in tests/docker/test_hosting_guide.py; docker/nginx.conf, which says of nginx what the guide
does, stands before two edges in tests/e2e/test_cluster.py.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from arena.server.cluster.bus import BusError
from arena.server.cluster.nats import open_nats_bus
from testkit.nats_server import NatsServer
from testkit.tools import mark_requires
from tests.docs.hosting_guide import PAGE, sections
from tests.e2e.nginx import substitute

BLOCKS = sections()["11. Many servers, one arena"]
(NATS,) = [each.commands for each in BLOCKS if "apt-get install --yes nats-server" in each.commands]
PASSWORD = "b" * 48


class GuidesNats(NatsServer):
    """A NATS by the guide's own configuration, at a free port."""

    def make_configuration(self) -> str:
        (text,) = re.findall(
            r"nats-server\.conf >/dev/null <<END\n(.*?)^END$", NATS, re.MULTILINE | re.DOTALL
        )
        changes = {
            "port: 4222": f"port: {self.port}",
            "/etc/nats/cert.pem": str(self.folder / "cert.pem"),
            "/etc/nats/key.pem": str(self.folder / "key.pem"),
            "$(sudo cat /etc/arena/bus-password)": PASSWORD,
        }
        return substitute(text, changes)


@asynccontextmanager
async def guides_nats(folder: Path) -> AsyncIterator[NatsServer]:
    (line,) = [line for line in NATS.splitlines() if " openssl req " in line]
    words = shlex.split(line.removeprefix("sudo "))
    words[words.index("-keyout") + 1] = str(folder / "key.pem")
    words[words.index("-out") + 1] = str(folder / "cert.pem")
    await asyncio.to_thread(subprocess.run, words, check=True, capture_output=True)
    server = GuidesNats(folder, {})
    await asyncio.to_thread(server.start)
    try:
        yield server
    finally:
        await asyncio.to_thread(server.kill)


@mark_requires("nats")
@mark_requires("openssl")
async def test_servers_come_by_tls_with_a_password_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert '[bus]\nurl = "tls://arena@localhost"\nca = "/etc/arena/bus.pem"\n' in PAGE.read_text(
        encoding="utf-8"
    )
    (tmp_path / "password").write_text(PASSWORD)
    monkeypatch.setenv("ARENA_BUS_PASSWORD_FILE", str(tmp_path / "password"))
    async with guides_nats(tmp_path) as server:
        url = f"tls://arena@localhost:{server.port}"
        payloads: list[bytes] = []
        async with open_nats_bus(url, connection_name="test", ca_file=tmp_path / "cert.pem") as bus:
            await bus.subscribe("arena.beat", payloads.append)
            bus.publish("arena.beat", b"x" * 1_000_000)
            with anyio.fail_after(500):
                while not payloads:
                    await anyio.sleep(0.01)
        with pytest.raises(BusError, match="its certificate is not trusted"):
            async with open_nats_bus(url, connection_name="test"):
                pytest.fail("it believes any certificate")
        with pytest.raises(BusError, match="rejects this user, password or token"):
            async with open_nats_bus(
                url.replace("arena@", "arena:guess@"), connection_name="test", ca_file=tmp_path / "cert.pem"
            ):
                pytest.fail("it lets anybody in")
