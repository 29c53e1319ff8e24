"""What is known of a bot by its matches is known on every server of an arena: its rating, and that it is suspended."""

from __future__ import annotations

import anyio

from arena.protocol.messages import Resign, Start
from arena.server.host import Host
from arena.server.store.aggregates.rating_counter import NEW
from testkit.players import Player
from tests.server.arena.arenas import arena, offer, playing, until
from tests.server.peer import Peer, enter


def by_office(hosts: list[Host]) -> tuple[Host, Host]:
    """The server that arranges, and the other one."""
    office, other = sorted(hosts, key=lambda host: not host.arena.office.here)
    return office, other


async def test_whoever_arranges_goes_by_the_ratings_of_matches_on_other_servers(
    postgresql_database: str,
) -> None:
    async with arena(postgresql_database, 2, offer=offer()) as hosts:
        office, other = by_office(hosts)
        players = [Player(other.url, name) for name in ("anna", "bert")]
        async with playing(*players):
            await until(lambda: other.rating_counter.rating("tictactoe", "anna") != NEW.rating)
            await until(lambda: office.rating_counter.rating("tictactoe", "anna") != NEW.rating)
            assert len(office.rooms) == 0
        # No more is played, so both come to the same.
        await until(
            lambda: all(
                office.rating_counter.rating("tictactoe", name)
                == other.rating_counter.rating("tictactoe", name)
                for name in ("anna", "bert")
            )
        )


async def test_a_bot_that_is_suspended_is_so_on_every_server_and_with_the_next_matchmaker(
    postgresql_database: str,
) -> None:
    async with arena(postgresql_database, 2, offer=offer()) as hosts:
        office, other = by_office(hosts)
        async with enter(other, "anna") as anna, playing(Player(other.url, "bert")):
            given = 0

            async def give_up(peer: Peer) -> None:
                nonlocal given
                while True:
                    start = await peer.hear(Start)
                    given += 1
                    await peer.say(Resign(start.match))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(give_up, anna)
                await until(lambda: all(host.lobby.member("anna").suspended for host in hosts))
                tasks.cancel_scope.cancel()
            assert given >= 3, "one more may begin while the record of the third is being written"
            await office.hand_on()
            await until(lambda: other.arena.office.here)
            carl = Player(office.url, "carl")
            async with playing(carl):
                await until(lambda: len(carl.ends) >= 2)
            for host in hosts:
                (shown,) = (each for each in host.listing().bots if each.name == "anna")
                assert "matches in a row forfeited" in shown.benched
                assert not host.lobby.member("anna").matches
