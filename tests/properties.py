"""Number of examples for each property: four to six times as many in `make test-all` as in `make test`, and new ones each time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies

# The wall clock says little about an example on a machine that is busy: pytest-timeout catches hangs.
settings.register_profile("arena", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=40)
settings.load_profile("arena")


def examples(count: int, few: int | None = None) -> settings:
    """Return settings for a property of which one example takes long: `count` examples in `make test-all`, else `few` or a sixth."""
    at_length = settings.default is not None and settings.default.max_examples >= 40
    return settings(max_examples=count if at_length else few or (count + 5) // 6)


def seeds(count: int) -> list[Any]:
    """Return parameters for a test that takes long and has its chance from a seed: the first, and in `make test-all` so many."""
    return [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, count))]


@settings(max_examples=1, database=None)
@given(strategies.none())
def first_example(_: None) -> None:
    """Let Hypothesis make its source of chance, of which it asks the collector who refers to it."""
