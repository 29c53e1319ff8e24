import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder import external_bots
from arena.ladder.event_terms import EventTerms
from arena.ladder.external_bots import (
    MAX_AWAY_SECONDS,
    MAX_MATCHES_WITHOUT_MOVE,
    ExternalBot,
    ExternalBots,
    ExternalBotSettings,
    TooFewBots,
    wait_for_bots_of_finished_event,
    wait_for_external_bots,
)
from arena.ladder.runner import MatchRunner
from arena.ladder.threads import ThreadAllocation
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Hello, Standing, Status, Welcome
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.formats import RoundRobinFormat
from arena.rating.schedule import Schedule
from arena.rating.standings import list_losers
from arena.server.host import ArenaServer
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.server.fleets import bot
from tests.server.matches import game_of
from tests.server.peer import dial, enter
from tests.virtual import virtual


def terms(bots: int, wait: float = 60) -> ExternalBotSettings:
    return ExternalBotSettings("127.0.0.1", 0, bots, wait)


@pytest.fixture(autouse=True)
def _set_real_times(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a ladder on a real host begin at once, and wait long for its bots, because the machine may be busy."""
    if "host" in request.fixturenames:
        monkeypatch.setattr(external_bots, "NEW_BOT_WAIT_SECONDS", 0.05)
        monkeypatch.setattr(external_bots, "MAX_AWAY_SECONDS", 60)


class FakeHost:
    """Host for `wait_for_external_bots`, with a set of connected bots instead of connections."""

    def __init__(self, *names: str) -> None:
        self.bot_names = set(names)
        self._changed = asyncio.Event()
        self.shell = self

    def list_available_bot_names(self, _game: str) -> set[str]:
        return set(self.bot_names)

    async def wait_for_next_batch(self) -> None:
        await self._changed.wait()

    def connect(self, *names: str) -> None:
        self.bot_names.update(names)
        self._notify_bot_change()

    def disconnect(self, name: str) -> None:
        self.bot_names.remove(name)
        self._notify_bot_change()

    def _notify_bot_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


async def gathered(host: FakeHost, settings: ExternalBotSettings, names: Sequence[str] = ()) -> ExternalBots:
    return await wait_for_external_bots(host, "tictactoe", settings, names, clock=VIRTUAL_CLOCK)  # type: ignore[arg-type]


async def elapsed(waiting: Awaitable[object]) -> float:
    """Return the virtual time that `waiting` takes, in seconds."""
    began = VIRTUAL_CLOCK.now()
    await waiting
    return VIRTUAL_CLOCK.now() - began


@asynccontextmanager
async def here(host: ArenaServer, *names: str) -> AsyncIterator[AsyncExitStack]:
    """Connect bots for the duration of the block. Closing the yielded stack disconnects them earlier."""
    async with AsyncExitStack() as stack:
        for name in names:
            await stack.enter_async_context(enter(host, name))
        yield stack


async def changed_until_lost(bots: ExternalBots, bot: str) -> None:
    while not bots.has_dropped_out(bot):
        await bots.wait_for_bot_change()


@virtual
async def test_all_connected_bots_play_even_if_they_are_more_than_required() -> None:
    assert (await gathered(FakeHost("c", "a", "b"), terms(2))).bot_names == ["a", "b", "c"]


@virtual
async def test_a_bot_that_connects_while_others_still_do_plays_too() -> None:
    host = FakeHost("a", "b")
    for pause, name in ((4.9, "c"), (9.8, "d"), (14.9, "late")):
        asyncio.get_running_loop().call_later(pause, host.connect, name)
    began = VIRTUAL_CLOCK.now()
    assert (await gathered(host, terms(2))).bot_names == ["a", "b", "c", "d"]
    assert VIRTUAL_CLOCK.now() - began == pytest.approx(14.8)


@virtual
async def test_no_wait_is_longer_than_the_maximum() -> None:
    host = FakeHost("0", "1")
    for second in range(1, 200):
        asyncio.get_running_loop().call_later(second, host.connect, str(second))
    assert await elapsed(gathered(host, terms(2, wait=60))) == pytest.approx(60)


@virtual
async def test_too_few_are_named() -> None:
    host = FakeHost("anna")
    with pytest.raises(TooFewBots, match=r"^1 of 3 bots connected within 60 s: anna$"):
        await gathered(host, terms(3))
    with pytest.raises(TooFewBots, match=r"^0 of 2 bots connected within 0 s: none$"):
        await gathered(FakeHost(), terms(2, wait=0))


async def test_bots_of_another_game_are_not_counted(host: ArenaServer) -> None:
    async with here(host, "a", "b"), dial(host.url) as other:
        await other.say(Hello("c", host.issue_token("c"), games=["riskless"]))
        await other.hear(Welcome)
        assert (await wait_for_external_bots(host, "tictactoe", terms(2))).bot_names == ["a", "b"]
        assert (await wait_for_external_bots(host, "riskless", terms(2))).bot_names == ["a", "b", "c"]


async def test_a_bot_says_how_many_threads_it_searches_with(host: ArenaServer) -> None:
    async with enter(host, "a", engine=EngineInfo("jamboree", {}, 6)), enter(host, "b"):
        bots = await wait_for_external_bots(host, "tictactoe", terms(2))
        assert (bots.get_reported_thread_count("a"), bots.get_reported_thread_count("b")) == (6, 0)


@pytest.mark.parametrize(("bots", "seconds"), [(1, 5), (2, 60)])
@virtual
async def test_the_wait_for_bots_ends_soon_or_without_an_error(bots: int, seconds: float) -> None:
    waiting = wait_for_bots_of_finished_event(FakeHost("a"), "tictactoe", terms(bots))  # type: ignore[arg-type]
    assert await elapsed(waiting) == pytest.approx(seconds)


@virtual
async def test_a_bot_that_is_missing_after_the_wait_does_not_delay_the_others() -> None:
    bots = await gathered(FakeHost("a", "b"), terms(3))
    assert (bots.bot_names, bots.missing_bots_text) == (["a", "b"], "2 of 3 bots connected within 60 s: a, b")


@virtual
async def test_while_bots_are_missing_the_ladder_reports_which_are_connected() -> None:
    host, told = FakeHost("b"), list[tuple[float, str]]()
    began = VIRTUAL_CLOCK.now()
    for second, name in ((40, "a"), (110, "c")):
        asyncio.get_running_loop().call_later(second, host.connect, name)

    def tell(text: str) -> None:
        told.append((round(VIRTUAL_CLOCK.now() - began), text))

    await wait_for_external_bots(host, "tictactoe", terms(3, wait=200), (), tell, VIRTUAL_CLOCK)  # type: ignore[arg-type]
    assert told == [
        (30, "1 of 3 bots connected within 30 s: b; waiting up to 200 s"),
        (70, "2 of 3 bots connected within 70 s: a, b; waiting up to 200 s"),
        (100, "2 of 3 bots connected within 100 s: a, b; waiting up to 200 s"),
    ]


@virtual
async def test_in_a_resumed_event_returned_bots_play_and_the_others_are_away() -> None:
    host = FakeHost("a", "b", "stranger")
    bots = await gathered(host, terms(3), ["a", "b", "c"])
    assert bots.bot_names == ["a", "b", "c"]
    assert bots.missing_bots_text == "these bots of the event did not connect within 60 s: c"
    assert [bots.reserve_connection(name) for name in bots.bot_names] == ["a", "b", None]
    async with bots.open_connection_tracking():
        assert await elapsed(changed_until_lost(bots, "c")) == pytest.approx(30, abs=1.1)


@virtual
async def test_bots_of_the_event_that_stay_away_are_named_with_the_way_on() -> None:
    with pytest.raises(
        TooFewBots, match=r"^these bots of the event did not connect within 60 s: b; connect them"
    ):
        await gathered(FakeHost("a"), terms(2), ["a", "b"])


async def test_a_bot_plays_one_match_at_a_time(host: ArenaServer) -> None:
    async with here(host, "a", "b"):
        bots = await wait_for_external_bots(host, "tictactoe", terms(2))
        assert bots.reserve_connection("a") == "a"
        assert bots.reserve_connection("a") is None
        assert bots.reserve_connection("b") == "b"
        bots.release_connection("a")
        assert bots.reserve_connection("a") == "a"
        bots.finish_match("a", "a", made_move=True)
        assert bots.reserve_connection("a") == "a"


async def test_a_bot_without_moves_is_lost_but_not_one_that_moves_in_between(host: ArenaServer) -> None:
    async with here(host, "a", "b"):
        bots = await wait_for_external_bots(host, "tictactoe", terms(2))
        for answered in (False, True, False, None):
            assert bots.reserve_connection("a") == "a"
            bots.finish_match("a", "a", made_move=answered)
            assert not bots.has_dropped_out("a")
        bots.reserve_connection("a")
        bots.finish_match("a", "a", made_move=False)
        assert bots.has_dropped_out("a")
        assert bots.reserve_connection("a") is None


@virtual
async def test_a_bot_that_stays_away_is_lost_and_the_others_are_not() -> None:
    host = FakeHost("a", "b")
    bots = await gathered(host, terms(2))
    async with bots.open_connection_tracking():
        await VIRTUAL_CLOCK.sleep(1)
        host.disconnect("b")
        assert 30 < await elapsed(changed_until_lost(bots, "b")) < 32
        assert bots.reserve_connection("b") is None
        assert not bots.has_dropped_out("a")


@virtual
async def test_a_bot_that_reconnects_in_time_continues() -> None:
    host = FakeHost("a", "b")
    bots = await gathered(host, terms(2))
    async with bots.open_connection_tracking():
        for _ in range(3):
            await VIRTUAL_CLOCK.sleep(1)
            host.disconnect("b")
            await VIRTUAL_CLOCK.sleep(1)
            assert bots.reserve_connection("b") is None
            await VIRTUAL_CLOCK.sleep(28)
            host.connect("b")
            await VIRTUAL_CLOCK.sleep(0.1)
            assert bots.reserve_connection("b") == "b"
            bots.release_connection("b")


async def test_a_bot_that_takes_no_more_matches_forfeits_the_rest(
    host: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_bots, "MAX_AWAY_SECONDS", 0)
    records: list[Record] = []
    async with enter(host, "a"), enter(host, "b") as b:
        bots = await wait_for_external_bots(host, "tictactoe", terms(2))
        await b.say(Status(quota=0))
        await b.hear(Standing)
        async with bots.open_connection_tracking():
            runner = MatchRunner(
                host.shell,
                bots,
                EventTerms(
                    "test", (game_of(),), TimeControl(120_000), margin_ms=100, ready_timeout_ms=120_000
                ),
                ThreadAllocation([bot("a"), bot("b")], core_count=2),
                lambda _pairing, record: records.append(record),
            )
            schedule = Schedule("1", RoundRobinFormat(["a", "b"], 1, 1, 0))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(runner.run, schedule)
                while schedule:
                    await b.say(Status())
                    await b.hear(Standing)
    assert {record.result.reason for record in records} == {EndReason.NO_SHOW}
    assert [list_losers(record) for record in records] == [("b",), ("b",)]


@given(st.lists(st.booleans()))
def test_only_silent_matches_in_a_row_lose_a_bot(answered: list[bool]) -> None:
    known = ExternalBot()
    for each in answered:
        known.record_match(made_move=each)
    marks = "".join("x" if each else "s" for each in answered)
    assert known.has_dropped_out == ("s" * MAX_MATCHES_WITHOUT_MOVE in marks)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans())))
def test_only_a_bot_that_is_away_for_long_without_a_break_is_lost(looks: list[tuple[int, bool]]) -> None:
    known, now, away = ExternalBot(), 0, 0
    before: bool | None = None
    expected = False
    for seconds, here in looks:
        now += seconds
        away = away + seconds if before is False and not here else 0
        expected = expected or away > MAX_AWAY_SECONDS
        known.record_presence(now, is_present=here)
        before = here
        assert known.has_dropped_out == expected
        assert known.can_start_match == (here and not expected)
