from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from arena.rating.matching import find_maximum_matching


def count_largest_matching(edges: frozenset[frozenset[int]]) -> int:
    """Return the number of pairs in a largest matching, by exhaustive search."""
    if not edges:
        return 0
    edge = min(edges, key=sorted)
    without = frozenset(each for each in edges if each != edge)
    apart = frozenset(each for each in edges if edge.isdisjoint(each))
    return max(1 + count_largest_matching(apart), count_largest_matching(without))


@given(st.integers(0, 8), st.data())
def test_the_matching_is_as_large_as_an_exhaustive_search_finds(n: int, data: st.DataObject) -> None:
    every = [frozenset(pair) for pair in combinations(range(n), 2)]
    edges = (
        frozenset(data.draw(st.lists(st.sampled_from(every), unique=True, max_size=14)))
        if every
        else frozenset()
    )
    found = find_maximum_matching(range(n), lambda a, b: frozenset((a, b)) in edges)
    assert all(found[b] == a and frozenset((a, b)) in edges for a, b in found.items())
    assert len(found) == 2 * count_largest_matching(edges)
