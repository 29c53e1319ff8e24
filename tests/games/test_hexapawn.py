"""Hexapawn: its rules, and its solution, which is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData, IllegalMove, Outcome, Player, RuleEndReason
from arena.games.hexapawn import Hexapawn, HexapawnPosition


@st.composite
def positions(draw: st.DrawFn) -> tuple[Hexapawn, HexapawnPosition]:
    game = Hexapawn(draw(st.integers(1, 6)), draw(st.integers(3, 6)))
    position = game.start()
    for _ in range(draw(st.integers(0, 12))):
        moves = game.moves(position)
        if not moves:
            break
        position = game.successor(position, draw(st.sampled_from(moves)))
    return game, position


def text(game: Hexapawn, position: HexapawnPosition) -> list[str]:
    return [game.move_to_text(move) for move in game.moves(position)]


def test_moves_in_order() -> None:
    game = Hexapawn()
    assert text(game, game.start()) == ["a1 a2", "b1 b2", "c1 c2"]
    middle = game.position_from_text("B.B/.B./WWW maxie 2")
    assert text(game, middle) == ["a1 a2", "a1 b2", "c1 c2", "c1 b2"]
    assert text(game, game.position_from_text("BBB/WW./..W minnie 3")) == ["a3 b2", "b3 a2", "c3 c2", "c3 b2"]


@pytest.mark.parametrize(
    ("position", "outcome"),
    [
        ("W.B/.../... minnie 5", Outcome(Player.MAXIE, RuleEndReason.BREAKTHROUGH)),
        (".../.../B.W maxie 4", Outcome(Player.MINNIE, RuleEndReason.BREAKTHROUGH)),
        ("B../W../... maxie 4", Outcome(Player.MINNIE, RuleEndReason.NO_MOVES)),
        ("B../W../... minnie 5", Outcome(Player.MAXIE, RuleEndReason.NO_MOVES)),
        (".../WW./... minnie 5", Outcome(Player.MAXIE, RuleEndReason.NO_MOVES)),
    ],
)
def test_ends(position: str, outcome: Outcome) -> None:
    game = Hexapawn()
    assert game.outcome(game.position_from_text(position)) == outcome
    assert not game.moves(game.position_from_text(position))


@given(made=positions())
def test_every_pair_of_squares_is_legal_or_has_a_reason_why_not(
    made: tuple[Hexapawn, HexapawnPosition],
) -> None:
    game, position = made
    legal = set(game.moves(position))
    size = game.width * game.height
    for source in range(size):
        for target in range(size):
            assert (game.explain_illegal_move(position, (source, target)) is None) == (
                (source, target) in legal
            )


def count_matches(game: Any, position: Any) -> int:
    """Return the number of different matches from `position` to the end."""
    moves = game.moves(position)
    return sum(count_matches(game, game.successor(position, move)) for move in moves) if moves else 1


Square = tuple[int, int]


def count_matches_by_sets(width: int, height: int, mover: frozenset[Square], other: frozenset[Square]) -> int:
    """Return the number of different matches, counted by another implementation.

    Pawns are sets of squares. The board is turned after each ply, so that the mover always goes up.
    """
    if any(y == 0 for _, y in other):
        return 1
    count = 0
    for x, y in mover:
        steps = [(x, y + 1)] if (x, y + 1) not in mover | other else []
        steps += [(x + side, y + 1) for side in (-1, 1) if (x + side, y + 1) in other]
        for step in steps:
            mine, theirs = (mover - {(x, y)}) | {step}, other - {step}
            turned = [frozenset((u, height - 1 - v) for u, v in pawns) for pawns in (theirs, mine)]
            count += count_matches_by_sets(width, height, turned[0], turned[1])
    return count or 1


@pytest.mark.parametrize(("width", "height"), [(1, 3), (2, 3), (3, 3), (2, 5), (3, 4), (4, 3)])
def test_another_implementation_counts_as_many_matches(width: int, height: int) -> None:
    game = Hexapawn(width, height)
    rows = [frozenset((x, y) for x in range(width)) for y in (0, height - 1)]
    assert count_matches(game, game.start()) == count_matches_by_sets(width, height, rows[0], rows[1])


def test_setups() -> None:
    assert Hexapawn.from_setup({}).setup() == {"width": 3, "height": 3}
    game = Hexapawn.from_setup({"width": 5, "height": 4})
    assert Hexapawn.from_setup(game.setup()).start() == game.start()
    for setup in ({"width": 0}, {"height": 2}, {"width": 27}, {"width": True}, {"depth": 3}):
        with pytest.raises(BadData):
            Hexapawn.from_setup(setup)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "BBB/.../WWW",
        "BBB/.../WW maxie 0",
        "BBB/.../WWX maxie 0",
        "BBB/.../WWW minnie 0",
        "BBB/.../WWW maxie x",
        "W../.../B.. maxie 0",
        "BBB/B../WWW maxie 0",
        "BBB/.../WWW nobody 0",
    ],
)
def test_bad_positions(bad: str) -> None:
    with pytest.raises(BadData):
        Hexapawn().position_from_text(bad)


def test_bad_moves() -> None:
    game = Hexapawn()
    for bad in ("", "a1", "a1 a9", "d1 d2", "0 3", "a1 a²"):
        with pytest.raises(BadData, match="type two squares from a1 to c3"):
            game.move_from_text(bad)
    for data in (3, [1], "ab", [0, 99], [0, True]):
        with pytest.raises(BadData):
            game.move_from_data(data)
    with pytest.raises(IllegalMove, match="steps forward onto an empty square"):
        game.play(game.start(), (0, 4))
    assert game.move_from_text("A1-a2") == (0, 3)
