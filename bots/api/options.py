"""What a person types to name an engine: `NAME` or `NAME:option=value,option=value`.

Each engine declares its options, with type, default and bounds; this module turns the text into
typed values, or says in one line what is wrong and what would be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = int | float | str
"""What an option holds once it is parsed."""


PROGRAM = "exec:"
"""Stands before the command line of a program that plays by lines of JSON, where an engine is named."""

MOST_THREADS = 8
"""The most threads that an engine asks for by itself: beyond, each one more adds little."""


class BadSpec(ValueError):
    """An engine's name or an option that cannot be understood; one line, with what would be right."""


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """An option that takes a whole number, both ends allowed."""

    default: int
    low: int
    high: int
    help: str

    def parse(self, text: str) -> int:
        """The value. Raises ValueError with what would be right."""
        try:
            value = int(text)
        except ValueError:
            value = self.low - 1
        if not self.low <= value <= self.high:
            raise ValueError(f"a whole number from {self.low} to {self.high}")
        return value


@dataclass(frozen=True, slots=True)
class Share:
    """An option that takes a number from 0 to 1."""

    default: float
    help: str

    def parse(self, text: str) -> float:
        """The value. Raises ValueError with what would be right."""
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise ValueError("a number from 0 to 1")
        return value


@dataclass(frozen=True, slots=True)
class Word:
    """An option that takes one of some words, or any text where `choices` is empty."""

    default: str
    choices: tuple[str, ...]
    help: str

    def parse(self, text: str) -> str:
        """The value. Raises ValueError with what would be right."""
        if not text or (self.choices and text not in self.choices):
            raise ValueError(f"one of {', '.join(self.choices)}" if self.choices else "some text")
        return text


Option = WholeNumber | Share | Word
Options = Mapping[str, Option]


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec: the engine's name and a value for every option that it declares."""

    name: str
    values: Mapping[str, Value]
    given: frozenset[str] = field(default=frozenset(), compare=False)
    """The options that a person wrote, also those with their defaults."""

    def whole(self, option: str) -> int:
        """The value of a `WholeNumber` option."""
        value = self.values[option]
        if not isinstance(value, int):
            raise TypeError(f"{option} is no whole number")
        return value

    def share(self, option: str) -> float:
        """The value of a `Share` option."""
        value = self.values[option]
        if not isinstance(value, float):
            raise TypeError(f"{option} is no share")
        return value

    def word(self, option: str) -> str:
        """The value of a `Word` option."""
        value = self.values[option]
        if not isinstance(value, str):
            raise TypeError(f"{option} is no word")
        return value


def parse_spec(text: str, engines: Mapping[str, Options], what: str = "engine") -> Spec:
    """Parse an engine spec against the declared engines; `what` names them. Raises BadSpec."""
    name, colon, rest = text.strip().partition(":")
    if name not in engines:
        raise BadSpec(f"no {what} is called {name!r:.60}: there are {', '.join(engines)}")
    options = engines[name]
    values: dict[str, Value] = {key: option.default for key, option in options.items()}
    given: set[str] = set()
    for part in rest.split(",") if colon else ():
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals:
            raise BadSpec(
                f"{name}: {part.strip()!r:.60} is no option: write option=value, as in {_example(options)}"
            )
        if key not in options:
            known = ", ".join(options) or "none"
            raise BadSpec(f"{name} has no option {key!r:.60}: there are {known}")
        if key in given:
            raise BadSpec(f"{name}: {key} is given twice")
        given.add(key)
        try:
            values[key] = options[key].parse(value)
        except ValueError as right:
            raise BadSpec(f"{name}: {key} must be {right}, not {value!r:.60}") from None
    return Spec(name, values, frozenset(given))


def threads_of(spec: Spec, cores: int) -> int:
    """How many threads an engine asks for on so many cores: what it is told, else as many, if it searches with several.

    One for an engine that searches with one thread only, and never more than `MOST_THREADS` unless it is told.
    """
    if "threads" not in spec.values:
        return 1
    return spec.whole("threads") or max(1, min(cores, MOST_THREADS))


def _example(options: Options) -> str:
    return next((f"{key}={option.default}" for key, option in options.items()), "NAME alone: it has none")


def describe(engines: Mapping[str, Options]) -> list[str]:
    """Each engine with its options, one a line, as help texts show them."""
    lines = []
    for name, options in engines.items():
        lines.append(name)
        lines += [f"  {key}={option.default}  {option.help}" for key, option in options.items()]
    return lines


_EVALUATOR = Word("plain", (), "plain, features, outcomes, or a file NAME.toml that was learned")
_LEARNED = Word(
    "features",
    (),
    "features, whose weights were learned; plain, outcomes (in Python), or a file NAME.toml that was learned",
)
_EXACT = Word(
    "no", ("no", "yes"), "compiled: yes: no depth is ever cut short; the search in Python never does"
)
LEAVES = ("leaves", "both")
"""The values of `truth` with which leaves are looked up."""
_ROOT = Word(
    "no", ("no", "root"), "root: on a solved map only the moves that its table says are best are searched"
)
_TRUTH = Word(
    "no",
    ("no", "root", "leaves", "both"),
    "root: on a solved map only the moves that its table says are best are searched; leaves, compiled: there it looks up "
    "what leaves are worth; both",
)
_DEPTH = WholeNumber(100, 1, 100, "the deepest search, in plies")

ENGINES: Mapping[str, Options] = {
    "random": {"seed": WholeNumber(0, 0, 2**31 - 1, "seed of its choices; 0 is a new one each match")},
    "greedy": {
        "evaluator": _EVALUATOR,
        "seed": WholeNumber(0, 0, 2**31 - 1, "seed that decides between equal moves; 0 takes the leftmost"),
    },
    "minimax": {"depth": _DEPTH, "evaluator": _EVALUATOR, "truth": _ROOT},
    "alphabeta": {
        "depth": _DEPTH,
        "evaluator": _LEARNED,
        "exact": _EXACT,
        "truth": _TRUTH,
    },
    "jamboree": {
        "depth": _DEPTH,
        "evaluator": _LEARNED,
        "exact": _EXACT,
        "truth": _TRUTH,
        "threads": WholeNumber(
            0, 0, 64, "threads that search at once; 0: one for each core, 8 at the most, if the match allows"
        ),
        "form": Word(
            "tests",
            ("tests", "course"),
            "tests with null windows (compiled only), or the course's form; in Python always that",
        ),
        "prune": Share(0.5, "form=course: the share of a node's moves that is searched in sequence"),
    },
    "perfect": {},
}
"""The built-in engines and what each can be told."""
