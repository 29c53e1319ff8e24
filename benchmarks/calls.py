"""Numbers of function calls that the server makes for a move, for a hello (a client's first message), and for a cached HTTP
answer.

    python -m benchmarks.calls [--list]

A complete server with SQLite on a disk runs in this process, with its clients. A profiler counts the calls of functions
of the package `arena`, in the event loop and in the journal's thread, until all work for a request is done. Each
resumption of a coroutine counts as a call. The exit code is 1 if there are more calls than promised.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median_low
from types import CodeType, FrameType

import uvloop
from msgspec.structs import replace

import arena
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.adjudication import DEFAULT_ADJUDICATION
from arena.protocol.timecontrol import TimeControl
from arena.server import loop_lag
from arena.server.core import core
from arena.server.core.limits import PRIVATE_SERVER_LIMITS
from arena.server.core.matchmaker import PAIRING_DELAY_AFTER_CHANGE_NS
from arena.server.core.settings import GameAtTimeControl, Pool
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from benchmarks.kit.client import Client, ServerMessage, connect, open_client, open_socket
from benchmarks.kit.results import make_argument_parser, print_faults
from benchmarks.kit.scripted_match import SCRIPTED_MATCH_MAP, make_scripted_moves

# Work at fixed intervals must not be counted as part of a request.
loop_lag.LAG_MEASUREMENT_INTERVAL_NS = 10**12
ARENA_FOLDER = str(Path(arena.__file__).parent)
REQUESTS_PER_SERIES, SERIES_COUNT = 20, 3
"""Number of requests in a series, and number of series of each kind of request.

For each function, the median of its calls per request is computed for every series, and the smallest median is shown. On a
busy machine, work of an earlier request may end late, and raise the calls of more than half of the requests in a series.
"""
PAUSE_AFTER_ANSWER_SECONDS = 0.03
"""Pause after each answer, in seconds, in which the server finishes its remaining work for that request."""
MAX_FUNCTION_CALLS_BY_REQUEST = {"a durable move": 60, "a hello": 120, "a cached answer of /api/table": 60}
"""Promised upper bound of the function calls per request, by kind of request. A hello is a client's first message."""
HTTP_TABLE_REQUEST = b"GET /api/table HTTP/1.1\r\nHost: here\r\n\r\n"


class CallCounter:
    """Counter of the calls of functions in the package `arena`, in the current thread and in all threads started later."""

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()
        self._is_counting = False
        threading.setprofile(self._count_call)
        sys.setprofile(self._count_call)

    def _count_call(self, frame: FrameType, event: str, _argument: object) -> None:
        if self._is_counting and event == "call" and frame.f_code.co_filename.startswith(ARENA_FOLDER):
            self.counts[frame.f_code] += 1

    async def count_calls(self, action: Callable[[int], Awaitable[None]]) -> Counter[CodeType]:
        """Call `action` with each number from 0 to SERIES_COUNT * REQUESTS_PER_SERIES - 1, and count the calls of each function.

        Return, for each function, its number of calls per action. Each of the SERIES_COUNT series gives the median over its
        REQUESTS_PER_SERIES actions; the result is the smallest of these medians.
        """
        results: list[Counter[CodeType]] = []
        for number in range(SERIES_COUNT * REQUESTS_PER_SERIES):
            self.counts = Counter()
            self._is_counting = True
            await action(number)
            await asyncio.sleep(PAUSE_AFTER_ANSWER_SECONDS)
            self._is_counting = False
            results.append(self.counts)
        all_series = [
            results[start : start + REQUESTS_PER_SERIES]
            for start in range(0, len(results), REQUESTS_PER_SERIES)
        ]
        codes = dict.fromkeys(code for calls in results for code in calls)
        return Counter(
            {
                code: min(median_low(calls[code] for calls in series) for series in all_series)
                for code in codes
            }
        )

    def close(self) -> None:
        """Stop counting calls, and remove the profiler."""
        sys.setprofile(None)
        threading.setprofile(None)


async def receive_until(client: Client, message_type: str) -> ServerMessage:
    """Skip received messages until one has the type `message_type`, and return that message."""
    while (message := await client.receive()).type != message_type:
        pass
    return message


