"""bots.client.client: a bot that is told to finish, and one that has a quota."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from arena.bots.client.client import Client
from arena.protocol.codes import Code
from arena.protocol.messages import Error, Hello, Move, Ready, Resign, Standing, Status
from tests.bots.client.watched import First, Watched
from tests.bots.scripted import Peer, scripted
from tests.bots.wirework import end, start, turn

FINISHING = Standing("finishing", "takes no more matches", 0)


async def told_to(
    end_it: Callable[[Client], None],
    script: Callable[[Peer, anyio.Event], Awaitable[None]],
    **options: object,
) -> Watched:
    """Run a client against a script, which sets the event when the client is to be told."""
    now = anyio.Event()

    async def run(peer: Peer) -> None:
        await script(peer, now)
        await peer.connection.wait_closed()

    async with scripted(run) as stage, anyio.create_task_group() as tasks:
        watched = Watched(First, stage.url, **options)

        async def tell() -> None:
            await now.wait()
            end_it(watched.client)

        tasks.start_soon(tell)
        with anyio.fail_after(500):
            await watched.client.run()
        tasks.cancel_scope.cancel()
    return watched


async def test_a_finishing_client_plays_its_started_matches_and_takes_no_more() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.let_in()
        await peer.say(start())
        await peer.hear(Ready)
        now.set()
        assert await peer.hear(Status) == Status(0)
        # A match that was on its way is played too.
        await peer.say(start("late"), FINISHING)
        await peer.hear(Ready)
        await peer.say(end([], match="m", winner="maxie"), turn([], match="late"))
        assert await peer.hear(Move) == Move("late", 0, 0)
        await peer.say(end([0], match="late", winner="maxie"))

    watched = await told_to(Client.finish, script, matches=2)
    assert str(watched.client.result_counts) == "2 won, 0 drawn, 0 lost"


async def test_a_client_that_finishes_while_it_is_away_does_not_return() -> None:
    async def script(peer: Peer) -> None:
        await peer.let_in()
        peer.cut()

    async with scripted(script) as stage:
        watched = Watched(First, stage.url)
        watched.on_complaint = watched.client.finish
        with anyio.fail_after(500):
            await watched.client.run()
    assert watched.client.connections == 1


async def test_a_server_that_knows_no_status_is_left_when_nothing_is_in_play() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.let_in()
        now.set()
        await peer.hear(Status)
        await peer.say(Error(Code.UNKNOWN_TYPE, "there is no message 'status'"))

    assert (await told_to(Client.finish, script)).complaints == []


async def test_a_client_that_gives_up_resigns_and_counts_the_results() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.let_in()
        await peer.say(start())
        await peer.hear(Ready)
        now.set()
        await peer.hear(Status)
        assert await peer.hear(Resign) == Resign("m")
        await peer.say(FINISHING, end([], winner="minnie"))

    watched = await told_to(Client.resign, script)
    assert str(watched.client.result_counts) == "0 won, 0 drawn, 1 lost"


async def test_a_quota_is_told_and_the_bot_ends_after_it() -> None:
    async def script(peer: Peer, _now: anyio.Event) -> None:
        assert (await peer.let_in()).quota == 1
        await peer.say(start())
        assert {type(await peer.hear_any()) for _ in range(2)} == {Ready, Status}
        await peer.say(FINISHING, turn([]))
        await peer.hear(Move)
        await peer.say(end([0], winner="maxie"))

    watched = await told_to(Client.stop, script, quota=1)
    assert watched.client.result_counts.won == 1


@pytest.mark.parametrize("playing", [False, True])
async def test_the_quota_that_is_left_is_told_again_on_return(playing: bool) -> None:
    async def first(peer: Peer) -> None:
        await peer.let_in("one")
        await peer.say(start())
        await peer.hear(Ready)
        if not playing:
            await peer.say(end([], winner="maxie"))
        peer.cut()

    async def second(peer: Peer) -> None:
        hello = await peer.hear(Hello)
        assert hello.quota == 1
        peer.cut()
        watched.client.stop()

    async with scripted(first, second) as stage:
        watched = Watched(First, stage.url, quota=2)
        with anyio.fail_after(500):
            await watched.client.run()
