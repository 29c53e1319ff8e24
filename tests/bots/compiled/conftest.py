"""Without numba there is nothing to test here; a kernel takes ten seconds of a quiet core to compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from testkit.parts import skip_without

skip_without("numba")

from arena.bots.compiled.catalogue import weights_for  # noqa: E402
from arena.bots.compiled.searcher import Searcher, Settings  # noqa: E402


@pytest.fixture
def make() -> Iterator[Callable[..., Searcher[Any, Any]]]:
    """Yield a function that makes a searcher with a small table. The searchers are closed after the test."""
    searchers: list[Searcher[Any, Any]] = []

    def build(game: Any, evaluator: str = "features", **settings: Any) -> Searcher[Any, Any]:
        searchers.append(
            Searcher(game, weights_for(game, evaluator), Settings(**{"table_mb": 4, **settings}))
        )
        return searchers[-1]

    yield build
    for searcher in searchers:
        searcher.close()
