"""The plain pages over a real socket: health, readiness, metrics, what the page asks for, and nothing else."""

from __future__ import annotations

import json

import anyio
import pytest

from server.host import Host
from tests.server.matches import spec


async def get(host: Host, path: str) -> tuple[int, str, str]:
    """The status, the headers and the body of a GET."""
    async with await anyio.connect_tcp("127.0.0.1", int(host.url.rpartition(":")[2])) as stream:
        await stream.send(f"GET {path} HTTP/1.1\r\nHost: arena\r\nConnection: close\r\n\r\n".encode())
        heard = b""
        with anyio.fail_after(10):
            while chunk := await _more(stream):
                heard += chunk
    head, _, body = heard.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), body.decode(errors="replace")


async def _more(stream: anyio.abc.ByteReceiveStream) -> bytes:
    try:
        return await stream.receive()
    except anyio.EndOfStream:
        return b""


@pytest.mark.parametrize("path", ["/healthz", "/healthz?verbose=1", "/readyz"])
async def test_a_server_that_runs_says_so(host: Host, path: str) -> None:
    assert (await get(host, path))[0] == 200


async def test_a_server_that_drains_is_alive_but_not_ready(host: Host) -> None:
    await host.drain(0)
    assert (await get(host, "/healthz"))[0] == 200
    assert (await get(host, "/readyz"))[0] == 503


async def test_the_metrics_are_a_page_that_prometheus_reads(host: Host) -> None:
    await host.play(spec("anna", "bert", ready=10))
    status, head, body = await get(host, "/metrics")
    assert status == 200
    assert "version=0.0.4" in head
    assert 'arena_matches_finished_total{reason="no_show"} 1.0' in body


@pytest.mark.parametrize(
    "path",
    ["/healthz/", "/../etc/passwd", "/web/../host.py", "/web/%2e%2e/host.py", "/metrics/x", "/api/nothing"],
)
async def test_there_is_no_other_page(host: Host, path: str) -> None:
    assert (await get(host, path))[0] == 404


async def test_the_page_comes_with_a_strict_policy(host: Host) -> None:
    status, head, body = await get(host, "/")
    assert status == 200
    assert "content-security-policy: default-src 'none'" in head.lower()
    assert "unsafe" not in head
    assert "<title>" in body


async def test_a_finished_match_is_listed_and_can_be_had(host: Host) -> None:
    played = await host.play(spec("anna", "bert", ready=10))
    listed = json.loads((await get(host, "/api/records"))[2])
    assert played.match in json.dumps(listed)
    record = json.loads((await get(host, f"/api/record/{played.match}"))[2])
    assert record["format"] == "arena-record/1"
    assert (await get(host, "/api/record/nothing"))[0] == 404


@pytest.mark.parametrize("path", ["/api/records?limit=x", "/api/records?limit=-1", f"/api/bot/{'x' * 3000}"])
async def test_a_parameter_that_cannot_be_is_refused_in_one_line(host: Host, path: str) -> None:
    status, _, body = await get(host, path)
    assert status == 400
    assert body.count("\n") == 1
