"""What a bot says of its moves is told to spectators, its opponent among them, when it can help the opponent no more."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.messages import End, Move, Ready, Resign, Start, Thought, Turn, Update, View, Watch
from arena.protocol.record import Record
from arena.protocol.values import Thinking
from arena.server.host import Host, open_host
from arena.server.rooms.disclosure import Disclosure, first_secret
from arena.server.settings import private
from tests.server.matches import spec
from tests.server.peer import Peer, dial, enter

CELLS = [0, 3, 1, 4, 2]
"""A whole game of tic-tac-toe, which Maxie wins."""


@given(st.sampled_from(Disclosure), st.integers(0, 500))
def test_the_newest_move_is_a_secret_until_the_match_is_over(disclosure: Disclosure, ply: int) -> None:
    secret = first_secret(disclosure, ply, over=False)
    assert 0 <= secret <= max(0, ply - 1), "the last move has not been answered"
    assert secret in (0, ply - 1)
    assert first_secret(disclosure, ply, over=True) == ply


def thought_of(ply: int) -> Thinking:
    return Thinking(depth=ply + 1, value=float(ply), line=[CELLS[ply]])


async def begin(host: Host, anna: Peer, bert: Peer, records: list[Record]) -> None:
    records.append(await host.play(spec("anna", "bert", "20+1")))


async def news(peer: Peer) -> Update | Thought:
    """What a spectator is told next."""
    message = await peer.next()
    assert isinstance(message, Update | Thought)
    return message


async def seen_anew(peer: Peer, match: str) -> View:
    """All of the match, as it is shown to whoever asks now."""
    await peer.say(Watch(match))
    return await peer.hear(View)


@pytest.mark.parametrize("disclosure", Disclosure)
async def test_a_players_second_connection_does_not_see_the_plan_of_the_opponent(
    disclosure: Disclosure,
) -> None:
    records: list[Record] = []
    settings = private()
    settings.matches.thinking = disclosure
    async with (
        open_host(settings) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        dial(host.url) as second,
        dial(host.url) as third,
        anyio.create_task_group() as tasks,
    ):
        await second.hello("bert-looks", role="spectator")
        await third.hello("bert-looks-again", role="spectator")
        tasks.start_soon(begin, host, anna, bert, records)
        for peer in (anna, bert):
            match = (await peer.hear(Start)).match
            await peer.say(Ready(match))
        await second.say(Watch(match))
        await second.hear(View)
        stream: list[Update | Thought] = []
        for ply, cell in enumerate(CELLS[:-1]):
            mover = bert if ply % 2 else anna
            await mover.hear(Turn)
            await mover.say(Move(match, ply, cell, thought_of(ply)))
            while not stream or not isinstance(stream[-1], Update) or stream[-1].ply < ply:
                stream.append(await news(second))
            view = await seen_anew(third, match)
            told = [at for at, each in enumerate(view.moves) if each.thinking is not None]
            assert told == (list(range(ply)) if disclosure is Disclosure.REPLY else [])
        await anna.hear(Turn)
        await anna.say(Move(match, 4, CELLS[4], thought_of(4)))
        rest: list[object] = []
        while not rest or not isinstance(rest[-1], End):
            rest.append(await second.next())
    thoughts = {each.ply: each.thinking for each in [*stream, *rest] if isinstance(each, Thought)}
    assert thoughts == {ply: thought_of(ply) for ply in range(5)}, "all is told in the end"
    if disclosure is Disclosure.END:
        assert not any(isinstance(each, Thought) for each in stream)
    answered = -1
    for each in stream:
        assert not isinstance(each, Update) or each.played.thinking is None
        answered = max(answered, each.ply) if isinstance(each, Update) else answered
        assert not isinstance(each, Thought) or each.ply < answered
    assert [move.thinking for move in records[0].moves] == [thought_of(ply) for ply in range(5)]


async def test_a_player_who_watches_its_own_match_sees_no_more(host: Host) -> None:
    records: list[Record] = []
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(begin, host, anna, bert, records)
        for peer in (anna, bert):
            match = (await peer.hear(Start)).match
            await peer.say(Ready(match))
        await anna.hear(Turn)
        await anna.say(Move(match, 0, 4, thought_of(0)))
        await bert.hear(Turn)
        view = await seen_anew(bert, match)
        assert [(each.move, each.thinking) for each in view.moves] == [(4, None)]
        await bert.say(Move(match, 1, 0))
        assert (await bert.hear(Thought)).ply == 0
        await bert.say(Resign(match))
