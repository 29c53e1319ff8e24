"""The shell: order of inputs, commits, outages of the store, and requested matches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, End, Ping, Pong, Resign, Start, Turn, Welcome
from arena.protocol.record import Record, Result
from arena.server.abuse_counter import AbuseCounter
from arena.server.core.effects import (
    AppendMatchEvent,
    DeleteSession,
    SaveFinishedMatch,
    SaveNewMatch,
    SaveSession,
)
from arena.server.core.inputs import ClientDisconnected, MatchRequested
from arena.server.shell.authenticator import Authenticator
from arena.server.shell.shell import MAX_INPUT_DEFERRAL_SECONDS
from arena.server.store.lease import LeaseLost
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.server.matches import spec
from tests.server.shell.shells import FakeClient, ListEdge, ListStore, running, until
from tests.server.shell.test_authenticator import open_accounts
from tests.virtual import virtual


@asynccontextmanager
async def waiting_for_a_move(
    store: ListStore,
    time_control: str = "2+0",
    *,
    margin: int = 100,
    authenticator: Authenticator | None = None,
) -> AsyncIterator[tuple[ListEdge, FakeClient, FakeClient, asyncio.Task[Record]]]:
    """Yield the edge, two bots that do not move by themselves, and the task of their match, which waits for the first move."""
    async with running(store, authenticator=authenticator) as edge:
        a, b = edge.connect("a"), edge.connect("b")
        a.plays = b.plays = False
        play_task = asyncio.create_task(edge.shell.play_match(spec("a", "b", time_control, margin=margin)))
        await until(lambda: a.all(Turn))
        yield edge, a, b, play_task


@virtual
async def test_players_get_the_end_of_their_match_before_other_parts_handle_it() -> None:
    async with running(ListStore()) as edge:
        a, b = edge.connect("a"), edge.connect("b")
        end_counts: list[int] = []
        edge.shell.add_effect_handler(
            SaveFinishedMatch, lambda _: end_counts.append(len(a.all(End) + b.all(End)))
        )
        await edge.shell.play_match(spec("a", "b"))
        assert end_counts == [2]


@virtual
async def test_no_message_is_sent_before_the_commit() -> None:
    store = ListStore()
    async with running(store) as edge:
        a, _ = edge.connect("a"), edge.connect("b")
        await until(lambda: a.all(Welcome))
        store.gate.clear()
        edge.shell.submit(MatchRequested(spec("a", "b")))
        await anyio.sleep(10)
        assert not a.all(Start)
        store.gate.set()
        await until(lambda: a.all(Start))


@virtual
async def test_inputs_that_arrive_during_a_commit_share_the_next_one() -> None:
    store = ListStore()
    async with running(store) as edge:
        bots = [edge.connect(name) for name in "abcdefgh"]
        await until(lambda: all(each.all(Welcome) for each in bots))
        store.gate.clear()
        edge.shell.submit(MatchRequested(spec("a", "b")))
        await anyio.sleep(1)
        before = len(store.commits)
        for pair in ("cd", "ef", "gh"):
            edge.shell.submit(MatchRequested(spec(*pair)))
        store.gate.set()
        await until(lambda: all(each.all(Start) for each in bots))
        opened = [sum(isinstance(each, SaveNewMatch) for each in commit) for commit in store.commits[before:]]
        assert opened[:2] == [1, 3]


@virtual
async def test_admissions_are_committed_after_the_next_move_or_a_short_delay() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, _, _match):
        before = len(store.commits)
        c = edge.connect("c")
        await anyio.sleep(MAX_INPUT_DEFERRAL_SECONDS / 2)
        a.answer(a.all(Turn)[-1])
        await until(lambda: a.all(Accepted) and c.all(Welcome))
        commits = [[type(effect) for effect in commit] for commit in store.commits[before:]]
        assert commits == [[AppendMatchEvent], [SaveSession]]
        await anyio.sleep(1)  # the matchmaker has checked the new bot
        edge.shell.submit(ClientDisconnected(c.number))
        await anyio.sleep(0.9 * MAX_INPUT_DEFERRAL_SECONDS)
        assert len(store.commits) == before + 2
        await anyio.sleep(0.2 * MAX_INPUT_DEFERRAL_SECONDS)
        assert store.commits[before + 2 :] == [[DeleteSession("c")]]


@virtual
async def test_moves_overtake_deferred_inputs_only_once() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, _match):
        before = len(store.commits)
        b.plays = True
        c = edge.connect("c")
        a.answer(a.all(Turn)[-1])
        await until(lambda: c.all(Welcome) and b.all(Accepted))
        commits = [[type(effect) for effect in commit] for commit in store.commits[before:]]
        assert commits == [[AppendMatchEvent], [SaveSession, AppendMatchEvent]]


@virtual
@pytest.mark.parametrize("resigns_first", [True, False])
async def test_a_move_does_not_overtake_a_resignation_of_its_match(resigns_first: bool) -> None:
    async with waiting_for_a_move(ListStore()) as (_edge, a, b, play_task):
        (turn,) = a.all(Turn)
        if resigns_first:
            b.send(Resign(turn.match))
            a.answer(turn)
        else:
            a.answer(turn)
            b.send(Resign(turn.match))
        record = await play_task
        assert (record.result.winner, record.result.reason) == ("maxie", EndReason.RESIGNATION)
        assert len(record.moves) == (0 if resigns_first else 1)


@virtual
async def test_a_clients_own_move_is_handled_after_its_resignation() -> None:
    async with waiting_for_a_move(ListStore()) as (_edge, a, _, play_task):
        (turn,) = a.all(Turn)
        a.send(Resign(turn.match))
        a.answer(turn)
        assert len((await play_task).moves) == 0


@virtual
async def test_arrived_inputs_are_handled_before_a_deadline() -> None:
    """A move that arrives exactly at the deadline is in time."""
    store = ListStore()
    async with waiting_for_a_move(store, "1+0", margin=0) as (edge, a, _, play_task):
        await anyio.sleep(0.5)
        deadline = edge.shell.core.next_deadline_ns
        assert deadline is not None
        asyncio.get_running_loop().call_at(deadline / 1e9, lambda: a.answer(a.all(Turn)[-1]))
        record = await play_task
        assert record.result.reason is EndReason.TIMEOUT
        assert record.result.winner == "maxie"  # Minnie never answers
        assert [each.ms for each in record.moves] == [1000.0]


@virtual
async def test_a_returning_bot_is_not_charged_for_a_store_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, _ = open_accounts(monkeypatch)
    accounts.gate.set()
    authenticator = Authenticator(
        None,  # type: ignore[arg-type]
        "",
        admits_anyone=True,
        admits_guests=False,
        wrong_token_counter=AbuseCounter(),
        clock=VIRTUAL_CLOCK,
    )
    async with waiting_for_a_move(ListStore(), "1+0", margin=0, authenticator=authenticator) as (
        edge,
        a,
        b,
        play_task,
    ):
        await anyio.sleep(0.5)
        accounts.gate.clear()
        edge.shell.submit(ClientDisconnected(a.number))
        await anyio.sleep(0.25)
        b.plays = True
        edge.connect("a", a.session)
        record = await play_task
        assert record.result.reason is EndReason.LINE
        assert 750.0 <= record.moves[0].ms <= 752.0 + 1000 * MAX_INPUT_DEFERRAL_SECONDS


@virtual
async def test_a_short_outage_of_the_store_stops_the_clocks() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, play_task):
        store.is_away = True
        a.plays = b.plays = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(15)
        assert not a.all(Accepted)
        assert edge.resync_count == 1  # when the edge was attached
        store.is_away = False
        record = await play_task
        assert record.result.reason is EndReason.LINE
        assert edge.resync_count == 1


@virtual
async def test_after_a_long_outage_a_new_core_is_built_from_the_store() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, play_task):
        stored_count = len(store.of(AppendMatchEvent))
        store.is_away = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(600)
        assert len(store.of(AppendMatchEvent)) == stored_count
        store.is_away, a.plays, b.plays = False, True, True
        record = await play_task
        assert record.result.reason is EndReason.LINE
        assert edge.resync_count == 2
        assert len(store.of(SaveFinishedMatch)) == 1


@virtual
@pytest.mark.parametrize("failing_lookups", [0, 2])
async def test_a_requested_match_that_was_not_stored_is_requested_again(failing_lookups: int) -> None:
    store = ListStore()
    async with running(store, event=None) as edge:
        edge.connect("a"), edge.connect("b")
        await anyio.sleep(1)
        store.is_away = True
        play_task = asyncio.create_task(edge.shell.play_match(spec("a", "b")))
        await anyio.sleep(100)
        store.is_away, store.failing_lookups = False, failing_lookups
        record = await play_task
        assert record.result.reason is EndReason.LINE
        assert store.failing_lookups == 0
        assert len(store.of(SaveNewMatch)) == 1


@virtual
async def test_a_draining_shell_waits_for_the_matches_in_progress() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, play_task):
        assert await edge.shell.drain_matches(1.0) == 1
        a.plays = b.plays = True
        a.answer(a.all(Turn)[-1])
        assert await edge.shell.drain_matches(10.0) == 0
        assert (await play_task).result.reason is EndReason.LINE


@virtual
async def test_a_ping_needs_no_commit() -> None:
    store = ListStore()
    async with running(store) as edge:
        a = edge.connect("a")
        await until(lambda: a.all(Welcome))
        before = len(store.commits)
        a.send(Ping())
        await until(lambda: a.all(Pong))
        assert len(store.commits) == before


@virtual
async def test_a_lost_lease_ends_an_idle_shell() -> None:
    store = ListStore()
    with pytest.RaisesGroup(LeaseLost):
        async with running(store):
            store.lease_lost.set()
            await anyio.sleep(1)


@virtual
async def test_a_match_requested_while_there_is_no_core_begins_once() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, play_task):
        store.is_away = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(100)
        second_task = asyncio.create_task(edge.shell.play_match(spec("c", "d")))
        c, d = edge.connect("c"), edge.connect("d")
        await anyio.sleep(1)
        store.is_away, a.plays, b.plays = False, True, True
        await play_task
        assert (await second_task).result.reason is EndReason.LINE
        assert len(c.all(End)) == len(d.all(End)) == 1
        assert len(store.of(SaveNewMatch)) == 2


@virtual
@pytest.mark.parametrize("outage", [False, True])
async def test_a_waiting_match_whose_request_is_cancelled_never_begins(outage: bool) -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, play_task):
        waiting = asyncio.create_task(edge.shell.play_match(spec("a", "c")))
        edge.connect("c")
        await anyio.sleep(1)
        store.is_away = outage
        if outage:
            a.answer(a.all(Turn)[-1])
            await anyio.sleep(100)
        waiting.cancel()
        await anyio.sleep(1)
        store.is_away, a.plays, b.plays = False, True, True
        if not outage:
            a.answer(a.all(Turn)[-1])
        await play_task
        await anyio.sleep(1)
        assert len(store.of(SaveNewMatch)) == 1


def played_elsewhere(terms: MatchTerms) -> Record:
    return terms.make_record("2026-01-01T00:00:00Z", [], Result("maxie", EndReason.RESIGNATION))


@virtual
async def test_a_match_played_elsewhere_is_stored_once_after_an_outage() -> None:
    store = ListStore()
    async with running(store) as edge:
        await anyio.sleep(1)
        store.is_away = True
        terms = spec("a", "b")
        store_task = asyncio.create_task(edge.shell.store_record(terms, played_elsewhere(terms)))
        await anyio.sleep(100)
        assert not store_task.done()
        store.is_away = False
        await store_task
        assert len(store.of(SaveNewMatch)) == len(store.of(SaveFinishedMatch)) == 1
