"""bots.engines.implementations: each implementation of an engine supports its own options, and refuses others with a valid alternative."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.bot import Match, Resign, assign_match
from arena.bots.api.engine_spec import (
    OPTIONS_BY_ENGINE,
    BadSpec,
    FractionOption,
    IntegerOption,
    ParsedSpec,
    parse_spec,
)
from arena.bots.engines.implementations import choose_implementation, list_reported_options
from arena.bots.engines.registry import find_incompatibility_reason, make_engine
from arena.games.core import AnyGame, Player
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map

M2 = make_game_on_map()
LARGE = make_game_on_map("riskless", "grid:9x8")
"""Riskless on a map with more territories than the compiled search supports."""
SMALL = Hexapawn()
"""Game without a compiled search and without features."""


class WithKernel(Riskless):
    """Variant of Riskless with its own compiled kernel, which no test compiles."""

    name = "kernel"

    def compiled(self) -> object | None:
        raise NotImplementedError


KERNEL = WithKernel(load_map("m2"))


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.registry import make_engine
for spec in sys.argv[1:]:
    try:
        print(make_engine(spec).describe(2))
    except BadSpec as error:
        print(error)
"""


def spec(text: str) -> ParsedSpec:
    return parse_spec(text, OPTIONS_BY_ENGINE)


@st.composite
def specs(draw: st.DrawFn) -> str:
    """Return a valid spec of an engine with some of its options."""
    name = draw(st.sampled_from(sorted(name for name, options in OPTIONS_BY_ENGINE.items() if options)))
    values = []
    for option in draw(st.lists(st.sampled_from(sorted(OPTIONS_BY_ENGINE[name])), unique=True)):
        declared = OPTIONS_BY_ENGINE[name][option]
        if isinstance(declared, IntegerOption):
            value: object = draw(st.integers(declared.minimum, min(declared.maximum, 9)))
        elif isinstance(declared, FractionOption):
            value = draw(st.sampled_from([0, 0.25, 0.5, 1]))
        else:
            value = draw(st.sampled_from(declared.choices or ("plain", "features")))
        values.append(f"{option}={value}")
    return name + (":" + ",".join(values) if values else "")


def corrected_spec(parsed: ParsedSpec, message: str) -> str:
    """Return the spec with the correction that the error message suggests."""
    kept = {name: str(parsed.option_values[name]) for name in parsed.explicit_option_names}
    if match := re.search(r"\b(?:use|write) (\w+=[^:\s]+)", message):
        kept |= dict(part.split("=") for part in match[1].rstrip(",").split(","))
    elif match := re.search(r"(\w+) must be (\w+)[:,]", message):
        kept[match[1]] = match[2]
    else:
        assert "leave out the option `exact`" in message
        del kept["exact"]
    return (
        f"{parsed.name}:" + ",".join(f"{name}={value}" for name, value in kept.items())
        if kept
        else parsed.name
    )


@given(specs(), st.sampled_from([None, M2, LARGE, SMALL]))
def test_an_option_is_known_to_the_form_or_refused_with_the_valid_ones(
    text: str, game: AnyGame | None
) -> None:
    for _ in range(5):  # a spec may need several corrections
        parsed = spec(text)
        try:
            choice = choose_implementation(parsed, game)
        except BadSpec as error:
            message = str(error)
        else:
            break
        assert "\n" not in message
        assert message.startswith(f"{parsed.name}: ")
        assert (
            "its compiled search" in message
            or "form=course" in message
            or "evaluator=plain" in message
            or "truth=" in message
        )
        text = corrected_spec(parsed, message)
    else:
        pytest.fail(f"{text} is still refused: {message}")
    assert parsed.explicit_option_names - {"form"} <= choice.spec.option_values.keys()
    if "form" in parsed.explicit_option_names:
        assert choice.spec.option_values.get("form", "course") == parsed.option_values["form"]
    assert set(list_reported_options(parsed)) >= parsed.explicit_option_names


