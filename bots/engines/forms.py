"""The forms in which an engine searches, and the options that each form knows.

    alphabeta   compiled, or in Python where that cannot be
    jamboree    compiled in two forms: `tests` with null windows, and the course's; in Python the course's only

What a person says is followed or refused, never left out: an option that the form of a match does not know is
refused in one line, which names the form that does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from arena.bots.api.options import LEAVES, BadSpec, Spec
from arena.bots.compiled.limits import fits, installed
from arena.bots.evaluators.catalogue import OUTCOMES, OUTCOMES_FILE, features_of
from arena.bots.evaluators.outcomes import categorize
from arena.games.core import Game

FORMS = ("alphabeta", "jamboree")
"""The engines that search in several forms."""


@dataclass(frozen=True)
class Chosen:
    """The form in which an engine searches."""

    spec: Spec
    """With the values of those options only that the form knows."""
    compiled: bool
    why: str = ""
    """Why it searches in Python, if it does, as in `its compiled search …`."""


def choose(spec: Spec, game: Game[Any, Any] | None = None) -> Chosen:
    """How an engine searches; None: a game that there is a compiled search for. Raises BadSpec."""
    if game is not None:
        check_evaluator(spec, game)
    if spec.name not in FORMS:
        return Chosen(spec, compiled=False)
    why = _in_python(spec, game)
    return (
        Chosen(in_python(spec, why), compiled=False, why=why)
        if why
        else Chosen(_compiled(spec), compiled=True)
    )


def in_python(spec: Spec, why: str) -> Spec:
    """The spec of an engine that searches in Python, because `why`. Raises BadSpec for what only the compiled one knows."""
    where = f"and here it searches in Python ({why})"
    if "exact" in spec.given:
        raise BadSpec(
            f"{spec.name}: exact is an option of its compiled search, {where}, which always is exact"
        )
    if "form" in spec.given and spec.word("form") != "course":
        raise BadSpec(f"{spec.name}: form=tests is a form of its compiled search, {where}: say form=course")
    if spec.values.get("truth") in LEAVES:
        raise BadSpec(
            f"{spec.name}: truth={spec.word('truth')} is an option of its compiled search, {where}: say truth=root"
        )
    return _without(spec, "exact", "form")


def always_known(spec: Spec) -> dict[str, str]:
    """The values that hold in whatever form the engine searches: those given, and those that every form knows.

    `truth` is among them where it was given: without a table, which few maps have, every engine searches alike.
    """
    own = {"exact", "form", "prune", "truth"} if spec.name in FORMS else {"truth"}
    if "form" in spec.given and spec.word("form") == "course":
        own.discard("prune")
    return {name: str(value) for name, value in spec.values.items() if name in spec.given or name not in own}


def check_evaluator(spec: Spec, game: Game[Any, Any]) -> None:
    """Raises BadSpec for `evaluator=features` where the game has none, so that it would mean `plain`; so for `outcomes`."""
    if "evaluator" in spec.given and spec.word("evaluator") == "features" and features_of(game) is None:
        raise BadSpec(f"{spec.name}: {game.name} has no features: say evaluator=plain")
    if spec.values.get("evaluator") == OUTCOMES and categorize(game) is None:
        raise BadSpec(f"{spec.name}: {game.name} has no categories of positions: say evaluator=plain")


def _compiled(spec: Spec) -> Spec:
    if spec.name != "jamboree" or spec.word("form") == "course":
        return spec
    if "prune" in spec.given:
        share = spec.share("prune")
        raise BadSpec(f"jamboree: prune is an option of form=course: say form=course,prune={share:g}")
    return _without(spec, "prune")


def _in_python(spec: Spec, game: Game[Any, Any] | None) -> str:
    """Why there is no compiled search here; empty where there is one."""
    if spec.values.get("evaluator") == OUTCOMES or str(spec.values.get("evaluator")).endswith(OUTCOMES_FILE):
        return "its compiled search weighs features, and looks up no outcomes"
    if not installed():
        return "its compiled search needs the extra `engine`, which is not installed"
    if game is not None and not fits(game):
        return f"its compiled search has no {game.name} of this size"
    return ""


def _without(spec: Spec, *names: str) -> Spec:
    return replace(spec, values={name: value for name, value in spec.values.items() if name not in names})
