"""Advice: an engine in a process of its own, asked by real questions, and all that it refuses."""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from urllib.parse import quote

import anyio
import pytest

from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from arena.server.web.advice import WAITING, Advisor
from tests.server.fleets import processes_of

RULES = Riskless(load_map("path4"))
START = RULES.position_to_text(RULES.start())


def asked(position: str) -> str:
    return f"position={quote(position)}"


async def test_the_line_of_the_engine_is_legal_and_its_value_and_the_truth_are_told() -> None:
    advisor = Advisor(on=True)
    answer = await advisor.answer("path4", asked(START))
    assert answer.status == HTTPStatus.OK
    told = json.loads(answer.body)
    assert (told["engine"], told["depth"]) == ("alphabeta", 3)
    assert isinstance(told["value"], float)
    position = RULES.start()
    for text in told["line"]:
        position = RULES.play(position, RULES.move_from_text(text))
    assert told["truth"] is not None, "path4 is solved, and its table ships"
    assert await advisor.answer("path4", asked(f"  {START} ")) is answer, "it is kept"


@pytest.mark.parametrize(
    ("name", "query", "status"),
    [
        ("nowhere", asked(START), HTTPStatus.NOT_FOUND),
        ("../path4", asked(START), HTTPStatus.NOT_FOUND),
        ("ring:1000", asked(START), HTTPStatus.NOT_FOUND),
        ("path4", "", HTTPStatus.BAD_REQUEST),
        ("path4", "position=a&position=b&c=d", HTTPStatus.BAD_REQUEST),
        ("path4", f"{asked(START)}&depth=99", HTTPStatus.BAD_REQUEST),
    ],
)
async def test_what_is_no_question_starts_no_engine(name: str, query: str, status: HTTPStatus) -> None:
    assert (await Advisor(on=True, seconds=0).answer(name, query)).status == status


async def test_a_position_that_is_none_is_refused() -> None:
    answer = await Advisor(on=True).answer("path4", asked("--help"))
    assert answer.status == HTTPStatus.BAD_REQUEST


async def test_where_no_guest_may_play_nobody_is_advised() -> None:
    assert (await Advisor(on=False).answer("path4", asked(START))).status == HTTPStatus.NOT_FOUND


async def test_an_engine_that_takes_too_long_is_gone_when_that_is_told_and_a_crowd_is_sent_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = f"arena-test-advice-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    advisor = Advisor(on=True, seconds=0.05)
    found: list[HTTPStatus] = []

    async def ask(number: int) -> None:
        found.append((await advisor.answer("path4", asked(f"+{number} . . -3 maxie 0"))).status)

    await ask(WAITING + 9)
    assert processes_of(mark) == []
    async with anyio.create_task_group() as tasks:
        for number in range(WAITING + 3):
            tasks.start_soon(ask, number + 1)
    assert found == [HTTPStatus.SERVICE_UNAVAILABLE] * (WAITING + 4)


async def test_an_engine_whose_question_is_given_up_is_gone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"arena-test-advice-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Advisor(on=True).answer, "path4", asked(START))
        with anyio.fail_after(30):
            while not processes_of(mark):
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert processes_of(mark) == []
