from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

import pytest

from arena.games.core import BadData, IllegalMove, Outcome, Player, RuleEndReason
from arena.games.tictactoe import TicTacToe, TicTacToePosition

GAME = TicTacToe()


@cache
def count_matches(board: TicTacToePosition) -> tuple[int, Counter[tuple[str, str | None]]]:
    """Return the number of nodes of the game tree below `board`, and its numbers of matches by length and by winner."""
    outcome = GAME.outcome(board)
    if outcome is not None:
        return 1, Counter({("ply", str(GAME.ply(board))): 1, ("winner", outcome.winner): 1})
    nodes, ends = 1, Counter[tuple[str, str | None]]()
    for move in GAME.moves(board):
        more, there = count_matches(GAME.successor(board, move))
        nodes += more
        ends += there
    return nodes, ends


@cache
def reachable() -> frozenset[TicTacToePosition]:
    seen = {GAME.start()}
    frontier = [GAME.start()]
    while frontier:
        board = frontier.pop()
        for move in GAME.moves(board):
            after = GAME.successor(board, move)
            if after not in seen:
                seen.add(after)
                frontier.append(after)
    return frozenset(seen)


def test_the_tree_has_the_known_counts() -> None:
    nodes, ends = count_matches(GAME.start())
    assert nodes == 549_946
    by_winner = {winner: n for (what, winner), n in ends.items() if what == "winner"}
    assert by_winner == {Player.MAXIE: 131_184, Player.MINNIE: 77_904, None: 46_080}
    assert sum(by_winner.values()) == 255_168
    by_ply = {int(ply or 0): n for (what, ply), n in ends.items() if what == "ply"}
    assert by_ply == {5: 1_440, 6: 5_328, 7: 47_952, 8: 72_576, 9: 127_872}


def test_the_positions_have_the_known_counts() -> None:
    assert len(reachable()) == 5_478
    ends = Counter(outcome.winner for outcome in map(GAME.outcome, reachable()) if outcome)
    assert ends == {Player.MAXIE: 626, Player.MINNIE: 316, None: 16}


def test_text_takes_exactly_the_positions_that_can_be_reached() -> None:
    taken = set()
    for cells in map("".join, product(".XO", repeat=9)):
        try:
            taken.add(GAME.position_from_text(cells))
        except BadData:
            continue
    assert taken == reachable()


def test_cells_are_named_by_column_and_row() -> None:
    names = ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    assert [GAME.move_to_text(cell) for cell in range(9)] == names
    for cell, name in enumerate(names):
        for typed in (name, name.upper(), str(cell), f" {name} "):
            assert GAME.move_from_text(typed) == cell


@pytest.mark.parametrize("typed", ["", "9", "d1", "a4", "a0", "11", "-1", "a1b1", "٣"])
def test_other_words_are_no_cell(typed: str) -> None:
    with pytest.raises(BadData, match="a1 to c3"):
        GAME.move_from_text(typed)


@pytest.mark.parametrize(
    ("board", "move", "why"),
    [
        ("X........", 0, "a1 is taken by X"),
        ("X........", 9, "there is no such cell"),
        ("X........", -1, "there is no such cell"),
        ("XXXOO....", 8, "the match is over"),
        ("XOXXOOOXX", 0, "the match is over"),
    ],
)
def test_a_refusal_says_why(board: str, move: int, why: str) -> None:
    position = GAME.position_from_text(board)
    with pytest.raises(IllegalMove) as refused:
        GAME.play(position, move)
    assert refused.value.why == why
    assert refused.value.legal == tuple(GAME.move_to_text(m) for m in GAME.moves(position))


@pytest.mark.parametrize(
    ("cells", "outcome"),
    [
        ("XXX/OO./...", Outcome(Player.MAXIE, RuleEndReason.LINE)),
        ("XX./OOO/X..", Outcome(Player.MINNIE, RuleEndReason.LINE)),
        ("XOX/XOO/OXX", Outcome(None, RuleEndReason.BOARD_FULL)),
        ("XOX/OXO/XOX", Outcome(Player.MAXIE, RuleEndReason.LINE)),  # full, and a line: the line counts
        ("XX./OO./...", None),
    ],
)
def test_ends(cells: str, outcome: Outcome | None) -> None:
    assert GAME.outcome(GAME.position_from_text(cells)) == outcome


@pytest.mark.parametrize(
    ("cells", "value"), [("./........", 0), ("X........", 3), ("....X....", 4), ("X...O....", -1)]
)
def test_the_estimate_counts_open_lines(cells: str, value: int) -> None:
    assert GAME.estimate(GAME.position_from_text(cells)) == value


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("X........X", "three rows of X, O and '.'"),
        ("X.?......", "three rows of X, O and '.'"),
        ("XX.......", "X moves first"),
        ("O........", "X moves first"),
        ("XXXOOO...", "over before the last move"),
        ("XXXOO.O..", "over before the last move"),
    ],
)
def test_boards_that_cannot_be_say_why(cells: str, why: str) -> None:
    with pytest.raises(BadData, match=why):
        GAME.position_from_text(cells)


def test_the_setup_must_be_empty() -> None:
    assert TicTacToe.from_setup({}).setup() == {}
    with pytest.raises(BadData, match=r"the setup of tictactoe must be empty, not \{'size': 4\}"):
        TicTacToe.from_setup({"size": 4})


def test_the_picture_shows_what_a_person_types() -> None:
    board = GAME.position_from_text("X.O/.X./..O")
    assert GAME.picture(board).split("\n") == ["  a b c", "1 X . O", "2 . X .", "3 . . O"]
