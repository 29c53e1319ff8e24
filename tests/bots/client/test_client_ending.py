"""bots.client.client: ends of a client by `finish`, `resign` or `stop`, and by a quota of matches."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from arena.bots.client.client import Client
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Hello, Move, Ready, Resign, Standing, Status
from tests.bots.client.observed_client import First, ObservedClient
from tests.bots.scripted_server import Peer, serve_scripts
from tests.bots.server_messages import end, start, turn

FINISHING = Standing("finishing", "takes no more matches", 0)


async def end_during_script(
    end_client: Callable[[Client], None],
    script: Callable[[Peer, anyio.Event], Awaitable[None]],
    **options: object,
) -> ObservedClient:
    """Run a client against a script, and call `end_client` when the script sets its event."""
    now = anyio.Event()

    async def run(peer: Peer) -> None:
        await script(peer, now)
        await peer.connection.wait_closed()

    async with serve_scripts(run) as server, anyio.create_task_group() as tasks:
        observed = ObservedClient(First, server.url, **options)

        async def tell() -> None:
            await now.wait()
            end_client(observed.client)

        tasks.start_soon(tell)
        with anyio.fail_after(500):
            await observed.client.run()
        tasks.cancel_scope.cancel()
    return observed


async def test_a_finishing_client_plays_its_started_matches_and_takes_no_more() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.welcome_bot()
        await peer.send(start())
        await peer.receive(Ready)
        now.set()
        assert await peer.receive(Status) == Status(0)
        # The client also plays a match that the server assigned before it received the status.
        await peer.send(start("late"), FINISHING)
        await peer.receive(Ready)
        await peer.send(end([], match="m", winner="maxie"), turn([], match="late"))
        assert await peer.receive(Move) == Move("late", 0, 0)
        await peer.send(end([0], match="late", winner="maxie"))

    observed = await end_during_script(Client.stop_after_current_matches, script, concurrency=2)
    assert str(observed.client.result_counts) == "2 won, 0 drawn, 0 lost"


async def test_a_client_that_finishes_while_it_is_away_does_not_return() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        peer.reset()

    async with serve_scripts(script) as server:
        observed = ObservedClient(First, server.url)
        observed.on_new_problem = observed.client.stop_after_current_matches
        with anyio.fail_after(500):
            await observed.client.run()
    assert observed.client.connection_count == 1


async def test_a_finished_client_leaves_a_server_without_the_status_message() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.welcome_bot()
        now.set()
        await peer.receive(Status)
        await peer.send(Error(ErrorCode.UNKNOWN_TYPE, "there is no message 'status'"))

    assert (await end_during_script(Client.stop_after_current_matches, script)).problems == []


async def test_a_client_that_gives_up_resigns_and_counts_the_results() -> None:
    async def script(peer: Peer, now: anyio.Event) -> None:
        await peer.welcome_bot()
        await peer.send(start())
        await peer.receive(Ready)
        now.set()
        await peer.receive(Status)
        assert await peer.receive(Resign) == Resign("m")
        await peer.send(FINISHING, end([], winner="minnie"))

    observed = await end_during_script(Client.resign_all, script)
    assert str(observed.client.result_counts) == "0 won, 0 drawn, 1 lost"


async def test_a_quota_is_reported_and_the_bot_ends_after_it() -> None:
    async def script(peer: Peer, _now: anyio.Event) -> None:
        assert (await peer.welcome_bot()).quota == 1
        await peer.send(start())
        assert {type(await peer.receive_any()) for _ in range(2)} == {Ready, Status}
        await peer.send(FINISHING, turn([]))
        await peer.receive(Move)
        await peer.send(end([0], winner="maxie"))

    observed = await end_during_script(Client.stop, script, quota=1)
    assert observed.client.result_counts.won == 1


@pytest.mark.parametrize("playing", [False, True])
async def test_the_quota_that_is_left_is_reported_again_on_return(playing: bool) -> None:
    async def first(peer: Peer) -> None:
        await peer.welcome_bot("one")
        await peer.send(start())
        await peer.receive(Ready)
        if not playing:
            await peer.send(end([], winner="maxie"))
        peer.reset()

    async def second(peer: Peer) -> None:
        hello = await peer.receive(Hello)
        assert hello.quota == 1
        peer.reset()
        observed.client.stop()

    async with serve_scripts(first, second) as server:
        observed = ObservedClient(First, server.url, quota=2)
        with anyio.fail_after(500):
            await observed.client.run()
