from __future__ import annotations

from pathlib import Path

import pytest

from arena.games.digest import DIGEST_HEX_DIGITS, compute_rules_digest
from arena.games.hexapawn import Hexapawn
from arena.games.loading import load_game_class_from_file
from arena.games.tictactoe import TicTacToe
from tests.games.own import EXAMPLES, nim

BOARDS = [
    ("COLUMNS, ROWS = 7, 6", "COLUMNS, ROWS = 8, 6"),
    ("((1, 0), (0, 1), (1, 1), (-1, 1))", "((1, 0), (0, 1), (1, 1))"),
    ('Outcome(None, "board full")', 'Outcome(MINNIE, "board full")'),
    ('"four in a row"', '"four"'),
    ("return tuple(column + COLUMNS * height", "return tuple(column + COLUMNS * height + 0 * 1"),
    ('name = "connect4"', 'name = "connect4"\n    # a comment'),
]


@pytest.mark.parametrize(("old", "new"), BOARDS)
def test_other_rules_have_another_digest_and_other_words_do_not(old: str, new: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "connect4.py").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "connect4.py").write_text(text.replace(old, new), encoding="utf-8")
    ours = compute_rules_digest(load_game_class_from_file(EXAMPLES / "connect4.py", "")())
    theirs = compute_rules_digest(load_game_class_from_file(tmp_path / "connect4.py", "")())
    assert (ours == theirs) == ("comment" in new or "0 * 1" in new)


def test_a_digest_is_the_same_each_time_and_of_its_setup(tmp_path: Path) -> None:
    game = load_game_class_from_file(nim(tmp_path), "")
    assert compute_rules_digest(game()) == compute_rules_digest(game())
    assert len(compute_rules_digest(game())) == DIGEST_HEX_DIGITS
    assert compute_rules_digest(Hexapawn(3, 3)) != compute_rules_digest(Hexapawn(4, 3))


def test_digests_stay_as_they_are() -> None:
    """Two versions of the project, and of Python, must find the same digest of the same rules."""
    assert compute_rules_digest(Hexapawn()) == "3003763e935760c4"
    assert compute_rules_digest(TicTacToe()) == "e2e8ae6f7a238d58"
