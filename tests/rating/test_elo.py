from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.elo import compute_expected_score, score_to_elo


def test_the_logistic_scale() -> None:
    # Elo's table: 400 points are ten to one.
    assert compute_expected_score(400) == pytest.approx(10 / 11)
    assert compute_expected_score(0) == 0.5
    assert compute_expected_score(-4000) == pytest.approx(1e-10)
    assert score_to_elo(0.75) == pytest.approx(190.848, abs=1e-3)
    assert score_to_elo(0) == -math.inf
    assert score_to_elo(1) == math.inf


@given(st.floats(-1500, 1500))
def test_score_to_elo_inverts_the_expected_score(difference: float) -> None:
    assert score_to_elo(compute_expected_score(difference)) == pytest.approx(difference, abs=1e-6)
