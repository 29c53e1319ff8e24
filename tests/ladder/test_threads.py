"""Threads of the bots of an event: for any number of cores, by the ladder file, and in play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.event_terms import EventTerms
from arena.ladder.ladder import Ladder
from arena.ladder.plan import BotPlan, LadderPlan, make_engine_bot_plan
from arena.ladder.plan_file import read_ladder_file
from arena.ladder.runner import MAX_STARTS_AHEAD_OF_DELAYED_MATCH, MatchRunner
from arena.ladder.threads import ThreadAllocation
from arena.match.terms import MatchTerms, SearchThreadLimits
from arena.protocol.engines import EngineInfo
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from tests.server.matches import game_of
from tests.server.matches import record as finished

FILE = """
rounds = 3
[[bots]]
engine = "jamboree"
[[bots]]
engine = "alphabeta:depth=4"
[[bots]]
engine = "minimax"
[[bots]]
engine = "jamboree:threads=4"
name = "four"
[[bots]]
engine = "jamboree"
name = "three"
threads = 3
"""

ReportedThreads = Mapping[str, int]


@dataclass
class FakeBotConnectionPool:
    """Pool of bots whose processes are connected from the start."""

    counts: Mapping[str, int]
    reported: ReportedThreads = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    freed: anyio.Event = field(default_factory=anyio.Event)

    def reserve_connection(self, bot: str) -> str | None:
        names = [bot, *(f"{bot}#{number}" for number in range(2, self.counts[bot] + 1))]
        free = next((name for name in names if name not in self.taken), None)
        if free is not None:
            self.taken.add(free)
        return free

    def release_connection(self, connection: str) -> None:
        self.taken.discard(connection)

    def finish_match(
        self, bot: str, connection: str, *, made_move: bool | None, loss_cause: str = ""
    ) -> None:
        self.release_connection(connection)
        self.freed.set()
        self.freed = anyio.Event()

    def get_reported_thread_count(self, bot: str) -> int:
        return self.reported.get(bot, 0)

    def has_dropped_out(self, bot: str) -> bool:
        return False

    async def wait_for_bot_change(self) -> None:
        await self.freed.wait()

    def raise_if_bot_not_started(self) -> None:
        """Do nothing, because nothing is started."""


@dataclass
class FakeHost:
    """Host that plays each match in a few steps of the event loop, and records which matches are in play together."""

    playing: list[MatchTerms] = field(default_factory=list)
    begun: list[MatchTerms] = field(default_factory=list)
    together: list[list[MatchTerms]] = field(default_factory=list)

    async def play_match(self, terms: MatchTerms) -> Record:
        self.playing.append(terms)
        self.begun.append(terms)
        self.together.append(list(self.playing))
        for _ in range(5 + len(self.begun) % 3):
            await anyio.lowlevel.checkpoint()
        self.playing.remove(terms)
        return finished(terms.match, maxie=terms.players.maxie, minnie=terms.players.minnie)

    async def store_record(self, terms: MatchTerms, record: Record) -> None:
        raise AssertionError("no match is without its bots")


async def play(ladder: Ladder, reported: ReportedThreads | None = None) -> FakeHost:
    """Play a ladder with the real runner on fake bots and a fake host, and return the host."""
    threads = ladder.thread_allocation
    bots = FakeBotConnectionPool(
        {bot.name: threads.count_processes(bot) for bot in ladder.plan.bots}, reported or {}
    )
    table = FakeHost()
    terms = EventTerms("test", ladder.games_by_start_position, TimeControl(5000), 100, 5000)
    runner = MatchRunner(table, bots, terms, threads, ladder.add_match)
    assert ladder.schedule is not None
    with anyio.fail_after(500):
        await runner.run(ladder.schedule)
    return table


def ladder_of(plan: LadderPlan, cores: int) -> Ladder:
    return Ladder(plan, [game_of()], usable_cores=range(cores))


async def test_a_ladder_file_on_a_machine_with_16_cores(tmp_path: Path) -> None:
    path = tmp_path / "ladder.toml"
    path.write_text(FILE)
    ladder = ladder_of(read_ladder_file(path), 16)
    assert ladder.concurrency == 16
    assert ladder.thread_allocation.max_threads_per_match == 8
    counts = {bot.name: ladder.thread_allocation.count_processes(bot) for bot in ladder.plan.bots}
    assert counts == {"jamboree": 2, "alphabeta:depth=4": 7, "minimax": 7, "four": 4, "three": 5}
    table = await play(ladder)
    assert len(table.begun) == 60
    asked = {"jamboree": 8, "alphabeta:depth=4": 1, "minimax": 1, "four": 4, "three": 3}
    for terms in table.begun:
        names = [name.partition("#")[0] for name in (terms.players.maxie, terms.players.minnie)]
        most = max(asked[name] for name in names)
        # A bot with `threads` in the file gets this number. The other bots get the threads of the match.
        allowed = [{"four": 4, "three": 3}.get(name, most) for name in names]
        assert terms.thread_limits == SearchThreadLimits(*allowed)
        # Then each bot gets the number of threads that it reports.
        infos = [EngineInfo(name, {}, asked[name]) for name in names]
        given = terms.with_engines(*infos)
        assert [given.get_max_search_threads("maxie"), given.get_max_search_threads("minnie")] == [
            asked[name] for name in names
        ]
    weights = [
        sum(max(each.thread_limits.maxie or 0, each.thread_limits.minnie or 0) for each in some)
        for some in table.together
    ]
    assert max(weights) == 16
    assert sum(len(some) >= 2 for some in table.together) > 30


def names(count: int) -> Sequence[str]:
    return [f"bot-{number}" for number in range(count)]


@given(
    cores=st.integers(1, 24),
    asked=st.lists(st.integers(0, 12), min_size=2, max_size=5),
    by_hand=st.just(0) | st.integers(1, 6),
)
async def test_running_matches_never_need_more_cores_than_there_are(
    cores: int, asked: list[int], by_hand: int
) -> None:
    bots = tuple(
        BotPlan(name, "jamboree", thread_count=n) for name, n in zip(names(len(asked)), asked, strict=True)
    )
    ladder = ladder_of(LadderPlan(bots, rounds=2, concurrency=by_hand), cores)
    table = await play(ladder)
    assert len(ladder.played_matches) == ladder.total_matches
    for some in table.together:
        if by_hand:
            assert len(some) <= by_hand
        else:
            assert len(some) == 1 or sum(each.search_threads_needed for each in some) <= cores
    for terms in table.begun:
        for seat, name in (("maxie", terms.players.maxie), ("minnie", terms.players.minnie)):
            told = next(bot.thread_count for bot in bots if bot.name == name.partition("#")[0])
            assert getattr(terms.thread_limits, seat) == (told or getattr(terms.thread_limits, seat)) >= 1


async def test_a_heavy_match_is_not_overtaken_for_ever() -> None:
    bots = (
        *(make_engine_bot_plan(name) for name in ("random", "greedy", "minimax", "alphabeta")),
        make_engine_bot_plan("jamboree"),
    )
    ladder = ladder_of(LadderPlan(bots, rounds=10), 2)
    table = await play(ladder)
    heavy = [number for number, terms in enumerate(table.begun) if terms.search_threads_needed == 2]
    assert len(heavy) == 80
    assert heavy[0] <= 2 * MAX_STARTS_AHEAD_OF_DELAYED_MATCH
    gaps = [after - before for before, after in pairwise(heavy)]
    assert max(gaps) <= 2 * MAX_STARTS_AHEAD_OF_DELAYED_MATCH


async def test_a_programs_own_threads_count_if_the_plan_has_none() -> None:
    bots = (
        BotPlan("mine", None, ("mine",)),
        BotPlan("other", None, ("other",)),
        make_engine_bot_plan("random"),
    )
    ladder = ladder_of(LadderPlan(bots, rounds=2), 4)
    table = await play(ladder, {"mine": 4})
    for terms in table.begun:
        with_mine = "mine" in (terms.players.maxie, terms.players.minnie)
        assert terms.search_threads_needed == (4 if with_mine else 1)
    for some in table.together:
        assert len(some) == 1 or all(terms.search_threads_needed == 1 for terms in some)


@pytest.mark.parametrize(
    ("engines", "cores", "matches", "expected"),
    [
        (("jamboree", "alphabeta"), 2, 20, (1, 2, [1, 1])),
        (("jamboree", "alphabeta"), 1, 20, (1, 1, [1, 1])),
        (("jamboree", "alphabeta"), 16, 2, (2, 8, [2, 2])),
        (("alphabeta", "minimax"), 16, 4, (4, 1, [4, 4])),
        (("greedy", "random"), 2, None, (2, 1, [2, 2])),
    ],
)
def test_number_of_parallel_matches_of_two_engines(
    engines: tuple[str, ...], cores: int, matches: int | None, expected: tuple[int, int, list[int]]
) -> None:
    bots = [make_engine_bot_plan(engine) for engine in engines]
    threads = ThreadAllocation(bots, cores, total_matches=matches)
    assert (
        threads.concurrency,
        threads.max_threads_per_match,
        list(map(threads.count_processes, bots)),
    ) == expected


def test_left_over_cores_go_to_engines_that_use_them() -> None:
    bots = [make_engine_bot_plan("one.py"), make_engine_bot_plan("two.py")]
    few = ThreadAllocation(bots, 16, total_matches=2)
    assert few.make_thread_limits("one", "two") == SearchThreadLimits(8, 8)
    by_hand = ThreadAllocation(
        [make_engine_bot_plan("jamboree"), make_engine_bot_plan("alphabeta")], 16, fixed_concurrency=4
    )
    assert by_hand.make_thread_limits("jamboree", "alphabeta") == SearchThreadLimits(4, 4)


def test_bots_of_other_machines_get_no_thread_limit() -> None:
    reported = {"far": 32, "near": 1}.__getitem__
    threads = ThreadAllocation(
        [BotPlan("far"), BotPlan("near")], 2, are_bots_local=False, get_reported_thread_count=reported
    )
    assert threads.make_thread_limits("far", "near") == SearchThreadLimits()
    assert threads.compute_match_load("far", "near") == 32
