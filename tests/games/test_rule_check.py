"""games.rule_check finds each broken rule in a game of which one line is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.games import rule_check
from arena.games.core import AnyGame, Game
from arena.games.loading import load_game_class_from_file
from arena.games.rule_check import RULE_DESCRIPTIONS, RuleViolation, check_rules
from tests.games.own import GAME_FILES, nim
from tests.games.setups import EVERY_GAME

SMALL = {
    label: game
    for label, game in EVERY_GAME.items()
    if not label.startswith("riskless") or label.endswith("path4")
}


@pytest.fixture(autouse=True)
def _limit_plies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat a match as endless after 300 plies, because no match of these games is longer."""
    monkeypatch.setattr(rule_check, "MAX_RANDOM_MATCH_PLIES", 300)


def find_violations(game: Game[Any, Any], matches: int = 20) -> dict[str, RuleViolation]:
    return {violation.rule: violation for violation in check_rules(game, Random(1).randrange, matches)}


@pytest.mark.parametrize("game", SMALL.values(), ids=SMALL)
def test_nothing_is_wrong_with_the_games_of_the_project(game: AnyGame) -> None:
    assert not find_violations(game, 3)


@pytest.mark.parametrize("file", GAME_FILES, ids=lambda file: file.stem)
def test_nothing_is_wrong_with_the_examples(file: Path) -> None:
    assert not find_violations(load_game_class_from_file(file, "").from_setup({}), 2)


