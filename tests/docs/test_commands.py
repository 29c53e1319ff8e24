"""The `arena` commands that the documentation pages show are taken as they are shown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from typer.core import TyperGroup

from arena.cli import build_cli, load_command
from tests.docs.pages import FENCED, PAGES, spans, text_of

BEFORE = re.compile(r"^(?:[A-Z_]+=\S+ |sudo -u \S+ |docker compose .* exec -T \S+ )*arena ")
OPTION = re.compile(r"--[a-z][\w-]*")


def commands(text: str) -> list[list[str]]:
    """Return the `arena` commands in the fenced blocks of a page, as words, without the word `arena`."""
    lines = []
    for block in FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            command, known = BEFORE.subn("", line)
            if known:
                words = shlex.split(command, comments=True)
                lines.append(words[: next((i for i, word in enumerate(words) if word[0] in "|>&"), None)])
    return lines


SHOWN = [(page, words) for page in PAGES for words in commands(text_of(page))]
NAMED = [
    (place, span.split()[1:])
    for page in PAGES
    for place, span in spans(page)
    if span.startswith("arena ") and re.match(r"[a-z-]", span.removeprefix("arena "))
]


@cache
def loaded(name: str) -> Any:
    """Return a command of `arena`. To build one takes as long as to try ten lines of it."""
    return load_command(name)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the words begin with, and the words after its name. Raises KeyError."""
    if words[0].startswith("-"):
        return build_cli(), words
    command, rest = loaded(words[0]), words[1:]
    while isinstance(command, TyperGroup) and rest:
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def options_of(command: Any) -> Iterator[str]:
    """Yield the options of a command and of those under it."""
    yield "--help"
    for each in command.params:
        yield from (*each.opts, *each.secondary_opts)
    for each in getattr(command, "commands", {}).values():
        yield from options_of(each)


@pytest.mark.parametrize("page", dict.fromkeys(page for page, _ in SHOWN))
def test_each_command_in_a_block_is_taken(page: str) -> None:
    """The name, options and values of each command are valid; it is not run."""
    for words in [words for place, words in SHOWN if place == page]:
        try:
            command, rest = command_of(words)
            if "--help" not in rest:
                command.make_context("arena", rest)
        except Exception as refused:
            if re.search(
                "folder /.* does not exist; create it first", str(refused)
            ):  # on the machine of a host
                continue
            raise AssertionError(f"{page} shows `arena {shlex.join(words)}`: {refused!r}") from refused


@pytest.mark.parametrize("page", dict.fromkeys(place.partition(":")[0] for place, _ in NAMED))
def test_each_command_in_a_sentence_exists_with_its_options(page: str) -> None:
    wrong = []
    for place, words in NAMED:
        if place.partition(":")[0] != page:
            continue
        try:
            command, rest = command_of(words)
        except KeyError as unknown:
            wrong.append(f"{place}: `arena {' '.join(words)}`: there is no {unknown}")
            continue
        known = set(options_of(command))
        wrong += [
            f"{place}: `arena {words[0]}` has no option {word}"
            for word in OPTION.findall(" ".join(rest))
            if word not in known
        ]
    assert not wrong


def test_there_are_commands_on_each_guide() -> None:
    shown = {page for page, _ in SHOWN}
    assert {
        "README.md",
        "docs/bots.md",
        "docs/hosting.md",
        "docs/ladders.md",
        "docs/engine.md",
    } <= shown
    assert len(SHOWN) > 40
    assert len(NAMED) > 80


def commands_in(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the names of a command, or of those under it, and the commands."""
    if not isinstance(command, TyperGroup):
        yield name, command
        return
    for word, each in command.commands.items():
        yield from commands_in(each, f"{name} {word}")


def test_the_help_of_each_command_has_an_example() -> None:
    commands = [each for word in build_cli().commands for each in commands_in(loaded(word), word)]
    assert len(commands) > 40
    without = [
        name for name, each in commands if not re.search(rf"Examples?:\s.*arena {name}", each.help, re.DOTALL)
    ]
    assert without == []
