"""The compiled search as the built-in engines use it in a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from arena.bots.api.match import Match
from arena.bots.api.options import LEAVES, Spec
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.limits import MAX_TERRITORIES
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import Report


class CompiledBackend:
    """`alphabeta` on one thread, `jamboree` on as many as it is told or the match allows."""

    def __init__(self, spec: Spec, match: Match) -> None:
        settings = Settings(exact=spec.word("exact") == "yes")
        if spec.name == "jamboree":
            settings = replace(settings, threads=spec.whole("threads") or match.threads)
            if spec.word("form") == "course":
                settings = replace(settings, course=True, prune=spec.share("prune"))
        if spec.word("truth") in LEAVES:
            settings = replace(settings, pieces=MAX_TERRITORIES)
        weights = weights_for(match.game, spec.word("evaluator"))
        self._searcher = Searcher(match.game, weights, settings)
        self._searcher.warm_up()

    @property
    def threads(self) -> int:
        """How many threads search at once."""
        return self._searcher.settings.threads

    def reports(
        self, position: Any, stop: Callable[[], bool], max_depth: int, moves: Sequence[Any] | None = None
    ) -> Iterator[Report[Any]]:
        """What `bots.search.deepening.deepen` gives, from the compiled search."""
        return self._searcher.deepen(position, stop=stop, max_depth=max_depth, moves=moves)

    def close(self) -> None:
        """End the threads."""
        self._searcher.close()
