"""Compiled search in the form that the built-in engines use in a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from arena.bots.api.bot import Match
from arena.bots.api.engine_spec import Spec
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import NO_LIMIT, Report


class CompiledBackend:
    """Backend of `alphabeta` on one thread, and of `jamboree` on the configured number or the match's threads."""

    def __init__(self, spec: Spec, match: Match) -> None:
        settings = Settings(exact=spec.get_text("exact") == "yes")
        if spec.name == "jamboree":
            settings = replace(settings, threads=spec.get_integer("threads") or match.threads)
            if spec.get_text("form") == "course":
                settings = replace(
                    settings,
                    course=True,
                    prune=spec.get_fraction("prune"),
                    split_depth=spec.get_integer("split_depth"),
                )
        weights = weights_for(match.game, spec.get_text("evaluator"))
        self._searcher = Searcher(match.game, weights, settings)
        self._searcher.warm_up()

    @property
    def threads(self) -> int:
        """Return the number of search threads."""
        return self._searcher.settings.threads

    def reports(
        self,
        position: Any,
        stop: Callable[[], bool],
        max_depth: int,
        moves: Sequence[Any] | None = None,
        max_nodes: int = NO_LIMIT,
    ) -> Iterator[Report[Any]]:
        """Yield reports as `bots.search.deepening.deepen` does, from the compiled search."""
        return self._searcher.deepen(
            position, stop=stop, max_depth=max_depth, max_nodes=max_nodes, moves=moves
        )

    def close(self) -> None:
        """End the threads."""
        self._searcher.close()
