"""bots.client.client: behaviour while the server is away, and after its return."""

from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import Error, Hello, Move, Ready
from tests.bots.client.watched import STOP, First, run_client
from tests.bots.scripted import Peer
from tests.bots.wirework import end, start, turn


async def goes_on(peer: Peer) -> None:
    """Return with the session: the match is sent again, the turn comes, and the move wins."""
    assert (await peer.let_in("one")).session == "one"
    assert await peer.hear(Ready) == Ready("m")
    await peer.say(start(), turn([]))
    assert await peer.hear(Ready) == Ready("m")
    assert await peer.hear(Move) == Move("m", 0, 0)
    await peer.say(end([0], winner="maxie"), STOP)


async def test_a_server_that_stops_is_waited_for_and_its_matches_go_on() -> None:
    """One line reports the loss and one the return, regardless of the attempts between."""

    async def first(peer: Peer) -> None:
        await peer.let_in("one")
        await peer.say(start())
        await peer.hear(Ready)
        await peer.say(Error(Code.SHUTTING_DOWN, "the server stops", fatal=True))

    async def turned_away(peer: Peer) -> None:
        await peer.hear(Hello)
        await peer.say(Error(Code.SERVER_FULL, "the store does not answer", fatal=True))

    watched = await run_client(First, first, turned_away, goes_on)
    (gone,) = watched.complaints
    assert gone.startswith("the server at ws://127.0.0.1:")
    assert gone.endswith(" stops; 1 match in play will resume when the server is back; connecting again")
    assert len(watched.told) == 2
    assert watched.told[1].startswith("me is back at ws://127.0.0.1:")
    assert watched.client.result_counts.won == 1


async def test_a_match_that_ended_while_nobody_was_here_counts_as_the_server_says() -> None:
    async def first(peer: Peer) -> None:
        await peer.let_in("one")
        await peer.say(start(), start("other"))
        await peer.hear(Ready)
        await peer.hear(Ready)
        peer.cut()

    async def forgotten(peer: Peer) -> None:
        await peer.let_in("two")
        asked = {(await peer.hear(Ready)).match for _ in range(2)}
        assert asked == {"m", "other"}
        await peer.say(start("third"))
        await peer.hear(Ready)
        await peer.say(end([0], winner="minnie", reason=EndReason.DISCONNECT))
        await peer.say(Error(Code.NO_SUCH_MATCH, "it does not exist", "other"))
        await peer.say(end([0], match="third", winner="maxie"), STOP)

    watched = await run_client(First, first, forgotten, matches=2)
    assert str(watched.client.result_counts) == "1 won, 0 drawn, 1 lost, 1 void"


async def test_a_welcomed_client_waits_for_a_temporary_error_to_pass() -> None:
    """A connection that is broken seems open for a while, and holds the name."""

    async def first(peer: Peer) -> None:
        await peer.let_in()
        peer.cut()

    async def refuse(peer: Peer) -> None:
        await peer.hear(Hello)
        await peer.say(Error(Code.NAME_TAKEN, "not now", fatal=True))

    async def last(peer: Peer) -> None:
        await peer.let_in()
        await peer.say(STOP)

    watched = await run_client(First, first, refuse, last)
    assert len(watched.complaints) == 1
    assert len(watched.told) == 2
