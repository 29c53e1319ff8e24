"""The games of examples/games: Connect Four against an independent oracle, both through a match on a real server."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import MAXIE, Game, Player
from arena.games.loading import game_in_file
from tests.games.own import EXAMPLES
from tests.games.setups import random_match
from tests.properties import examples

PAGE = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")


def game_of(name: str) -> Game[Any, Any]:
    return game_in_file(EXAMPLES / f"{name}.py", "").from_setup({})


FOUR = game_of("connect4")


def winner_by_picture(cells: str) -> Player | None:
    """Who has four in a row: found in the text of the board by patterns, not by the game's own lines."""
    text = "/".join(cells[row : row + 7] for row in range(0, 42, 7))
    for gap in (0, 7, 6, 8):
        found = re.search(rf"(?=([XO])(?:.{{{gap}}}\1){{3}})", text)
        if found:
            return MAXIE if found[1] == "X" else MAXIE.opponent
    return None


@examples(20)
@given(seed=st.integers(0, 2**32))
def test_connect_four_ends_as_the_picture_shows(seed: int) -> None:
    match = random_match(FOUR, seed)
    for position in match.positions[:-1]:
        assert winner_by_picture(position.cells) is None
    outcome = FOUR.outcome(match.positions[-1])
    assert outcome is not None
    assert outcome.winner is winner_by_picture(match.positions[-1].cells)
    assert outcome.word == ("four_in_a_row" if outcome.winner else "board_full")


def test_a_full_board_without_four_is_a_draw() -> None:
    cells = "".join("XXOOXXO" if row % 2 else "OOXXOOX" for row in range(6))
    position = FOUR.position_from_data({"cells": cells})
    assert winner_by_picture(cells) is None
    outcome = FOUR.outcome(position)
    assert outcome is not None
    assert str(outcome) == "draw (board full)"


def test_connect_four_counts_as_it_is_known_to() -> None:
    """The numbers of ways to play: 7 to the power of the ply, until a column can be full or a row of four can stand."""

    def ways(position: Any, depth: int) -> int:
        if not depth:
            return 1
        return sum(ways(FOUR.successor(position, move), depth - 1) for move in FOUR.moves(position))

    assert [ways(FOUR.start(), depth) for depth in range(5)] == [1, 7, 49, 343, 2401]
    # One column alone holds six discs of both players in turn: then it is no move any more.
    position = FOUR.start()
    for row in range(6):
        position = FOUR.play(position, FOUR.move_from_text(f"d{row + 1}"))
    assert "d" not in {FOUR.move_to_text(move)[0] for move in FOUR.moves(position)}


@pytest.mark.parametrize("seed", range(5))
def test_breakthrough_ends_in_a_breakthrough_or_with_all_taken(seed: int) -> None:
    game = game_of("breakthrough")
    match = random_match(game, seed)
    outcome = game.outcome(match.positions[-1])
    assert outcome is not None
    source, target = match.moves[-1]
    mover = game.player(match.positions[-2])
    assert outcome.winner is mover
    reached = target // 8 == (7 if mover is MAXIE else 0)
    assert reached or outcome.word == "all_taken"
    assert abs(target % 8 - source % 8) <= 1


def test_breakthrough_is_played_on_the_size_of_its_setup() -> None:
    game = type(game_of("breakthrough")).from_setup({"columns": 5, "rows": 6})
    assert game.setup() == {"columns": 5, "rows": 6}
    assert game.board is not None
    assert game.board.cells == 30
    position = random_match(game, Random(1).randrange(99)).positions[-1]
    assert len(game.marks(position)) == 30


def test_the_guide_shows_the_game_of_the_examples() -> None:
    (shown,) = re.findall(r"^```python\n# connect4\.py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(compile(shown, "connect4.py", "exec"), namespace)  # the page's own code
    shown_game = namespace["ConnectFour"]()
    for seed in range(3):
        match = random_match(FOUR, seed)
        position = shown_game.start()
        for ply, move in enumerate(match.moves):
            assert tuple(shown_game.moves(position)) == tuple(FOUR.moves(match.positions[ply]))
            position = shown_game.successor(position, move)
        assert shown_game.outcome(position) == FOUR.outcome(match.positions[-1])
