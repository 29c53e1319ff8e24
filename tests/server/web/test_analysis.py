"""Engine analysis: responses of real engines, time limits, and refused requests."""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from arena.protocol.record import format_record_line, parse_record_line
from arena.server.edge.responses import Response, make_raw_json_response
from arena.server.web import analysis
from arena.server.web.analysis import analyse_position, review_match, review_moves
from arena.server.web.routes import BadRequest, NotFound
from tests.bots.command_line import arena
from tests.games.own import forget_games, nim
from tests.match.recorded import random_record
from tests.server.fleets import processes_of

RULES = Riskless(load_map("path4"))
START = RULES.position_to_text(RULES.start())
THREE_MOVES_POSITION = RULES.position_from_text("+4 +2 . -5 maxie 4")
"""Position with three legal moves."""
ITALY = make_game_on_map("riskless", "italy")
LONG_MATCH = format_record_line(random_record(ITALY, 3, 60)[0])
"""Record whose review takes more than a second of CPU time."""


@pytest.fixture(autouse=True)
def allow_slow_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengthen the time limit of engines, so that tests pass on a busy machine."""
    monkeypatch.setattr(analysis, "ENGINE_TIMEOUT_SECONDS", 500.0)


def make_parameters(position: str) -> dict[str, str]:
    return {"position": position}


async def test_an_analysis_has_legal_lines_their_values_and_the_exact_value() -> None:
    answer = await analyse_position("path4", make_parameters(RULES.position_to_text(THREE_MOVES_POSITION)))
    assert answer.status == HTTPStatus.OK
    data = json.loads(answer.body)
    assert data["engine"] == "alphabeta"
    assert data["depth"] > 0
    assert isinstance(data["value"], int | float)
    assert 0 <= data["chance"] <= 1
    assert data["lines"][0]["line"] == data["line"]
    assert (
        len({each["line"][0] for each in data["lines"]})
        == len(data["lines"])
        == len(RULES.moves(THREE_MOVES_POSITION))
    )
    for each in data["lines"]:
        position = THREE_MOVES_POSITION
        for text in each["line"]:
            position = RULES.play(position, RULES.move_from_text(text))
    assert data["truth"] is not None, "there is a built-in table of the solved map path4"


@pytest.mark.parametrize(
    ("name", "parameters", "error"),
    [
        ("nowhere", make_parameters(START), NotFound),
        ("../path4", make_parameters(START), NotFound),
        ("ring:1000", make_parameters(START), NotFound),
        ("path4", {}, BadRequest),
        ("path4", make_parameters(" "), BadRequest),
    ],
)
async def test_an_invalid_analysis_request_starts_no_engine(
    name: str, parameters: dict[str, str], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "ENGINE_TIMEOUT_SECONDS", 0.0)
    with pytest.raises(error):
        await analyse_position(name, parameters)


async def test_an_invalid_position_is_refused() -> None:
    assert (await analyse_position("path4", make_parameters("--help"))).status == HTTPStatus.BAD_REQUEST


async def test_an_engine_that_takes_too_long_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = f"arena-test-advice-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    monkeypatch.setattr(analysis, "ENGINE_TIMEOUT_SECONDS", 0.05)
    answer = await analyse_position("path4", make_parameters("+9 . . -3 maxie 0"))
    assert answer.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert processes_of(mark) == []


async def test_an_engine_that_uses_too_much_cpu_time_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "MAX_ENGINE_CPU_SECONDS", 1)
    answer = await review_match(LONG_MATCH)
    assert (answer.status, answer.body) == (HTTPStatus.SERVICE_UNAVAILABLE, b"the engine took too long\n")


async def test_an_engine_is_killed_when_its_request_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"arena-test-advice-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(analyse_position, "path4", make_parameters(START))
        with anyio.fail_after(500):
            while not processes_of(mark):
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert processes_of(mark) == []


def test_a_review_equals_that_of_arena_replay(tmp_path: Path) -> None:
    line = format_record_line(random_record(ITALY, 3, 6)[0])
    answer = anyio.run(review_match, line)
    assert answer.status == HTTPStatus.OK
    data = json.loads(answer.body)
    file, found = tmp_path / "match.jsonl", tmp_path / "found.json"
    file.write_text(line + "\n", encoding="utf-8")
    assert arena("replay", file, "--analyse", "alphabeta", "--json", found).code == 0
    expected = json.loads(found.read_text(encoding="utf-8"))
    assert len(data["moves"]) == 6
    assert any(each["mark"] for each in data["moves"]), "some random moves are mistakes"
    for each, other in zip(data["moves"], expected["moves"], strict=True):
        assert each.items() <= other.items()
    assert data["players"].keys() == expected["players"].keys()
    for seat, each in data["players"].items():
        assert each.keys() == {"moves", "marked", "accuracy"}
        assert each.items() <= expected["players"][seat].items()


OWN_MAP = {**make_game_on_map("riskless", "path4").setup(), "map": "own"}


@pytest.mark.parametrize(
    ("game", "setup", "full_setup"),
    [
        (ITALY, {"map": "italy"}, ITALY.setup()),
        (make_game_on_map("riskless", "path4"), OWN_MAP, OWN_MAP),
        (make_game_on_map("hexapawn"), {}, {}),
    ],
    ids=["built-in map", "own map", "hexapawn"],
)
def test_moves_are_reviewed_as_a_record(
    game: AnyGame, setup: dict[str, object], full_setup: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def review(line: str) -> Response:
        return make_raw_json_response(line.encode())

    monkeypatch.setattr(analysis, "review_match", review)
    moves = [each.move for each in random_record(game, 3, 4)[0].moves]
    parameters = {"game": game.name, "setup": json.dumps(setup), "moves": json.dumps(moves)}
    record = parse_record_line(anyio.run(review_moves, parameters).body.decode())
    assert (record.game, record.setup) == (game.name, full_setup)
    assert [each.move for each in record.moves] == moves


def test_a_custom_game_and_a_custom_map_are_reviewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_games(monkeypatch)
    CATALOGUE.register_game(str(nim(tmp_path)))
    moves = [each.move for each in random_record(make_game_on_map("riskless", "path4"), 3, 2)[0].moves]
    for parameters in (
        {"game": "nim", "moves": "[1,2]"},
        {"game": "riskless", "setup": json.dumps(OWN_MAP), "moves": json.dumps(moves)},
    ):
        answer = anyio.run(review_moves, parameters)
        assert answer.status == HTTPStatus.OK, answer.body
        assert len(json.loads(answer.body)["moves"]) == 2


async def test_a_review_request_without_a_valid_match_is_refused() -> None:
    with pytest.raises(BadRequest, match="'moves' must be a JSON list"):
        await review_moves({"game": "tictactoe", "moves": "4"})


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{}", "cannot be read"),
        (
            format_record_line(structs.replace(random_record(make_game_on_map("tictactoe"))[0], game="go")),
            "does not know the game 'go'",
        ),
        (
            format_record_line(random_record(make_game_on_map("riskless", "path4"), 1, 0)[0]),
            "it has no moves",
        ),
    ],
)
async def test_a_match_that_cannot_be_reviewed_starts_no_engine(
    line: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "ENGINE_TIMEOUT_SECONDS", 0.0)
    answer = await review_match(line)
    assert answer.status == HTTPStatus.BAD_REQUEST
    assert why in answer.body.decode()


async def test_a_record_that_breaks_the_rules_is_refused() -> None:
    record, _ = random_record(make_game_on_map("riskless", "path4"), 1, 4)
    wrong = structs.replace(record, moves=[record.moves[0], *record.moves[:3]])
    answer = await review_match(format_record_line(wrong))
    assert (answer.status, "breaks the rules" in answer.body.decode()) == (HTTPStatus.BAD_REQUEST, True)
