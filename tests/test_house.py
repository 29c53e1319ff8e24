"""Rules of this project that no linter checks, tested on its files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from testkit.project_files import list_project_files

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "games",
    "maps",
    "solved",
    "protocol",
    "match",
    "rating",
    "processes",
    "server",
    "check",
    "ladder",
    "bots",
)
CONNECTED = ("match", "rating", "processes", "server", "check", "ladder")
"""Packages in which no file sets attributes of another file's objects."""
SELVES = {"self", "cls"}
SETTERS = {"setattr", "delattr"}

SET_FROM_OUTSIDE = {
    (
        "server/commands/server_log.py",
        "excepthook",
    ): "Python's own hook for exceptions that no code has caught",
    (
        "server/commands/server_log.py",
        "unraisablehook",
    ): "Python's own hook for exceptions that no code can catch",
    (
        "server/host.py",
        "shield",
    ): "a scope is shielded only while the core serves, by anyio's own attribute",
    ("server/roles.py", "edge_port"): "a link and the edge that it serves each need the other",
    ("server/host.py", "page_handler"): "pages show what the edge holds, and the edge answers with them",
    (
        "server/edge/session.py",
        "address_bucket",
    ): "the session tells its connection that the server's own bots have no limit",
    ("server/settings.py", "setattr"): "copies read again settings, key by key, into those in use",
}
"""Exceptions from this rule, each as file and attribute, with the reason."""


def text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (UnicodeDecodeError, IsADirectoryError):
        return ""  # a picture, or a link to a folder


def modules(*packages: str) -> list[Path]:
    return [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]


def module_of(file: Path) -> str:
    """Return the import name of a file."""
    return "arena." + ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def set_from_outside(tree: ast.Module) -> set[str]:
    """Return the attributes that a file sets or deletes in objects of classes that other files define."""
    written = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del)
    ]
    of_self = {node.attr for node in written if isinstance(node.value, ast.Name) and node.value.id in SELVES}
    fields = {
        line.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SETTERS
    }
    return {node.attr for node in written} - of_self - fields | calls


def imports(file: Path) -> set[str]:
    """Return the top-level names of the packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module.partition(".")[0])
    return found


def test_the_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [linter, "--no-cache"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert " 0 broken" in result.stdout


def pure() -> list[str]:
    """Return the packages and modules that the import contract for pure code names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        each for each in settings["tool"]["importlinter"]["contracts"] if "calls itself pure" in each["name"]
    )
    modules: list[str] = contract["source_modules"]
    return modules


PURE = re.compile(r"\b[Pp]ure\b(?! Python)")


def test_every_module_that_calls_itself_pure_is_in_the_contract() -> None:
    held = pure()
    claims = {
        module_of(file)
        for file in modules(*PACKAGES)
        if PURE.search(text_of(file)) and PURE.search(ast.get_docstring(tree_of(file)) or "")
    }
    assert len(claims) > len(held) // 2, "the docstrings were not read"
    assert not {
        name for name in claims if not any(name == each or name.startswith(f"{each}.") for each in held)
    }


def test_modules_in_pure_folders_are_pure() -> None:
    assert {
        "arena.games",
        "arena.match",
        "arena.rating",
        "arena.bots.search",
        "arena.bots.evaluators",
        "arena.bots.client.state",
    } <= set(pure())


def test_no_file_sets_attributes_of_another_files_objects() -> None:
    """A file changes only objects of its own classes. All other objects get what they need from their constructors."""
    offenders = {
        (file.relative_to(ROOT).as_posix(), attribute)
        for file in modules(*CONNECTED)
        for attribute in set_from_outside(tree_of(file))
    }
    assert not {f"{file}: .{attribute} =" for file, attribute in offenders - SET_FROM_OUTSIDE.keys()}
    assert not SET_FROM_OUTSIDE.keys() - offenders, (
        "these exceptions are needed no more: take them out of the list"
    )


@pytest.mark.parametrize(
    ("code", "attributes"),
    [
        ("lobby.on_leave = told", {"on_leave"}),
        ("self.matchmaker.rating = rating", {"rating"}),
        ("host.playing += 1", {"playing"}),
        ("a.b.c, other = 1, 2", {"c"}),
        ("with opened() as host.file: pass", {"file"}),
        ("for host.name in names: pass", {"name"}),
        ("del host.core.house", {"house"}),
        ("setattr(host, 'name', 1)", {"setattr"}),
        ("class A:\n    def f(self):\n        self.mine = cls.ours = 1", set()),
        ("class A:\n    own: int\n\ndef f(a):\n    a.own = 1", set()),
        ("class A:\n    def __init__(self):\n        self.own = 0\n\ndef f(a):\n    a.own = 1", set()),
        ("names[0] = host.name", set()),
    ],
)
def test_attributes_set_from_outside_are_recognised(code: str, attributes: set[str]) -> None:
    assert set_from_outside(ast.parse(code)) == attributes


