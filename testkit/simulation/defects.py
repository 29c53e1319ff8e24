"""Defects that a test plants in the server, to show that the simulation finds them.

Each defect resembles a real bug, and breaks one rule that the simulation checks. The functions return context managers, with
the defect in the server during the `with` block.

A core is a process that plays the matches; an edge is a process that holds the connections to the clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any
from unittest import mock

import sqlalchemy as sa

from arena.server import loop_lag
from arena.server.cluster.frames import BadBusFrame, FrameReceiver
from arena.server.core.bot import LobbyBot
from arena.server.core.effects import SaveSession, SendMissedResult
from arena.server.core.inputs import Tick, TurnSent
from arena.server.core.suspensions import BotSuspensions
from arena.server.edge.edge import Edge
from arena.server.edge.session import Session
from arena.server.ports import AdmissionRequest
from arena.server.shell.authenticator import Authenticator
from arena.server.store import lease
from arena.server.store.aggregates import match_counting
from arena.server.store.journal import sqlite_writer
from arena.server.store.journal.journal import Journal
from arena.server.store.schema import servers
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.invariants import MonitoredCore

patch_attribute = mock.patch.object


def skip_lease_check() -> AbstractContextManager[Any]:
    """Defect: a core that has lost its lease still writes to the store, where its events replace the events of the next
    leader.
    """
    make_statement = sqlite_writer.make_append_events_statement

    def append_without_lease(rows: int) -> str:
        start, _, end = make_statement(rows).rpartition("AND number = ?")
        assert start
        return f"{start}AND ? > 0{end}"

    return patch_attribute(sqlite_writer, "make_append_events_statement", append_without_lease)


def renew_lease_by_name() -> AbstractContextManager[Any]:
    """Defect: a core that was frozen renews the lease on its server name, although another core has taken the lease
    meanwhile.
    """

    def renew_by_name(connection: sa.Connection, held_lease: lease.Lease, values: dict[str, Any]) -> None:
        connection.execute(sa.update(servers).where(servers.c.name == held_lease.server_name).values(values))

    return patch_attribute(lease, "_update_lease", renew_by_name)


def handle_deadlines_before_inputs() -> AbstractContextManager[Any]:
    """Defect: a core handles an expired deadline before an input that arrived in time."""
    handle = MonitoredCore.handle_input

    def handle_deadlines_first(core: MonitoredCore, core_input: Any, now_ns: int) -> Any:
        due = core.next_deadline_ns
        is_exempt = due is None or due > now_ns or type(core_input) in (Tick, TurnSent)
        deadline_effects = [] if is_exempt else handle(core, Tick(), now_ns)
        return [*deadline_effects, *handle(core, core_input, now_ns)]

    return patch_attribute(MonitoredCore, "handle_input", handle_deadlines_first)


def ignore_lost_frames() -> AbstractContextManager[Any]:
    """Defect: a process ignores gaps in the numbers of another process's messages, so it does not notice lost messages."""
    receive = FrameReceiver.receive_frame

    def accept_any_frame(incoming: FrameReceiver[Any], frame: Any) -> Any:
        incoming.next_frame_number = (
            max(incoming.next_frame_number, frame.frame_number) if frame.body else incoming.next_frame_number
        )
        try:
            return receive(incoming, frame)
        except BadBusFrame:
            return []

    return patch_attribute(FrameReceiver, "receive_frame", accept_any_frame)


def skip_results_after_reconnect() -> AbstractContextManager[Any]:
    """Defect: a bot that was disconnected when its match ended is never sent the result."""
    handle = MonitoredCore.handle_input

    def handle_without_missed_results(core: MonitoredCore, core_input: Any, now_ns: int) -> Any:
        return [effect for effect in handle(core, core_input, now_ns) if type(effect) is not SendMissedResult]

    return patch_attribute(MonitoredCore, "handle_input", handle_without_missed_results)


def omit_session_changes() -> AbstractContextManager[Any]:
    """Defect: sessions of bots are not stored, so a core that takes over the matches does not recognise reconnecting bots."""
    handle = MonitoredCore.handle_input

    def handle_without_session_changes(core: MonitoredCore, core_input: Any, now_ns: int) -> Any:
        return [effect for effect in handle(core, core_input, now_ns) if type(effect) is not SaveSession]

    return patch_attribute(MonitoredCore, "handle_input", handle_without_session_changes)


def omit_resent_answers() -> AbstractContextManager[Any]:
    """Defect: when a new core asks a bot again for the same move, the bot's edge does not repeat the answer that it has kept."""
    send_turn = Session._send_turn

    def send_only_unanswered_turn(session: Session, turn: Any, clock_ran_ns: int) -> None:
        seat = session.played_matches.get(turn.match)
        if seat is None or seat.unconfirmed_answer is None or seat.unanswered_ply != turn.ply:
            send_turn(session, turn, clock_ran_ns)

    return patch_attribute(Session, "_send_turn", send_only_unanswered_turn)


