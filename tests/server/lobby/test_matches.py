"""The matches in progress: opened, listed, played, and gone when they are over."""

from __future__ import annotations

import anyio

from server.host import Host
from tests.server.matches import game_of, spec
from tests.server.peer import enter


async def test_a_match_is_there_from_its_opening_to_its_end(host: Host) -> None:
    matches = host.matches
    async with enter(host, "anna") as anna, enter(host, "bert") as bert:
        room = matches.open(spec("anna", "bert"))
        id = room.terms.match
        assert room.terms.grace_ms == 400, "the server sets how long a bot may take to return"
        assert not any(host.lobby.member(name).free for name in ("anna", "bert")), "its players are taken"
        assert [each.match for each in matches.listed()] == [id]
        assert matches.spectators(id) is room.spectators
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anna.play, game_of())
            tasks.start_soon(bert.play, game_of())
            record = await matches.run(room)
        assert record.match == id
        assert matches.listed() == []
        assert matches.spectators(id) is None
        assert all(host.lobby.member(name).free for name in ("anna", "bert"))


async def test_players_who_never_came_are_forgotten_with_their_match(host: Host) -> None:
    record = await host.matches.run(host.matches.open(spec("anna", "bert", ready=300)))
    assert record.result.reason == "no_show"
    assert host.lobby.find("anna") is None
    assert host.lobby.find("bert") is None


async def test_a_match_that_does_not_exist_has_no_spectators(host: Host) -> None:
    assert host.matches.spectators("none") is None