async def count_calls_by_request() -> dict[str, Counter[CodeType]]:
    """Return the number of calls of each function per request, for each kind of request in MAX_FUNCTION_CALLS_BY_REQUEST."""
    call_counter = CallCounter()
    pool = Pool(
        games=(
            GameAtTimeControl(make_game_on_map("riskless", SCRIPTED_MATCH_MAP), TimeControl.parse("60+1")),
        )
    )
    results = {}
    try:
        with tempfile.TemporaryDirectory(prefix="arena-calls-") as folder:
            settings = make_private_server_settings(
                database_url=f"sqlite:///{folder}/arena.db",
                anyone=True,
                adjudication=DEFAULT_ADJUDICATION,
                # All clients connect before the first one says hello.
                limits=replace(PRIVATE_SERVER_LIMITS, hello_seconds=60.0),
            )
            async with open_arena_server(settings, pool=pool) as host:
                results["a hello"] = await _count_hello_calls(host, call_counter)
                results["a durable move"] = await _count_move_calls(host, call_counter)
                results["a cached answer of /api/table"] = await _count_table_request_calls(
                    host, call_counter
                )
    finally:
        call_counter.close()
    return {kind: results[kind] for kind in MAX_FUNCTION_CALLS_BY_REQUEST}


async def _count_hello_calls(host: ArenaServer, call_counter: CallCounter) -> Counter[CodeType]:
    clients = [await open_client(host.url) for _ in range(SERIES_COUNT * REQUESTS_PER_SERIES + 1)]

    async def send_hello(client_index: int) -> None:
        await clients[client_index].send(type="hello", name=f"watcher {client_index}", pool=False)
        await receive_until(clients[client_index], "welcome")

    await send_hello(SERIES_COUNT * REQUESTS_PER_SERIES)  # the first one finds nothing prepared
    # A real matchmaker pairs all bots that arrived within PAIRING_DELAY_AFTER_CHANGE_NS at once, so its work is not part of a hello.
    vars(core)["PAIRING_DELAY_AFTER_CHANGE_NS"] = 10**12
    counts = await call_counter.count_calls(send_hello)
    vars(core)["PAIRING_DELAY_AFTER_CHANGE_NS"] = PAIRING_DELAY_AFTER_CHANGE_NS
    return counts


async def _count_move_calls(host: ArenaServer, call_counter: CallCounter) -> Counter[CodeType]:
    pair = [await connect(host.url, name=name) for name in ("maxie", "minnie")]
    seats = {}
    for client in pair:
        start = await receive_until(client, "start")
        seats[start.seat] = client
        await client.send(type="ready", match=start.match)
    clients, match = [seats["maxie"], seats["minnie"]], start.match
    await receive_until(clients[0], "turn")

    async def play_move(ply: int) -> None:
        mover, opponent = clients[ply % 2], clients[1 - ply % 2]
        await mover.send(type="move", match=match, ply=ply, move=make_scripted_moves()[ply])
        await receive_until(mover, "accepted")
        await receive_until(opponent, "turn")

    make_scripted_moves()
    return await call_counter.count_calls(play_move)


async def _count_table_request_calls(host: ArenaServer, call_counter: CallCounter) -> Counter[CodeType]:
    reader, writer = await open_socket(host.url)

    async def send_get(_number: int) -> None:
        writer.write(HTTP_TABLE_REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.findall(rb"Content-Length: (\d+)", head)[0]))

    await send_get(0)
    return await call_counter.count_calls(send_get)


def main() -> int:
    """Count and print the function calls that the server makes for each kind of request.

    Return the exit code: 1 if a request takes more calls than MAX_FUNCTION_CALLS_BY_REQUEST allows.
    """
    parser = make_argument_parser(__doc__)
    parser.add_argument(
        "--list", action="store_true", help="also print each called function with its number of calls"
    )
    arguments = parser.parse_args()
    faults = []
    for kind, counts in uvloop.run(count_calls_by_request()).items():
        total = counts.total()
        print(f"{kind}: {total} calls, promised at most {MAX_FUNCTION_CALLS_BY_REQUEST[kind]}")
        if total > MAX_FUNCTION_CALLS_BY_REQUEST[kind]:
            faults.append(f"{kind}: {total} calls")
        for function_code, call_count in (+counts).items() if arguments.list else ():
            file = Path(function_code.co_filename).relative_to(ARENA_FOLDER)
            print(f"{call_count:4}  {file!s:36} {function_code.co_qualname}")
    return print_faults(faults)


if __name__ == "__main__":
    sys.exit(main())
