"""The list of house bots, and what the roster hands on from those who use it to those who run the bots."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.messages import Present
from arena.protocol.values import Players
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.lobby.roster import MATCHES, BadHouse, HouseBot, HouseRoster, house_bots
from tests.server.matches import record


@pytest.mark.parametrize(
    ("text", "bots"),
    [
        ("none", []),
        ("greedy", [("house-greedy", "greedy")]),
        (
            "greedy, alphabeta:depth=6,exact=yes,random",
            [
                ("house-greedy", "greedy"),
                ("house-alphabeta", "alphabeta:depth=6,exact=yes"),
                ("house-random", "random"),
            ],
        ),
        (
            "minimax:depth=2,minimax:depth=3",
            [("house-minimax", "minimax:depth=2"), ("house-minimax-2", "minimax:depth=3")],
        ),
        ("bots/my_bot.py:Mine", [("house-my_bot", "bots/my_bot.py:Mine")]),
    ],
)
def test_lists_of_engines(text: str, bots: list[tuple[str, str]]) -> None:
    assert house_bots(text) == [HouseBot(*each) for each in bots]


@pytest.mark.parametrize("text", ["", "greedy,", ",", "x" * 70])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(BadHouse, match="write greedy"):
        house_bots(text)


def roster() -> HouseRoster:
    return HouseRoster([HouseBot("house-greedy", "greedy"), HouseBot("house-random", "random")])


def test_house_bots_are_listed_whether_or_not_they_are_connected() -> None:
    connected = Present("house-random", "random 1.0", 1, MATCHES)
    assert roster().present({"house-random": connected, "anna": Present("anna", "", 0, 1)}) == [
        Present("house-greedy", "greedy", 0, MATCHES, house=True),
        replace(connected, house=True),
    ]


def test_one_that_is_removed_is_listed_no_more() -> None:
    bots = roster()
    assert bots.remove("house-greedy")
    assert not bots.remove("house-greedy")
    assert bots.names == ["house-random"]
    assert "house-greedy" not in bots


async def test_what_is_asked_and_what_is_over_is_handed_on_once() -> None:
    bots = roster()
    bots.ask("house-random")
    over = Outcome.of(replace(record(), players=Players("anna", "house-greedy")))
    bots.finished(over)
    bots.finished(Outcome.of(record()))
    assert await bots.news() == (["house-random"], [over])
    with anyio.move_on_after(0.01) as waiting:
        await bots.news()
    assert waiting.cancelled_caught


async def test_whoever_waits_for_news_hears_of_them_at_once() -> None:
    bots = roster()
    heard: list[str] = []

    async def follow() -> None:
        while True:
            asked, _ = await bots.news()
            heard.extend(asked)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        for name in bots.names:
            await anyio.wait_all_tasks_blocked()
            bots.ask(name)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert heard == ["house-greedy", "house-random"]
