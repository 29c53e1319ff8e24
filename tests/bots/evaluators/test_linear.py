"""bots.evaluators.linear: the bounds of a weighted sum."""

from __future__ import annotations

import pytest

from arena.bots.evaluators.linear import weighted
from arena.bots.search.values import ESTIMATE_LIMIT


def test_an_estimate_is_never_a_win() -> None:
    huge = weighted(lambda _: (10**6,), ("f",), {"f": 10**6})
    assert huge(None) == ESTIMATE_LIMIT
    with pytest.raises(KeyError):
        weighted(lambda _: (1, 2), ("f", "g"), {"f": 1})
