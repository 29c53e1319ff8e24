"""bots.commands.game_option: games by name, on a map or of a size."""

from __future__ import annotations

import pytest

from arena.cli import main


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    told = capsys.readouterr()
    return int(left.value.code or 0), told.out, told.err


def test_hexapawn_of_any_size(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("analyse", "--engine", "stack-memo", "--depth", "20", "--game")
    _, small, _ = run(capsys, *words, "hexapawn")
    assert "Minnie wins in 6" in small
    code, larger, _ = run(capsys, *words, "hexapawn:width=4,height=4")
    assert code == 0
    assert "Maxie wins in" in larger
