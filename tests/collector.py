"""Keeps Python's garbage collector from walking what lasts for the whole run.

All tests and the libraries that they load are 600,000 objects. A look at all of them takes a third of a second, and
there are hundreds: whatever holds a server or a bot that thinks asks for one.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.properties import first_example


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect the tests without a look, as all of what is made lasts; nothing of it is looked at afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        # Objects of tests that are younger than this die by themselves, but for one in some hundred.
        gc.set_threshold(10_000, 10, 10)
        first_example()  # who refers to what is set aside cannot be found
        gc.freeze()


@pytest.fixture(autouse=True)
def frozen_again() -> Iterator[None]:
    """Set aside anew what lasts, after a test of something that puts all objects back under the collector's eyes."""
    before = full_looks()
    yield
    # Whatever does so looks at everything; to count what is set aside takes as long as a look, so it is asked seldom.
    if full_looks() > before and gc.get_freeze_count() == 0:
        gc.collect(1)  # what the test left behind is to be found: its young objects are not what lasts
        gc.freeze()


def full_looks() -> int:
    """Return the number of full collections so far."""
    count: int = gc.get_stats()[2]["collections"]
    return count
