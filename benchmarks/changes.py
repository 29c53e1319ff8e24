"""CPU of the process that serves matches, for each kind of POST on its page.

    python -m benchmarks.changes [--times 40] [--names 1000]

A complete server runs in this process, on SQLite on a disk, with in-memory transports; the client's part is included. The
page process, which checks and prepares every change, is another process and not included. Work at fixed intervals is left
out. The exit code is 1 if an answer has another status than expected.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time

import uvloop

from arena.maps.setup import make_setup
from arena.protocol.timecontrol import TimeControl
from arena.server import host as hosts
from arena.server import loop_lag
from arena.server.core.event_state import EventPlan
from arena.server.core.inputs import AnnounceEvent
from arena.server.core.settings import PoolGame
from arena.server.edge.limits import HostLimits
from arena.server.host import Host, open_host
from arena.server.settings import private_settings
from arena.server.shell import ratings, requests
from arena.server.store import invitations, maintenance, tokens
from arena.server.store.events import send_request
from arena.server.web.credentials import basic_header
from benchmarks.calls import CountedConnection
from benchmarks.kit.faults import report
from benchmarks.kit.results import measured_on
from benchmarks.kit.script import MAP

LONG_SECONDS = 1e6
loop_lag.INTERVAL_NS = 10**15
vars(hosts)["LOOK_SECONDS"] = LONG_SECONDS
vars(ratings)["PAUSE_SECONDS"] = LONG_SECONDS
vars(maintenance)["PACK_SECONDS"] = LONG_SECONDS
QUIET_SECONDS = 0.02
"""Time after an answer that is counted with it: long enough for all work for the request."""
FUTURE = 4_000_000_000
"""Start of the event, as Unix time."""


Figures = dict[str, tuple[int, list[float]]]
"""Last status, and CPU of each request in ms, by kind of request."""
CHANGES = {
    "`/healthz`, which is no POST: connection and refusal alone": ("", "/healthz"),
    "`/api/me`": ("ada", "/api/me"),
    "`/api/join`": ("code", "/api/join?name=ent-{}"),
    "`/api/join`, a name that is taken": ("code", "/api/join?name=tiger"),
    "`/api/token/create`": ("ada", "/api/token/create?name=elk-{}"),
    "`/api/token/rotate`": ("ada", "/api/token/rotate?name=lion"),
    "`/api/token/revoke`": ("ada", "/api/token/revoke?name=elk-{}"),
    "`/api/host`": ("tower", "/api/host"),
    "`/api/host`, kick": ("tower", "/api/host?do=kick&name=bot-{}"),
    "`/api/host`, ban and lift": ("tower", "/api/host?do=ban&name=bob", "/api/host?do=lift&name=bob"),
    "`/api/host`, notice": ("tower", "/api/host?do=notice&text=At+eight"),
    "`/api/me/enter` and `withdraw`": (
        "ada",
        "/api/me/enter?event=cup&name=lion",
        "/api/me/withdraw?event=cup&name=lion",
    ),
}
"""Secret and targets of each kind of request."""
EXPECTED = {
    "`/healthz`, which is no POST: connection and refusal alone": 405,
    "`/api/join`, a name that is taken": 409,
}


async def post(host: Host, path: str, authorization: str) -> int:
    """Return the status of a POST on a connection of its own."""
    line = CountedConnection(host)
    line.send(f"POST {path} HTTP/1.1\r\nHost: here\r\nAuthorization: {authorization}\r\n\r\n".encode())
    status = (await line.read(12)).split()[1]
    await line.answer()
    return int(status)


async def measure(times: int, names: int) -> Figures:
    """Return the figures of all kinds of requests, in a store with so many names."""
    with tempfile.TemporaryDirectory(prefix="arena-changes-") as folder:
        settings = private_settings(
            database=f"sqlite:///{folder}/arena.db", limits=HostLimits(work_ms_per_second=1e6)
        )
        async with open_host(settings) as host:
            store = host.engine
            for number in range(names):
                await tokens.create(store, f"bot-{number}", "bot", f"owner-{number}")
            code = "Bearer " + (await invitations.invite(store, ["ada"], 1_000_000, 3600.0))["ada"]
            ada = basic_header("tiger", await tokens.create(store, "tiger", "bot", "ada"))
            await tokens.create(store, "lion", "bot", "ada")
            tower = basic_header("tower", await tokens.create(store, "tower", "admin"))
            start = PoolGame(make_setup("riskless", MAP), TimeControl.parse("10+0.1"))
            plan = EventPlan(
                event="cup", uid="1", begins=FUTURE, closes=FUTURE, format="swiss", starts=(start,)
            )
            if await send_request(store, "", AnnounceEvent(plan)) is None:
                raise TimeoutError
            vars(requests)["LOOK_SECONDS"] = LONG_SECONDS
            return await _measure(host, {"ada": ada, "code": code, "tower": tower}, times)


async def _measure(host: Host, secrets: dict[str, str], times: int) -> Figures:
    found: Figures = {}
    for what, (secret, *targets) in CHANGES.items():
        spent = []
        for number in range(times + 1):
            for target in targets:
                began = time.process_time()
                status = await post(host, target.format(number), secrets.get(secret, ""))
                await asyncio.sleep(QUIET_SECONDS)
                spent.append(1000 * (time.process_time() - began))
        # The first one finds nothing prepared.
        found[what] = status, spent[len(targets) :]
    return found


def main() -> int:
    """Measure and print. Return 1 if an answer has another status than expected."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=40, help="number of requests of each kind")
    parser.add_argument("--names", type=int, default=1000, help="number of names in the store before")
    arguments = parser.parse_args()
    faults = []
    with measured_on("python -m benchmarks.changes") as note:
        figures = uvloop.run(measure(arguments.times, arguments.names))
    print("| POST | status | CPU, ms | lowest to highest |\n| --- | --- | --- | --- |")
    for what, (status, spent) in figures.items():
        print(
            f"| {what} | {status} | {statistics.median(spent):.1f} | {min(spent):.1f} to {max(spent):.1f} |"
        )
        if status != EXPECTED.get(what, 200):
            faults.append(f"{what}: status {status}")
    print(f"\n{note()}")
    return report(faults)


if __name__ == "__main__":
    sys.exit(main())