def test_games_import_only_the_standard_library_and_msgspec() -> None:
    for file in modules("games"):
        others = imports(file) - sys.stdlib_module_names - {"arena"}
        assert others == ({"msgspec"} if file.name == "plain.py" else set()), file


def test_every_module_says_what_it_is_for() -> None:
    began = re.compile(r'(?:#.*\n)*"""[^"]')
    silent = [str(file.relative_to(ROOT)) for file in modules(*PACKAGES) if not began.match(text_of(file))]
    assert not silent


def test_no_registry_is_named() -> None:
    """The configuration of the machine, not the project, decides from where packages are installed."""
    host = re.compile(
        r"\b(?:py" + r"pi|pythonhosted|npm" + r"js|crates)\.(?:org|io|com)\b|--(?:extra-)?index" + "-url"
    )
    named = [file for file in list_project_files() if host.search(text_of(ROOT / file))]
    assert not named


def test_no_path_of_one_machine_is_named() -> None:
    path = re.compile("(?:^|[\\s\"'`=(])/(?:work|root|home)" + "/[a-z]", re.MULTILINE)
    named = [file for file in list_project_files() if path.search(text_of(ROOT / file))]
    assert not named


def test_the_changelog_has_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.search(rf"^## {re.escape(project['version'])}\b", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)


def test_every_dependency_is_pinned_by_its_hashes() -> None:
    for lock in sorted(ROOT.glob("requirements*.lock")):
        entries = re.split(r"\n(?=\S)", text_of(lock).strip())
        loose = [
            entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry
        ]
        assert not loose, lock


DECODED_BY_ONE_THREAD = {
    "arena/toml_file.py",  # when a command starts
    "server/commands/log.py",  # a command, with one thread
    "server/commands/settings_file.py",  # also on SIGHUP, after the types were decoded at the start
    "protocol/adjudication.py",  # options, when a command starts
    "match/terms.py",  # with a decoder created at import
    "games/plain.py",  # under a lock, because the classes of a user's game are loaded later
}
"""Files that decode a type without a decoder created at import, each with the reason why one thread at a time does so."""


def test_decoders_are_created_before_threads_start() -> None:
    """msgspec inspects a struct when it first decodes one. If two threads do this at the same time, the interpreter crashes."""
    late = set()
    for package in (
        "arena",
        "bots",
        "check",
        "games",
        "ladder",
        "maps",
        "match",
        "processes",
        "protocol",
        "rating",
        "server",
        "solved",
    ):
        for file in modules(package):
            for call in ast.walk(tree_of(file)) if "msgspec" in text_of(file) else ():
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    name = ast.unparse(call.func)
                    types = [word.value for word in call.keywords if word.arg == "type"]
                    struct = name.endswith(".decode") and any(isinstance(each, ast.Name) for each in types)
                    if name.startswith("msgspec.") and (struct or name == "msgspec.convert"):
                        late.add(str(file.relative_to(ROOT)))
    assert late == DECODED_BY_ONE_THREAD


NOUN_CLAUSE = re.compile(
    r"(?:What|Who(?:m|se|ever)?|Whatever|That|Those|How|Whether|Where|When|Why|By what|By which|Which|As)\b"
)
QUOTED = re.compile(rf'"""\s*{NOUN_CLAUSE.pattern}')
"""Text in triple quotes that begins with a noun clause; it may be a docstring."""


def docstrings(file: Path) -> Iterator[str]:
    """Yield the docstrings of a file: of the module, and of its classes, functions and attributes."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.Module | ast.ClassDef):
            for before, after in pairwise(node.body):
                if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
                    yield str(getattr(after.value, "value", ""))


def test_no_docstring_begins_with_a_noun_clause() -> None:
    offenders = [
        f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
        for file in modules(*PACKAGES, "arena", "lab")
        if QUOTED.search(text_of(file))
        for text in docstrings(file)
        if NOUN_CLAUSE.match(text)
    ]
    assert not offenders, "begin it with a noun or a verb"
