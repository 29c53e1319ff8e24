"""docs/hosting.md without a machine of its own: its certificate, its nginx, and bots that come through them.

The guide as a whole is typed in tests/docker/test_hosting_guide.py.
"""

from __future__ import annotations

import re
import shlex
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, build_opener

import msgpack
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import SUBPROTOCOL
from testkit.forked import ForkedCommand
from testkit.tools import mark_requires
from tests.bots.command_line import arena, environment
from tests.docs.hosting_guide import sections
from tests.e2e import commands
from tests.e2e.commands import Running, running
from tests.e2e.nginx import free_ports, running_nginx, substitute

pytestmark = pytest.mark.usefixtures("loaded_commands")
NAME = "localhost"
"""Stands here for arena.example, which nobody on this machine knows."""
TLS = [block.commands.replace("arena.example", NAME) for block in sections()["5. TLS"]]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[Running, int]]:
    """Yield `arena serve` with a store in the folder, and the free port that it listens on."""
    words = ("serve", "--port", "0", "--set=house.engines=none", "--log", "json", *options)
    with running(*words, folder=folder, env=environment()) as server:
        yield server, int(server.wait_for(r"^listening on wss?://\S+:(\d+)$"))
        server.stop()


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def get(url: str, trust: Path) -> tuple[int, str]:
    """Return status and body of a page; a certificate must be the one in `trust`."""
    context = ssl.create_default_context(cafile=str(trust))
    try:
        with build_opener(HTTPSHandler(context=context), _NoRedirect).open(url, timeout=500) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers.get("Location", "")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Return certificate and key, made by the guide's own command."""
    (line,) = [line for line in TLS[0].splitlines() if " openssl req " in line]
    words = shlex.split(line.removeprefix("sudo "))
    chain, key = tmp_path / "arena.pem", tmp_path / "arena.key"
    words[words.index("-keyout") + 1], words[words.index("-out") + 1] = str(key), str(chain)
    subprocess.run(words, check=True, capture_output=True)
    return chain, key


@mark_requires("openssl")
def test_a_bot_comes_by_tls_and_believes_no_certificate_but_a_known_one(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    chain, key = certificate
    token = arena("token", "create", "ada", "--db", f"sqlite:///{tmp_path}/arena.db").stdout.strip()
    with serving(tmp_path, "--tls-cert", str(chain), "--tls-key", str(key)) as (server, port):
        words = ("bot", "greedy", "--name", "ada", "--url", f"wss://{NAME}:{port}")
        unknown = commands.arena(
            *words, "--reconnect", "0", folder=tmp_path, env=environment(ARENA_TOKEN=token)
        )
        assert unknown.code == 1
        assert "is not trusted" in unknown.stderr
        assert unknown.stderr.count("\n") == 1
        bot = ForkedCommand(
            *words, cwd=tmp_path, env=environment(ARENA_TOKEN=token, SSL_CERT_FILE=str(chain))
        )
        try:
            end = time.monotonic() + 150
            while "\narena_bots 1.0\n" not in get(f"https://{NAME}:{port}/metrics", chain)[1]:
                assert time.monotonic() < end, server.said
                time.sleep(0.05)
        finally:
            bot.terminate()
            bot.wait(150)


@contextmanager
def nginx(folder: Path, certificate: tuple[Path, Path], port: int) -> Iterator[tuple[int, int]]:
    """Yield the guide's site on free ports of this machine; the ports for http and https."""
    (site,) = re.findall(
        r"sites-available/arena >/dev/null <<'END'\n(.*?)^END$", TLS[1], re.MULTILINE | re.DOTALL
    )
    http, https = free_ports(2)
    changes = {
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        "    listen [::]:80;\n": "",
        "    listen [::]:443 ssl;\n": "",
        "/etc/ssl/certs/arena.pem": str(certificate[0]),
        "/etc/ssl/private/arena.key": str(certificate[1]),
        "http://127.0.0.1:8765": f"http://127.0.0.1:{port}",
    }
    site = substitute(site, changes)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/nginx-{kind};" for kind in kinds)
    config = (
        f"worker_processes 1;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}\n{site}}}\n"
    )
    with running_nginx(folder, config, https):
        yield http, https


def hello(port: int, trust: Path, source: str, name: str, token: str, **headers: str) -> dict[str, Any]:
    """Return the first answer to a hello that comes from an address of this machine, through TLS."""
    raw = socket.create_connection(("127.0.0.1", port), source_address=(source, 0), timeout=500)
    with connect(
        f"wss://{NAME}:{port}",
        sock=raw,
        ssl=ssl.create_default_context(cafile=str(trust)),
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        open_timeout=150,
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
    ) as client:
        client.send(msgpack.packb({"type": "hello", "name": name, "token": token, "session": ""}))
        answer: dict[str, Any] = msgpack.unpackb(client.recv(timeout=500, decode=False))
        return answer


@mark_requires("openssl")
@mark_requires("nginx")
def test_nginx_passes_bots_on_with_their_own_addresses_and_keeps_the_metrics(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    chain, _ = certificate
    token = arena("token", "create", "ada", "--db", f"sqlite:///{tmp_path}/arena.db").stdout.strip()
    with (
        serving(tmp_path, "--set=server.proxies=127.0.0.1") as (server, port),
        nginx(tmp_path, certificate, port) as (http, https),
    ):
        assert get(f"http://{NAME}:{http}/x?y", chain) == (301, f"https://{NAME}/x?y")
        assert get(f"https://{NAME}:{https}/readyz", chain) == (200, "ready\n")
        for path in ("/metrics", "//metrics", "/%6detrics", "/x/../metrics", "/metrics?x"):
            assert get(f"https://{NAME}:{https}{path}", chain)[0] == 404, path
        # What a client says of itself is thrown away: here it would have named somebody else.
        told = hello(https, chain, "127.0.0.2", "ada", token, X_Forwarded_For="203.0.113.7")
        assert told["type"] == "welcome"
        for _ in range(11):
            told = hello(https, chain, "127.0.0.3", "ada", "wrong")
        assert told["code"] == ErrorCode.RATE_LIMITED, "whoever tries wrong tokens is shut out"
        assert hello(https, chain, "127.0.0.2", "ada", token)["type"] == "welcome", "and nobody else is"
        log = server.said
    assert "connected from 127.0.0.2" in log
    assert "203.0.113.7" not in log
