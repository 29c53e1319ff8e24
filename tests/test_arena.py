"""The command as a whole: every subcommand is there, helps, and loads no more than it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from arena import COMMANDS, build, needed

NAMES = [name for names in COMMANDS.values() for name in names]


def commands_of(app: typer.Typer) -> set[str]:
    named = {each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands}
    return named | {each.name or "" for each in app.registered_groups if isinstance(each.name, str)}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arena", *arguments], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("module", COMMANDS)
def test_the_table_says_what_each_module_registers(module: str) -> None:
    assert commands_of(build([module])) == set(COMMANDS[module])


def test_a_command_needs_its_own_module_only() -> None:
    assert needed(["bot", "greedy"]) == ["bots.commands.register"]
    assert needed(["--help"]) == needed([]) == needed(["nonsense"]) == list(COMMANDS)


GROUPS = {"maps": ("list", "show", "check"), "token": ("create", "list", "rotate", "revoke")}
WORDS = [[name, each] for name in NAMES for each in GROUPS.get(name, ("",))]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_has_help_with_an_example(words: list[str]) -> None:
    command = [word for word in words if word]
    told = CliRunner().invoke(build(needed(command)), [*command, "--help"], prog_name="arena")
    assert told.exit_code == 0
    assert f"arena {' '.join(command)}" in told.output.partition("Usage:")[2].partition("\n")[2]


def test_a_bot_loads_no_database() -> None:
    code = (
        "import arena, sys; arena.build(arena.needed(['bot']));"
        "print([name for name in ('sqlalchemy', 'alembic', 'numba', 'prometheus_client') if name in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"], ["serve", "--port", "x"], ["bot"]])
def test_bad_usage_is_one_line_and_exit_2(arguments: list[str]) -> None:
    told = run(*arguments)
    assert told.returncode == 2
    assert told.stderr.startswith("arena: ")
    assert told.stderr.count("\n") == 1
    assert told.stdout == ""


@pytest.mark.parametrize("arguments", [[], ["maps"], ["token"]])
def test_a_command_without_its_words_shows_its_help(arguments: list[str]) -> None:
    told = run(*arguments)
    shown = told.stdout + told.stderr
    assert "Usage: " in shown
    assert "arena: " not in shown
    assert "Traceback" not in shown
