"""The Autobahn websocket test suite against the server's transport, and against bare `websockets`.

    python -m benchmarks.autobahn --suite .../bin/wstest [--cases 1.*,2.*]

The suite needs a peer that echoes. So the server is the one of `arena serve`, with its connections and its limits, but
each connection is handed to an echo in place of a session. Its option for the size of messages is raised to that of
`websockets`, and with its default a second time, to tell what that changes; how often an address may be cut
off is raised too, for the suite breaks the protocol all the time. Exit code 1 where the server fails and bare
`websockets` does not, but for messages that are larger than the default. The suite is a program for Python 2.7, from the package index:
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
from benchmarks.kit.measure import Section
from benchmarks.kit.results import claim, measured_on, write_server

BARE, SAME, DEFAULT = "bare websockets", "arena, messages to 1 MiB", "arena, messages to 16 KiB"
SECTIONS = ("1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "10.*")
MESSAGE_BYTES = 2**20
"""As `websockets` has it by default."""
TOO_BIG = 1009
"""The close code for a message that is larger than is taken, by RFC 6455, section 7.4.1."""
PASSED = {"OK", "INFORMATIONAL", "NON-STRICT"}
"""Verdicts of the suite that are no failure. NON-STRICT: right, and sooner or later than the suite thought best."""
SECONDS = 900


@dataclass
class Outcome:
    """Verdicts by agent and case: of the behaviour, and of the closing of the connection."""

    verdicts: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    codes: dict[str, dict[str, int | None]] = field(default_factory=dict)
    """The codes with which the agents closed the connections, where they did."""

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

    def too_big(self, agent: str) -> list[str]:
        """Those that an agent fails because a message is larger than it takes, as it says itself."""
        codes = self.codes.get(agent, {})
        return [case for case in self.fails(agent) if codes.get(case) == TOO_BIG]

    def otherwise(self, agent: str) -> list[str]:
        """The cases in which an agent passes as bare `websockets` does, but not in the same way."""
        mine, bare = self.verdicts[agent], self.verdicts[BARE]
        passed = (case for case in self.cases if case not in self.fails(agent))
        return [case for case in passed if mine[case] != bare[case]]

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
    """Run the suite's client against all three. Raises RuntimeError when it does not run to its end."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-autobahn-")))
        bare = await stack.enter_async_context(
            serve(echo, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)])
        )
        urls = {BARE: f"ws://127.0.0.1:{bare.sockets[0].getsockname()[1]}"}
        for agent, limits in (
            (SAME, HostLimits(message_bytes=MESSAGE_BYTES, cut_offs=1_000_000)),
            (DEFAULT, HostLimits(cut_offs=1_000_000)),
        ):
            host = await stack.enter_async_context(open_host(private(limits=limits), receiver=Echo))
            urls[agent] = host.url
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
        },
        {
            agent: {case: each["remoteCloseCode"] for case, each in verdicts.items()}
            for agent, verdicts in found.items()
        },
    )


def section(outcome: Outcome, version: str) -> Section:
    """What is written to the results."""
    failed, too_big = outcome.fails(DEFAULT), outcome.too_big(DEFAULT)
    found = (
        f"{len(failed)} of {len(outcome.cases)}, {len(too_big)} of them closed with {TOO_BIG} for a message of more than "
        f"16 KiB, as intended; with messages to 1 MiB {len(outcome.worse(SAME))} that bare `websockets` does not"
    )
    rows = [
        [
            agent,
            str(len(outcome.verdicts[agent])),
            outcome.count(agent),
            _listed(outcome.fails(agent)),
            _listed(outcome.worse(agent)),
            _listed(outcome.otherwise(agent)),
        ]
        for agent in (BARE, SAME, DEFAULT)
    ]
    return Section(
        "The Autobahn websocket test suite",
        f"`autobahntestsuite` {version}, its fuzzing client, sections 1 to 7 and 10, on the listener of `arena serve` "
        "(admission, connections, limits) with an echo in place of a session, and on an echo by bare `websockets`.",
        ["peer", "cases", "behaviour", "fails in", "where bare `websockets` does not", "passes otherwise in"],
        rows,
        note="Messages to 16 KiB are the default of `arena serve`: a bot has no reason to send larger ones, and is told so "
        f"by the close code {TOO_BIG}. NON-STRICT is no failure: the suite would rather have had "
        "the echo of what came before the fault, or the end of the connection at once.",
        claims=[
            claim(
                "Autobahn cases in which the server fails at its default settings",
                "none but where a message is larger than it takes",
                found,
            )
        ],
    )


def _listed(cases: list[str]) -> str:
    return ", ".join(cases) or "none"


async def _version(suite: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        str(suite), "-a", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    words = [word for line in said.decode().splitlines() if "estSuite" in line for word in line.split()]
    return words[-1].rstrip(".") if words else "of an unknown version"


def main() -> int:
    """Run it and print what came of it; 1 where the server does worse than bare `websockets`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--suite", type=Path, required=True, help="the suite's command, wstest")
    parser.add_argument("--cases", default=",".join(SECTIONS))
    given = parser.parse_args()
    if not given.suite.exists():
        parser.error(f"there is no {given.suite}: install autobahntestsuite, and name its wstest")
    cases = given.cases.split(",")
    with measured_on("python -m benchmarks.autobahn --suite WSTEST") as note:
        version = uvloop.run(_version(given.suite.absolute()))
        outcome = uvloop.run(run(given.suite.absolute(), cases))
    text = f"{section(outcome, version).markdown()}\n\n{note()}"
    print(text)
    if tuple(cases) == SECTIONS:
        write_server("autobahn", text)
    excused = {*outcome.too_big(DEFAULT), *outcome.fails(BARE)}
    worse = [(SAME, case) for case in outcome.worse(SAME)]
    worse += [(DEFAULT, case) for case in outcome.fails(DEFAULT) if case not in excused]
    return report([f"{agent}, {case}: {outcome.verdicts[agent].get(case)}" for agent, case in worse])


if __name__ == "__main__":
    sys.exit(main())
