"""Players of the test kit: they keep the protocol when they reconnect."""

from __future__ import annotations

import asyncio

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.codes import EndReason
from arena.protocol.messages import SUBPROTOCOL, Hello, Ready, Resign, Start, Turn
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from testkit.players import RandomPlayer
from tests.server.matches import spec

SECONDS = 300.0


async def test_a_player_learns_of_the_end_that_it_missed() -> None:
    terms = spec("anna", "bert")
    async with (
        asyncio.timeout(SECONDS),
        open_arena_server(make_private_server_settings(anyone=True, grace_seconds=SECONDS)) as host,
        connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as bert,
    ):
        anna = RandomPlayer(host.url, "anna")
        await bert.send(encode_message(Hello("bert")))
        async with asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(anna.run())
            match = tasks.create_task(host.shell.play_match(terms))
            while not isinstance(message := decode_server_message(await bert.recv()), Turn):
                if isinstance(message, Start):
                    await bert.send(encode_message(Ready(terms.match)))
            playing.cancel()
            while host.is_bot_connected("anna"):
                await host.shell.wait_for_next_batch()
            await bert.send(encode_message(Resign(terms.match)))
            await match
            playing = tasks.create_task(anna.run())
            while not anna.received_ends:
                await asyncio.sleep(0.01)
            playing.cancel()
    assert [end.reason for end in anna.received_ends[terms.match]] == [EndReason.RESIGNATION]
    assert anna.last_message_time_by_match == {}
