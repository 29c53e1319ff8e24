from collections.abc import Iterator

import pytest

from tests.bots.search.running import POOLS


@pytest.fixture(scope="session", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()
