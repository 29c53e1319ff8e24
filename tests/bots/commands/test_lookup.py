from __future__ import annotations

import pytest

from arena.bots.commands.lookup import load_engine
from arena.console import UsageError
from tests.bots.command_line import arena


def test_an_engine_keeps_the_spec_that_named_it() -> None:
    assert load_engine("random:seed=3").spec == "random:seed=3"


@pytest.mark.parametrize("spec", ["nobody", "random:seed=x", "nowhere.py"])
def test_a_wrong_spec_is_misuse_in_one_line(spec: str) -> None:
    with pytest.raises(UsageError) as told:
        load_engine(spec)
    assert "\n" not in str(told.value)


def test_hexapawn_of_any_size() -> None:
    words = ("analyse", "--engine", "stack-memo", "--depth", "20", "--game")
    assert "Minnie wins in 6" in arena(*words, "hexapawn").stdout
    assert "Maxie wins in" in arena(*words, "hexapawn:width=4,height=4").stdout
