"""Process of strangers: clients that send as many requests as a server's limits allow (see benchmarks/SERVER.md).

The process gets its jobs through a pipe. First, the process looks up ids and URL paths that requests need, and reports that
it is ready. For each job, the process connects the clients, reports this, waits for the signal to start, sends requests for
the duration of the job, and returns the counts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import uvloop

from benchmarks.hostile.kinds import REQUEST_KINDS, THINKING_BOT_NAMES, RequestKind
from benchmarks.hostile.stranger import RequestParameters, Stranger, TrafficCounts, send_http_request
from benchmarks.kit.client import connect
from benchmarks.kit.scripted_match import make_scripted_moves

LOOKUP_SOURCE_ADDRESS = "127.9.9.9"
"""Address from which the process looks up ids and URL paths to request. No measured client uses it."""

MAX_WATCHED_MATCHES = 64
"""Number of matches that the server lets one connection watch at the same time."""

MAX_LOOKUP_TRIES = 100
"""Maximum number of requests for a list of matches, one every half a second, before the program gives up."""


@dataclass(frozen=True)
class RequestJob:
    """Job of sending requests of one kind for a while.

    kind: name in REQUEST_KINDS
    source_addresses: local address of each client
    """

    kind: str
    source_addresses: list[str]
    duration_seconds: float


async def look_up_request_targets(parameters: RequestParameters) -> None:
    """Look up ids and URL paths to request. Play one match, so that its players can request the match's log.

    Raises RuntimeError if the server does not answer as expected.
    """
    _, page = await send_http_request(parameters.url, LOOKUP_SOURCE_ADDRESS, "/", TrafficCounts())
    script_path = re.search(r"/web/\w+/js/main\.bundle\.js", page.decode())
    if script_path is None:
        raise RuntimeError("the page / does not load main.bundle.js")
    parameters.script_path = script_path[0]
    parameters.large_match_ids = await fetch_finished_match_ids(
        parameters, f"limit=50&bot={THINKING_BOT_NAMES[0]}"
    )
    await _play_sample_match(parameters)
    for name in parameters.bot_names[:2]:
        query = f"limit=1&bot={name.replace(' ', '%20')}"
        while not (played := await fetch_finished_match_ids(parameters, query)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # the match has ended, and is not in the store yet
        parameters.match_ids_and_bots += [(match, name) for match in played]


async def fetch_finished_match_ids(parameters: RequestParameters, query: str) -> list[str]:
    """Return the ids of finished matches that `/api/records` lists. `query`: query of the request, such as `limit=50`.

    Raises RuntimeError if the server does not answer with JSON.
    """
    for _ in range(MAX_LOOKUP_TRIES):
        _, answer = await send_http_request(
            parameters.url, LOOKUP_SOURCE_ADDRESS, f"/api/records?{query}", TrafficCounts()
        )
        if answer.startswith(b"{"):
            return [row["match"] for row in json.loads(answer)["matches"]]
        await asyncio.sleep(0.5)  # on a busy machine the page process starts slowly
    raise RuntimeError(f"/api/records did not answer with JSON: {answer!r:.100}")


async def _play_sample_match(parameters: RequestParameters) -> None:
    """Play one match between two clients of this process, to its end, so that requests can ask for its log."""
    counts, kind = TrafficCounts(), REQUEST_KINDS["move"]
    with ExitStack() as stack:
        players = [
            Stranger(parameters, number, LOOKUP_SOURCE_ADDRESS, counts, kind.answer_types)
            for number in range(2)
        ]
        for player in players:
            stack.callback(player.close_connection)
            await _connect_with_role(player, kind.role)
        playing = [asyncio.create_task(_send_requests_until_disconnected(kind, player)) for player in players]
        while counts.answer_count < len(make_scripted_moves()):
            done, _ = await asyncio.wait(playing, timeout=0.05)
            if done:
                raise RuntimeError("a client stopped before its match was over") from done.pop().exception()
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def track_live_matches(parameters: RequestParameters) -> None:
    """Keep `parameters.live_match_ids` up to date until cancelled: up to MAX_WATCHED_MATCHES of the matches in progress."""
    with closing(
        await connect(parameters.url, LOOKUP_SOURCE_ADDRESS, name="learner", role="spectator")
    ) as learner:
        await learner.send(type="browse")
        while True:
            message = await learner.receive()
            if message.type == "listing":
                parameters.live_match_ids = [entry["match"] for entry in message.matches][
                    :MAX_WATCHED_MATCHES
                ]


async def _connect_with_role(stranger: Stranger, role: str) -> None:
    name = f"guest-{stranger.number}" if role == "guest" else stranger.parameters.bot_names[stranger.number]
    fields: dict[str, Any] = {"role": "spectator"} if role == "spectator" else {}
    if role == "bot":
        fields = {"token": stranger.parameters.tokens[name], "pool": False, "matches": 8}
    await stranger.connect(name=name, **fields)


async def execute_job(
    parameters: RequestParameters, job: RequestJob, wait_for_start: Callable[[], Awaitable[None]]
) -> TrafficCounts:
    """Connect the clients of a job, await `wait_for_start()`, and send requests for the duration of the job.

    Return the counts of all clients.
    """
    kind = REQUEST_KINDS[job.kind]
    counts = TrafficCounts()
    with ExitStack() as stack:
        strangers = [
            Stranger(parameters, number, source, counts, kind.answer_types)
            for number, source in enumerate(job.source_addresses)
        ]
        for stranger in strangers if kind.role else ():
            stack.callback(stranger.close_connection)
            try:
                await _connect_with_role(stranger, kind.role)
            except (OSError, EOFError):
                counts.lost_connection_count += 1
        await wait_for_start()
        working = [
            asyncio.create_task(_send_requests_until_disconnected(kind, stranger)) for stranger in strangers
        ]
        await asyncio.sleep(job.duration_seconds)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        for task in working:
            if not task.cancelled() and (failed := task.exception()) is not None:
                raise failed
    return counts


async def _send_requests_until_disconnected(kind: RequestKind, stranger: Stranger) -> None:
    try:
        await kind.send_requests(stranger)
    except* (OSError, EOFError):
        stranger.counts.lost_connection_count += 1


def run_strangers(url: str, tokens: dict[str, str], pipe: Connection) -> None:
    """Carry out the jobs that arrive through `pipe`, until killed.

    url: URL of the server; tokens: tokens of the clients, by name
    """
    uvloop.run(_execute_jobs(RequestParameters(url, tokens), pipe))


async def _execute_jobs(parameters: RequestParameters, pipe: Connection) -> None:
    await look_up_request_targets(parameters)
    live_matches_task = asyncio.create_task(track_live_matches(parameters))

    async def wait_for_start() -> None:
        pipe.send("ready")
        await asyncio.to_thread(pipe.recv)

    pipe.send("prepared")
    while True:
        job: RequestJob = await asyncio.to_thread(pipe.recv)
        if REQUEST_KINDS[job.kind].request_name == "GET /api/record/":
            parameters.finished_match_ids = await fetch_finished_match_ids(parameters, "limit=50")
        pipe.send(await execute_job(parameters, job, wait_for_start))
        if live_matches_task.done():
            live_matches_task.result()
