import asyncio
import threading
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from arena.bots.api.bot import Clock, Ending, Thinking
from arena.bots.client.connection import ServerRefused
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Accepted, Error, EventStatus, Hello, Move, Ready, Resign, Standing
from tests.bots.client.observed_client import STOP, First, ObservedClient, run_client
from tests.bots.scripted_server import Peer, serve_scripts
from tests.bots.server_messages import end, start, turn


async def test_a_match_is_played_and_reported() -> None:
    async def script(peer: Peer) -> None:
        hello = await peer.welcome_bot()
        assert hello == Hello("me", token="t", games=["tictactoe"], matches=3, program="first 1")
        await peer.send(start())
        assert await peer.receive(Ready) == Ready("m")
        await peer.send(turn([]))
        assert await peer.receive(Move) == Move("m", 0, 0)
        await peer.send(Accepted("m", 0, 1.0, 1000), turn([0, 4]))
        assert await peer.receive(Move) == Move("m", 2, 1)
        await peer.send(end([0, 4, 1], winner="maxie"), STOP)

    observed = await run_client(
        First, script, token="t", games=("tictactoe",), concurrency=3, program_name="first 1"
    )
    assert observed.finished == [
        "match m: tictactoe as maxie against two: won (resignation, 3 plies: so it ended)"
    ]
    assert str(observed.client.result_counts) == "1 won, 0 drawn, 0 lost"
    assert observed.problems == []
    assert [line.partition(" ws:")[0] for line in observed.status_lines] == ["me is connected to"]


async def test_hooks_are_called_in_order_after_the_match_is_assigned() -> None:
    calls: list[object] = []

    class Hooked(First):
        def prepare(self) -> None:
            calls.append(("prepare", self.seat, self.threads, self.match.opponent, self.game.name))

        def choose(self, position: Any, clock: Clock) -> Any:
            calls.append("choose")
            self.thinking = Thinking(depth=3, value=1, nodes=9, line=[0, 1])
            return super().choose(position, clock)

        def opponent_moved(self, move: Any, position: Any) -> None:
            calls.append(("opponent", move, self.game.position_to_text(position)))

        def ended(self, ending: Ending) -> None:
            calls.append(("ended", ending.winner, ending.reason))

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start(seat="minnie"))
        await peer.receive(Ready)
        assert calls == [("prepare", "minnie", 2, "one", "tictactoe")]
        await peer.send(turn([4]))
        move = await peer.receive(Move)
        assert move.thinking.depth == 3  # type: ignore[union-attr]
        assert move.thinking.line == [0, 1]  # type: ignore[union-attr]
        await peer.send(end([4], winner="minnie"), STOP)

    await run_client(Hooked, script)
    assert calls[1:] == [
        ("opponent", 4, "....X...."),
        "choose",
        ("ended", "minnie", EndReason.RESIGNATION),
    ]


async def test_the_connection_answers_while_a_bot_thinks() -> None:
    """While a bot thinks without end, pings are answered, and another match is played."""
    let_go = threading.Event()

    class Slow(First):
        def choose(self, position: Any, clock: Clock) -> Any:
            if self.match.id == "slow":
                while not (self.stopped or let_go.wait(0.001)):
                    sum(range(1000))
            return super().choose(position, clock)

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start("slow"), start("quick"))
        await peer.receive(Ready)
        await peer.receive(Ready)
        await peer.send(turn([], match="slow"), turn([], match="quick"))
        pong = await peer.connection.ping()
        with anyio.fail_after(500):
            await pong
        assert await peer.receive(Move) == Move("quick", 0, 0)
        await peer.send(end([], match="slow", winner="minnie", reason=EndReason.TIMEOUT))
        await peer.send(end([0], match="quick", winner="maxie"), STOP)

    observed = await run_client(Slow, script, concurrency=2)
    assert str(observed.client.result_counts) == "1 won, 0 drawn, 1 lost"
    assert not let_go.is_set()


@pytest.mark.parametrize("where", ["__init__", "prepare", "choose", "opponent_moved"])
async def test_an_exception_resigns_and_is_reported_with_its_place(where: str) -> None:
    class Broken(First):
        def __init__(self) -> None:
            self.fail_in("__init__")

        def fail_in(self, place: str) -> None:
            if place == where:
                raise ValueError("no idea\nwhat to play")

        def prepare(self) -> None:
            self.fail_in("prepare")

        def choose(self, position: Any, clock: Clock) -> Any:
            self.fail_in("choose")

        def opponent_moved(self, move: Any, position: Any) -> None:
            self.fail_in("opponent_moved")

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start(seat="minnie"))
        if where in ("choose", "opponent_moved"):
            await peer.receive(Ready)
            await peer.send(turn([4]))
        assert await peer.receive(Resign) == Resign("m", "crash", f"{where} raised ValueError: no idea")
        await peer.send(end([4], winner="maxie"), STOP)

    observed = await run_client(Broken, script)
    trace, line = observed.problems
    assert trace.startswith("Traceback")
    assert "test_client.py" in trace
    assert "worker.py" not in trace
    assert line == f"match m: {where} raised ValueError: no idea; the match is lost by a crash"
    assert observed.client.result_counts.lost == 1


