"""Number of calls of the project's own functions per move, per hello, and per cached answer of the page.

    python -m benchmarks.calls [--list]

A complete server runs in this process, with SQLite on a disk and in-memory transports. A profiler counts each call of a
function of the package `arena`, in the event loop and in the journal's thread, until all work for a request is done.
Each resumption of a coroutine counts as a call. The exit code is 1 if there are more calls than promised.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import struct
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgpack
import uvloop

import arena
from arena.maps.setup import make_game_on_map
from arena.protocol.adjudication import DEFAULT_RULES
from arena.protocol.timecontrol import TimeControl
from arena.server import loop_lag
from arena.server.core import core
from arena.server.core.matchmaker import GATHER_NS
from arena.server.core.settings import Pool, PoolGame
from arena.server.host import Host, open_host
from arena.server.settings import private_settings
from benchmarks.kit.faults import print_faults
from benchmarks.kit.script import MAP, make_script
from testkit.bare import make_handshake_request, make_masked_frame

# Work that is done at fixed intervals is no part of a move.
loop_lag.INTERVAL_NS = 10**12
OURS = str(Path(arena.__file__).parent)
TIMES = 40
"""Number of moves, hellos and answers that are counted. The figure of each function is the median."""
QUIET_SECONDS = 0.01
"""Time from an answer to the next request, in seconds: long enough for the shell to become idle."""
PROMISED_CALLS = {"a durable move": 60, "a hello": 120, "a cached answer of /api/table": 60}
GET = b"GET /api/table HTTP/1.1\r\nHost: here\r\n\r\n"


class CallCounter:
    """Counter of calls in all threads that start after its creation."""

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()
        self._counting = False
        threading.setprofile(self._count_call)
        sys.setprofile(self._count_call)

    def _count_call(self, frame: FrameType, event: str, _argument: object) -> None:
        if self._counting and event == "call" and frame.f_code.co_filename.startswith(OURS):
            self.counts[frame.f_code] += 1

    async def count_calls(self, action: Callable[[int], Awaitable[None]]) -> Counter[CodeType]:
        """Return the calls during one call of `action`."""
        results: list[Counter[CodeType]] = []
        for number in range(TIMES):
            self.counts = Counter()
            self._counting = True
            await action(number)
            await asyncio.sleep(QUIET_SECONDS)
            self._counting = False
            results.append(self.counts)
        codes = dict.fromkeys(code for each in results for code in each)
        return Counter({code: statistics.median_low(each[code] for each in results) for code in codes})

    def close(self) -> None:
        """Stop counting."""
        sys.setprofile(None)
        threading.setprofile(None)


class CountedConnection(asyncio.Transport):
    """Server end of an in-memory connection, with the client's actions at the other end."""

    def __init__(self, host: Host) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = b""
        """Bytes that the server has written and the client has not read."""
        self._news = asyncio.Event()
        self._protocol = host.edge.make_connection()
        self._protocol.connection_made(self)

    def write(self, data: Any) -> None:
        self.written += data
        self._news.set()

    def is_closing(self) -> bool:
        return False

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None: ...

    def send(self, data: bytes) -> None:
        """Send bytes to the server."""
        buffer = self._protocol.get_buffer(-1)
        buffer[: len(data)] = data
        self._protocol.buffer_updated(len(data))

    def send_message(self, **message: object) -> None:
        """Send a message."""
        self.send(make_masked_frame(msgpack.packb(message)))

    async def read(self, size: int) -> bytes:
        """Return the next bytes."""
        while len(self.written) < size:
            self._news.clear()
            await self._news.wait()
        data, self.written = self.written[:size], self.written[size:]
        return data

    async def read_response_body(self) -> bytes:
        """Return the body of an answer to a plain GET."""
        while b"\r\n\r\n" not in self.written:
            self._news.clear()
            await self._news.wait()
        head, _, self.written = self.written.partition(b"\r\n\r\n")
        length = next((each for each in head.split(b"\r\n") if each.startswith(b"Content-Length: ")), b"0")
        return await self.read(int(length.split()[-1]))

    async def receive_type(self, kind: str) -> dict[str, Any]:
        """Return the next message of a kind, and skip the messages before it."""
        while True:
            size = (await self.read(2))[1]
            if size == 126:
                size = struct.unpack("!H", await self.read(2))[0]
            message = msgpack.unpackb(await self.read(size))
            if message["type"] == kind:
                return dict(message)


