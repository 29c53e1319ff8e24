from __future__ import annotations

import pytest

from arena.console import UsageError
from arena.lab.commands.map_loading import load_map_for_compiled_search
from arena.maps.loader import load_map


@pytest.mark.parametrize("name", ["m2", "world", "ring:64"])
def test_a_map_that_fits_is_returned_by_its_name(name: str) -> None:
    assert load_map_for_compiled_search(name) == load_map(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("atlantis", "atlantis: no such map"),
        (
            "ring:65",
            "ring:65 is too large for the compiled engines: at most 64 territories, and a cap of at most ",
        ),
    ],
)
def test_a_map_that_does_not_fit_gives_an_error_of_one_line(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        load_map_for_compiled_search(name)
    assert "\n" not in str(raised.value)
