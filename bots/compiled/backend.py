"""The compiled search as the built-in engines use it in a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bots.api.match import Match
from bots.api.options import Spec
from bots.compiled.catalogue import fits, weights_for
from bots.compiled.searcher import Searcher, Settings
from bots.search.deepening import Report

__all__ = ["CompiledBackend", "fits"]


class CompiledBackend:
    """`alphabeta` on one thread, `jamboree` on as many as it is told or the match allows."""

    def __init__(self, spec: Spec, match: Match) -> None:
        exact = spec.word("exact") == "yes"
        settings = Settings(exact=exact)
        if spec.name == "jamboree":
            settings = Settings(
                exact=exact,
                threads=spec.whole("threads") or match.threads,
                course=spec.word("form") == "course",
                prune=spec.share("prune"),
            )
        weights = weights_for(match.game, spec.word("evaluator"))
        self._searcher = Searcher(match.game, weights, settings)
        self._searcher.warm_up()

    @property
    def threads(self) -> int:
        """How many threads search at once."""
        return self._searcher.settings.threads

    def reports(self, position: Any, stop: Callable[[], bool], max_depth: int) -> Iterator[Report[Any]]:
        """As `bots.search.deepening.deepen`."""
        return self._searcher.deepen(position, stop=stop, max_depth=max_depth)

    def close(self) -> None:
        """End the threads."""
        self._searcher.close()
