"""The `arena` command: the help and completion of every subcommand, and the modules that each loads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pexpect
import pytest
from typer.core import TyperGroup

import arena as arena_face
from arena.cli import COMMAND_BY_NAME, load_command
from testkit.tools import mark_requires
from tests.bots.command_line import LIST_LOADED, arena, environment

HEAVY = {"sqlalchemy", "aiosqlite", "distributed", "dask", "numba", "numpy", "prometheus_client"}
STORE = {"sqlalchemy", "aiosqlite", "prometheus_client"}
"""Heavy packages that a command with a store may load."""

WITH_STORE = {
    *("ladder", "match", "submit", "serve", "ratings", "token", "log"),
    *("backup", "restore", "export", "import", "store"),
    *("event", "season", "invite", "marks", "audit", "kick", "ban", "notice", "owner", "rename", "forget"),
}


MODULES = {name: target.partition(":")[0] for name, (target, _) in COMMAND_BY_NAME.items()}
"""Module of each command."""


def loaded_packages(*runs: Sequence[str], **environment: str) -> list[set[str]]:
    """Run `arena` with each list of arguments, and return the packages that each run has loaded at its end."""
    result = subprocess.run(
        [sys.executable, "-c", LIST_LOADED, json.dumps(runs)],
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=500,
    )
    names = [set(line.removeprefix("loaded: ").split()) for line in result.stderr.splitlines()]
    assert len(names) == len(runs), result.stderr
    return names


@pytest.mark.parametrize("name", COMMAND_BY_NAME)
def test_a_command_is_in_its_module_and_its_line_is_the_first_of_its_help(name: str) -> None:
    help = load_command(name).help
    assert help.splitlines()[0] == COMMAND_BY_NAME[name][1]


def test_the_help_lists_each_command_with_its_line() -> None:
    help_text = arena("--help").stdout
    for name, (_, line) in COMMAND_BY_NAME.items():
        (shown,) = re.findall(rf"^  {name} +(.*?)(?:\.\.\.)?$", help_text, re.MULTILINE)
        assert line.startswith(shown)


def test_the_list_of_commands_and_the_completion_of_a_name_load_no_command() -> None:
    unwanted = HEAVY | set(MODULES.values()) | {"websockets", "anyio"}
    completing = {"_ARENA_COMPLETE": "complete_bash", "COMP_WORDS": "arena ma", "COMP_CWORD": "1"}
    (helping,), (completed,) = loaded_packages(["--help"]), loaded_packages([], **completing)
    assert not (helping | completed) & unwanted


@pytest.mark.slow
def test_a_command_without_a_store_loads_no_store_modules() -> None:
    """Neither the help of these commands nor three of the commands themselves load heavy packages."""
    helping = {module: name for name, module in MODULES.items() if name not in WITH_STORE}.values()
    runs = [
        ["maps", "list"],
        ["trace", "HandoutBig", "alphabeta"],
        ["analyse", "--engine", "minimax", "--depth", "2"],
    ]
    words = [*([name, "--help"] for name in helping), *runs]
    for each, found in zip(words, loaded_packages(*words), strict=True):
        assert not found & HEAVY, each
        if each in runs:
            assert not found & {"websockets", "anyio"}, each


@pytest.mark.slow
def test_the_commands_with_a_store_load_that_and_nothing_else_that_is_heavy() -> None:
    modules = sorted({MODULES[name] for name in WITH_STORE})
    code = f"import sys, {', '.join(modules)}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=500
    )
    assert not set(result.stdout.split()) & (HEAVY - STORE)


RUN_WITHOUT = """
import json, os, sys
from arena.cli import main
for package, words in json.loads(sys.argv[1]):
    if not os.fork():
        sys.modules[package] = None
        try:
            main(words)
        except SystemExit as ended:
            print("exit code", ended.code, file=sys.stderr, flush=True)
        os._exit(0)
    os.wait()
