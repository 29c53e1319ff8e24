"""Kills of a server at random moments, and a check that no acknowledged move and no result is lost.

The server is a real `arena serve` process, and the bots reconnect with their sessions. At the end, the server gets SIGTERM,
so that it finishes its matches and stops. Then the store is compared with the messages that the bots received.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from arena.match.referee_events import MoveReceived
from arena.match.replay import verify_record
from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.record import BadRecord, Record, parse_record_line
from arena.server.store import schema
from arena.server.store.database import open_store
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.journal.restart_state import load_restart_state
from arena.server.store.packing import unpack_record
from testkit.players import RandomPlayer
from testkit.server_process import MAX_DRAIN_SECONDS, SERVER_START_TIMEOUT_SECONDS, ServerProcess


@dataclass
class CrashTestResult:
    """Results of a run in which servers were killed. Each line of `faults` describes a loss or another failure."""

    kill_count: int = 0
    match_count: int = 0
    acknowledged_move_count: int = 0
    """Number of moves that the server has confirmed to the bots with an `accepted` message."""
    interrupted_match_count: int = 0
    """Number of matches that were in progress when a server was killed, and that finished later."""
    end_reasons: Counter[str] = field(default_factory=Counter)
    """Number of finished matches by end reason."""
    faults: list[str] = field(default_factory=list)


class KillableServer(ServerProcess):
    """Server in one process that pairs its bots itself, with its store and its log in a folder."""

    def __init__(self, folder: Path, max_matches: int, *options: str) -> None:
        """Prepare the process. `max_matches`: number of matches in parallel; `options`: further options of `arena serve`."""
        self.database_url = f"sqlite:///{folder / 'arena.db'}"
        pool = (
            "--set=pool.pause_seconds=0",
            "--set=pool.openings=none",
            f"--set=pool.concurrency={max_matches}",
        )
        drain = f"--set=server.drain_seconds={MAX_DRAIN_SECONDS}"
        super().__init__(
            "all",
            "the server",
            folder / "log",
            ("--db", self.database_url, "--tc", "60+1", *pool, drain, *options),
        )


async def kill_server_repeatedly(
    kill_count: int,
    match_count: int,
    *,
    folder: Path,
    options: tuple[str, ...] = (),
    max_uptime_seconds: float = 1.5,
) -> CrashTestResult:
    """Kill a server `kill_count` times during play, and compare what its bots received with the store.

    match_count: number of matches in parallel
    folder: folder of the server's store and log
    options: further options of `arena serve`
    max_uptime_seconds: maximum time, in seconds, from the reconnection of the bots to the next kill; each time is random
    """
    server = KillableServer(folder, match_count, *options)
    players = [
        RandomPlayer(server.url, f"bot {number}", lambda: random.uniform(0.005, 0.15))
        for number in range(2 * match_count)
    ]
    result, interrupted = CrashTestResult(kill_count), set[str]()
    try:
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(player.run()) for player in players]
            for number in range(kill_count + 1):
                server.start()
                await server.wait_until_ready()
                await _wait_until_bots_are_back(players, number + 1)
                await asyncio.sleep(random.uniform(0.0, max_uptime_seconds))
                if number < kill_count:
                    await server.stop(signal.SIGKILL)
                    interrupted |= await _list_matches_in_progress(server.database_url)
            exit_code = await server.stop()
            for task in playing:
                task.cancel()
        if exit_code != 0:
            result.faults.append(
                f"after SIGTERM the server ended with {exit_code}: {server.log_file.read_text()[-2000:]}"
            )
        await compare_messages_with_store(server.database_url, players, interrupted, result)
    finally:
        server.close()
    return result


async def _wait_until_bots_are_back(players: list[RandomPlayer], connection_count: int) -> None:
    """Wait until 90 % of the bots have connected `connection_count` times, and at least one of them plays.

    Return after SERVER_START_TIMEOUT_SECONDS in any case. The other bots may still be connecting, so that the next kill also tests
    this case.
    """
    end_time = time.monotonic() + SERVER_START_TIMEOUT_SECONDS
    needed = max(2, len(players) * 9 // 10)

    def are_bots_back() -> bool:
        return sum(player.welcome_count >= connection_count for player in players) >= needed and any(
            player.last_message_time_by_match for player in players
        )

    while not are_bots_back() and time.monotonic() < end_time:  # noqa: ASYNC110  the players are not told that they are waited for
        await asyncio.sleep(0.01)


async def _list_matches_in_progress(database_url: str) -> set[str]:
    async with open_store(database_url) as engine:
        return {
            stored_match.terms.match
            for stored_match in (await load_restart_state(engine, "", "serve")).unfinished_matches
        }


async def compare_messages_with_store(
    database_url: str, players: list[RandomPlayer], interrupted_match_ids: set[str], result: CrashTestResult
) -> None:
    """Compare the messages that the bots received with the store, and add every difference to `result.faults`.

    database_url: URL of the store, whose servers have been stopped
    interrupted_match_ids: ids of the matches that were in progress at a kill
    result: result of the run, to which the differences and the numbers of moves and matches are added
    """
    report_fault = result.faults.append
    async with open_store(database_url) as engine:
        async with engine.connect() as connection:
            rows = (
                await connection.execute(
                    sa.select(schema.matches, schema.records.c.packed).outerjoin(schema.records)
                )
            ).all()
        records = {
            row.match: parse_record_line(unpack_record(row.packed)) for row in rows if row.packed is not None
        }
        journal_moves = {
            (match, event.ply): event.move
            for match in records
            for _, event in await load_events_of_match(engine, match)
            if isinstance(event, MoveReceived)
        }
    for row in rows:
        if row.packed is None:
            report_fault(f"{row.match} has not ended")
    result.match_count = len(rows)
    result.interrupted_match_count = len(interrupted_match_ids & set(records))
    for record in records.values():
        result.end_reasons[record.result.reason.value] += 1
        check_match_end(record, report_fault)
    for player in players:
        for match in player.started_match_ids - set(records):
            report_fault(f"{player.name} began {match}, which is lost")
        for (match, ply), move in player.acknowledged_moves.items():
            result.acknowledged_move_count += 1
            kept_record = records.get(match)
            moves = kept_record.moves if kept_record else []
            if len(moves) <= ply or moves[ply].move != move:
                report_fault(
                    f"{match}: the move {move} at ply {ply} was acknowledged and is not in the record"
                )
            if journal_moves.get((match, ply)) != move:
                report_fault(
                    f"{match}: the move {move} at ply {ply} was acknowledged and is not in the journal"
                )
        for match, ends in player.received_ends.items():
            received_ends = {(end.winner, end.reason, tuple(map(str, end.moves))) for end in ends}
            if len(received_ends) > 1 or match not in records:
                report_fault(f"{player.name} was told of {len(ends)} ends of {match}")
            elif (ends[0].winner, ends[0].reason) != (
                records[match].result.winner,
                records[match].result.reason,
            ):
                report_fault(f"{player.name} was told of another end of {match} than its record")


def check_match_end(record: Record, report_fault: Callable[[str], None]) -> None:
    """Check that a match between well-behaved bots ended by the rules of its game or by adjudication.

    report_fault: function that is called with a line of text for a forfeit, a server fault or an invalid record
    """
    if record.result.reason in FORFEIT_REASONS | {EndReason.SERVER_FAULT}:
        report_fault(f"{record.match} ended as {record.result.reason}: {record.result.detail}")
        return
    try:
        verify_record(record)
    except BadRecord as error:
        report_fault(f"{record.match} ended as {record.result.reason}: {error}")
