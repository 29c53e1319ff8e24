"""Parser of engine specs, such as `alphabeta:depth=4,exact=yes`: NAME or NAME:option=value,option=value.

Each engine declares its options with type, default and bounds. The parser converts the text of each option to a value of
its type, or reports in one line what is wrong and which forms are valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from arena.games.name_hints import format_name_suggestion

PROGRAM_SPEC_PREFIX = "exec:"
"""Prefix of the engine spec `exec:COMMAND`: an external program that speaks JSON Lines (docs/stdio.md)."""
IMAGE_SPEC_PREFIX = "image:"
"""Prefix of the engine spec `image:NAME`: a container image whose program speaks JSON Lines (docs/stdio.md)."""
SUBMISSION_SPEC_PREFIX = "submit:"
"""Prefix of the engine spec `submit:FILE.zip[,image=NAME]`: a zipped bot that runs in a container."""
SUBMISSION_IMAGE_SEPARATOR = ",image="
"""Separator before the name of the container image in `submit:FILE.zip,image=NAME`."""
CONTAINER_SPEC_PREFIXES = (IMAGE_SPEC_PREFIX, SUBMISSION_SPEC_PREFIX)
"""Prefixes of the specs of bots that run in containers."""
DEFAULT_CONTAINER_IMAGE = "riskless-arena"
"""Container image for a zipped bot whose spec (`submit:FILE.zip`) names no image."""

MAX_DEFAULT_SEARCH_THREADS = 8
"""Maximum number of search threads if the user sets none. Further threads gain little."""


class BadSpec(ValueError):
    """Raised when an engine name or an option is invalid; the message is one line with the valid forms."""


@dataclass(frozen=True, slots=True)
class IntegerOption:
    """Option of an engine that takes a whole number from `minimum` to `maximum`, both included."""

    default: int
    minimum: int
    maximum: int

    def parse(self, text: str) -> int:
        """Return the number in `text`. Raises ValueError if it is not a whole number from `minimum` to `maximum`."""
        try:
            value = int(text)
        except ValueError:
            value = self.minimum - 1
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"must be a whole number from {self.minimum} to {self.maximum}")
        return value


@dataclass(frozen=True, slots=True)
class FractionOption:
    """Option of an engine that takes a number from 0 to 1."""

    default: float

    def parse(self, text: str) -> float:
        """Return the number in `text`. Raises ValueError if it is not a number from 0 to 1."""
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise ValueError("must be a number from 0 to 1")
        return value


@dataclass(frozen=True, slots=True)
class TextOption:
    """Option of an engine that takes one of `choices`, or any text if `choices` is empty."""

    default: str
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> str:
        """Return `text` unchanged. Raises ValueError if it is empty or not one of `choices`."""
        if not text or (self.choices and text not in self.choices):
            raise ValueError(
                f"must be one of {', '.join(self.choices)}"
                if self.choices
                else "must be at least one character"
            )
        return text


SpecOption = IntegerOption | FractionOption | TextOption
SpecOptions = Mapping[str, SpecOption]
"""Options of an engine, by the option's name."""