@pytest.mark.parametrize(
    ("text", "game", "expected"),
    [
        (
            "jamboree:prune=0.5",
            M2,
            "jamboree: prune works only with form=course: write form=course,prune=0.5",
        ),
        (
            "jamboree:prune=0.25,form=tests",
            None,
            "jamboree: prune works only with form=course: write form=course,prune=0.25",
        ),
        (
            "jamboree:split_depth=1",
            M2,
            "jamboree: split_depth works only with form=course: write form=course,split_depth=1",
        ),
        (
            "jamboree:split_depth=2",
            LARGE,
            "jamboree: its compiled search does not support riskless with these rules and this size, and its Python search splits at every depth: write split_depth=1",
        ),
        (
            "jamboree:form=tests",
            LARGE,
            "jamboree: its compiled search does not support riskless with these rules and this size, and its Python search has only form=course: write form=course",
        ),
        (
            "alphabeta:exact=yes",
            SMALL,
            "alphabeta: its compiled search does not support hexapawn with these rules and this size, and its Python search is always exact: leave out the option `exact`",
        ),
        (
            "greedy:evaluator=net.npz",
            SMALL,
            "greedy: network evaluators support only riskless, not hexapawn: use evaluator=plain",
        ),
        (
            "minimax:evaluator=features",
            SMALL,
            "minimax: hexapawn has no evaluation features: use evaluator=plain",
        ),
        (
            "alphabeta:evaluator=features,exact=yes",
            KERNEL,
            "alphabeta: its compiled search knows only the estimate of kernel's own kernel, and its Python search is always exact: leave out the option `exact`",
        ),
    ],
)
def test_a_refusal_is_one_line(text: str, game: AnyGame | None, expected: str) -> None:
    with pytest.raises(BadSpec) as refused:
        choose_implementation(spec(text), game)
    assert str(refused.value) == expected
    if game is not None:
        assert find_incompatibility_reason(text, game) == expected


def test_defaults_do_not_count_as_options_that_the_user_gave() -> None:
    for name in OPTIONS_BY_ENGINE:
        for game in (None, M2, LARGE, SMALL):
            choose_implementation(spec(name), game)
    assert choose_implementation(spec("jamboree"), M2).spec.option_values["form"] == "tests"
    assert choose_implementation(spec("jamboree"), LARGE).spec.option_values["prune"] == 0.5


def test_a_bot_file_or_an_invalid_spec_is_never_refused_because_of_a_game() -> None:
    assert find_incompatibility_reason("my_bot.py", M2) is None
    assert find_incompatibility_reason("alphabeta:depth=0", M2) is None
    assert find_incompatibility_reason("jamboree:form=course,prune=0.1", LARGE) is None


def test_an_engine_resigns_a_match_for_whose_game_it_cannot_follow_its_options() -> None:
    for text, game in (("alphabeta:exact=no", LARGE), ("greedy:evaluator=features", SMALL)):
        bot = make_engine(text).make_bot()
        assign_match(bot, Match(game, Player.MAXIE))
        with pytest.raises(Resign) as resigned:
            bot.prepare()
        assert str(resigned.value) == find_incompatibility_reason(text, game)


def test_without_the_extra_the_engine_says_so_before_any_match() -> None:
    texts = ("jamboree:form=tests", "alphabeta:exact=no", "jamboree:prune=0.2", "jamboree")
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA, *texts], capture_output=True, text=True, check=True
    )
    why = "its compiled search needs the extra `engine`, which is not installed"
    assert result.stdout.splitlines() == [
        f"jamboree: {why}, and its Python search has only form=course: write form=course",
        f"alphabeta: {why}, and its Python search is always exact: leave out the option `exact`",
        "jamboree:depth=100,evaluator=features,prune=0.2, 2 threads",
        "jamboree:depth=100,evaluator=features, 2 threads",
    ]


def test_outcomes_are_looked_up_in_python_only() -> None:
    choice = choose_implementation(spec("alphabeta:evaluator=outcomes"), M2)
    assert not choice.is_compiled
    assert "does not support tables of outcomes" in choice.reason_for_python_search
    with pytest.raises(
        BadSpec,
        match="the evaluator outcomes supports only riskless and tictactoe, not hexapawn: use evaluator=plain",
    ):
        choose_implementation(spec("minimax:evaluator=outcomes"), SMALL)


def test_the_games_own_kernel_is_used_unless_the_user_chose_an_evaluator() -> None:
    for text, compiled in (
        ("alphabeta", True),
        ("alphabeta:evaluator=plain", True),
        ("alphabeta:evaluator=features", False),
        ("alphabeta:evaluator=mine.toml", False),
        ("jamboree:form=course,evaluator=net.npz", False),
    ):
        assert choose_implementation(spec(text), KERNEL).is_compiled is compiled, text