async def connect(host: Host) -> CountedConnection:
    """Return the connection of a bot that has not sent its hello yet."""
    line = CountedConnection(host)
    line.send(make_handshake_request("here"))
    await line.read_response_body()
    return line


async def count_all() -> dict[str, Counter[CodeType]]:
    """Return the calls of each kind of request."""
    calls = CallCounter()
    pool = Pool(games=(PoolGame(make_game_on_map("riskless", MAP), TimeControl.parse("60+1")),))
    results = {}
    try:
        with tempfile.TemporaryDirectory(prefix="arena-calls-") as folder:
            settings = private_settings(
                database=f"sqlite:///{folder}/arena.db", anyone=True, adjudication=DEFAULT_RULES
            )
            async with open_host(settings, pool=pool) as host:
                results["a hello"] = await _count_hello_calls(host, calls)
                results["a durable move"] = await _count_move_calls(host, calls)
                results["a cached answer of /api/table"] = await _count_page_calls(host, calls)
    finally:
        calls.close()
    return {what: results[what] for what in PROMISED_CALLS}


async def _count_hello_calls(host: Host, calls: CallCounter) -> Counter[CodeType]:
    lines = [await connect(host) for _ in range(TIMES + 1)]

    async def send_hello(number: int) -> None:
        lines[number].send_message(type="hello", name=f"watcher {number}", pool=False)
        await lines[number].receive_type("welcome")

    await send_hello(TIMES)  # the first one finds nothing prepared
    # The matchmaker looks later, once at all who came meanwhile.
    vars(core)["GATHER_NS"] = 10**12
    counts = await calls.count_calls(send_hello)
    vars(core)["GATHER_NS"] = GATHER_NS
    return counts


async def _count_move_calls(host: Host, calls: CallCounter) -> Counter[CodeType]:
    pair = [await connect(host) for _ in range(2)]
    for name, line in zip(("maxie", "minnie"), pair, strict=True):
        line.send_message(type="hello", name=name)
    seats = {}
    for line in pair:
        start = await line.receive_type("start")
        seats[start["seat"]] = line
        line.send_message(type="ready", match=start["match"])
    lines, match = [seats["maxie"], seats["minnie"]], start["match"]
    await lines[0].receive_type("turn")

    async def play_move(ply: int) -> None:
        lines[ply % 2].send_message(type="move", match=match, ply=ply, move=make_script()[ply])
        await lines[ply % 2].receive_type("accepted")
        await lines[1 - ply % 2].receive_type("turn")

    make_script()
    return await calls.count_calls(play_move)


async def _count_page_calls(host: Host, calls: CallCounter) -> Counter[CodeType]:
    line = CountedConnection(host)

    async def send_get(_number: int) -> None:
        line.send(GET)
        await line.read_response_body()

    await send_get(0)
    return await calls.count_calls(send_get)


def main() -> int:
    """Count the calls and print them. Return 1 if there are more than promised."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument(
        "--list", action="store_true", help="list every function, in the order of first calls"
    )
    arguments = parser.parse_args()
    faults = []
    for what, counts in uvloop.run(count_all()).items():
        total = counts.total()
        print(f"{what}: {total} calls, promised at most {PROMISED_CALLS[what]}")
        if total > PROMISED_CALLS[what]:
            faults.append(f"{what}: {total} calls")
        for code, times in (+counts).items() if arguments.list else ():
            file = Path(code.co_filename).relative_to(OURS)
            print(f"{times:4}  {file!s:36} {code.co_qualname}")
    return print_faults(faults)


if __name__ == "__main__":
    sys.exit(main())
