"""server.arena.standings: a bot that takes no more matches is answered when all that it was given has begun, and not before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from arena.games.core import Player
from arena.server.arena import standings
from arena.server.arena.standings import Standings
from arena.server.rooms.member import Member
from tests.server.arena.arenas import until
from tests.server.arena.ends import Bot, Inbox

MAXIE = Player.MAXIE


class Asked:
    """A server whose bot waits for an answer, and a matchmaker that answers when the test has it do so."""

    def __init__(self, tasks: TaskGroup, again: float) -> None:
        self.numbers: list[int] = []
        self.at_once: Collection[str] | None = None
        self.told = 0
        self.standings = Standings(tasks.start_soon, self._ask, self._tell, again=again)
        self.member = Member("anna", connection=Bot())
        self.member.enter(3, 1)

    def _ask(self, member: Member, number: int) -> Collection[str] | None:
        assert member is self.member
        self.numbers.append(number)
        return self.at_once

    def _tell(self, member: Member) -> None:
        assert member is self.member
        self.told += 1

    def given(self, *matches: str, entry: int = 3) -> None:
        """The matchmaker answers the latest question."""
        self.standings.given("anna", entry, self.numbers[-1], matches)


@asynccontextmanager
async def asking(again: float = 60) -> AsyncIterator[Asked]:
    async with anyio.create_task_group() as tasks:
        yield Asked(tasks, again)
        tasks.cancel_scope.cancel()


async def some_looks() -> None:
    await anyio.sleep(5 * standings.LOOK_SECONDS)


async def test_who_plays_nothing_where_matches_are_arranged_is_answered_at_once() -> None:
    async with asking() as asked:
        asked.at_once = ()
        asked.standings.answer(asked.member)
        asked.standings.answer(asked.member)
        assert asked.told == 2


async def test_the_start_of_a_match_that_begins_here_comes_first() -> None:
    async with asking() as asked:
        asked.at_once = ("m",)
        inbox = Inbox()
        asked.member.begin("m", inbox, MAXIE)
        asked.standings.answer(asked.member)
        await some_looks()
        assert asked.told == 0
        inbox.told = True
        await until(lambda: asked.told == 1)


async def test_a_match_that_the_matchmaker_has_given_and_nobody_has_told_of_yet_is_waited_for() -> None:
    async with asking() as asked:
        asked.standings.answer(asked.member)
        await some_looks()
        assert asked.told == 0, "the matchmaker has not answered"
        asked.given("m")
        await some_looks()
        assert asked.told == 0, "the match was not heard of here"
        asked.member.begin("m", Inbox(told=True), MAXIE)
        await until(lambda: asked.told == 1)


async def test_a_match_that_is_over_before_the_matchmaker_has_heard_of_that_is_not_waited_for() -> None:
    async with asking() as asked:
        asked.member.begin("m", Inbox(told=True), MAXIE)
        asked.member.finish("m")
        asked.standings.answer(asked.member)
        asked.given("m")
        await until(lambda: asked.told == 1)


async def test_the_matchmaker_is_asked_again_as_it_may_have_ended_or_its_match_not_be_begun() -> None:
    async with asking(again=0.2) as asked:
        asked.standings.answer(asked.member)
        asked.given("never begun")
        await until(lambda: len(asked.numbers) > 1)
        assert asked.told == 0
        asked.given()
        await until(lambda: asked.told == 1)


async def test_an_answer_to_an_earlier_question_or_of_another_connection_tells_nothing() -> None:
    async with asking() as asked:
        asked.standings.answer(asked.member)
        asked.standings.answer(asked.member)
        asked.standings.given("anna", 3, asked.numbers[0], ())
        asked.given(entry=2)
        asked.standings.given("bert", 3, asked.numbers[-1], ())
        await some_looks()
        assert asked.told == 0
        asked.given()
        await until(lambda: asked.told == 2)


async def test_who_has_gone_is_answered_no_more_and_who_is_back_when_it_asks_again() -> None:
    async with asking() as asked:
        asked.standings.answer(asked.member)
        asked.member.disconnect()
        await some_looks()
        asked.member.connect(Bot())
        asked.given()
        await some_looks()
        assert asked.told == 0
        asked.standings.answer(asked.member)
        asked.given()
        await until(lambda: asked.told == 1)
