"""Hypothesis strategies: maps and positions of Riskless, and arbitrary plain data."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from arena.games.core import GameError, Player
from arena.games.riskless import RisklessPosition
from arena.games.riskless_map import RisklessMap

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
plain = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4)
    ),
    max_leaves=8,
)
"""Any data that msgpack or JSON may contain, including map keys that are not text."""


@st.composite
def riskless_maps(draw: st.DrawFn, max_size: int = 7) -> RisklessMap:
    """Return a connected map: a random tree with some additional roads, and neighbours in a random order."""
    size = draw(st.integers(2, max_size))
    edges = {(draw(st.integers(0, v - 1)), v) for v in range(1, size)}
    pairs = [(v, w) for w in range(size) for v in range(w)]
    edges |= draw(st.sets(st.sampled_from(pairs), max_size=size))
    near: list[list[int]] = [[] for _ in range(size)]
    for v, w in edges:
        near[v].append(w)
        near[w].append(v)
    cap = draw(st.integers(1, 6))
    start = draw(
        st.lists(st.integers(-cap, cap), min_size=size, max_size=size).filter(
            lambda armies: min(armies) < 0 < max(armies)
        )
    )
    most = max(sum(n for n in start if n > 0), -sum(n for n in start if n < 0))
    return RisklessMap(
        name="drawn",
        territories=tuple(string.ascii_uppercase[:size]),
        neighbours=tuple(tuple(draw(st.permutations(sorted(each)))) for each in near),
        territory_cap=cap,
        armies_to_win=draw(st.integers(max(2, most + 1), size * cap)),
        ply_limit=draw(st.integers(1, 60)),
        start=tuple(start),
        places=tuple((float(v), float(v * v)) for v in range(size)),
    )


@st.composite
def positions_of(draw: st.DrawFn, map: RisklessMap) -> RisklessPosition:
    """Return a position of a map, which need not be reachable: any armies up to the cap, at least one army in total."""
    cap = map.territory_cap
    armies = draw(
        st.lists(st.integers(-cap, cap), min_size=map.territory_count, max_size=map.territory_count).filter(
            any
        )
    )
    return RisklessPosition(tuple(armies), draw(st.sampled_from(Player)), draw(st.integers(0, map.ply_limit)))


@st.composite
def spoiled(draw: st.DrawFn, data: Any) -> Any:
    """Return a copy of `data` in which one value, at any depth, is replaced by another."""
    if isinstance(data, dict) and data and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(data)))
        return {**data, key: draw(spoiled(data[key]))}
    if isinstance(data, list) and data and draw(st.booleans()):
        at = draw(st.integers(0, len(data) - 1))
        return [*data[:at], draw(spoiled(data[at])), *data[at + 1 :]]
    return draw(plain)


def refusal(action: Callable[[], object]) -> str | None:
    """Return the message of the GameError that `action` raises, or None if it succeeds."""
    try:
        action()
    except GameError as error:
        return str(error)
    return None