BROKEN = {
    "a move that is none": (
        [("tuple(range(1, min(3, position.left) + 1))", "(1, 2, 3) if position.left else ()")],
        "end",
        "",
    ),
    "a move twice": (
        [("return tuple(range(1,", "return (1,) * bool(position.left) + tuple(range(1,")],
        "moves",
        "contains the same move twice",
    ),
    "another order": (
        [
            ("return tuple(range(1,", "self.n = getattr(self, 'n', 0) + 1\n        return tuple(range(1,"),
            ("+ 1))\n", "+ 1))[:: 1 if self.n % 2 else -1]\n"),
        ],
        "moves",
        "another order",
    ),
    "an argument changed": (
        [
            (
                "return Heap(position.left - move, position.ply + 1)",
                "after = Heap(position.left - move, position.ply + 1)\n        object.__setattr__(position, 'left', 0)\n        return after",
            )
        ],
        "successor",
        "has changed its argument",
    ),
    "an end without an outcome": (
        [("return None if position.left else", "return None if position.ply >= 0 else")],
        "end",
        "return who wins",
    ),
    "an end with moves": (
        [("return None if position.left else", "return None if position.left > 2 else")],
        "end",
        "it must be empty when the match is over",
    ),
    "no end": (
        [("Heap(position.left - move,", "Heap(position.left,")],
        "end",
        "not over after 300 plies",
    ),
    "a reason that is reserved": ([('"the last one"', '"timeout"')], "outcome", "is not a valid end reason"),
    "an outcome that is none": (
        [('Outcome(self.player(position).opponent, "the last one")', '"maxie"')],
        "outcome",
        "must be None or an Outcome",
    ),
    "a winner that is no player": (
        [("Outcome(self.player(position).opponent,", 'Outcome("maxie",')],
        "outcome",
        "the winner is 'maxie'",
    ),
    "plies that do not count": ([("position.ply + 1)", "position.ply + 2)")], "turns", "after 1 moves"),
    "no plies": ([("    ply: int\n", "    at: int\n")], "start", "AttributeError"),
    "a position that can change": (
        [("@dataclass(frozen=True)", "@dataclass")],
        "position data",
        r"^a position must be hashable: use @dataclass\(frozen=True\), and tuples instead of lists: unhashable type: 'Heap'$",
    ),
    "a board without marks": (
        [("size = 9\n", "size = 9\n    board = Grid(3, 3)\n"), ("Game, Outcome", "Game, Grid, Outcome")],
        "board",
        r"^marks\(position\) has 0 marks for 9 cells: write marks, which returns one mark for each cell$",
    ),
    "marks that are numbers": (
        [
            (
                "size = 9\n",
                "size = 9\n    board = Grid(3, 3)\n\n    def marks(self, position):\n        return [1] * 9\n",
            ),
            ("Game, Outcome", "Game, Grid, Outcome"),
        ],
        "board",
        "^a mark is 1: it must be a Player, or a text of at most 4 characters$",
    ),
    "Minnie first": (
        [
            (
                "size = 9\n",
                "size = 9\n\n    def player(self, position):\n        return MAXIE.opponent if position.ply % 2 == 0 else MAXIE\n",
            )
        ],
        "start",
        "must be Maxie's",
    ),
    "a turn twice": (
        [
            (
                "size = 9\n",
                "size = 9\n\n    def player(self, position):\n        return MAXIE\n\n    def compiled(self):\n        return 1\n",
            )
        ],
        "turns",
        "players must take turns",
    ),
    "data that does not come back": (
        [("size = 9\n", "size = 9\n\n    def move_from_data(self, data):\n        return data + 1\n")],
        "move data",
        r"^move_from_data\(1\) must return 1, not 2$",
    ),
    "a move with another hash": (
        [
            (
                "class Nim(Game):",
                "class Odd(int):\n    def __hash__(self):\n        return -7\n\n\nclass Nim(Game):",
            ),
            ("size = 9\n", "size = 9\n\n    def move_from_data(self, data):\n        return Odd(data)\n"),
        ],
        "move data",
        r"^move_from_data\(1\) is equal to 1, but has another hash: equal moves must have equal hashes$",
    ),
    "data that does not fit": (
        [
            (
                "size = 9\n",
                "size = 9\n\n    def position_to_data(self, position):\n        return {'left': 'x', 'ply': position.ply}\n",
            )
        ],
        "position data",
        "the data cannot be converted to Heap: Expected `int`, got `str`",
    ),
    "a position that does not come back": (
        [
            (
                "size = 9\n",
                "size = 9\n\n    def position_to_data(self, position):\n        return {'left': 1, 'ply': position.ply}\n",
            )
        ],
        "position data",
        "makes Heap",
    ),
    "texts alike": (
        [("size = 9\n", "size = 9\n\n    def move_to_text(self, move):\n        return 'take'\n")],
        "move text",
        "have the same text 'take'",
    ),
    "an illegal move allowed": (
        [("size = 9\n", "size = 9\n\n    def broken_rule(self, position, move):\n        return None\n")],
        "legality",
        "but the game accepts it",
    ),
    "a legal move refused": (
        [("size = 9\n", "size = 9\n\n    def broken_rule(self, position, move):\n        return 'no'\n")],
        "legality",
        "the game refuses it: no",
    ),
    "half a point": (
        [("size = 9\n", "size = 9\n\n    def estimate(self, position):\n        return 0.5\n")],
        "estimate",
        "must be a whole number",
    ),
    "chance": ([], "digest", "two results for the same calls"),
    "marks missing": (
        [
            (
                "size = 9\n",
                "size = 9\n    board = Grid(3, 3)\n\n    def marks(self, position):\n        return ['']\n",
            ),
            ("Game, Outcome", "Game, Grid, Outcome"),
        ],
        "board",
        "1 marks for 9 cells",
    ),
    "an exception": (
        [("return Heap(position.left - move", "return Heap(position.lefft - move")],
        "successor",
        r"raised AttributeError: .*nim\.py, line \d+",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found_and_described(name: str, tmp_path: Path) -> None:
    changes, rule, why = BROKEN[name]
    if name == "chance":
        base = load_game_class_from_file(nim(tmp_path), "")
        chance = Random(5)
        game: Game[Any, Any] = type(
            "Chance",
            (base,),
            {
                "moves": lambda _, position: tuple(
                    chance.sample(range(1, min(3, position.left) + 1), min(3, position.left))
                )
            },
        )()
    else:
        game = load_game_class_from_file(nim(tmp_path, *changes), "")()
    found = find_violations(game)
    assert rule in found, found
    assert rule in RULE_DESCRIPTIONS
    assert re.search(why, found[rule].reason), found[rule].reason
    assert "\n" not in found[rule].reason


def test_a_violation_is_reported_with_the_moves_that_lead_to_it(tmp_path: Path) -> None:
    file = nim(tmp_path, ("return None if position.left else", "return None if position.left > 4 else"))
    violation = find_violations(load_game_class_from_file(file, "")())["end"]
    assert 9 - sum(map(int, violation.moves)) in (1, 2, 3, 4)


def test_a_broken_rule_is_not_reported_as_a_failure_of_the_digest(tmp_path: Path) -> None:
    file = nim(tmp_path, ('else Outcome(self.player(position).opponent, "the last one")', 'else "maxie"'))
    assert set(find_violations(load_game_class_from_file(file, "")())) == {"outcome"}
