"""Implementations of an engine's search, compiled or in Python, and the options that each supports.

    alphabeta  compiled, or in Python if the search cannot be compiled for a game
    jamboree   in two forms. `tests`, only compiled: a null window first tests whether a move beats the best one so far.
               `course`, compiled or in Python: the algorithm of a course on game search (source 001 in docs/search.md)

No option that a user gives is ignored. If the implementation used in a match does not know an option, a one-line error says
what to write instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from arena.bots.api.engine_spec import BadSpec, ParsedSpec
from arena.bots.compiled.availability import has_compiled_search, has_custom_kernel, has_engine_extra
from arena.bots.evaluators.catalogue import (
    OUTCOMES_EVALUATOR_NAME,
    OUTCOMES_FILE_SUFFIX,
    require_evaluator_support,
)
from arena.games.core import Game

ENGINES_WITH_COMPILED_SEARCH = ("alphabeta", "jamboree")
"""Engines with a compiled search and a search in Python."""
JAMBOREE_COURSE_FORM_OPTIONS = ("prune", "split_depth")
"""Options of Jamboree that work only with `form=course`: Jamboree as a course on game search taught it (docs/search.md)."""


@dataclass(frozen=True)
class SearchImplementation:
    """Search that an engine uses in one game: the compiled search or the search in Python."""

    spec: ParsedSpec
    """Spec of the engine, with only the options that this search supports."""
    is_compiled: bool
    """True if the search is compiled."""
    reason_for_python_search: str = ""
    """Reason why the search runs in Python, such as `its compiled search needs the extra …`.

    Empty if the search is compiled, or if the engine has only one implementation.
    """


def choose_implementation(spec: ParsedSpec, game: Game[Any, Any] | None = None) -> SearchImplementation:
    """Return the implementation, compiled or in Python, of an engine's search in `game`.

    Without `game`, return the compiled search if the engine's options and this machine allow it.

    Raises BadSpec if the implementation does not know an option that the user gave, or `game` does not support the
    evaluator.
    """
    if game is not None:
        require_supported_evaluator(spec, game)
    if spec.name not in ENGINES_WITH_COMPILED_SEARCH:
        return SearchImplementation(spec, is_compiled=False)
    reason = _find_reason_for_python_search(spec, game)
    return (
        SearchImplementation(to_python_spec(spec, reason), is_compiled=False, reason_for_python_search=reason)
        if reason
        else SearchImplementation(_to_compiled_spec(spec), is_compiled=True)
    )


def to_python_spec(spec: ParsedSpec, reason_for_python_search: str) -> ParsedSpec:
    """Return the engine's spec for its search in Python, without the options that only the compiled search has.

    reason_for_python_search  why the engine does not use its compiled search, as part of an error message

    Raises BadSpec for an option that only the compiled search knows.
    """
    if "exact" in spec.explicit_option_names:
        raise BadSpec(
            f"{spec.name}: {reason_for_python_search}, and its Python search is always exact: leave out the option `exact`"
        )
    if "split_depth" in spec.explicit_option_names and spec.option_values["split_depth"] > 1:
        raise BadSpec(
            f"{spec.name}: {reason_for_python_search}, and its Python search splits at every depth: write split_depth=1"
        )
    if "form" in spec.explicit_option_names and spec.option_values["form"] != "course":
        raise BadSpec(
            f"{spec.name}: {reason_for_python_search}, and its Python search has only form=course: write form=course"
        )
    return _remove_options(spec, "exact", "form")


def list_reported_options(spec: ParsedSpec) -> dict[str, str]:
    """Return the options to report to a server, with their values as text.

    Two kinds of options are left out unless the user gave them:
    - options that only one implementation of the engine (compiled or Python) knows
    - `truth` and `nodes`, which do nothing at their defaults: no use of a tablebase, and no limit on nodes

    An evaluator's file is reported without its folder.
    """
    unreported = {"nodes", "truth"} | (
        {"exact", "form", *JAMBOREE_COURSE_FORM_OPTIONS}
        if spec.name in ENGINES_WITH_COMPILED_SEARCH
        else set()
    )
    if "form" in spec.explicit_option_names and spec.option_values["form"] == "course":
        unreported.discard("prune")
    return {
        name: PurePath(str(value)).name if name == "evaluator" else str(value)
        for name, value in spec.option_values.items()
        if name in spec.explicit_option_names or name not in unreported
    }


def require_supported_evaluator(spec: ParsedSpec, game: Game[Any, Any]) -> None:
    """Raise BadSpec if the game does not support the evaluator that the user chose for the engine.

    An evaluator `features` that is only the engine's default is not an error: in a game without features, the engine
    uses `plain` instead.
    """
    name = spec.option_values.get("evaluator", "plain")
    if name == "features" and "evaluator" not in spec.explicit_option_names:
        return
    try:
        require_evaluator_support(game, name)
    except BadSpec as error:
        raise BadSpec(f"{spec.name}: {error}") from None


def _to_compiled_spec(spec: ParsedSpec) -> ParsedSpec:
    if spec.name != "jamboree" or spec.option_values["form"] == "course":
        return spec
    for option in JAMBOREE_COURSE_FORM_OPTIONS:
        if option in spec.explicit_option_names:
            raise BadSpec(
                f"jamboree: {option} works only with form=course: write form=course,{option}={spec.option_values[option]}"
            )
    return _remove_options(spec, *JAMBOREE_COURSE_FORM_OPTIONS)


def _find_reason_for_python_search(spec: ParsedSpec, game: Game[Any, Any] | None) -> str:
    """Return why the engine must search in Python in `game`, or an empty string if a compiled search can be used.

    Without `game`, return only a reason that holds for every game.
    """
    evaluator = spec.option_values["evaluator"]
    if evaluator == OUTCOMES_EVALUATOR_NAME or evaluator.endswith(OUTCOMES_FILE_SUFFIX):
        return "its compiled search does not support tables of outcomes"
    if not has_engine_extra():
        return "its compiled search needs the extra `engine`, which is not installed"
    if game is not None and not has_compiled_search(game):
        return f"its compiled search does not support {game.name} with these rules and this size"
    if (
        game is not None
        and has_custom_kernel(game)
        and "evaluator" in spec.explicit_option_names
        and evaluator != "plain"
    ):
        return f"its compiled search knows only the estimate of {game.name}'s own kernel"
    return ""


def _remove_options(spec: ParsedSpec, *option_names: str) -> ParsedSpec:
    return replace(
        spec,
        option_values={name: value for name, value in spec.option_values.items() if name not in option_names},
    )