async def test_an_exception_at_the_end_is_reported_too() -> None:
    class Broken(First):
        def ended(self, ending: Ending) -> None:
            raise SystemExit("bye")

    was_reported = anyio.Event()

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start())
        await peer.receive(Ready)
        await peer.send(end([], winner="maxie"))
        with anyio.fail_after(500):
            await was_reported.wait()
        await peer.send(STOP)

    async with serve_scripts(script) as server:
        observed = ObservedClient(Broken, server.url)
        observed.on_new_problem = was_reported.set
        await observed.client.run()
    assert "SystemExit: bye" in observed.problems[0]


async def test_a_bot_thinks_on_while_the_connection_is_away() -> None:
    choices: list[int] = []
    thinks, back = threading.Event(), threading.Event()

    class Slow(First):
        def choose(self, position: Any, clock: Clock) -> Any:
            choices.append(self.game.ply(position))
            thinks.set()
            back.wait(150)
            return super().choose(position, clock)

    async def first(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start())
        await peer.receive(Ready)
        await peer.send(turn([]))
        assert await anyio.to_thread.run_sync(thinks.wait, 150)
        peer.reset()

    async def second(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start(), turn([]))
        await peer.receive(Ready)
        await peer.receive(Ready)
        back.set()
        assert await peer.receive(Move) == Move("m", 0, 0)
        await peer.send(end([0], winner="maxie"), STOP)

    await run_client(Slow, first, second)
    assert choices == [0]


def test_the_error_of_a_removal_names_the_host() -> None:
    assert (
        str(ServerRefused(ErrorCode.REMOVED, "it stands still"))
        == "the host has removed this bot: it stands still (removed)"
    )


async def test_a_refusal_is_final() -> None:
    async def refuse(peer: Peer) -> None:
        await peer.receive(Hello)
        await peer.send(Error(ErrorCode.NAME_TAKEN, "not you", fatal=True))

    with pytest.raises(ServerRefused, match=r"the server refuses: not you \(name_taken\)"):
        await run_client(First, refuse)


async def test_unknown_messages_are_ignored_and_invalid_ones_reported() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(b"\x81\xa4type\xa5dance", b"\xc1", "text", b"\x80")
        await peer.send(start())
        await peer.receive(Ready)
        await peer.send(STOP)

    observed = await run_client(First, script)
    assert len(observed.problems) == 3
    assert all(line.startswith("the server sent an invalid message: ") for line in observed.problems)


async def test_stop_ends_the_client_even_if_a_bot_does_not_respond() -> None:
    stubborn = threading.Event()

    class Stubborn(First):
        def choose(self, position: Any, clock: Clock) -> Any:
            stubborn.wait(150)
            return super().choose(position, clock)

    thinking, left = anyio.Event(), anyio.Event()
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: errors.append(context))

    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(start())
        await peer.receive(Ready)
        await peer.send(turn([]))
        thinking.set()
        # The client does not resign: to stop the bots of an event must not decide its matches.
        with pytest.raises(Exception, match="1000"):
            await peer.connection.recv()
        left.set()

    async with serve_scripts(script) as server, anyio.create_task_group() as tasks:
        observed = ObservedClient(Stubborn, server.url)
        tasks.start_soon(observed.client.run)
        await thinking.wait()
        with anyio.fail_after(500):
            observed.client.stop()
            await left.wait()
    stubborn.set()
    for thread in threading.enumerate():
        if thread.name.startswith("match "):
            await anyio.to_thread.run_sync(thread.join)
    await anyio.lowlevel.checkpoint()
    assert errors == []  # the client ignores a report that comes after its end


async def test_the_rating_and_its_change_are_shown() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        for rating, deviation in ((1500.4, 350.0), (1500.4, 350.0), (1500.1, 340.0), (1512.0, 65.0)):
            await peer.send(
                Standing("waiting", "in the pool", None, {"tictactoe": rating}, {"tictactoe": deviation})
            )
            await peer.send(
                EventStatus("cup", "running", entered=True, detail="round 1", begins_ms=0, round=1)
            )
        await peer.send(Standing("waiting", "in the pool"))  # a new season has begun
        await peer.send(Standing("waiting", "in the pool", None, {"tictactoe": 1530.0}))
        await peer.send(STOP)

    observed = await run_client(First, script)
    lines = [line for line in observed.status_lines if "rated" in line]
    page = observed.client._settings.url.replace("ws", "http", 1)
    assert lines == [
        f"me is rated 1500 ± 700 provisional in tictactoe; its page: {page}/bot/me",
        "me is rated 1512 ± 130 in tictactoe (+12)",
        f"me is rated 1530 in tictactoe; its page: {page}/bot/me",
    ]


async def test_the_end_of_its_event_is_reported_with_the_address_of_the_table() -> None:
    async def script(peer: Peer) -> None:
        await peer.welcome_bot()
        await peer.send(EventStatus("cup 1", "running", entered=True, detail="round 1 of 3, 4 bots"))
        detail = "place 2 of 4, 3.5 points"
        await peer.send(EventStatus("cup 1", "over", entered=True, detail=detail, table="/event/cup%201"))
        await peer.send(EventStatus("cup 2", "over", entered=True, detail="place 1 of 2, 2 points"))
        await peer.send(STOP)

    observed = await run_client(First, script)
    page = observed.client._settings.url.replace("ws", "http", 1)
    assert [line for line in observed.status_lines if "cup" in line] == [
        "me: cup 1: round 1 of 3, 4 bots",
        f"me: cup 1: place 2 of 4, 3.5 points; its table: {page}/event/cup%201",
        "me: cup 2: place 1 of 2, 2 points",
    ]
