"""server.arena.pauses: who plays a match that stands still is told so once, and once that it goes on."""

from __future__ import annotations

import anyio

from arena.protocol.messages import LiveMatch, Standing
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.arena.messages import Ended, Opened
from arena.server.arena.pauses import GOES_ON, STANDS_STILL, Pauses
from arena.server.arena.remote import RemoteConnection
from arena.server.bus.local import Exchange
from arena.server.host import Host
from tests.server.arena.arenas import until
from tests.server.arena.ends import Bot, End, alone
from tests.server.arena.test_elsewhere import Known
from tests.server.matches import spec

OPENED = Opened(
    LiveMatch("m", "serve", "tictactoe", Players("anna", "carl"), TimeControl(1000, 0), 0),
    anew=True,
    weight=1,
)


def details(bot: Bot) -> list[str]:
    assert all(isinstance(each, Standing) for each in bot.heard)
    return [each.detail for each in bot.heard if isinstance(each, Standing)]


async def test_a_match_on_a_server_that_is_not_heard_stands_still_until_it_is() -> None:
    exchange = Exchange()
    north, south = End(exchange, "north"), End(exchange, "south")
    known = Known(north)
    pauses = Pauses(known.lobby, {}, known.elsewhere, alone=lambda: False)
    anna, bert = known.bots["anna"], known.bots["bert"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(north.links.run)
        link = north.to("south")
        known.elsewhere.opened(link, OPENED)
        for _ in range(2):
            pauses.look()
        assert (details(anna), len(pauses)) == ([STANDS_STILL], 1)
        south.to("north")
        tasks.start_soon(south.links.run)
        await until(lambda: link.up)
        for _ in range(2):
            pauses.look()
        assert (details(anna), len(pauses)) == ([STANDS_STILL, GOES_ON], 0)
        tasks.cancel_scope.cancel()
    assert bert.heard == []  # it plays another one, or none


async def test_while_nobody_at_all_is_heard_every_match_of_others_stands_still() -> None:
    end = alone()
    known = Known(end)
    deaf = True
    pauses = Pauses(known.lobby, {}, known.elsewhere, alone=lambda: deaf)
    link = end.to("south")
    known.elsewhere.opened(link, OPENED)
    pauses.look()
    known.elsewhere.ended(link, Ended("m"))
    pauses.look()
    assert details(known.bots["anna"]) == [STANDS_STILL, GOES_ON]


async def test_a_match_of_here_stands_still_while_one_of_its_players_cannot_be_reached(host: Host) -> None:
    links, lobby = host.arena.links, host.lobby
    links.follow({"south": 1})
    (link,) = links.all
    anna = Bot()
    lobby.member("anna").connect(anna)
    lobby.member("bert").connect(RemoteConnection(links, link, "bert", 1))
    host.matches.open(spec("anna", "bert"))
    anna.heard.clear()
    pauses = Pauses(lobby, host.rooms, host.arena.elsewhere, alone=lambda: False)
    pauses.look()
    assert details(anna) == [STANDS_STILL]
    lobby.member("bert").connect(Bot())
    pauses.look()
    assert details(anna) == [STANDS_STILL, GOES_ON]
