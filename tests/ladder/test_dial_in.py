import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.dial_in import DialIn, DialInBot, DialInBots, TooFewBots, await_in_vain, gather
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Hello, Welcome
from arena.server.host import Host
from tests.server.peer import dial, enter


def terms(bots: int, wait: float = 5, settle: float = 0.05, away: float = 0.2) -> DialIn:
    return DialIn("127.0.0.1", 0, bots, wait, settle, away)


@asynccontextmanager
async def here(host: Host, *names: str) -> AsyncIterator[AsyncExitStack]:
    """Bots that are connected; closing the stack sends them away."""
    async with AsyncExitStack() as stack:
        for name in names:
            await stack.enter_async_context(enter(host, name))
        yield stack


async def changed_until_lost(bots: DialInBots, bot: str) -> None:
    with anyio.fail_after(10):
        while not bots.lost(bot):
            await bots.changed()


async def test_whoever_is_there_plays_and_more_than_were_waited_for(host: Host) -> None:
    async with here(host, "c", "a", "b"):
        assert (await gather(host, "tictactoe", terms(2))).names == ["a", "b", "c"]


async def test_who_comes_while_others_still_come_plays_too(host: Host) -> None:
    async with here(host, "a", "b") as more:
        gathering = asyncio.create_task(gather(host, "tictactoe", terms(2, settle=0.5)))
        for name in ("c", "d"):
            await asyncio.sleep(0.2)
            assert not gathering.done()
            await more.enter_async_context(enter(host, name))
        assert (await gathering).names == ["a", "b", "c", "d"]


async def test_too_few_are_named(host: Host) -> None:
    async with here(host, "anna"):
        with pytest.raises(TooFewBots, match=r"^1 of 2 bots came within 0\.1 s: anna$"):
            await gather(host, "tictactoe", terms(2, wait=0.1))
    with pytest.raises(TooFewBots, match=r"^0 of 2 bots came within 0 s: none$"):
        await gather(host, "tictactoe", terms(2, wait=0))


async def test_bots_of_another_game_are_not_counted(host: Host) -> None:
    async with here(host, "a", "b"), dial(host.url) as other:
        await other.say(Hello("c", host.issue_token("c"), games=["riskless"]))
        await other.hear(Welcome)
        assert (await gather(host, "tictactoe", terms(2))).names == ["a", "b"]
        assert (await gather(host, "riskless", terms(2))).names == ["a", "b", "c"]


async def test_a_bot_says_how_many_threads_it_searches_with(host: Host) -> None:
    async with enter(host, "a", engine=EngineInfo("jamboree", {}, 6)), enter(host, "b"):
        bots = await gather(host, "tictactoe", terms(2))
        assert (bots.asks("a"), bots.asks("b")) == (6, 0)


@pytest.mark.parametrize(("bots", "wait"), [(1, 60), (2, 0.1)])
async def test_who_is_awaited_in_vain_is_still_let_in(host: Host, bots: int, wait: float) -> None:
    """With enough bots the wait ends soon, and with too few of them it ends without an error."""
    async with here(host, "a"):
        with anyio.fail_after(20):
            await await_in_vain(host, "tictactoe", terms(bots, wait))
        assert [member.name for member in host.lobby.players_of("tictactoe")] == ["a"]


async def test_bots_of_the_event_that_stay_away_are_named_with_the_way_on(host: Host) -> None:
    async with here(host, "a"):
        with pytest.raises(
            TooFewBots, match=r"^of the event's bots b did not come within 0\.1 s: let them come"
        ):
            await gather(host, "tictactoe", terms(2, wait=0.1), ["a", "b"])


async def test_a_bot_plays_one_match_at_a_time(host: Host) -> None:
    async with here(host, "a", "b"):
        bots = await gather(host, "tictactoe", terms(2))
        assert bots.take("a") == "a"
        assert bots.take("a") is None
        assert bots.take("b") == "b"
        bots.release("a")
        assert bots.take("a") == "a"
        bots.give_back("a", "a", answered=True)
        assert bots.take("a") == "a"


async def test_a_bot_that_answers_nothing_is_lost_but_not_one_that_does_in_between(host: Host) -> None:
    async with here(host, "a", "b"):
        bots = await gather(host, "tictactoe", terms(2))
        for answered in (False, True, False, None):
            assert bots.take("a") == "a"
            bots.give_back("a", "a", answered=answered)
            assert not bots.lost("a")
        bots.take("a")
        bots.give_back("a", "a", answered=False)
        assert bots.lost("a")
        assert bots.take("a") is None


async def test_a_bot_that_stays_away_is_lost_and_the_others_are_not(host: Host) -> None:
    async with here(host, "a"), here(host, "b") as b:
        bots = await gather(host, "tictactoe", terms(2))
        async with bots.watched():
            await b.aclose()
            await changed_until_lost(bots, "b")
            assert bots.take("b") is None
            assert not bots.lost("a")


async def test_a_bot_that_comes_back_in_time_plays_on(host: Host) -> None:
    async with here(host, "a"), here(host, "b") as b:
        bots = await gather(host, "tictactoe", terms(2, away=60))
        async with bots.watched():
            await b.aclose()
            with anyio.fail_after(10):
                while bots.take("b") is not None:
                    bots.release("b")
                    await bots.changed()
            async with here(host, "b"):
                with anyio.fail_after(10):
                    while bots.take("b") is None:
                        await bots.changed()


@given(st.lists(st.booleans()), st.integers(1, 4))
def test_only_silent_matches_in_a_row_lose_a_bot(answered: list[bool], most: int) -> None:
    known = DialInBot()
    for each in answered:
        known.note_match(most, answered=each)
    marks = "".join("x" if each else "s" for each in answered)
    assert known.lost == ("s" * most in marks)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans())), st.integers(1, 8))
def test_only_a_bot_that_is_away_for_long_without_a_break_is_lost(
    looks: list[tuple[int, bool]], most: int
) -> None:
    known, now, away = DialInBot(), 0, 0
    before: bool | None = None
    expected = False
    for seconds, here in looks:
        now += seconds
        away = away + seconds if before is False and not here else 0
        expected = expected or away > most
        known.note_presence(now, most, here=here)
        before = here
        assert known.lost == expected
        assert known.free == (here and not expected)
