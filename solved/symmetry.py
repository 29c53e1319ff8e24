"""The automorphisms of a map: how its territories can change places so that every road stays a road."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

Permutation = tuple[int, ...]
"""Territory v goes to the place of territory `permutation[v]`."""

MOST = 5040
"""The most automorphisms that are used: a star of 20 territories has 19! of them, and no time is saved by so many."""


def automorphisms(neighbours: Sequence[Sequence[int]]) -> tuple[Permutation, ...]:
    """A group of automorphisms of a graph, the identity first, in ascending order.

    All of them where there are at most MOST; else those that leave as many of the first territories in their places
    as it takes, which are a group as well. O(V!) at the worst; on maps, whose roads decide early, about O(V) for each
    automorphism and each territory.
    """
    ends = [frozenset(near) for near in neighbours]
    for fixed in range(len(neighbours) + 1):
        found = tuple(islice(_extended(ends, (), fixed), MOST + 1))
        if len(found) <= MOST:
            return found
    raise AssertionError("with every territory in its place there is the identity alone")


def _extended(ends: Sequence[frozenset[int]], begun: Permutation, fixed: int) -> Iterator[Permutation]:
    """All automorphisms that begin so and leave the first `fixed` territories in their places."""
    v = len(begun)
    if v == len(ends):
        yield begun
        return
    earlier = [u for u in ends[v] if u < v]
    taken = frozenset(begun)
    images = {begun[u] for u in earlier}
    if v < fixed:
        candidates: Iterable[int] = (v,)
    else:
        # A neighbour of a placed territory is next to its place: on a ring two choices are left, not all.
        candidates = sorted(ends[begun[earlier[0]]]) if earlier else range(len(ends))
    for w in candidates:
        if w not in taken and len(ends[w]) == len(ends[v]) and ends[w] & taken == images:
            yield from _extended(ends, (*begun, w), fixed)
