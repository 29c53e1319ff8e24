"""bots.client.client: behaviour while the server is away, and after its return."""

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Error, Hello, Move, Ready
from tests.bots.client.observed_client import STOP, First, run_client
from tests.bots.scripted_server import Peer
from tests.bots.server_messages import end, start, turn


async def resume_match(peer: Peer) -> None:
    """Welcome a client that returns with its session, send its match and turn again, and let its move win."""
    assert (await peer.welcome_bot("one")).session == "one"
    assert await peer.receive(Ready) == Ready("m")
    await peer.send(start(), turn([]))
    assert await peer.receive(Ready) == Ready("m")
    assert await peer.receive(Move) == Move("m", 0, 0)
    await peer.send(end([0], winner="maxie"), STOP)


async def test_a_client_waits_for_a_stopped_server_and_resumes_its_matches() -> None:
    """One line reports the loss and one line the return, however often the client tries in between."""

    async def first(peer: Peer) -> None:
        await peer.welcome_bot("one")
        await peer.send(start())
        await peer.receive(Ready)
        await peer.send(Error(ErrorCode.SHUTTING_DOWN, "the server stops", fatal=True))

    async def turned_away(peer: Peer) -> None:
        await peer.receive(Hello)
        await peer.send(Error(ErrorCode.SERVER_FULL, "the store does not answer", fatal=True))

    observed = await run_client(First, first, turned_away, resume_match)
    (gone,) = observed.problems
    assert gone.startswith("the server at ws://127.0.0.1:")
    assert gone.endswith(" stops; 1 match in play will resume when the server is back; connecting again")
    assert len(observed.status_lines) == 2
    assert observed.status_lines[1].startswith("me is back at ws://127.0.0.1:")
    assert observed.client.result_counts.won == 1


async def test_a_match_that_ended_during_the_clients_absence_is_counted_as_the_server_reports() -> None:
    async def first(peer: Peer) -> None:
        await peer.welcome_bot("one")
        await peer.send(start(), start("other"))
        await peer.receive(Ready)
        await peer.receive(Ready)
        peer.reset()

    async def forgotten(peer: Peer) -> None:
        await peer.welcome_bot("two")
        asked = {(await peer.receive(Ready)).match for _ in range(2)}
        assert asked == {"m", "other"}
        await peer.send(start("third"))
        await peer.receive(Ready)
        await peer.send(end([0], winner="minnie", reason=EndReason.DISCONNECT))
        await peer.send(Error(ErrorCode.NO_SUCH_MATCH, "it does not exist", "other"))
        await peer.send(end([0], match="third", winner="maxie"), STOP)

    observed = await run_client(First, first, forgotten, concurrency=2)
    assert str(observed.client.result_counts) == "1 won, 0 drawn, 1 lost, 1 void"


async def test_a_welcomed_client_waits_for_a_temporary_error_to_pass() -> None:
    """To the server, a broken connection seems open for a while, so the bot's name is still taken."""

    async def first(peer: Peer) -> None:
        await peer.welcome_bot()
        peer.reset()

    async def refuse(peer: Peer) -> None:
        await peer.receive(Hello)
        await peer.send(Error(ErrorCode.NAME_TAKEN, "not now", fatal=True))

    async def last(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(STOP)

    observed = await run_client(First, first, refuse, last)
    assert len(observed.problems) == 1
    assert len(observed.status_lines) == 2