"""
"""Program that runs `arena` with each list of arguments, in a fork of itself, as if the named package were not installed."""


@pytest.mark.slow
def test_a_command_without_its_extra_names_it(tmp_path: Path) -> None:
    core = ["--db", "postgresql://x/y", "--set", "bus.url=nats://127.0.0.1", "--set", "server.role=core"]
    bots = ["--bot", "random", "--bot", "greedy"]
    runs = [
        ("server", "sqlalchemy", ["serve"]),
        ("server", "prometheus_client", ["ladder"]),
        ("server", "sqlalchemy", ["log"]),
        ("engine", "numba", ["maps", "measure", "m2"]),
        ("engine", "numpy", ["tune"]),
        ("engine", "llvmlite", ["solve", "path4", "--verify"]),
        ("bus", "nats", ["serve", *core]),
        ("cluster", "distributed", ["ladder", *bots, "--cluster", "tcp://127.0.0.1:9"]),
        ("postgres", "asyncpg", ["token", "list", "--db", "postgresql://x/y"]),
    ]
    result = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT, json.dumps([run[1:] for run in runs])],
        env=environment(),
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert result.stderr.splitlines() == [
        line
        for extra, _, words in runs
        for line in (
            f'arena: "{words[0]}" needs the {extra} extra: pip install "riskless-arena[{extra}]"',
            "exit code 1",
        )
    ]


def words_of(name: str) -> list[list[str]]:
    command = load_command(name)
    return [[name, each] for each in command.commands] if isinstance(command, TyperGroup) else [[name]]


@pytest.mark.parametrize(
    "words", [words for name in COMMAND_BY_NAME for words in words_of(name)], ids=" ".join
)
def test_every_command_has_help_with_an_example(words: list[str]) -> None:
    result = arena(*words, "--help")
    assert result.code == 0
    assert result.stdout.startswith(f"Usage: arena {' '.join(words)} ")
    assert f"arena {' '.join(words)}" in result.stdout.partition("Usage:")[2].partition("\n")[2]


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"], ["serve", "--port", "x"], ["bot"]])
def test_bad_usage_is_one_line_and_exit_2(arguments: list[str]) -> None:
    result = arena(*arguments)
    assert result.code == 2
    assert result.stderr.startswith("arena: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [[], ["maps"], ["token"]])
def test_a_command_without_its_arguments_shows_its_help(arguments: list[str]) -> None:
    result = arena(*arguments)
    shown = result.stdout + result.stderr
    assert "Usage: " in shown
    assert "arena: " not in shown
    assert "Traceback" not in shown


def in_bash(home: Path, script: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", f"{script}; exit $?"],
        env=environment(HOME=str(home), PATH=path),
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )


@mark_requires("bash")
def test_bash_completes_names_of_commands_and_options(tmp_path: Path) -> None:
    installed = in_bash(tmp_path, "arena --install-completion")
    assert installed.returncode == 0, installed
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = pexpect.spawn(
        "bash",
        ["--noprofile", "-i"],
        env=environment(HOME=str(tmp_path), PATH=path, PS1="$ ", INPUTRC="/dev/null"),
        encoding="utf-8",
        timeout=500,
        # wide enough for the prompt, which contains the folder: the terminal does not show a longer line in full
        dimensions=(24, 200),
    )
    try:
        shell.send("arena lad\t")
        shell.expect_exact("ladder ")
        shell.send("--conc\t")
        shell.expect_exact("--concurrency ")
        shell.send("\x15arena maps sh\t")  # Ctrl-U deletes the line typed so far
        shell.expect_exact("maps show ")
        shell.sendline("\x15exit")
        shell.expect(pexpect.EOF)
    finally:
        shell.close(force=True)


@mark_requires("bash")
def test_completion_that_cannot_be_installed_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = in_bash(tmp_path / "file", "arena --install-completion")
    assert result.returncode == 1
    assert result.stderr.startswith("arena: cannot install completion: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", arena_face.__all__)
def test_the_public_interface_has_all_its_names(name: str) -> None:
    if arena_face._MODULE_BY_PUBLIC_NAME.get(name, "").startswith("arena.bots.compiled"):
        pytest.importorskip("numba")
    assert getattr(arena_face, name) is not None
    assert name in dir(arena_face)


def test_the_public_interface_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'Bott'; it has .*Bot, "):
        _ = arena_face.Bott


def test_names_of_the_public_interface_are_loaded_on_first_use() -> None:
    code = "import sys, arena; print('bots' in sys.modules); from arena import Bot; print(Bot)"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=500
    )
    assert result.stdout == "False\n<class 'arena.bots.api.bot.Bot'>\n"


def test_the_version_is_reported() -> None:
    assert arena("--version").stdout == f"arena {metadata.version('riskless-arena')}\n"
    assert arena("--version").code == 0


def options_of(command: Any) -> Iterator[Any]:
    """Yield the options of a command and of its subcommands."""
    for each in getattr(command, "commands", {}).values():
        yield from options_of(each)
    yield from (each for each in command.params if each.param_type_name == "option")


@pytest.mark.parametrize("name", COMMAND_BY_NAME)
def test_every_option_names_its_values(name: str) -> None:
    silent = [each.opts[0] for each in options_of(load_command(name)) if not (each.is_flag or each.metavar)]
    assert silent == [], "it would be TEXT or INTEGER"
