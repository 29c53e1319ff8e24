from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import anyio
import msgspec
import pytest

from arena.ladder import event_terms
from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.bot_processes import open_bot_processes
from arena.ladder.event_terms import EventTerms
from arena.ladder.plan import BotPlan
from arena.ladder.runner import MatchRunner
from arena.ladder.threads import ThreadAllocation
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.formats import RoundRobinFormat
from arena.rating.pairing import Pairing
from arena.rating.schedule import Schedule
from arena.rating.standings import list_losers
from arena.server.host import ArenaServer
from tests.rating.pairs import make_round_robin
from tests.server.fleets import QUICK, ROOT, bot
from tests.server.matches import game_of


@dataclass
class RecordingHost:
    """Host that records the matches which it plays, and how many at the same time."""

    host: ArenaServer
    playing: list[MatchTerms] = field(default_factory=list)
    most: int = 0
    terms: list[MatchTerms] = field(default_factory=list)

    async def play_match(self, given: MatchTerms) -> Record:
        busy = {name for each in self.playing for name in msgspec.structs.astuple(each.players)}
        assert not busy & set(msgspec.structs.astuple(given.players)), "a process plays one match at a time"
        self.playing.append(given)
        self.terms.append(given)
        self.most = max(self.most, len(self.playing))
        try:
            return await self.host.shell.play_match(given)
        finally:
            self.playing.remove(given)

    async def store_record(self, given: MatchTerms, record: Record) -> None:
        await self.host.shell.store_record(given, record)


class StuckHost(RecordingHost):
    """Host whose matches never end."""

    async def play_match(self, given: MatchTerms) -> Record:
        self.terms.append(given)
        await anyio.sleep_forever()
        raise AssertionError


TERMS = EventTerms("test", (game_of(),), TimeControl(120_000), margin_ms=100, ready_timeout_ms=120_000)


async def run(
    host: ArenaServer | RecordingHost,
    bots: Sequence[BotPlan],
    *,
    rounds: int = 1,
    process_count: int = 1,
    concurrency: int = 2,
    terms: EventTerms = TERMS,
) -> tuple[list[tuple[Pairing, Record]], list[str]]:
    """Play a round-robin of these bots. Return its matches, and the notices about the bots."""
    matches: list[tuple[Pairing, Record]] = []
    noticed: list[str] = []
    pairs = make_round_robin([each.name for each in bots], rounds, len(terms.games_by_start_position), 0)
    refused = None
    server, played_by = (host.host, host) if isinstance(host, RecordingHost) else (host, host.shell)
    async with open_bot_processes(
        server,
        bots,
        count_processes=lambda _bot: process_count,
        folder=ROOT,
        restart_policy=QUICK,
        on_notice=noticed.append,
    ) as fleet:
        try:
            with anyio.fail_after(500):
                await fleet.wait_until_connected()
                threads = ThreadAllocation(bots, core_count=2, fixed_concurrency=concurrency)
                runner = MatchRunner(played_by, fleet, terms, threads, lambda *each: matches.append(each))
                await runner.run(
                    Schedule(
                        "1",
                        RoundRobinFormat(
                            [each.name for each in bots], rounds, len(terms.games_by_start_position), 0
                        ),
                    )
                )
        except BotNotStarted as error:
            refused = error
    if refused:
        raise refused
    assert Counter(pairing for pairing, _ in matches) == Counter(
        each for pair in pairs for each in pair.make_pairings()
    )
    for pairing, record in matches:
        assert (record.players.maxie, record.players.minnie) == (pairing.maxie, pairing.minnie)
    assert len({record.match for _, record in matches}) == len(matches)
    return matches, noticed


async def test_every_match_is_played_once_and_some_at_once(host: ArenaServer) -> None:
    watched = RecordingHost(host)
    played, noticed = await run(watched, [bot("a"), bot("b"), bot("c"), bot("d")], rounds=2, concurrency=2)
    assert watched.most == 2
    assert not noticed
    assert {record.result.reason for _, record in played} == {EndReason.LINE}


