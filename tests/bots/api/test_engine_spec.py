"""bots.api.engine_spec: a valid spec becomes typed values, and an invalid one an error in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.engine_spec import (
    OPTIONS_BY_ENGINE,
    BadSpec,
    FractionOption,
    IntegerOption,
    SpecOptions,
    TextOption,
    count_engine_threads,
    parse_spec,
)

LITTLE: dict[str, SpecOptions] = {
    "plain": {},
    "rich": {
        "depth": IntegerOption(4, 1, 9),
        "share": FractionOption(0.5),
        "kind": TextOption("a", ("a", "b")),
        "file": TextOption("x"),
    },
}


def test_defaults_and_given_values() -> None:
    assert dict(parse_spec("rich", LITTLE).option_values) == {
        "depth": 4,
        "share": 0.5,
        "kind": "a",
        "file": "x",
    }
    spec = parse_spec("rich:depth = 7, share=1,kind=b,file=my.toml", LITTLE)
    assert dict(spec.option_values) == {"depth": 7, "share": 1.0, "kind": "b", "file": "my.toml"}
    assert isinstance(spec.option_values["share"], float)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("poor", "no engine is called 'poor': choose from plain, rich"),
        ("plan", "no engine is called 'plan': did you mean \"plain\"?"),
        ("", "no engine is called '': choose from plain, rich"),
        ("rich:", "rich has no option '': choose from depth, share, kind, file"),
        ("rich:depth", "rich: 'depth' has no value: write option=value, e.g. depth=4"),
        ("rich:depth=3,", "rich has no option '': choose from depth, share, kind, file"),
        ("rich:dept", "rich has no option 'dept': did you mean \"depth\"?"),
        ("plain:depth", "plain has no option 'depth': it has no options"),
        ("plain:depth=3", "plain has no option 'depth': it has no options"),
        ("rich:colour=3", "rich has no option 'colour': choose from depth, share, kind, file"),
        ("rich:dept=3", "rich has no option 'dept': did you mean \"depth\"?"),
        ("rich:depth=3,depth=4", "rich: depth is given twice"),
        ("rich:depth=ten", "rich: depth must be a whole number from 1 to 9, not 'ten'"),
        ("rich:depth=10", "rich: depth must be a whole number from 1 to 9, not '10'"),
        ("rich:share=1.5", "rich: share must be a number from 0 to 1, not '1.5'"),
        ("rich:share=nan", "rich: share must be a number from 0 to 1, not 'nan'"),
        ("rich:kind=c", "rich: kind must be one of a, b, not 'c'"),
        ("rich:file=", "rich: file must be at least one character, not ''"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(BadSpec) as raised:
        parse_spec(text, LITTLE)
    assert str(raised.value) == message


@given(text=st.text(max_size=60))
def test_any_text_is_parsed_or_a_bad_spec(text: str) -> None:
    try:
        spec = parse_spec(text, OPTIONS_BY_ENGINE)
    except BadSpec as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017
    else:
        assert spec.name in OPTIONS_BY_ENGINE


@given(cores=st.integers(1, 256), threads=st.integers(1, 64))
def test_only_jamboree_uses_several_threads(cores: int, threads: int) -> None:
    for name in OPTIONS_BY_ENGINE:
        expected = min(8, cores) if name == "jamboree" else 1
        assert count_engine_threads(parse_spec(name, OPTIONS_BY_ENGINE), cores) == expected
    assert (
        count_engine_threads(parse_spec(f"jamboree:threads={threads}", OPTIONS_BY_ENGINE), cores) == threads
    )
    assert count_engine_threads(parse_spec("jamboree:threads=0", OPTIONS_BY_ENGINE), cores) == min(8, cores)


def test_every_default_is_a_valid_value() -> None:
    for name, options in OPTIONS_BY_ENGINE.items():
        typed = ",".join(f"{key}={option.default}" for key, option in options.items())
        assert parse_spec(f"{name}:{typed}" if typed else name, OPTIONS_BY_ENGINE) == parse_spec(
            name, OPTIONS_BY_ENGINE
        )
