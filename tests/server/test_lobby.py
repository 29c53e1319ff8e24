from __future__ import annotations

import anyio
import pytest

from games.core import Player
from protocol.codes import Code
from protocol.messages import Hello, ServerMessage
from server.accounts import Accounts, Refused
from server.events import Event
from server.lobby import Lobby


class Wire:
    """An outlet that keeps what it was handed."""

    def __init__(self) -> None:
        self.told: list[ServerMessage] = []
        self.dismissed: list[Code] = []

    def tell(self, message: ServerMessage) -> None:
        self.told.append(message)

    def dismiss(self, code: Code) -> None:
        self.dismissed.append(code)


class Shelf:
    """An inlet that keeps what it was posted."""

    def __init__(self) -> None:
        self.posted: list[Event] = []

    async def post(self, event: Event, at: int) -> bool:
        self.posted.append(event)
        return True


@pytest.fixture
def lobby() -> Lobby:
    return Lobby(Accounts(anyone=True))


async def test_who_leaves_and_plays_nothing_is_forgotten(lobby: Lobby) -> None:
    for number in range(100):
        wire = Wire()
        member, _ = await lobby.enter(Hello(f"bot {number}"), wire)
        assert lobby.leave(member, wire)
    assert vars(lobby)["_members"] == {}


async def test_who_leaves_in_a_match_is_kept_until_it_ends(lobby: Lobby) -> None:
    wire = Wire()
    member, _ = await lobby.enter(Hello("anna"), wire)
    member.matches["m"] = (Shelf(), Player.MAXIE)
    lobby.leave(member, wire)
    again, returns = await lobby.enter(Hello("anna", session=member.secret), Wire())
    assert again is member
    assert returns


async def test_the_secret_changes_when_a_bot_comes_without_it(lobby: Lobby) -> None:
    wire = Wire()
    member, _ = await lobby.enter(Hello("anna"), wire)
    old = member.secret
    member.matches["m"] = (Shelf(), Player.MAXIE)
    lobby.leave(member, wire)
    _, returns = await lobby.enter(Hello("anna", session="guess"), Wire())
    assert not returns
    assert member.secret != old


async def test_the_session_dismisses_the_connection_before(lobby: Lobby) -> None:
    first, second = Wire(), Wire()
    member, _ = await lobby.enter(Hello("anna"), first)
    await lobby.enter(Hello("anna", session=member.secret), second)
    assert first.dismissed == [Code.REPLACED]
    assert not lobby.leave(member, first)
    assert member.outlet is second


async def test_a_refused_name_leaves_nothing_behind() -> None:
    lobby = Lobby(Accounts(anyone=False))
    with pytest.raises(Refused):
        await lobby.enter(Hello("anna"), Wire())
    assert vars(lobby)["_members"] == {}


async def test_waiting_for_a_bot_ends_when_it_comes_or_the_time_is_up(lobby: Lobby) -> None:
    assert not await lobby.wait_connected("anna", 0.01)
    seen: list[bool] = []

    async def wait() -> None:
        seen.append(await lobby.wait_connected("anna", 10))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await lobby.enter(Hello("bert"), Wire())
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        await lobby.enter(Hello("anna"), Wire())
    assert seen == [True]


async def test_players_of_a_game_are_those_who_named_it_or_none(lobby: Lobby) -> None:
    await lobby.enter(Hello("anna", games=["riskless"]), Wire())
    await lobby.enter(Hello("bert", games=["tictactoe"]), Wire())
    await lobby.enter(Hello("carl"), Wire())
    assert [member.name for member in lobby.players_of("riskless")] == ["anna", "carl"]