async def test_several_processes_let_two_bots_play_several_matches(host: ArenaServer) -> None:
    watched = RecordingHost(host)
    played, noticed = await run(watched, [bot("a"), bot("b")], rounds=3, process_count=2, concurrency=2)
    assert watched.most == 2
    assert {name for each in watched.terms for name in msgspec.structs.astuple(each.players)} == {
        "a",
        "a#2",
        "b",
        "b#2",
    }
    assert not noticed
    assert {record.players.maxie for _, record in played} == {"a", "b"}


async def test_each_pair_has_its_start(host: ArenaServer) -> None:
    watched = RecordingHost(host)
    terms = EventTerms("test", (game_of(), game_of()), TimeControl(120_000), 100, 120_000)
    played, _ = await run(watched, [bot("a"), bot("b")], terms=terms)
    by_id = {each.match: each for each in watched.terms}
    for pairing, record in played:
        assert by_id[record.match].game is terms.games_by_start_position[pairing.pair.start_position_index]
    assert Counter(pairing.pair.start_position_index for pairing, _ in played) == {0: 2, 1: 2}


async def test_a_crash_costs_one_match(host: ArenaServer, tmp_path: Path) -> None:
    played, noticed = await run(host, [bot("a"), bot("b", "crash-once", tmp_path / "once")], rounds=2)
    reasons = Counter(record.result.reason for _, record in played)
    assert reasons == {EndReason.CRASH: 1, EndReason.LINE: 3}
    [lost] = [record for _, record in played if record.result.reason is EndReason.CRASH]
    assert list_losers(lost) == ("b",)
    [notice] = noticed
    assert notice.startswith("bot b ended unexpectedly (exit code 1); it is started again\n")
    assert notice.endswith("\n    RuntimeError: a bug in the bot")


async def test_a_frozen_bot_is_replaced(host: ArenaServer, tmp_path: Path) -> None:
    # With a wide margin, no delay of a busy machine makes a loss on time void.
    terms = EventTerms("test", (game_of(),), TimeControl(400, per_move=True), 10_000, ready_timeout_ms=10_000)
    bots = [bot("a"), bot("b", "freeze-once", tmp_path / "once")]
    played, noticed = await run(host, bots, rounds=2, terms=terms)
    reasons = Counter(record.result.reason for _, record in played)
    # The bot froze in one match. If it had already moved in this match, it counts as hung only after one more.
    forfeits = reasons[EndReason.TIMEOUT] + reasons[EndReason.NO_SHOW]
    assert reasons[EndReason.TIMEOUT] == 1
    assert forfeits <= 2
    assert reasons[EndReason.LINE] == 4 - forfeits
    assert len(noticed) == 1
    assert noticed[0].startswith("bot b hung: it did not answer in 1 matches in a row; it is started again")


async def test_absent_bots_lose_their_matches(host: ArenaServer) -> None:
    bots = [bot("x", "crash"), bot("y", "crash"), bot("a"), bot("b")]
    played, noticed = await run(host, bots)
    for pairing, record in played:
        absent = {pairing.maxie, pairing.minnie} & {"x", "y"}
        assert set(list_losers(record)) == absent or not absent
        assert record.result.reason is (EndReason.NO_SHOW if absent else EndReason.LINE)
        if absent:
            assert record.result.detail.endswith(" did not connect in time, or took no more matches")
            assert all(name in record.result.detail for name in absent)
    assert sum("it is lost, and so are its matches" in notice for notice in noticed) == 2


async def test_a_host_that_fails_ends_no_wait(host: ArenaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_terms, "MATCH_TIME_LIMIT_MARGIN_SECONDS", 0.05)
    terms = EventTerms("test", (game_of(),), TimeControl(1), 0, 0)
    stuck = StuckHost(host)
    # Each match takes a day and is tried three times. The record has the time at which the last try began.
    clock = SimpleNamespace(now=lambda zone: datetime(2026, 1, 1 + len(stuck.terms), tzinfo=zone))
    monkeypatch.setattr(event_terms, "datetime", clock)
    played, noticed = await run(stuck, [bot("a"), bot("b")], terms=terms)
    assert [record.started for _, record in played] == ["2026-01-03T00:00:00Z", "2026-01-06T00:00:00Z"]
    assert [record.result.reason for _, record in played] == [EndReason.SERVER_FAULT] * 2
    assert all(list_losers(record) == () for _, record in played)
    assert not noticed
