"""Messages to spectators: sent to a few followers at a time. A slow follower skips to the latest position."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Browse,
    End,
    Error,
    Listing,
    LiveMatch,
    Played,
    ServerMessage,
    Unwatch,
    Update,
    View,
    Watch,
)
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.core.effects import LOBBY_LISTING_TOPIC, PublishToTopic, SendToClient
from arena.server.core.inputs import MessageReceived
from arena.server.core.limits import ServerLimits
from arena.server.edge.topics import (
    FOLLOWERS_PER_BATCH,
    MAX_UNSENT_BYTES_PER_FOLLOWER,
    PUBLISHING_DELAY_SECONDS,
    SKIPPED_FOLLOWER_CHECK_INTERVAL_SECONDS,
    encode_server_frame,
)
from tests.properties import examples
from tests.server.edge.rig import CLOCKS, OTHER_ADDRESS, Peer, Rig, open_rig
from tests.virtual import virtual

CONTROL = TimeControl.parse("1+0")


class Match:
    """Match with the moves 0, 1, 2 …, which spectators follow. It answers `watch` as the core does."""

    def __init__(self, arena: Rig, *, padding: int = 0) -> None:
        self.arena = arena
        self.moves: list[Any] = []
        self.padding = padding
        self.asked = 0
        self.is_over = False
        give = arena.core.submit

        def answer(message: Any) -> None:
            give(message)
            if isinstance(message, MessageReceived) and isinstance(message.message, Watch):
                self.asked += 1
                if self.is_over:
                    arena.core.deliver_soon(
                        SendToClient(message.client_number, Error(ErrorCode.NO_SUCH_MATCH, "", "m"))
                    )
                else:
                    asyncio.get_running_loop().call_soon(self._show, message.client_number)

        arena.core.submit = answer  # type: ignore[method-assign]

    def _show(self, client: int) -> None:
        self.arena.send(client, self.view())

    def view(self) -> View:
        matches = [Played(move, 1.0) for move in self.moves]
        return View("m", "e", "tictactoe", {}, Players("a", "b"), CONTROL, matches, CLOCKS, "maxie")

    def move(self) -> None:
        self.moves.append([len(self.moves), *self.padding * [7]])
        self.arena.publish("m", Update("m", len(self.moves) - 1, Played(self.moves[-1], 1.0), CLOCKS))

    def end(self) -> None:
        self.is_over = True
        self.arena.publish("m", End("m", None, EndReason.PLY_LIMIT, "", self.moves, CLOCKS))

    async def watch(self, name: str = "eve", address: str = OTHER_ADDRESS) -> Peer:
        peer, _ = await self.arena.admit_client(name, address, "spectator")
        peer.send(Watch("m"))
        await peer.wait_until(lambda: any(b"view" in bytes(each.data) for each in peer.frames))
        return peer


def moves_seen(messages: list[ServerMessage]) -> list[Any]:
    """Return the moves that a client knows after these messages. Fail if a ply is missing."""
    moves: list[Any] = []
    for message in messages:
        if isinstance(message, View):
            moves = [each.move for each in message.moves]
        elif isinstance(message, Update):
            assert message.ply == len(moves), "a ply is missing"
            moves.append(message.played.move)
        elif isinstance(message, End):
            moves = list(message.moves)
    return moves


@virtual
async def test_each_update_has_the_number_of_spectators() -> None:
    async with open_rig() as arena:
        match = Match(arena)
        eve = await match.watch()
        ann = await match.watch("ann")
        match.move()
        await asyncio.sleep(1)
        ann.send(Unwatch("m"))
        await asyncio.sleep(1)
        match.move()
        await asyncio.sleep(1)
        assert [each.watching for each in eve.take_messages() if isinstance(each, Update)] == [2, 1]


@virtual
async def test_no_message_follows_an_unwatch() -> None:
    async with open_rig() as arena:
        match = Match(arena)
        eve = await match.watch()
        eve.take_messages()
        eve.send(Unwatch("m"), Unwatch("m"))
        await asyncio.sleep(1)
        match.move()
        match.end()
        await asyncio.sleep(1)
        assert not eve.take_messages()


@virtual
async def test_a_late_view_does_not_make_a_client_follow_the_match_again() -> None:
    async with open_rig() as arena:
        match = Match(arena)
        eve, client = await arena.admit_client("eve", OTHER_ADDRESS, "spectator")
        eve.send(Unwatch("m"))
        await asyncio.sleep(1)
        arena.send(client, match.view())
        match.move()
        await asyncio.sleep(1)
        assert [type(each) for each in eve.take_messages()] == [View]


@virtual
async def test_a_message_is_encoded_once_for_all_followers() -> None:
    async with open_rig() as arena:
        match = Match(arena)
        crowd = [await match.watch(f"eve {number}") for number in range(9)]
        written: set[int] = set()
        for eve in crowd:
            eve.transport.write = lambda data: written.add(id(data))  # type: ignore[method-assign]
        match.move()
        await asyncio.sleep(1)
        assert len(written) == 1


@virtual
async def test_messages_are_sent_to_a_few_followers_at_a_time() -> None:
    async with open_rig(ServerLimits(connections_per_address=1000, work_ms_per_second=1000)) as arena:
        match = Match(arena)
        crowd = [await match.watch(f"eve {number}") for number in range(100)]
        for eve in crowd:
            eve.frames.clear()
        match.move()
        at: list[int] = []
        start_time = asyncio.get_running_loop().time()
        while sum(at) < len(crowd):
            await asyncio.sleep(0.0005)
            at.append(sum(bool(eve.frames) for eve in crowd) - sum(at))
            assert asyncio.get_running_loop().time() - start_time < 2.1 * PUBLISHING_DELAY_SECONDS
        assert max(at) == FOLLOWERS_PER_BATCH


@virtual
async def test_a_slow_spectator_skips_to_the_latest_position() -> None:
    async with open_rig() as arena:
        match = Match(arena, padding=500)
        slow, quick = await match.watch("slow"), await match.watch("quick")
        slow.is_reading = False
        for _ in range(100):
            match.move()
            await asyncio.sleep(0.2)
            assert slow.transport.get_write_buffer_size() < MAX_UNSENT_BYTES_PER_FOLLOWER + 2000
        assert moves_seen(quick.take_messages()) == match.moves
        asked = match.asked
        slow.resume_reading()
        await asyncio.sleep(2 * SKIPPED_FOLLOWER_CHECK_INTERVAL_SECONDS)
        assert match.asked == asked + 1, "the edge requests the whole match once"
        assert moves_seen(slow.take_messages()) == match.moves
        match.move()
        await asyncio.sleep(1)
        [update] = slow.take_messages()
        assert isinstance(update, Update)


@virtual
async def test_a_spectator_over_its_work_budget_skips_to_the_latest_position() -> None:
    async with open_rig(ServerLimits(work_ms_per_second=1)) as arena:
        match = Match(arena)
        many = [await match.watch(f"much {number}", OTHER_ADDRESS) for number in range(8)]
        arena.edge.work_budget.charge_or_compute_wait_seconds(
            OTHER_ADDRESS, 3_500, asyncio.get_running_loop().time()
        )
        little = await match.watch("little", "203.0.113.1")
        for _ in range(30):
            match.move()
            await asyncio.sleep(0.06)
        await asyncio.sleep(PUBLISHING_DELAY_SECONDS)
        assert moves_seen(little.take_messages()) == match.moves
        await asyncio.sleep(2 * SKIPPED_FOLLOWER_CHECK_INTERVAL_SECONDS)
        for much in many:
            assert moves_seen(much.take_messages()) == match.moves
        assert match.asked > len(many) + 1


@examples(25)
@given(st.lists(st.sampled_from(["move", "read", "wait", "enter", "leave"]), max_size=60))
def test_every_follower_finally_sees_the_whole_match(script: list[str]) -> None:
    @virtual
    async def play() -> None:
        async with open_rig(ServerLimits(connections_per_address=1000, work_ms_per_second=1000)) as arena:
            match = Match(arena, padding=300)
            crowd = [await match.watch(f"eve {number}") for number in range(6)]
            for eve in crowd[::2]:
                eve.is_reading = False
            for number, what in enumerate(script):
                if what == "move":
                    match.move()
                elif what == "read":
                    for eve in crowd[::2]:
                        eve.resume_reading()
                        eve.is_reading = False
                elif what == "wait":
                    await asyncio.sleep(0.02 * (number % 7))
                elif what == "enter":
                    crowd.append(await match.watch(f"newcomer {number}"))
                elif len(crowd) > 1:
                    crowd.pop().transport.reset()
            match.end()
            await asyncio.sleep(5)
            for eve in crowd:
                eve.resume_reading()
                messages = eve.take_messages()
                moves_seen(messages)
                assert isinstance(messages[-1], End)
                assert messages[-1].moves == match.moves
            assert not arena.edge._topics

    play()


@virtual
async def test_frames_sent_to_all_followers_are_not_kept() -> None:
    async with open_rig() as arena:
        match = Match(arena)
        await match.watch()
        for _ in range(20):
            match.move()
            await asyncio.sleep(0.2)
        assert not arena.edge._topics["m"]._frames


@virtual
async def test_a_slow_client_skips_to_the_latest_listing() -> None:
    def listing(number: int) -> Listing:
        live = LiveMatch(f"{number}", "e", "tictactoe", Players("a", "b"), CONTROL, 0)
        return Listing([live] * 40, [], [])

    async with open_rig() as arena:
        eve, client = await arena.admit_client("eve", role="spectator")
        slow, other = await arena.admit_client("slow", role="spectator")
        for peer, number in ((eve, client), (slow, other)):
            peer.send(Browse())
            await asyncio.sleep(0.1)
            arena.send(number, listing(0))
        slow.is_reading = False
        for number in range(1, 30):
            arena.publish(LOBBY_LISTING_TOPIC, listing(number))
            await asyncio.sleep(0.3)
        numbers = [each.matches[0].match for each in eve.take_messages() if isinstance(each, Listing)]
        assert numbers == [f"{number}" for number in range(30)]
        assert slow.transport.get_write_buffer_size() < MAX_UNSENT_BYTES_PER_FOLLOWER + len(
            encode_server_frame(listing(0))
        )
        slow.resume_reading()
        arena.publish(LOBBY_LISTING_TOPIC, listing(30))
        await asyncio.sleep(0.3)
        messages = [each for each in slow.take_messages() if isinstance(each, Listing)]
        assert messages[-1] == listing(30)
        assert len(messages) < 30


@virtual
async def test_messages_of_a_topic_without_followers_are_not_encoded() -> None:
    async with open_rig() as arena:
        arena.core.deliver(PublishToTopic("m", Update("m", 0, Played(object(), 1.0), CLOCKS), (1,)))
