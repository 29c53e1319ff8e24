"""In which order the tests come, so that all workers end at about the same time.

pytest-xdist gives each worker an equal part of the list, one after the other, and at the end lets those that are done
take from the end of what others still have. So whatever lasts stands where a part begins, and what is quick where it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

WEB = Path(__file__).parent / "web"
OF_THE_PAGE = 2
"""Workers that have the page's tests, where there are twice as many. Each has a browser and a set of servers, which take
seconds to start; one alone would still have half of those tests when all others are done, and each of these would take some.
"""
LONG = 300.0
"""Seconds of a test's own timeout from which on it is among the first."""


def patience_of(item: pytest.Item) -> float:
    """The seconds that a test may take where that is so long that nobody should wait for it alone at the end; else 0."""
    mark = item.get_closest_marker("timeout")
    seconds = float(mark.args[0]) if mark is not None and mark.args else 0.0
    return seconds if seconds >= LONG else 0.0


@cache
def of_the_page(file: Path) -> bool:
    """Whether the tests of a file are the page's: asked of each test, but worked out once a file."""
    return file.is_relative_to(WEB)


def parts(count: int, workers: int) -> list[int]:
    """How many of `count` tests pytest-xdist's `worksteal` gives to each worker at first."""
    given: list[int] = []
    for left in range(workers, 0, -1):
        given.append((count - sum(given)) // left)
    return given


def dealt(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in their new order: with the page's in the hands of a few workers, each of which has a browser and servers."""
    web = [item for item in items if of_the_page(item.path)]
    others = [item for item in items if not of_the_page(item.path)]
    lasting = sorted((item for item in others if patience_of(item)), key=patience_of, reverse=True)
    quick = [item for item in others if not patience_of(item)]
    if workers < 2:
        return [*lasting, *web, *quick]
    pages = OF_THE_PAGE if workers >= 2 * OF_THE_PAGE else 1
    hands: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for of_one_file in files_of(web):
        min(hands[:pages], key=len).extend(of_one_file)
    for number, of_one_file in enumerate(files_of(lasting)):
        hands[pages + number % (workers - pages)] += of_one_file
    for hand, size in zip(hands, parts(len(items), workers), strict=True):
        missing = max(0, size - len(hand))
        hand.extend(quick[:missing])
        del quick[:missing]
    return [*(item for hand in hands for item in hand), *quick]


def files_of(items: Iterable[pytest.Item]) -> Iterable[list[pytest.Item]]:
    """Those of each file."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return files.values()