def count_ratings_twice() -> AbstractContextManager[Any]:
    """Defect: after a batch of matches is rated, the first of these matches is not marked as rated, so it is rated again."""
    count = match_counting.add_match_batch_to_aggregates

    def count_first_match_twice(connection: sa.Connection, *args: Any, **kwargs: Any) -> Any:
        result = count(connection, *args, **kwargs)
        if result[0] > 1:
            first = result[1][0].match if result[1] else ""
            connection.exec_driver_sql("DELETE FROM rating_steps WHERE match = ?", (first,))
            connection.exec_driver_sql("UPDATE matches SET counted = 0 WHERE match = ?", (first,))
        return result

    return patch_attribute(match_counting, "add_match_batch_to_aggregates", count_first_match_twice)


def pair_suspended_bots() -> AbstractContextManager[Any]:
    """Defect: the matchmaker gives matches to bots that are suspended after several forfeits."""
    return patch_attribute(BotSuspensions, "find_suspension_end_ns", lambda _suspensions, _name: 0)


def keep_topics_without_followers() -> AbstractContextManager[Any]:
    """Defect: an edge never forgets a topic (such as a match) after the last spectator has stopped following it."""
    return patch_attribute(Edge, "forget_topic_without_followers", lambda _edge, _topic: None)


def ignore_quotas() -> AbstractContextManager[Any]:
    """Defect: a new match does not reduce the quota of its bots, which is the number of matches that a bot still accepts."""
    return patch_attribute(LobbyBot, "count_match_against_quota", lambda _bot: None)


@contextmanager
def charge_stalls_to_players() -> Iterator[None]:
    """Defect: if an edge's process is frozen for a while, this time counts as thinking time of its bots."""
    with patch_attribute(loop_lag, "MIN_STALL_LAG_NS", 1 << 63):
        yield


def release_effects_before_commit() -> AbstractContextManager[Any]:
    """Defect: a core sends messages to bots before the store has committed the changes that the messages report."""
    commit = Journal.commit
    tasks: list[asyncio.Task[None]] = []

    async def commit_later(journal: Journal, effects: Any) -> None:
        with suppress(Exception):
            await commit(journal, effects)

    async def release_effects_first(journal: Journal, effects: Any) -> None:
        tasks.append(asyncio.get_running_loop().create_task(commit_later(journal, list(effects))))

    return patch_attribute(Journal, "commit", release_effects_first)


def admit_without_owner() -> AbstractContextManager[Any]:
    """Defect: after a restart, a core admits the bots before it knows their owners, so all bots have the same owner."""
    enqueue = Authenticator.enqueue_or_admit_client

    def enqueue_with_unknown_owner(
        authenticator: Authenticator, request: AdmissionRequest, bot: LobbyBot | None = None
    ) -> Any:
        return enqueue(authenticator, request, bot and replace(bot, owner=bot.owner or "unknown"))

    return patch_attribute(Authenticator, "enqueue_or_admit_client", enqueue_with_unknown_owner)


DEFECTS = {
    "second-writer": skip_lease_check,
    "lease-renewed-by-name": renew_lease_by_name,
    "deadline-first": handle_deadlines_before_inputs,
    "frame-lost": ignore_lost_frames,
    "end-not-told": skip_results_after_reconnect,
    "session-not-kept": omit_session_changes,
    "answer-forgotten": omit_resent_answers,
    "rated-twice": count_ratings_twice,
    "suspended-paired": pair_suspended_bots,
    "owner-unknown": admit_without_owner,
    "topic-kept": keep_topics_without_followers,
    "quota-not-counted": ignore_quotas,
    "standstill-charged": charge_stalls_to_players,
    "told-before-kept": release_effects_before_commit,
}
"""Function that plants each defect, by the defect's name for `python -m benchmarks.simulation --fault NAME`."""


@contextmanager
def plant_defect(defect_name: str) -> Iterator[None]:
    """Put a defect into the servers' code for the duration of the `with` block.

    defect_name: name in DEFECTS; empty for no defect
    """
    with DEFECTS[defect_name]() if defect_name else nullcontext():
        yield


MAX_TRIED_SEEDS = 30
"""Maximum number of runs, each with another seed, in which `find_failing_seed` looks for the effect of a planted defect."""


def find_failing_seed(defect_name: str, first_seed: int = 1) -> SimulationResult:
    """Plant a defect, and run up to MAX_TRIED_SEEDS consecutive seeds, from `first_seed` on, until one fails.

    Return the failing run. If no run fails, return the last run, whose `failure` is empty.
    """
    with plant_defect(defect_name):
        for seed in range(first_seed, first_seed + MAX_TRIED_SEEDS):
            result = simulate(SimulationPlan(seed, 120, 16))
            if result.failure:
                break
    return result
