"""Parts of a machine that some tests need and not every machine has."""

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

CHROMIUM = Path("/usr/bin/chromium")
HEADLESS_SHELL = Path("/usr/bin/chromium-headless-shell")
"""Same browser without a user interface, which nobody sees in headless mode anyway. It uses less CPU time."""
EXTRA_FOLDERS = ("/usr/local/bin", "/usr/sbin", "/usr/local/sbin")
"""Folders with programs that may not be on an ordinary user's PATH."""
REASON = re.compile(r"needs (?P<part>[a-z ]+): ")


@dataclass(frozen=True)
class Part:
    """Part of a machine.

    tested: feature that is untested without it
    remedy: instruction to install it
    there: True if this machine has it
    """

    tested: str
    remedy: str
    there: Callable[[], bool]


def program(name: str) -> str | None:
    """Return the path of a program, also if only administrators have it on their PATH."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_FOLDERS]))


def postgresql_folder() -> Path | None:
    """Return the folder of PostgreSQL's programs; the newest version if there are several."""
    packaged = map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    found = shutil.which("postgres", path=os.pathsep.join([*packaged, os.environ.get("PATH", os.defpath)]))
    return Path(found).resolve().parent if found else None


def browser() -> Path | None:
    """Return the browser for tests of the page; the lightest one if there are several."""
    return next((path for path in (HEADLESS_SHELL, CHROMIUM) if os.access(path, os.X_OK)), None)


def _programs(*names: str) -> Callable[[], bool]:
    return lambda: all(program(name) for name in names)


def _modules(*names: str) -> Callable[[], bool]:
    return lambda: all(find_spec(name) for name in names)


PARTS = {
    "bash": Part("completion in a shell", "install the package bash", _programs("bash")),
    "chromium": Part(
        "the page in a browser",
        "install the package chromium-headless-shell, or chromium",
        lambda: browser() is not None,
    ),
    "docker": Part(
        "containers and the guide for hosts",
        "name an engine in DOCKER_HOST",
        lambda: "DOCKER_HOST" in os.environ,
    ),
    "gcc": Part("the example in C, and the engine against C", "install the package gcc", _programs("gcc")),
    "namespaces": Part(
        "broken networks",
        "run the tests as root, with the package iproute2",
        lambda: os.geteuid() == 0 and _programs("ip", "ss")(),
    ),
    "nats": Part(
        "several servers that are one arena",
        "install the package nats-server, and the extra bus",
        lambda: _programs("nats-server")() and _modules("nats")(),
    ),
    "nginx": Part("a server behind a proxy", "install the package nginx", _programs("nginx")),
    "node": Part(
        "the example in JavaScript, and the page's rules outside a browser",
        "install the packages nodejs and npm",
        _programs("node", "npm"),
    ),
    "pettingzoo": Part(
        "the adapter for PettingZoo", "pip install pettingzoo==1.27.0", _modules("pettingzoo", "gymnasium")
    ),
    "numba": Part("the compiled engine", "install the extra engine", _modules("numba")),
    "learn": Part(
        "training a network, and exporting it", "install the extra learn", _modules("jax", "onnx", "optax")
    ),
    "openssl": Part("TLS", "install the package openssl", _programs("openssl")),
    "perl": Part("the example in Perl", "install the package perl", _programs("perl")),
    "podman": Part("boxes of Podman", "install the package podman", _programs("podman")),
    "postgresql": Part(
        "the store on PostgreSQL", "install the package postgresql", lambda: postgresql_folder() is not None
    ),
    "easyai": Part("the example with easyAI", "pip install easyAI==2.0.12", _modules("easyAI")),
    "openspiel": Part(
        "the example with OpenSpiel, and the adapter for it",
        "pip install open_spiel==2.0.2",
        _modules("open_spiel", "pyspiel"),
    ),
    "distributed": Part("ladders on a Dask cluster", "install the extra cluster", _modules("distributed")),
}


def missing(part: str) -> str | None:
    """Return the reason to skip a test that needs this part; None if the machine has the part."""
    return None if PARTS[part].there() else f"needs {part}: {PARTS[part].remedy}"


def requires(part: str) -> pytest.MarkDecorator:
    """Return the mark of a test that needs this part. `make test-all` runs it, or skips it if the machine lacks the
    part.
    """
    return pytest.mark.needs(part)


def skip_without(part: str, why: str | None = None) -> None:
    """Skip the current test, or the test of the current fixture, if the machine lacks a part.

    why: finding about the part, if it was tried; otherwise the machine is checked
    """
    found = f"needs {part}: {why}" if why else missing(part)
    if found:
        pytest.skip(found, allow_module_level=True)


def told_of(reasons: Iterable[str]) -> Iterator[str]:
    """Yield one line for each missing part, from the reasons of skipped tests. Other reasons yield no line."""
    lacked = Counter(found["part"] for reason in reasons if (found := REASON.search(reason)))
    for part, count in sorted(lacked.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        yield f"not tested: {PARTS[part].tested} ({tests}); to have it, {PARTS[part].remedy}"
