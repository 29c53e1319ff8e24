"""tests.dealing: no test is lost, and what lasts is where a worker begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dealing import LONG, OF_THE_PAGE, WEB, dealt, parts, patience_of

FOLDER = Path(__file__).parent
PAGE, OTHER_PAGE, LIFE, KILLS, QUICK = range(5)
KINDS: tuple[tuple[str, float], ...] = (
    ("web/test_page.py", 0),
    ("web/test_other_page.py", 0),
    ("e2e/test_life.py", LONG),
    ("e2e/test_kills.py", 2 * LONG),
    ("test_it.py", 60),
)


class Item:
    """As much of a test as the order asks for."""

    def __init__(self, kind: int) -> None:
        name, self._seconds = KINDS[kind]
        self.path = FOLDER / name

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        assert name == "timeout"
        return pytest.mark.timeout(self._seconds).mark if self._seconds else None


def items_of(kinds: list[int]) -> list[Any]:
    return [Item(kind) for kind in kinds]


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(1, 6))
def test_no_test_is_lost_and_each_file_keeps_its_order(kinds: list[int], workers: int) -> None:
    items = items_of(kinds)
    order = dealt(items, workers)
    assert sorted(map(id, order)) == sorted(map(id, items))
    for name, _ in KINDS:
        in_file = [each for each in items if each.path == FOLDER / name]
        assert [each for each in order if each.path == FOLDER / name] == in_file


@pytest.mark.parametrize("workers", [2, 3, 4, 5])
def test_the_page_is_few_workers_and_every_other_begins_with_what_lasts(workers: int) -> None:
    begun = [PAGE] * 3 + [OTHER_PAGE] * 3 + [LIFE, KILLS] * 3
    order: list[Any] = dealt(items_of([QUICK] * 50 + begun + [QUICK] * 50), workers)
    starts = [sum(parts(len(order), workers)[:number]) for number in range(workers)]
    pages = 1 if workers < 4 else OF_THE_PAGE
    first = [sum(WEB in each.path.parents for each in order[start : start + 6]) for start in starts]
    assert first == [6 // pages] * pages + [0] * (workers - pages)
    lasting = {each for each in order if patience_of(each)}
    assert sum(order[start] in lasting for start in starts) == min(2, workers - pages)
    assert not patience_of(order[-1])


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_the_parts_are_all_and_nearly_equal(count: int, workers: int) -> None:
    given_each = parts(count, workers)
    assert sum(given_each) == count
    assert max(given_each) - min(given_each) <= 1
