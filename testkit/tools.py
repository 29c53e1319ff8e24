"""Tools, such as a browser or a database, that some tests need and not every machine has."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

CHROMIUM_PROGRAM = Path("/usr/bin/chromium")
CHROMIUM_HEADLESS_SHELL = Path("/usr/bin/chromium-headless-shell")
"""Path of the version of Chromium without a user interface, which uses less CPU time."""
EXTRA_PROGRAM_FOLDERS = ("/usr/local/bin", "/usr/sbin", "/usr/local/sbin")
"""Folders with programs that an ordinary user's PATH may lack."""
MISSING_TOOL_REASON_PATTERN = re.compile(r"needs (?P<tool>[a-z ]+): ")
"""Pattern of the reason for which a test is skipped because the machine lacks a tool of TOOL_REQUIREMENTS."""


@dataclass(frozen=True)
class ToolRequirement:
    """Tool, such as a browser or a database, that some tests need.

    tested_feature: feature that is not tested without this tool
    install_hint: instruction for installing the tool
    is_available: function that returns True if this machine has the tool
    """

    tested_feature: str
    install_hint: str
    is_available: Callable[[], bool]


def find_program(name: str) -> str | None:
    """Return the path of a program in PATH or EXTRA_PROGRAM_FOLDERS; None if there is none."""
    return shutil.which(
        name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_PROGRAM_FOLDERS])
    )


def find_postgresql_folder() -> Path | None:
    """Return the folder of PostgreSQL's programs, of the newest version if there are several; None if none is installed."""
    packaged = map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    program = shutil.which("postgres", path=os.pathsep.join([*packaged, os.environ.get("PATH", os.defpath)]))
    return Path(program).resolve().parent if program else None


def find_chromium() -> Path | None:
    """Return the path of an installed Chromium for the page's tests, preferably CHROMIUM_HEADLESS_SHELL; None if there is none."""
    return next(
        (path for path in (CHROMIUM_HEADLESS_SHELL, CHROMIUM_PROGRAM) if os.access(path, os.X_OK)), None
    )


def _make_program_check(*names: str) -> Callable[[], bool]:
    return lambda: all(find_program(name) for name in names)


def _make_module_check(*names: str) -> Callable[[], bool]:
    return lambda: all(find_spec(name) for name in names)


TOOL_REQUIREMENTS = {
    "bash": ToolRequirement("completion in a shell", "install the package bash", _make_program_check("bash")),
    "chromium": ToolRequirement(
        "the page in a browser",
        "install the package chromium-headless-shell, or chromium",
        lambda: find_chromium() is not None,
    ),
    "docker": ToolRequirement(
        "containers and the guide for hosts",
        "name an engine in DOCKER_HOST",
        lambda: "DOCKER_HOST" in os.environ,
    ),
    "gcc": ToolRequirement(
        "the example in C, and the engine against C", "install the package gcc", _make_program_check("gcc")
    ),
    "namespaces": ToolRequirement(
        "broken networks",
        "run the tests as root, with the package iproute2",
        lambda: os.geteuid() == 0 and _make_program_check("ip", "ss")(),
    ),
    "nats": ToolRequirement(
        "several servers that are one arena",
        "install the package nats-server, and the extra bus",
        lambda: _make_program_check("nats-server")() and _make_module_check("nats")(),
    ),
    "nginx": ToolRequirement(
        "a server behind a proxy", "install the package nginx", _make_program_check("nginx")
    ),
    "node": ToolRequirement(
        "the example in JavaScript, and the page's rules outside a browser",
        "install the packages nodejs and npm",
        _make_program_check("node", "npm"),
    ),
    "pettingzoo": ToolRequirement(
        "the adapter for PettingZoo",
        "pip install pettingzoo==1.27.0",
        _make_module_check("pettingzoo", "gymnasium"),
    ),
    "numba": ToolRequirement("the compiled engine", "install the extra engine", _make_module_check("numba")),
    "learn": ToolRequirement(
        "training a network, and exporting it",
        "install the extra learn",
        _make_module_check("jax", "onnx", "optax"),
    ),
    "openssl": ToolRequirement("TLS", "install the package openssl", _make_program_check("openssl")),
    "perl": ToolRequirement("the example in Perl", "install the package perl", _make_program_check("perl")),
    "podman": ToolRequirement("boxes of Podman", "install the package podman", _make_program_check("podman")),
    "postgresql": ToolRequirement(
        "the store on PostgreSQL",
        "install the package postgresql",
        lambda: find_postgresql_folder() is not None,
    ),
    "easyai": ToolRequirement(
        "the example with easyAI", "pip install easyAI==2.0.12", _make_module_check("easyAI")
    ),
    "openspiel": ToolRequirement(
        "the example with OpenSpiel, and the adapter for it",
        "pip install open_spiel==2.0.2",
        _make_module_check("open_spiel", "pyspiel"),
    ),
    "distributed": ToolRequirement(
        "ladders on a Dask cluster", "install the extra cluster", _make_module_check("distributed")
    ),
}


def find_missing_tool_reason(tool: str) -> str | None:
    """Return the reason to skip a test that needs a tool of TOOL_REQUIREMENTS; None if the machine has the tool."""
    return (
        None
        if TOOL_REQUIREMENTS[tool].is_available()
        else f"needs {tool}: {TOOL_REQUIREMENTS[tool].install_hint}"
    )


def mark_requires(tool: str) -> pytest.MarkDecorator:
    """Return a pytest mark for tests that need a tool of TOOL_REQUIREMENTS.

    `make test-all` runs these tests, or skips them if the machine lacks the tool.
    """
    return pytest.mark.needs(tool)


def skip_without(tool: str, other_reason: str | None = None) -> None:
    """Skip the current test, or the tests of the current fixture or module, if the machine lacks a tool.

    tool: name in TOOL_REQUIREMENTS
    other_reason: reason why an installed tool cannot be used, to skip in any case; None to skip only if it is not installed
    """
    reason = f"needs {tool}: {other_reason}" if other_reason else find_missing_tool_reason(tool)
    if reason:
        pytest.skip(reason, allow_module_level=True)


def describe_missing_tools(reasons: Iterable[str]) -> Iterator[str]:
    """Yield a line for each missing tool: what was not tested, in how many tests, and how to install the tool.

    reasons: skip reasons of all skipped tests; those that name no missing tool are ignored
    """
    missing_counts = Counter(
        found["tool"] for reason in reasons if (found := MISSING_TOOL_REASON_PATTERN.search(reason))
    )
    for tool, count in sorted(missing_counts.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        yield f"not tested: {TOOL_REQUIREMENTS[tool].tested_feature} ({tests}); to have it, {TOOL_REQUIREMENTS[tool].install_hint}"
