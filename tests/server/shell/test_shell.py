"""The shell: one way in, one commit for many inputs, nothing told that is not durable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from arena.match.terms import Terms
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, End, Ping, Pong, Resign, Start, Turn, Welcome
from arena.protocol.record import Record, Result
from arena.server.core.effects import (
    AppendEvent,
    CloseMatch,
    DeleteSession,
    OpenMatch,
    SaveSession,
)
from arena.server.core.inputs import ClientDisconnected, MatchRequested
from arena.server.failed_logins import FailedLogins
from arena.server.shell.authenticator import Authenticator
from arena.server.shell.shell import MAX_DEFERRAL_SECONDS
from arena.server.store.lease import LeaseLost
from testkit.virtual_time import CLOCK
from tests.server.matches import spec
from tests.server.shell.shells import FakeClient, ListEdge, ListStore, running, until
from tests.server.shell.test_authenticator import open_accounts
from tests.virtual import virtual


@asynccontextmanager
async def waiting_for_a_move(
    store: ListStore, time_control: str = "2+0", *, margin: int = 100, door: Authenticator | None = None
) -> AsyncIterator[tuple[ListEdge, FakeClient, FakeClient, asyncio.Task[Record]]]:
    """Yield a shell with a match of two bots that do not move by themselves, on the first turn."""
    async with running(store, door=door) as edge:
        a, b = edge.connect("a"), edge.connect("b")
        a.plays = b.plays = False
        asking = asyncio.create_task(edge.shell.play_match(spec("a", "b", time_control, margin=margin)))
        await until(lambda: a.all(Turn))
        yield edge, a, b, asking


@virtual
async def test_players_are_told_before_the_server_handles_the_end_of_their_match() -> None:
    async with running(ListStore()) as edge:
        a, b = edge.connect("a"), edge.connect("b")
        told: list[int] = []
        edge.shell.add_effect_handler(CloseMatch, lambda _: told.append(len(a.all(End) + b.all(End))))
        await edge.shell.play_match(spec("a", "b"))
        assert told == [2]


@virtual
async def test_nobody_is_told_before_it_is_durable() -> None:
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
async def test_inputs_of_one_commit_share_the_next() -> None:
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
        opened = [sum(isinstance(each, OpenMatch) for each in commit) for commit in store.commits[before:]]
        assert opened[:2] == [1, 3]


@virtual
async def test_bots_that_come_and_go_are_stored_right_after_the_next_move_or_soon() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, _, _match):
        before = len(store.commits)
        c = edge.connect("c")
        await anyio.sleep(MAX_DEFERRAL_SECONDS / 2)
        a.answer(a.all(Turn)[-1])
        await until(lambda: a.all(Accepted) and c.all(Welcome))
        commits = [[type(effect) for effect in commit] for commit in store.commits[before:]]
        assert commits == [[AppendEvent], [SaveSession]]
        await anyio.sleep(1)  # the matchmaker has looked at the newcomer
        edge.shell.submit(ClientDisconnected(c.number))
        await anyio.sleep(0.9 * MAX_DEFERRAL_SECONDS)
        assert len(store.commits) == before + 2
        await anyio.sleep(0.2 * MAX_DEFERRAL_SECONDS)
        assert store.commits[before + 2 :] == [[DeleteSession("c")]]


@virtual
async def test_moves_overtake_what_is_deferred_only_once() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, _match):
        before = len(store.commits)
        b.plays = True
        c = edge.connect("c")
        a.answer(a.all(Turn)[-1])
        await until(lambda: c.all(Welcome) and b.all(Accepted))
        commits = [[type(effect) for effect in commit] for commit in store.commits[before:]]
        assert commits == [[AppendEvent], [SaveSession, AppendEvent]]


@virtual
@pytest.mark.parametrize("resigns_first", [True, False])
async def test_a_move_does_not_overtake_a_resignation_of_its_match(resigns_first: bool) -> None:
    async with waiting_for_a_move(ListStore()) as (_edge, a, b, asking):
        (turn,) = a.all(Turn)
        if resigns_first:
            b.say(Resign(turn.match))
            a.answer(turn)
        else:
            a.answer(turn)
            b.say(Resign(turn.match))
        record = await asking
        assert (record.result.winner, record.result.reason) == ("maxie", EndReason.RESIGNATION)
        assert len(record.moves) == (0 if resigns_first else 1)


@virtual
async def test_a_clients_own_move_is_handled_after_its_resignation() -> None:
    async with waiting_for_a_move(ListStore()) as (_edge, a, _, asking):
        (turn,) = a.all(Turn)
        a.say(Resign(turn.match))
        a.answer(turn)
        assert len((await asking).moves) == 0


@virtual
async def test_arrived_inputs_are_handled_before_a_deadline() -> None:
    """A move that arrives exactly at the deadline is in time."""
    store = ListStore()
    async with waiting_for_a_move(store, "1+0", margin=0) as (edge, a, _, asking):
        await anyio.sleep(0.5)
        deadline = edge.shell.core.next_deadline
        assert deadline is not None
        asyncio.get_running_loop().call_at(deadline / 1e9, lambda: a.answer(a.all(Turn)[-1]))
        record = await asking
        assert record.result.reason is EndReason.TIMEOUT
        assert record.result.winner == "maxie"  # Minnie never answers
        assert [each.ms for each in record.moves] == [1000.0]


@virtual
async def test_a_bot_that_returns_while_the_store_cannot_be_read_pays_only_for_its_absence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, _ = open_accounts(monkeypatch)
    accounts.gate.set()
    door = Authenticator(
        None,  # type: ignore[arg-type]
        "",
        admits_anyone=True,
        admits_guests=False,
        failed_logins=FailedLogins(),
        clock=CLOCK,
    )
    async with waiting_for_a_move(ListStore(), "1+0", margin=0, door=door) as (edge, a, b, asking):
        await anyio.sleep(0.5)
        accounts.gate.clear()
        edge.shell.submit(ClientDisconnected(a.number))
        await anyio.sleep(0.25)
        b.plays = True
        edge.connect("a", a.session)
        record = await asking
        assert record.result.reason is EndReason.LINE
        assert 750.0 <= record.moves[0].ms <= 752.0 + 1000 * MAX_DEFERRAL_SECONDS


@virtual
async def test_a_store_that_is_away_for_a_while_stops_the_clocks() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, asking):
        store.is_away = True
        a.plays = b.plays = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(15)
        assert not a.all(Accepted)
        assert edge.resyncs == 1  # of the beginning
        store.is_away = False
        record = await asking
        assert record.result.reason is EndReason.LINE
        assert edge.resyncs == 1


@virtual
async def test_a_core_that_ran_ahead_is_built_anew_from_the_store() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, asking):
        kept = len(store.of(AppendEvent))
        store.is_away = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(600)
        assert len(store.of(AppendEvent)) == kept
        store.is_away, a.plays, b.plays = False, True, True
        record = await asking
        assert record.result.reason is EndReason.LINE
        assert edge.resyncs == 2
        assert len(store.of(CloseMatch)) == 1


@virtual
async def test_a_match_that_never_got_into_the_store_is_asked_for_again() -> None:
    store = ListStore()
    async with running(store, event=None) as edge:
        edge.connect("a"), edge.connect("b")
        await anyio.sleep(1)
        store.is_away = True
        asking = asyncio.create_task(edge.shell.play_match(spec("a", "b")))
        await anyio.sleep(100)
        store.is_away = False
        record = await asking
        assert record.result.reason is EndReason.LINE


@virtual
async def test_a_draining_shell_waits_for_the_rest() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, asking):
        assert await edge.shell.drain(1.0) == 1
        a.plays = b.plays = True
        a.answer(a.all(Turn)[-1])
        assert await edge.shell.drain(10.0) == 0
        assert (await asking).result.reason is EndReason.LINE


@virtual
async def test_a_ping_needs_no_commit() -> None:
    store = ListStore()
    async with running(store) as edge:
        a = edge.connect("a")
        await until(lambda: a.all(Welcome))
        before = len(store.commits)
        a.say(Ping())
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
async def test_a_match_asked_for_while_there_is_no_core_begins_once() -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, asking):
        store.is_away = True
        a.answer(a.all(Turn)[-1])
        await anyio.sleep(100)
        another = asyncio.create_task(edge.shell.play_match(spec("c", "d")))
        c, d = edge.connect("c"), edge.connect("d")
        await anyio.sleep(1)
        store.is_away, a.plays, b.plays = False, True, True
        await asking
        assert (await another).result.reason is EndReason.LINE
        assert len(c.all(End)) == len(d.all(End)) == 1
        assert len(store.of(OpenMatch)) == 2


@virtual
@pytest.mark.parametrize("outage", [False, True])
async def test_a_match_that_its_caller_gives_up_while_it_waits_never_begins(outage: bool) -> None:
    store = ListStore()
    async with waiting_for_a_move(store) as (edge, a, b, asking):
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
        await asking
        await anyio.sleep(1)
        assert len(store.of(OpenMatch)) == 1


def played_elsewhere(terms: Terms) -> Record:
    return terms.make_record("2026-01-01T00:00:00Z", [], Result("maxie", EndReason.RESIGNATION))


@virtual
async def test_a_match_played_elsewhere_is_kept_although_the_core_was_dropped() -> None:
    store = ListStore()
    async with running(store) as edge:
        await anyio.sleep(1)
        store.is_away = True
        terms = spec("a", "b")
        keeping = asyncio.create_task(edge.shell.store_match(terms, played_elsewhere(terms)))
        await anyio.sleep(100)
        assert not keeping.done()
        store.is_away = False
        await keeping
        assert len(store.of(OpenMatch)) == len(store.of(CloseMatch)) == 1
