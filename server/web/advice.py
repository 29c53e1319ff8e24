"""What an engine of the house thinks of a position, for whoever looks at a match on the page.

    GET /api/advice/MAP?position=TEXT

MAP is a shipped map and TEXT a position on it as `games.riskless.Riskless.position_to_text` has it. The engine is
`arena analyse` in a process of its own, under the supervisor and below the server in priority: it costs the event loop
its start alone. One runs at a time, a few wait, and none runs longer than a few seconds.
"""

from __future__ import annotations

import subprocess
import sys
from http import HTTPStatus
from typing import IO, cast
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import msgspec

from arena.maps.loader import map_names
from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.processes import supervisor
from arena.server.web.answer_cache import AnswerCache

ENGINE = "alphabeta"
DEPTH = 3
"""Plies that it looks ahead: in Python, on the largest shipped map, some seconds."""
SECONDS = 20.0
"""For how long it may run, at the most."""
WAITING = 4
"""How many questions wait for their turn; who comes then is asked to come again."""
MOST_BYTES = 64 * 1024
"""How many bytes of its answer are read."""
KEPT = 64
"""Answers that are kept: a position has one."""


class Report(msgspec.Struct):
    """What it thought at its last depth. `line` has moves as the game writes them, `value` is for Maxie."""

    depth: int
    value: float
    line: list[str]


class Advice(msgspec.Struct):
    """What it thinks of a position. `truth` is what the table of a solved map says, null elsewhere."""

    engine: str
    reports: list[Report]
    truth: msgspec.Raw = msgspec.Raw(b"null")


_decode = msgspec.json.Decoder(Advice).decode


class Advisor:
    """Asks the engine. One for a server.

    on   whether it answers at all: only where guests may play the house
    """

    def __init__(self, *, on: bool, seconds: float = SECONDS) -> None:
        self._on = on
        self._seconds = seconds
        self._turn = anyio.Lock()
        self._kept = AnswerCache(entries=KEPT)

    async def answer(self, map_name: str, query: str) -> Answer:
        """The answer for a position on the map of that name; what is wrong with a question is told in one line."""
        if not self._on:
            return answers.not_found("this server has no engine for whoever asks")
        if map_name not in map_names():
            return answers.not_found(f"no shipped map is called {map_name!r:.80}")
        try:
            given = parse_qs(query, max_num_fields=2, errors="strict")
        except ValueError:
            return answers.bad_request("the query cannot be read")
        if set(given) != {"position"}:
            return answers.bad_request("position must be given, and nothing else")
        question = map_name, " ".join(given["position"][0].split())
        kept = self._kept.get(question)
        if kept is not None:
            return kept
        if self._turn.statistics().tasks_waiting >= WAITING:
            return answers.text(
                "the engine has enough to think about: try again", HTTPStatus.SERVICE_UNAVAILABLE
            )
        async with self._turn:
            answer = self._kept.get(question) or await self._think(*question)
            if answer.status == HTTPStatus.OK:
                self._kept.put(question, answer)
            return answer

    async def _think(self, map_name: str, position: str) -> Answer:
        options = [
            "--map",
            map_name,
            f"--position={position}",
            "--engine",
            ENGINE,
            "--depth",
            str(DEPTH),
            "--json",
            "-",
        ]
        command = [sys.executable, "-P", "-m", "arena", "analyse", *options]
        with anyio.CancelScope(shield=True):
            process = await anyio.to_thread.run_sync(_start, command)
        late = False

        async def end() -> None:
            nonlocal late
            try:
                await anyio.sleep(self._seconds)
                late = True
            finally:
                # the supervisor ends what still runs
                cast("IO[bytes]", process.stdin).close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end)
            # Whatever happens it is waited for: the next engine may start when this one has gone.
            with anyio.CancelScope(shield=True):
                said = await anyio.to_thread.run_sync(_all_of, process)
            tasks.cancel_scope.cancel()
        if late:
            return answers.text("the engine took too long", HTTPStatus.SERVICE_UNAVAILABLE)
        if process.returncode != 0:
            return answers.bad_request(
                "there is nothing to think about: the position is none of this map, or is over"
            )
        advice = _decode(said)
        last = advice.reports[-1]
        whole = {
            "engine": advice.engine,
            "depth": last.depth,
            "value": last.value,
            "line": last.line,
            "truth": advice.truth,
        }
        return answers.json(whole)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a command under the supervisor.

    In a thread, where starting a process holds up nobody else: the event loop's own way copies the page tables of the
    server first, and all matches stand still for some milliseconds.
    """
    return subprocess.Popen(  # noqa: S603  our own program
        supervisor.supervised(*command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _all_of(process: subprocess.Popen[bytes]) -> bytes:
    """What a process says, up to MOST_BYTES; it is over then."""
    with cast("IO[bytes]", process.stdout) as stream:
        said = stream.read(MOST_BYTES)
    process.wait()
    return said
