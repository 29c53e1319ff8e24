"""lab.commands.compiled_map: a map by name, and one line for one that cannot be."""

from __future__ import annotations

import pytest

from arena.console import UsageError
from arena.lab.commands.compiled_map import compiled_map
from arena.maps.loader import load_map


@pytest.mark.parametrize("name", ["m2", "world", "ring:64"])
def test_what_fits_is_the_map_of_that_name(name: str) -> None:
    assert compiled_map(name) == load_map(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("atlantis", "atlantis: no such map"),
        ("ring:65", "ring:65: too large for the compiled engines: at most 64 territories, cap "),
    ],
)
def test_what_does_not_is_told_in_a_line(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as told:
        compiled_map(name)
    assert "\n" not in str(told.value)
