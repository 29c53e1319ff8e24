"""What is told of the goals against the relay."""

from __future__ import annotations

from benchmarks.kit.flat import MOST_RATIO, SIZES, goals


def test_a_goal_that_is_not_reached_is_told_with_what_the_most_of_a_move_goes_into() -> None:
    stages = {"read": 10.0, "commit": 50.0, "referee": 15.0, "write": 25.0}
    reached, _, missed = goals({100: [2.2, 1.0, 3.0], 1000: [2.5, 2.3, 2.4]}, {100: stages, 1000: stages})
    assert reached.endswith("with 100 bots: at most 2.2 ×. *Found:* 2.2 (1.0 to 3.0) ×.")
    assert missed.endswith(
        "with 1,000 bots: at most 2.2 ×. *Found:* 2.4 (2.3 to 2.5) ×; the most of a move goes into commit (50%), "
        "write (25%), referee (15%)."
    )


def test_there_is_a_goal_for_each_number_of_bots_that_is_measured() -> None:
    assert set(MOST_RATIO) == set(SIZES)
