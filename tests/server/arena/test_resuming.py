from __future__ import annotations

from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT
from testkit.players import Player
from tests.server.arena.arenas import arena, offer, playing, until


async def test_a_match_that_was_taken_over_while_its_server_came_in_is_not_begun_twice(
    postgresql_database: str,
) -> None:
    async with arena(postgresql_database, 1, offer=offer()) as (host,):
        anna, bert = (Player(host.url, name, lambda: 0.05) for name in ("anna", "bert"))
        async with playing(anna, bert):
            await until(lambda: host.rooms)
            # As by what a server takes over at its first look, before it asks for the matches of its own name.
            before = dict(host.rooms)
            await host.resume(OPEN_EVENT)
            assert {match: host.rooms.get(match) for match in before} == before
            assert host.resumed == 0
            await until(lambda: anna.ends)
        assert not anna.refused
