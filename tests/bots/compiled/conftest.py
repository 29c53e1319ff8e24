"""Fixtures for the compiled searches. The tests are skipped without numba; compiling a kernel takes ten seconds on a free core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from testkit.tools import skip_without

if TYPE_CHECKING:
    from arena.bots.compiled.searcher import Searcher

skip_without("numba")


@pytest.fixture
def make() -> Iterator[Callable[..., Searcher[Any, Any]]]:
    """Yield a function that makes a searcher with a small table. The searchers are closed after the test."""
    from arena.bots.compiled.catalogue import weights_for  # noqa: PLC0415 - numba takes two seconds to load
    from arena.bots.compiled.searcher import Searcher, Settings  # noqa: PLC0415

    searchers: list[Searcher[Any, Any]] = []

    def build(game: Any, evaluator: str = "features", **settings: Any) -> Searcher[Any, Any]:
        searchers.append(
            Searcher(game, weights_for(game, evaluator), Settings(**{"table_mb": 4, **settings}))
        )
        return searchers[-1]

    yield build
    for searcher in searchers:
        searcher.close()
