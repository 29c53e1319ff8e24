"""The commands that the documents show are taken as they are shown, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from arena.cli import COMMANDS, load

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("*/README.md"),
    *ROOT.glob("bots/*/README.md"),
    *ROOT.glob("protocol/*.md"),
]
FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BEFORE = re.compile(r"^(?:[A-Z_]+=\S+ |sudo -u \S+ |docker compose .* exec -T \S+ )*arena ")


def commands(text: str) -> list[list[str]]:
    """The `arena` commands in the fenced blocks of a page, as words, without the word `arena`."""
    found = []
    for block in FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            command, known = BEFORE.subn("", line)
            if known:
                words = shlex.split(command, comments=True)
                found.append(words[: next((i for i, word in enumerate(words) if word[0] in "|>&"), None)])
    return found


SHOWN = [(page, words) for page in PAGES for words in commands(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("page", "words"), SHOWN, ids=[f"{page.name}: {shlex.join(words)}" for page, words in SHOWN]
)
def test_each_command_shown_is_taken(page: Path, words: list[str]) -> None:
    """Its name, its options and their values; it is not run."""
    name, *rest = words
    assert name in COMMANDS, f"{page.name} shows `arena {shlex.join(words)}`: no {name}"
    command: Any = load(name)
    while isinstance(command, TyperGroup):
        name = rest.pop(0)
        assert name in command.commands, f"{page.name} shows `arena {shlex.join(words)}`: no {name}"
        command = command.commands[name]
    if "--help" not in rest:
        command.make_context("arena", rest)


def test_there_are_commands_on_each_guide() -> None:
    shown = {page.name for page, _ in SHOWN}
    assert {"README.md", "bots.md", "hosting.md", "ladders.md", "search.md"} <= shown
    assert len(SHOWN) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
