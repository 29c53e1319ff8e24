"""The matches in progress: opened, listed, played, and gone when they are over."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace

from arena.match.terms import ThreadLimits
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.messages import Ready, Start, View, Watch
from arena.protocol.record import Record, from_line, to_line
from arena.server.host import Host
from arena.server.web.match_log import match_log
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


JAMBOREE = EngineInfo("jamboree", {"depth": "8", "form": "course"}, 4)
MINE = EngineInfo("mine")


@pytest.mark.parametrize(
    ("limits", "threads"),
    [(ThreadLimits(), (4, 1)), (ThreadLimits(2, 3), (2, 3)), (ThreadLimits(8, 1), (4, 1))],
    ids=["none", "fewer", "more"],
)
async def test_engines_are_told_wherever_the_match_is_told(
    host: Host, limits: ThreadLimits, threads: tuple[int, int]
) -> None:
    """Each plays with what it asks for, or is allowed; whoever does not say how many threads it has is told how many."""
    expected = Engines(replace(JAMBOREE, threads=threads[0]), MINE)
    async with (
        enter(host, "anna", engine=JAMBOREE) as anna,
        enter(host, "bert", engine=MINE) as bert,
        enter(host, "carl") as carl,
    ):
        assert (host.lobby.asks("anna"), host.lobby.asks("bert"), host.lobby.asks("nobody")) == (4, 0, 0)
        room = host.matches.open(replace(spec("anna", "bert"), thread_limits=limits))
        records: list[Record] = []

        async def run() -> None:
            records.append(await host.matches.run(room))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            starts = [await peer.hear(Start) for peer in (anna, bert)]
            assert tuple(start.threads for start in starts) == threads
            await carl.say(Watch(room.terms.match))
            assert (await carl.hear(View)).engines == expected
            for peer in (anna, bert):
                await peer.say(Ready(room.terms.match))
                tasks.start_soon(peer.play, game_of())
    (record,) = records
    assert record.engines == expected
    assert from_line(to_line(record)) == record
    assert (await match_log(host.engine, room.terms.match)).engines == expected


async def test_of_players_who_say_nothing_nothing_is_told(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert:
        room = host.matches.open(spec("anna", "bert"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anna.play, game_of())
            tasks.start_soon(bert.play, game_of())
            record = await host.matches.run(room)
    assert record.engines is None
    assert '"engines"' not in to_line(record)
