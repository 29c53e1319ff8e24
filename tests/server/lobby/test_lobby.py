from __future__ import annotations

import anyio
import pytest

from arena.games.core import Player
from arena.match.events import Event
from arena.protocol.codes import Code
from arena.protocol.messages import Hello, ServerMessage
from arena.server.lobby.accounts import Accounts, Refused
from arena.server.lobby.lobby import Lobby
from arena.server.rooms.member import Member, secret_hash


class Wire:
    """A connection that keeps what it was handed."""

    def __init__(self) -> None:
        self.told: list[ServerMessage] = []
        self.dismissed: list[Code] = []
        self.lag = 0

    def tell(self, message: ServerMessage) -> None:
        self.told.append(message)

    def dismiss(self, code: Code) -> None:
        self.dismissed.append(code)


async def enter(lobby: Lobby, hello: Hello, wire: Wire) -> tuple[Member, str | None]:
    """Through the vetting and in."""
    secret = await lobby.vet(hello)
    return lobby.enter(hello, wire, secret), secret


class Kept:
    """A room's inbox that keeps what it was handed."""

    full = False

    def __init__(self) -> None:
        self.posted: list[Event] = []

    async def has_space(self) -> None:
        pass

    def take(self, event: Event, at: int) -> bool:
        self.posted.append(event)
        return True

    def introduced(self, player: Player) -> bool:
        raise NotImplementedError(player)


@pytest.fixture
def lobby() -> Lobby:
    return Lobby(Accounts(anyone=True))


async def test_who_is_back_is_not_forgotten_with_whom_it_was_before(lobby: Lobby) -> None:
    wire = Wire()
    before, _ = await enter(lobby, Hello("anna"), wire)
    assert lobby.leave(before, wire)
    # As by a match that was placed for it, and begins while the record of the last one is being written.
    now = lobby.member("anna")
    now.begin("m", Kept(), Player.MAXIE)
    lobby.forget(before)
    assert lobby.find("anna") is now
    again, _ = await enter(lobby, Hello("anna"), Wire())
    assert again is now
    lobby.forget(before)
    assert lobby.connected() == [now]


async def test_who_leaves_and_plays_nothing_is_forgotten(lobby: Lobby) -> None:
    for number in range(100):
        wire = Wire()
        member, _ = await enter(lobby, Hello(f"bot {number}"), wire)
        assert lobby.leave(member, wire)
    assert vars(lobby)["_members"] == {}


async def test_who_leaves_in_a_match_is_kept_until_it_ends(lobby: Lobby) -> None:
    wire = Wire()
    member, secret = await enter(lobby, Hello("anna"), wire)
    member.matches["m"] = (Kept(), Player.MAXIE)
    lobby.leave(member, wire)
    again, fresh = await enter(lobby, Hello("anna", session=secret or ""), Wire())
    assert again is member
    assert fresh is None


async def test_the_secret_changes_when_a_bot_comes_without_it(lobby: Lobby) -> None:
    wire = Wire()
    member, old = await enter(lobby, Hello("anna"), wire)
    member.matches["m"] = (Kept(), Player.MAXIE)
    lobby.leave(member, wire)
    _, new = await enter(lobby, Hello("anna", session="guess"), Wire())
    assert new is not None
    assert new != old
    assert member.knows(new)
    assert not member.knows(old or "")


async def test_the_session_dismisses_the_connection_before(lobby: Lobby) -> None:
    first, second = Wire(), Wire()
    member, secret = await enter(lobby, Hello("anna"), first)
    await enter(lobby, Hello("anna", session=secret or ""), second)
    assert first.dismissed == [Code.REPLACED]
    assert not lobby.leave(member, first)
    assert member.connection is second


async def test_a_name_comes_in_once_at_a_time(lobby: Lobby) -> None:
    hello = Hello("anna")
    await lobby.vet(hello)
    with pytest.raises(Refused) as refused:
        await lobby.vet(hello)
    assert refused.value.code is Code.NAME_TAKEN
    lobby.turn_away(hello)
    await lobby.vet(hello)


async def test_a_refused_name_leaves_nothing_behind() -> None:
    lobby = Lobby(Accounts(anyone=False))
    with pytest.raises(Refused):
        await lobby.vet(Hello("anna"))
    assert vars(lobby)["_members"] == {}
    assert vars(lobby)["_entering"] == set()


async def test_a_session_of_before_the_server_was_away_is_known_again(lobby: Lobby) -> None:
    lobby.restore({"anna": secret_hash("kept")})
    _, fresh = await enter(lobby, Hello("anna", session="kept"), Wire())
    assert fresh is None


async def test_waiting_for_a_bot_ends_when_it_comes_or_the_time_is_up(lobby: Lobby) -> None:
    assert not await lobby.wait_connected("anna", 0.01)
    seen: list[bool] = []

    async def wait() -> None:
        seen.append(await lobby.wait_connected("anna", 10))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await enter(lobby, Hello("bert"), Wire())
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        await enter(lobby, Hello("anna"), Wire())
    assert seen == [True]


async def test_players_of_a_game_are_those_who_named_it_or_none(lobby: Lobby) -> None:
    await enter(lobby, Hello("anna", games=["riskless"]), Wire())
    await enter(lobby, Hello("bert", games=["tictactoe"]), Wire())
    await enter(lobby, Hello("carl"), Wire())
    assert [member.name for member in lobby.players_of("riskless")] == ["anna", "carl"]


async def test_no_bot_takes_more_matches_than_the_host_allows() -> None:
    lobby = Lobby(Accounts(anyone=True), most_matches=3)
    member, _ = await enter(lobby, Hello("anna", matches=500), Wire())
    assert member.capacity == 3
