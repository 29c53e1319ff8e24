"""Two `arena serve` on one store: the second is refused, or takes over, and the first then changes nothing."""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from protocol.codec import encode
from protocol.messages import Hello
from testkit.crash import Server
from testkit.wire import SUBPROTOCOL
from tests.e2e.test_dial_in import running

pytestmark = pytest.mark.timeout(120)


async def test_the_second_is_refused_and_the_matches_of_the_first_go_on(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = servers(tmp_path, stack)
        first.start()
        await first.wait_listening()
        for name in ("random", "greedy"):
            stack.enter_context(running("bot", name, "--url", first.url, folder=tmp_path))
        second.start()
        assert second.process is not None
        assert await asyncio.to_thread(second.process.wait, 60) == 1
        *_, line = second.log.read_text().splitlines()
        assert first.process is not None
        assert "the server without a --name is running on this store already: on " in line
        assert f", process {first.process.pid}, since " in line
        assert line.endswith("a second server on one store needs a --name of its own")
        assert "Traceback" not in second.log.read_text()
        assert await first.stop(signal.SIGTERM) == 0


async def test_one_that_stood_still_is_replaced_and_ends_in_one_line(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = servers(tmp_path, stack)
        first.start()
        await first.wait_listening()
        assert first.process is not None
        async with connect(first.url, subprotocols=[SUBPROTOCOL]) as bot:
            await bot.send(encode(Hello(name="anna", program="a test")))
            await bot.recv()
            first.process.send_signal(signal.SIGSTOP)
            second.start()
            await second.wait_listening()
            first.process.send_signal(signal.SIGCONT)
            with suppress(ConnectionClosed):
                while True:
                    await bot.recv()
            assert bot.close_code == 1001
        assert await asyncio.to_thread(first.process.wait, 60) == 1
        *_, line = first.log.read_text().splitlines()
        assert line.startswith("arena: the server without a --name has been taken over by another process")
        assert "Traceback" not in first.log.read_text()
        assert await second.stop(signal.SIGTERM) == 0


def servers(folder: Path, stack: ExitStack) -> tuple[Server, Server]:
    """Two on the same store, with logs and ports of their own."""
    found = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        server = Server(folder / name, 1, "--game", "tictactoe", "--db", f"sqlite:///{folder / 'arena.db'}")
        stack.callback(server.close)
        found.append(server)
    return found[0], found[1]
