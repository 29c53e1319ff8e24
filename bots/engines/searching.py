"""`minimax`, `alphabeta` and `jamboree`: searches inside iterative deepening, kept to the clock.

How they search is a `Backend`: the readable Python of `bots.search`, or the same algorithms
compiled. `backend_for` is the one place that chooses between them.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, Thinking
from arena.bots.api.budget import Budget, plan
from arena.bots.api.options import BadSpec, Spec
from arena.bots.engines.forms import choose
from arena.bots.engines.perfect import solution_for, without_truth, worth
from arena.bots.engines.quiet import COLLECTOR
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import Report, deepen
from arena.bots.search.play import Pool, Search, Table, alphabeta_search, jamboree_search, minimax_search
from arena.solved.header import BadTable
from arena.solved.truth import DRAW, Truth

STALLS_KEPT = 8
"""Searches whose worst stall is remembered."""
WARM_UP = 0.05
"""Seconds of searching before the first turn."""


UNLIMITED = Budget(math.inf, math.inf)


class Backend(Protocol):
    """Searches the positions of one match, deeper and deeper."""

    @property
    def threads(self) -> int:
        """How many threads search at once."""
        ...

    def reports(
        self, position: Any, stop: Callable[[], bool], max_depth: int, moves: Sequence[Any] | None = None
    ) -> Iterator[Report[Any]]:
        """What `bots.search.deepening.deepen` yields: a report without delay, then one for each depth."""
        ...

    def close(self) -> None:
        """Let go of threads and memory."""
        ...


class PythonBackend:
    """The searches of `bots.search`, for every game."""

    def __init__(self, spec: Spec, match: Match) -> None:
        self._game = match.game
        self._pool: Pool | None = None
        self._search = self._make(spec, match)

    @property
    def threads(self) -> int:
        return 1 if self._pool is None else self._pool.threads

    def _make(self, spec: Spec, match: Match) -> Search[Any, Any]:
        evaluator = evaluator_for(match.game, spec.word("evaluator"))
        if spec.name == "minimax":
            return minimax_search(evaluator)
        if spec.name == "alphabeta":
            return alphabeta_search(evaluator, table=Table())
        self._pool = Pool(spec.whole("threads") or match.threads)
        return jamboree_search(evaluator, self._pool, spec.share("prune"))

    def reports(
        self, position: Any, stop: Callable[[], bool], max_depth: int, moves: Sequence[Any] | None = None
    ) -> Iterator[Report[Any]]:
        return deepen(self._game, position, self._search, stop=stop, max_depth=max_depth, moves=moves)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


def backend_for(spec: Spec, match: Match) -> Backend:
    """How an engine searches in a match: compiled where that can be, else in Python, and it says why.

    Raises BadSpec where it was told what its form for this match does not know.
    """
    chosen = choose(spec, match.game)
    if chosen.compiled:
        from arena.bots.compiled.backend import CompiledBackend  # noqa: PLC0415 - an extra, and slow to load

        return CompiledBackend(chosen.spec, match)
    if chosen.why:
        _tell(f"{spec.name} searches in Python: {chosen.why}")
    return PythonBackend(chosen.spec, match)


class Deadline:
    """The hard limit of one search, on the scale of `time.monotonic()`.

    `stall` is the longest time, in seconds, between two looks at the clock: what is much more than a
    node takes is the machine's doing, which had other things to run.
    """

    def __init__(self, hard: float, stopped: Callable[[], bool]) -> None:
        self.stall = 0.0
        self._hard = hard
        self._stopped = stopped
        self._last = time.monotonic()

    def look(self) -> float:
        """The time now, as `time.monotonic()` tells it."""
        now = time.monotonic()
        self.stall = max(self.stall, now - self._last)
        self._last = now
        return now

    def stop(self) -> bool:
        """Whether the search is to end. Called at every node."""
        return self.look() >= self._hard or self._stopped()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the bot's own words go to its standard error


class SearchingBot(Bot):
    """Deepens until the soft limit, is stopped at the hard one, and plays the last report's move."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._stalls: deque[float] = deque(maxlen=STALLS_KEPT)

    def prepare(self) -> None:
        try:
            solution = solution_for(self._spec, self.game)
            self._backend = backend_for(self._spec, self.match)
        except (BadSpec, BadTable) as error:
            raise Resign(str(error)) from None
        if why := without_truth(self._spec, solution, self.game):
            _tell(why)
        self._solution = None if self._spec.values["truth"] == "leaves" else solution
        limit = self.game.setup().get("ply_limit")
        self._last_ply = limit if isinstance(limit, int) else None
        # The first move then knows how busy the machine is, and finds everything loaded.
        self._search(self.game.start(), Deadline(time.monotonic() + WARM_UP, lambda: self.stopped))

    def choose(self, position: Any, clock: Clock) -> Any:
        truth, moves = self._known(position)
        if moves is not None and (truth.plies is not None or len(moves) == 1):
            value = self.seat.sign * worth(truth)
            self.thinking = Thinking(depth=truth.plies, value=value, nodes=len(moves), line=moves[:1])
            return moves[0]
        stall = max(self._stalls, default=0.0)
        budget = plan(clock, self.game.ply(position), self._last_ply, stall)
        deadline = Deadline(clock.arrived + budget.hard, lambda: self.stopped)
        best = self._search(position, deadline, clock.arrived, budget, moves)
        self.thinking = Thinking(depth=best.depth, value=best.value, nodes=best.nodes, line=best.line)
        return best.move

    def _known(self, position: Any) -> tuple[Truth, Sequence[Any] | None]:
        """What the root is truly worth, and the moves that make it worth that; None: nothing is known of it."""
        if self._solution is None:
            return DRAW, None
        try:
            return self._solution.best(position)
        except BadTable as error:
            self._solution = None
            _tell(f"{self._spec.name} goes on without truth: {error}")
            return DRAW, None

    def _search(
        self,
        position: Any,
        deadline: Deadline,
        begun: float = 0.0,
        budget: Budget = UNLIMITED,
        moves: Sequence[Any] | None = None,
    ) -> Report[Any]:
        best: Report[Any] | None = None
        depth = self._spec.whole("depth")
        with COLLECTOR.quiet():
            for report in self._backend.reports(position, deadline.stop, depth, moves):
                changed = best is not None and report.move != best.move
                best = report
                if time.monotonic() >= begun + budget.until(changed=changed) or self.stopped:
                    break
        if best is None:
            raise ValueError("a search reports at least once")
        deadline.look()
        self._stalls.append(deadline.stall)
        return best

    def ended(self, ending: Ending) -> None:  # noqa: ARG002 - how it ended is all the same
        self._backend.close()
        COLLECTOR.tidy()
