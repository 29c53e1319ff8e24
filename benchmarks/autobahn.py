"""The Autobahn websocket test suite against the server's transport, and against bare `websockets`.

    python -m benchmarks.autobahn --suite .../bin/wstest [--cases 1.*,2.*]

The suite needs a peer that echoes. So the server is the one of `arena serve`, with its connections and its limits, but
each connection is handed to an echo in place of a session. Its limit for the size of messages is raised to the default of
`websockets`, and its limit of cut-offs an address, for the suite breaks the protocol all the time. Exit code 1 where the
server fails and bare `websockets` does not. The suite is a program for Python 2.7, from the package index:
`PYTHONUSERBASE=FOLDER python2.7 -m pip install --user autobahntestsuite` makes FOLDER/bin/wstest, which
wants the same variable when it runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.host import open_host
from arena.server.lobby.dispatch import Dispatch
from arena.server.net.connection import Connection
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from benchmarks.kit.faults import report

BARE, ARENA = "bare websockets", "arena, messages to 1 MiB"
SECTIONS = ("1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "10.*")
MESSAGE_BYTES = 2**20
"""As `websockets` has it by default."""
PASSED = {"OK", "INFORMATIONAL", "NON-STRICT"}
"""Verdicts of the suite that are no failure. NON-STRICT: right, and sooner or later than the suite thought best."""
SECONDS = 900


@dataclass
class Outcome:
    """Verdicts by agent and case: of the behaviour, and of the closing of the connection."""

    verdicts: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    @property
    def cases(self) -> list[str]:
        """The cases that were tried, in their order."""
        return sorted(self.verdicts[BARE], key=lambda case: [int(part) for part in case.split(".")])

    def fails(self, agent: str) -> list[str]:
        """The cases in which an agent fails."""
        return [
            case
            for case in self.cases
            if not PASSED.issuperset(self.verdicts[agent].get(case, ("not tried",)))
        ]

    def worse(self, agent: str) -> list[str]:
        """Those of them in which bare `websockets` does not."""
        return [case for case in self.fails(agent) if case not in self.fails(BARE)]

    def count(self, agent: str) -> str:
        """How many cases got which verdict."""
        verdicts = [behaviour for behaviour, _ in self.verdicts[agent].values()]
        return ", ".join(f"{each} {verdicts.count(each)}" for each in sorted(set(verdicts)))


async def echo(connection: ServerConnection) -> None:
    """Send back what comes."""
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        pass


class Echo:
    """The receiver of a connection that sends back what comes, in place of a session."""

    def __init__(self, connection: Connection, _dispatch: Dispatch, _limits: HostLimits) -> None:
        self._connection = connection

    def receive(self, message: bytes | str, _at: int) -> None:
        """Send a message back."""
        self._connection.send(message)

    def closed(self, fault: str | None) -> None:
        """An echo keeps nothing that ends with its connection."""


async def run(suite: Path, cases: list[str]) -> Outcome:
    """Run the suite's client against both. Raises RuntimeError when it does not run to its end."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-autobahn-")))
        bare = await stack.enter_async_context(
            serve(echo, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)])
        )
        urls = {BARE: f"ws://127.0.0.1:{bare.sockets[0].getsockname()[1]}"}
        limits = HostLimits(message_bytes=MESSAGE_BYTES, cut_offs=1_000_000)
        host = await stack.enter_async_context(open_host(private(limits=limits), receiver=Echo))
        urls[ARENA] = host.url
        spec = {
            "outdir": str(folder / "reports"),
            "servers": [
                {"agent": agent, "url": url, "protocols": [SUBPROTOCOL]} for agent, url in urls.items()
            ],
            "cases": cases,
            "exclude-cases": [],
            "exclude-agent-cases": {},
        }
        file = folder / "spec.json"
        file.write_text(json.dumps(spec), encoding="ascii")
        process = await asyncio.create_subprocess_exec(
            *(str(suite), "-m", "fuzzingclient", "-s", str(file)),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(SECONDS):
                said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        index = folder / "reports" / "index.json"
        if process.returncode or not index.exists():
            raise RuntimeError(f"{suite} ended with {process.returncode}: {said.decode()[-2000:]}")
        found = json.loads(index.read_text(encoding="utf-8"))
    return Outcome(
        {
            agent: {case: (each["behavior"], each["behaviorClose"]) for case, each in verdicts.items()}
            for agent, verdicts in found.items()
        }
    )


def main() -> int:
    """Run it and print what came of it; 1 where the server does worse than bare `websockets`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--suite", type=Path, required=True, help="the suite's command, wstest")
    parser.add_argument("--cases", default=",".join(SECTIONS))
    given = parser.parse_args()
    if not given.suite.exists():
        parser.error(f"there is no {given.suite}: install autobahntestsuite, and name its wstest")
    cases = given.cases.split(",")
    outcome = uvloop.run(run(given.suite.absolute(), cases))
    for agent in (BARE, ARENA):
        failed = ", ".join(outcome.fails(agent)) or "none"
        print(f"{agent}: {outcome.count(agent)}; fails in {failed}")
    return report([f"{case}: {outcome.verdicts[ARENA].get(case)}" for case in outcome.worse(ARENA)])


if __name__ == "__main__":
    sys.exit(main())
