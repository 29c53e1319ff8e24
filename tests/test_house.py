"""Rules of the house that a newcomer can rely on, checked on what git tracks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 400
IMPURE = {"anyio", "asyncio", "websockets", "msgpack", "time", "random", "logging"}
PURE = [
    "games/**/*.py",
    "match/**/*.py",
    "rating/**/*.py",
    "bots/client/state/**/*.py",
    "bots/search/**/*.py",
    "bots/evaluators/**/*.py",
]
"""What takes time and chance as arguments: DESIGN section 3."""


def tracked() -> list[Path]:
    """The files of the project: tracked ones, and new ones that are not ignored."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = listing.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # a picture


def imports(file: Path) -> set[str]:
    """The top-level names of the packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module.partition(".")[0])
    return found


def test_the_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize("pattern", PURE)
def test_pure_modules_import_nothing_that_touches_the_world(pattern: str) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files, f"nothing is called {pattern}"
    impure = {str(file.relative_to(ROOT)): sorted(imports(file) & IMPURE) for file in files}
    assert not {name: found for name, found in impure.items() if found}


def test_games_and_maps_stand_on_the_standard_library() -> None:
    own = {"games", "maps"}
    for file in sorted((ROOT / "games").rglob("*.py")):
        assert imports(file) <= sys.stdlib_module_names | own, file


def test_no_file_is_too_long_to_read() -> None:
    code = [
        file for file in tracked() if file.suffix in {".py", ".sh"} or file.name in {"Makefile", "Dockerfile"}
    ]
    long = {str(file.relative_to(ROOT)): len(text_of(file).splitlines()) for file in code}
    assert not {name: lines for name, lines in long.items() if lines > LONGEST}


def test_every_module_says_what_it_is_for() -> None:
    packages = ("games", "maps", "protocol", "match", "rating", "server", "ladder", "bots")
    silent = [
        str(file.relative_to(ROOT))
        for package in packages
        for file in sorted((ROOT / package).rglob("*.py"))
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_no_registry_is_named() -> None:
    """Where packages come from is the machine's business: its configuration says so, and not the project."""
    host = re.compile(
        r"\b(?:py" + r"pi|pythonhosted|npm" + r"js|crates)\.(?:org|io|com)\b|--(?:extra-)?index" + "-url"
    )
    named = [str(file.relative_to(ROOT)) for file in tracked() if host.search(text_of(file))]
    assert not named


def test_no_path_of_one_machine_is_named() -> None:
    path = re.compile("(?:^|[\\s\"'`=(])/(?:work|root|home)" + "/[a-z]", re.MULTILINE)
    named = [str(file.relative_to(ROOT)) for file in tracked() if path.search(text_of(file))]
    assert not named


def test_the_changelog_tells_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.search(rf"^## {re.escape(project['version'])}\b", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)


def test_every_dependency_is_pinned_by_its_hashes() -> None:
    for lock in sorted(ROOT.glob("requirements*.lock")):
        entries = re.split(r"\n(?=\S)", text_of(lock).strip())
        loose = [
            entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry
        ]
        assert not loose, lock
