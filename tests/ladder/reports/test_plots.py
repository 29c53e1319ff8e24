from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.reports.plots import (
    assign_bot_colours,
    choose_axis_ticks,
    render_plot_by_ply,
    render_ratings_plot,
)
from arena.rating.standings import StandingsRow


@given(st.floats(-3000, 3000), st.floats(0.001, 5000), st.integers(2, 8))
def test_an_axis_holds_its_values_in_a_few_equal_round_steps(low: float, span: float, most: int) -> None:
    marks = choose_axis_ticks(low, low + span, most)
    assert marks[0] <= low + 1e-6 * span
    assert marks[-1] >= low + span - 1e-6 * span
    assert 2 <= len(marks) <= most + 1
    steps = {f"{b - a:.6g}" for a, b in pairwise(marks)}
    assert len(steps) == 1
    assert float(next(iter(steps))) == pytest.approx(marks[1] - marks[0])
    assert next(iter(steps)).strip("0.").split("e")[0].strip("0.") in ("1", "2", "5")


@given(st.integers(1, 60))
def test_no_two_bots_have_one_colour(count: int) -> None:
    found = assign_bot_colours([f"bot {n}" for n in range(count)])
    assert len(set(found.values())) == count


def test_plots_without_matches_are_none() -> None:
    assert render_plot_by_ply("time", "ms", {}, {}) == ""
    assert (
        render_ratings_plot([StandingsRow("a", 0, 0.0, 0, 0, 0, 0.0, 0.0, 0, 0, 0, 0, 0)], {"a": "red"}) == ""
    )
