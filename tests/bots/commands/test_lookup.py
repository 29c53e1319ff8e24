"""bots.commands.lookup: engines and games by name, or one line."""

from __future__ import annotations

import pytest

from arena.bots.commands.lookup import load_engine
from arena.cli import main
from arena.console import UsageError


def test_an_engine_keeps_the_spec_that_named_it() -> None:
    assert load_engine("random:seed=3").spec == "random:seed=3"


@pytest.mark.parametrize("spec", ["nobody", "random:seed=x", "nowhere.py"])
def test_a_wrong_spec_is_misuse_in_one_line(spec: str) -> None:
    with pytest.raises(UsageError) as told:
        load_engine(spec)
    assert "\n" not in str(told.value)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    output = capsys.readouterr()
    return int(left.value.code or 0), output.out, output.err


def test_hexapawn_of_any_size(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("analyse", "--engine", "stack-memo", "--depth", "20", "--game")
    _, small, _ = run(capsys, *words, "hexapawn")
    assert "Minnie wins in 6" in small
    code, larger, _ = run(capsys, *words, "hexapawn:width=4,height=4")
    assert code == 0
    assert "Maxie wins in" in larger