@dataclass(frozen=True, slots=True)
class ParsedSpec:
    """Parsed engine spec: the engine's name and a value for each of its declared options."""

    name: str
    option_values: Mapping[str, Any]
    """Parsed value of each option, by the option's name."""
    explicit_option_names: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the options that the user wrote, including those set to their defaults."""


def parse_spec(
    text: str, options_by_name: Mapping[str, SpecOptions], spec_kind: str = "engine"
) -> ParsedSpec:
    """Parse an engine spec, such as `alphabeta:depth=4`, and return it.

    options_by_name  options of each valid engine, by the engine's name
    spec_kind        word that error messages use for an engine, such as "algorithm"

    Raises BadSpec for an unknown engine or option, or an invalid value.
    """
    name, colon, rest = text.strip().partition(":")
    if name not in options_by_name:
        raise BadSpec(
            f"no {spec_kind} is called {name!r:.60}: {format_name_suggestion(name, options_by_name)}"
        )
    options = options_by_name[name]
    values: dict[str, Any] = {key: option.default for key, option in options.items()}
    explicit_option_names: set[str] = set()
    for part in rest.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and key in options:
            raise BadSpec(
                f"{name}: {part.strip()!r:.60} has no value: write option=value, e.g. {_format_example_option(options)}"
            )
        if key not in options:
            choices = format_name_suggestion(key, options) if options else "it has no options"
            raise BadSpec(f"{name} has no option {key!r:.60}: {choices}")
        if key in explicit_option_names:
            raise BadSpec(f"{name}: {key} is given twice")
        explicit_option_names.add(key)
        try:
            values[key] = options[key].parse(value)
        except ValueError as requirement:
            raise BadSpec(f"{name}: {key} {requirement}, not {value!r:.60}") from None
    return ParsedSpec(name, values, frozenset(explicit_option_names))


class ContainerSpec(NamedTuple):
    """Parsed spec of a bot in a container: `image:NAME` or `submit:FILE.zip[,image=NAME]`."""

    image: str
    submission: Path | None
    """Zip file with the bot; None if the image itself contains the bot."""

    @classmethod
    def parse(cls, spec: str) -> ContainerSpec:
        """Parse a spec with one of CONTAINER_SPEC_PREFIXES. The image of `submit:` defaults to DEFAULT_CONTAINER_IMAGE."""
        if not spec.startswith(SUBMISSION_SPEC_PREFIX):
            return cls(spec.removeprefix(IMAGE_SPEC_PREFIX), None)
        file, separator, image = spec.removeprefix(SUBMISSION_SPEC_PREFIX).partition(
            SUBMISSION_IMAGE_SEPARATOR
        )
        return cls(image if separator else DEFAULT_CONTAINER_IMAGE, Path(file))

    @property
    def bot_name(self) -> str:
        """Return the name of the zip file without folder and `.zip`, or of the image without registry, tag and `@sha256:…`."""
        if self.submission is not None:
            return self.submission.name.removesuffix(".zip")
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def count_engine_threads(spec: ParsedSpec, core_count: int) -> int:
    """Return the number of threads that an engine uses on a machine with `core_count` CPU cores.

    The option `threads` sets the number. If it is 0, there is one thread for each core, at most `MAX_DEFAULT_SEARCH_THREADS`.
    An engine without this option uses one thread.
    """
    if "threads" not in spec.option_values:
        return 1
    return spec.option_values["threads"] or max(1, min(core_count, MAX_DEFAULT_SEARCH_THREADS))


def _format_example_option(options: SpecOptions) -> str:
    return next(
        (f"{key}={option.default}" for key, option in options.items()),
        "NAME alone, because it has no options",
    )


_PLAIN_EVALUATOR_OPTION = TextOption("plain")
_FEATURES_EVALUATOR_OPTION = TextOption("features")
_EXACT_SEARCH_OPTION = TextOption("no", ("no", "yes"))
_TABLEBASE_OPTION = TextOption("no", ("no", "root"))
"""Use of the map's tablebase, a file with the exact value of every position, if there is one.

`root` looks up the current position in the tablebase instead of searching it; `no` only searches.
"""
_MAX_DEPTH_OPTION = IntegerOption(100, 1, 100)
_MAX_NODES_OPTION = IntegerOption(0, 0, 10**12)
"""Maximum number of nodes (positions) that the search for a move visits; 0 means no limit.

With a node limit and a single thread, matches are exactly reproducible, because moves do not depend on the machine's speed.
"""
_SEED_OPTION = IntegerOption(0, 0, 2**31 - 1)

OPTIONS_BY_ENGINE: Mapping[str, SpecOptions] = {
    "random": {"seed": _SEED_OPTION},
    "greedy": {"evaluator": _PLAIN_EVALUATOR_OPTION, "seed": _SEED_OPTION},
    "minimax": {
        "depth": _MAX_DEPTH_OPTION,
        "nodes": _MAX_NODES_OPTION,
        "evaluator": _PLAIN_EVALUATOR_OPTION,
        "truth": _TABLEBASE_OPTION,
    },
    "alphabeta": {
        "depth": _MAX_DEPTH_OPTION,
        "nodes": _MAX_NODES_OPTION,
        "evaluator": _FEATURES_EVALUATOR_OPTION,
        "exact": _EXACT_SEARCH_OPTION,
        "truth": _TABLEBASE_OPTION,
    },
    "jamboree": {
        "depth": _MAX_DEPTH_OPTION,
        "nodes": _MAX_NODES_OPTION,
        "evaluator": _FEATURES_EVALUATOR_OPTION,
        "exact": _EXACT_SEARCH_OPTION,
        "truth": _TABLEBASE_OPTION,
        "threads": IntegerOption(0, 0, 64),
        "form": TextOption("tests", ("tests", "course")),
        "prune": FractionOption(0.5),
        "split_depth": IntegerOption(4, 1, 100),
    },
    "perfect": {},
}
"""Options of each built-in engine, by the engine's name (docs/engine.md)."""
