"""What `arena trace` and `arena analyse` search with: an engine as it plays, or a reference algorithm.

An engine deepens, orders and remembers, as in a match, but always in Python, which can be traced, and
to the full depth. A reference algorithm is one of `bots.search.algorithms`, searching once to one depth
in move order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.bots.api.options import ENGINES, BadSpec, Options, Share, Spec, WholeNumber, Word, parse_spec
from arena.bots.engines.forms import check_evaluator, in_python
from arena.bots.evaluators import dynamic_for, evaluator_for
from arena.bots.search.algorithms import ALGORITHMS, Settings
from arena.bots.search.deepening import Report, deepen
from arena.bots.search.play import Search, Table, alphabeta_search, jamboree_search, minimax_search
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Problem, Result
from arena.bots.search.watch import Stop, Watch, never
from arena.games.core import Game
from arena.games.explicit import Explicit

_EVALUATOR = Word("plain", (), "plain, features, or a weights file NAME.toml")
_THREADS = WholeNumber(1, 1, 64, "threads that search at once")
_PRUNE = Share(0.5, "the share of a node's moves that is searched in sequence")
_KEEP = Word("no", ("yes", "no"), "whether the tree stays in memory")
_DYNAMIC = WholeNumber(0, 0, 20, "plies more, at most, below positions with great armies under attack")
_TAKE = WholeNumber(0, 0, 1000, "the first moves of each node that are looked at; 0: all")


def _options(name: str) -> Options:
    options: dict[str, WholeNumber | Share | Word] = {"evaluator": _EVALUATOR}
    if ALGORITHMS[name].parallel:
        options["threads"] = _THREADS
    if name == "jamboree":
        options["prune"] = _PRUNE
    if name.startswith("lazy"):
        options |= {"keep": _KEEP, "dynamic": _DYNAMIC}
    if name == "lazy-ordered":
        options["take"] = _TAKE
    return options


REFERENCE: Mapping[str, Options] = {name: _options(name) for name in ALGORITHMS}
"""The reference algorithms and what each can be told."""

_HERE: Options = {"evaluator": _EVALUATOR, "threads": _THREADS}
"""Options whose defaults are others here: values are armies unless something else is asked for, and one thread is enough."""

_PLAYED = ("depth", "truth")
"""Options of an engine in a match alone: `arena analyse` has a depth of its own, and tells the truth beside the search."""

DEEPENING: Mapping[str, Options] = {
    name: {key: _HERE.get(key, option) for key, option in ENGINES[name].items() if key not in _PLAYED}
    for name in ("minimax", "alphabeta", "jamboree")
}
"""The engines that search, and what each can be told where the depth is given. Here they search in Python, so what
only the compiled search knows is refused."""


@dataclass(frozen=True)
class Analysis:
    """What was found.

    reports  one for each finished depth; of a reference algorithm only the depth that was asked for
    watch    what the search of the last of them saw
    """

    spec: Spec
    reports: list[Report[Any]]
    watch: Watch

    @property
    def last(self) -> Report[Any]:
        """The deepest report."""
        return self.reports[-1]


def parse_reference(text: str) -> Spec:
    """A reference algorithm's spec. Raises BadSpec."""
    return _parse(text, REFERENCE, "algorithm")


def parse_engine(text: str, *, fixed: bool) -> tuple[Spec, bool]:
    """An engine's or a reference algorithm's spec, and whether it is the latter. Raises BadSpec.

    Where both have the name, `fixed` decides.
    """
    name = text.partition(":")[0].strip()
    if not fixed and name in DEEPENING:
        return in_python(_parse(text, DEEPENING, "engine"), "an analysis searches in Python"), False
    return _parse(text, REFERENCE, "engine that searches"), True


def _parse(text: str, known: Mapping[str, Options], what: str) -> Spec:
    """The spec; an option that the engine knows as it plays, and here does not, is refused as such. Raises BadSpec."""
    try:
        return parse_spec(text, known, what)
    except BadSpec:
        told = _played(text, known)
        if told is None or not (here := told.given - known[told.name].keys()):
            raise
        option = min(here)
        instead = "the command's own --depth" if option == "depth" else ", ".join(known[told.name])
        why = f"{option} is an option of the engine as it plays, in a match; here there is {instead}"
        raise BadSpec(f"{told.name}: {why}") from None


