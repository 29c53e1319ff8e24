"""bots.commands.engine_option: an engine by its spec, or one line."""

from __future__ import annotations

import pytest

from arena.bots.commands.engine_option import load_engine
from arena.console import Misuse


def test_an_engine_keeps_the_spec_that_named_it() -> None:
    assert load_engine("random:seed=3").spec == "random:seed=3"


@pytest.mark.parametrize("spec", ["nobody", "random:seed=x", "nowhere.py"])
def test_a_wrong_spec_is_misuse_in_one_line(spec: str) -> None:
    with pytest.raises(Misuse) as told:
        load_engine(spec)
    assert "\n" not in str(told.value)
