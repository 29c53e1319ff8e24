import asyncio
import re
import socket

import pytest
from websockets.asyncio.server import serve

from arena.bots.client.connection import BadURL, NoServer, open_connection
from tests.bots.scripted_server import Peer, serve_scripts


async def test_a_connection_speaks_the_protocol() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()

    async with serve_scripts(script) as server:
        connection = await open_connection(server.url)
        assert connection.subprotocol == "arena.v1.msgpack"
        await connection.close()


@pytest.mark.parametrize(
    "url", ["", "here", "http://127.0.0.1:1", "ws://", "ws://127.0.0.1:port", "ws://[::1"]
)
async def test_an_invalid_websocket_url_is_reported(url: str) -> None:
    with pytest.raises(BadURL, match=re.escape(f"{url!r} is not a server URL: write ws://HOST:PORT")):
        await open_connection(url)


async def test_a_refused_connection_says_which_server_to_start() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(NoServer) as raised:
            await open_connection(url)
    assert str(raised.value).startswith(
        f"no server at {url} (Connection refused): start one with `arena serve`"
    )


async def test_no_proxy_is_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for exception in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(exception, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()

    async with serve_scripts(script) as server:
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            await (await open_connection(url)).close()


async def test_a_proxy_that_cannot_be_used_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for exception in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(exception, raising=False)
    monkeypatch.setenv("http_proxy", "gopher://proxy.invalid")
    monkeypatch.setenv("https_proxy", "gopher://proxy.invalid")
    with pytest.raises(NoServer, match=r"cannot reach ws://arena\.invalid: gopher://proxy\.invalid isn't"):
        await open_connection("ws://arena.invalid")


async def test_a_websocket_of_another_kind_is_reported() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()

    async with serve_scripts(script, subprotocol="chat") as server:
        with pytest.raises(NoServer, match=f"{server.url} does not speak"):
            await open_connection(server.url)


async def test_a_server_that_chooses_no_subprotocol_is_reported() -> None:
    async with serve(lambda connection: connection.wait_closed(), "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        with pytest.raises(NoServer, match=r"does not speak arena\.v1\.msgpack"):
            await open_connection(url)


async def test_a_server_that_refuses_the_address_without_an_answer_is_reported() -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(
            NoServer, match=f"{url} closed the connection without an answer; a server does so"
        ):
            await open_connection(url)


async def test_the_answer_of_another_web_server_is_reported() -> None:
    async with serve(
        lambda connection: connection.wait_closed(),
        "127.0.0.1",
        0,
        process_request=lambda connection, _: connection.respond(404, "no bots here\n"),
    ) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        with pytest.raises(NoServer, match="it answers 404 no bots here"):
            await open_connection(url)


async def test_wss_to_a_server_without_tls_is_reported_with_the_right_url() -> None:
    async with serve(lambda connection: connection.wait_closed(), "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(NoServer, match=rf"does not speak TLS, .*: try ws://127\.0\.0\.1:{port}$"):
            await open_connection(f"wss://127.0.0.1:{port}")