def _played(text: str, known: Mapping[str, Options]) -> Spec | None:
    """What a spec says to the engine of that name as it plays; None where there is none, or the spec is wrong for it too."""
    name = text.partition(":")[0].strip()
    if name not in known or name not in ENGINES:
        return None
    try:
        return parse_spec(text, {name: {**ENGINES[name], **known[name]}})
    except BadSpec:
        return None


def run_reference(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, *, tracing: bool, stop: Stop = never
) -> tuple[Result[Any], Watch]:
    """One search to one depth, until `stop`. Raises what the evaluator raises, BadSpec, and watch.Stopped."""
    check_evaluator(spec, game)
    problem = Problem(game, evaluator_for(game, spec.word("evaluator")))
    watch = Watch(stop, tracing=tracing)
    threads = spec.whole("threads") if "threads" in spec.values else 1
    with Pool(threads) as pool:
        result = ALGORITHMS[spec.name].run(problem, position, depth, watch, _settings(game, spec, pool))
    return result, watch


def _settings(game: Game[Any, Any], spec: Spec, pool: Pool) -> Settings:
    bound = spec.whole("dynamic") if "dynamic" in spec.values else 0
    dynamic = dynamic_for(game) if bound else None
    if bound and dynamic is None:
        raise BadSpec(
            f"{spec.name}: dynamic is for riskless, as in `arena trace path4 {spec.name}:dynamic=2 --depth 4`: "
            f"nobody has said which positions of {game.name} are dynamic"
        )
    return Settings(
        pool,
        prune=spec.share("prune") if "prune" in spec.values else 0.0,
        take=spec.whole("take") if "take" in spec.values else 0,
        dynamic=dynamic,
        bound=bound,
        kept=spec.values.get("keep") == "yes",
    )


def run_engine(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, *, tracing: bool
) -> tuple[list[Report[Any]], Watch]:
    """The reports of an engine that deepens to `depth`, and the watch of the last depth."""
    watches: list[Watch] = []

    def make_watch(stop: Stop) -> Watch:
        # only the last depth's trace is wanted, and traces are big
        watches[:] = [Watch(stop, tracing=tracing)]
        return watches[0]

    threads = spec.whole("threads") if "threads" in spec.values else 1
    with Pool(threads) as pool:
        search = _search(game, spec, pool)
        reports = list(deepen(game, position, search, max_depth=depth, make_watch=make_watch))
    return [report for report in reports if report.finished], watches[0]


def _search(game: Game[Any, Any], spec: Spec, pool: Pool) -> Search[Any, Any]:
    check_evaluator(spec, game)
    evaluator = evaluator_for(game, spec.word("evaluator"))
    # the inner nodes of an explicit tree carry no values to sort by
    static = not isinstance(game, Explicit)
    match spec.name:
        case "minimax":
            return minimax_search(evaluator)
        case "alphabeta":
            return alphabeta_search(evaluator, table=Table(), static=static)
        case _:
            return jamboree_search(evaluator, pool, spec.share("prune"), static=static)


def analyse(
    game: Game[Any, Any],
    position: Any,
    depth: int,
    engine: str,
    *,
    fixed: bool = False,
    tracing: bool = False,
) -> Analysis:
    """Search a position that is not over. Raises BadSpec, UnknownEvaluator or BadWeights."""
    spec, reference = parse_engine(engine, fixed=fixed)
    if not reference:
        reports, watch = run_engine(game, position, depth, spec, tracing=tracing)
        return Analysis(spec, reports, watch)
    result, watch = run_reference(game, position, depth, spec, tracing=tracing)
    report = Report(depth, result.value, result.move, result.line, watch.nodes, finished=True)
    return Analysis(spec, [report], watch)


def line_path(game: Game[Any, Any], position: Any, line: tuple[Any, ...]) -> tuple[int, ...]:
    """A line of moves as the path of its last node."""
    path = []
    for move in line:
        path.append(list(game.moves(position)).index(move))
        position = game.successor(position, move)
    return tuple(path)
