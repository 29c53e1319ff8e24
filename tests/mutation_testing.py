"""Plant faults in a copy of the sources, and count those that the tests catch.

`python -m tests.mutation_testing --seed 1 --faults 200` draws the faults; `--json FILE` records them, and `--again FILE`
plants those of a record that the sources still have room for, to show that a change of the tests lost none.

The tests of a folder run once, with probes, to find those that reach each fault. These tests run again with the fault, the
quickest first. Each run is a fork of a process that has imported everything, in which the functions get their faulty code. If
modules reach a fault while they are imported, all tests of the folder run in a new process.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from types import CodeType, FunctionType
from typing import Any

import pytest

from testkit.project_files import PROJECT_FOLDER, list_project_files

FOLDERS = ("match", "protocol", "bots/search", "bots/client", "server/core", "server/store")
"""Folders of sources; the tests of each are in the folder of the same name below `tests`."""
MEMORY_BYTES = 8 << 30
"""Address space that a faulty program may take."""
PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq)),
    *((ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Add, ast.Sub)),
]
OTHER: dict[type[ast.AST], Any] = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
"""Operators that stand in for each other."""
SAME = re.compile(r"(self\.)?_?log(ger)?\.|(min|max)\(")
"""Calls without which, or with other order, a program does the same."""
STATEMENTS = ("removed", "returns nothing")
"""Kinds of faults of a statement; the others are of an expression."""
MISSED = ("passed", "not reached")
WORDS = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
TASK, RESULTS, REPORT, OUTPUT = (
    PROJECT_FOLDER / f"mutation-{name}" for name in ("task", "results", "report", "output")
)
"""In the copy: files with places and sources, and with what became of the faults; a folder of reports; the output."""


@dataclass(frozen=True)
class Fault:
    """Change of one file."""

    folder: str
    file: str
    kind: str
    scope: str
    """Dotted name of the function or class around it."""
    before: str
    after: str
    nth: int
    """Faults of the same scope, kind and texts before this one."""


@dataclass(frozen=True)
class Place:
    """Place of a planted fault: the bytes from `start` to `end`."""

    fault: Fault
    line: int
    start: int
    end: int


def changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """Yield the kinds of faults that a node can have, each with the faulty node."""
    match node:
        case ast.Compare(ops=[op, *rest]) if type(op) in OTHER:
            ops = [OTHER[type(op)](), *rest]
            yield "comparison", ast.Compare(node.left, ops, node.comparators)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node.operand
        case ast.BinOp(op=op) if type(op) in OTHER:
            yield "sum", ast.BinOp(node.left, OTHER[type(op)](), node.right)
        case ast.Constant(value=bool()):
            yield "constant", ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield "off by one", ast.Constant(int(str(node.value)) + 1)
        case ast.Call(args=[first, second, *rest]) if not (
            any(isinstance(each, ast.Starred) for each in node.args) or SAME.match(ast.unparse(node))
        ):
            yield "swapped arguments", ast.Call(node.func, [second, first, *rest], node.keywords)
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield "returns nothing", ast.Return()
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Assign() | ast.AugAssign() | ast.Raise():
            if not SAME.match(ast.unparse(node)):
                yield "removed", ast.Pass()


def nodes(
    tree: ast.AST, scope: tuple[str, ...] = (), *, runs: bool = False
) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """Yield the nodes in functions, each with its scope: no arguments, annotations, patterns, and nothing of a format string.

    A class's own statements run while its module is imported: these are mostly declarations.
    """
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "pattern"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from nodes(child, (*scope, child.name), runs=not isinstance(child, ast.ClassDef))
            elif isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr | ast.arguments):
                if runs and isinstance(child, ast.expr | ast.stmt):
                    yield ".".join(scope), child
                yield from nodes(child, scope, runs=runs)


def places(root: Path, folder: str) -> list[Place]:
    """Return all places for faults in the files of a folder."""
    found = []
    for path in sorted((root / folder).rglob("*.py")):
        source = path.read_bytes()
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        seen: Counter[tuple[str, ...]] = Counter()
        for scope, node in nodes(ast.parse(source)):
            for kind, faulty in changes(node):
                end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
                start = starts[node.lineno - 1] + node.col_offset
                before, after = source[start:end].decode(), ast.unparse(ast.fix_missing_locations(faulty))
                # a faulty expression is one, whatever stands around it
                text = f"({after})" if isinstance(faulty, ast.expr) else after
                key = (scope, kind, before, text)
                file = path.relative_to(root).as_posix()
                fault = Fault(folder, file, kind, scope, before, text, seen[key])
                seen[key] += 1
                found.append(Place(fault, node.lineno, start, end))
    return found


def draw(rng: random.Random, found: Sequence[Sequence[Place]], count: int) -> list[Place]:
    """Return `count` places, as many of each folder, and of each kind as likely."""
    drawn: dict[Fault, Place] = {}
    wanted = min(count, sum(map(len, found)))
    while len(drawn) < wanted:
        of_folder = found[len(drawn) % len(found)]
        fresh = [place for place in of_folder if place.fault not in drawn]
        if not fresh:
            found = [each for each in found if each is not of_folder]
            continue
        kind = rng.choice(sorted({place.fault.kind for place in fresh}))
        place = rng.choice([each for each in fresh if each.fault.kind == kind])
        drawn[place.fault] = place
    return list(drawn.values())


def insert_probes(source: bytes, places_of_file: Sequence[tuple[int, Place]]) -> bytes:
    """Return the source of a file with a call of `reach` before each of its places."""
    inserted = []
    for number, place in places_of_file:
        call = f'__import__("tests.mutation_testing").mutation_testing.reach({number})'
        if place.fault.kind in STATEMENTS:
            inserted.append((place.start, 1, -place.end, 0, f"{call}; "))
        else:
            inserted.append((place.start, 1, -place.end, 1, f"({call} or ("))
            inserted.append((place.end, 0, -place.start, 0, "))"))
    # from the last to the first; where some meet, the outer one begins before the inner one, and ends after it
    for at, *_, text in sorted(inserted, reverse=True):
        source = source[:at] + text.encode() + source[at:]
    return source


reached: set[tuple[int, str]] = set()


def write(test: str, value: float) -> None:
    """Report a test with the number of a place that it reached, or with seconds that it took.

    Each report is a file of its own, because a test may limit the size of files.
    """
    with NamedTemporaryFile("w", dir=REPORT, delete=False) as file:
        json.dump([test, value], file)


def reach(number: int) -> None:
    """Report, once in a process, that the running test reached a place. While modules are imported, the test is empty."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in reached:
        reached.add((number, test))
        write(test, number)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Report the time of a test."""
    write(report.nodeid, report.duration)


CachedFunction: type[Any] = type(functools.cache(len))
caches: list[Any] = []
"""Cached functions in the files with faults."""


def pytest_runtest_setup() -> None:
    """Forget cached results, so that a test reaches a fault of a cached function though an earlier test called it too."""
    for each in caches:
        each.cache_clear()


def inner_code(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects inside another one, the functions' among them."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from inner_code(const)


def replace_functions(file: str, source: bytes) -> None:
    """Give the functions of an imported file the code of another source, whose lines have the same numbers."""
    path = f"{PROJECT_FOLDER}/arena/{file}"
    codes = {
        (code.co_qualname, code.co_firstlineno): code
        for code in inner_code(compile(source, path, "exec", dont_inherit=True))
    }
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == path:
            each.__code__ = codes[each.__code__.co_qualname, each.__code__.co_firstlineno]
    gc.freeze()


def run_forked(timeout_s: float) -> str | None:
    """Fork. Return None in the new process; wait for it in the old one, and return "passed", "failed", "hung" or its exit code."""
    process = os.fork()
    if not process:
        os.setsid()
        return None
    ended = os.pidfd_open(process)
    select.select([ended], [], [], timeout_s)
    os.close(ended)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return {0: "passed", 1: "failed", -signal.SIGKILL: "hung"}.get(code, f"exit {code}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests with the probes, and then for each fault those that reach it. The true loop runs in forks alone."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ.pop("PYTEST_PLUGINS")
    task = json.loads(TASK.read_text(encoding="utf-8"))
    good = {file: source.encode() for file, source in task["sources"].items()}
    paths = {f"{PROJECT_FOLDER}/arena/{file}" for file in good}
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, CachedFunction) and each.__wrapped__.__code__.co_filename in paths:
            caches.append(each)
    result = run_forked(3600)
    if result is None:
        return None
    if result != "passed":
        pytest.exit("the tests fail without a fault", returncode=1)
    seconds: defaultdict[str, float] = defaultdict(float)
    tests: defaultdict[int, set[str]] = defaultdict(set)
    for path in REPORT.iterdir():
        match json.loads(path.read_bytes()):
            case [str(test), float(took)]:
                seconds[test] += took
            case [str(test), int(number)]:
                tests[number].add(test)
    for file, source in good.items():
        (PROJECT_FOLDER / file).write_bytes(source)
    for number, record in enumerate(task["places"]):
        place = Place(Fault(**record.pop("fault")), **record)
        file, source = place.fault.file, good[place.fault.file]
        # the following lines keep their numbers
        lines = b"\n" * source[place.start : place.end].count(b"\n")
        after = place.fault.after.encode()
        after = after[:-1] + lines + b")" if after.endswith(b")") else after + lines
        faulty = source[: place.start] + after + source[place.end :]
        (PROJECT_FOLDER / file).write_bytes(faulty)
        anew = "" in tests[number]
        items = [item for item in session.items if anew or item.nodeid in tests[number]]
        timeout_s = 60 + 5 * sum(seconds[item.nodeid] for item in items)
        # what runs while modules are imported can matter to every test
        result = run_forked(timeout_s) if items else "not reached"
        if result is None and anew:
            own = Path("tests", file).parent / f"test_{Path(file).name}"
            words = [str(own)] * own.exists() + list(session.config.invocation_params.args)
            os.execv(sys.executable, [sys.executable, "-B", "-m", "pytest", *words])
        if result is None:
            for each, code in {**good, file: faulty}.items():
                replace_functions(each, code)
            session.items[:] = sorted(items, key=lambda item: seconds[item.nodeid])
            return None
        (PROJECT_FOLDER / file).write_bytes(source)
        with RESULTS.open("a", encoding="utf-8") as results:
            results.write(f"{result}\n")
    return True


def plant(folder: str, drawn: Sequence[Place], words: Sequence[str]) -> list[str]:
    """Plant faults of a folder in a copy of the working tree, one after the other. Return what became of each."""
    with TemporaryDirectory(prefix="mutations-") as scratch:
        copy = Path(scratch)
        for name in list_project_files():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT_FOLDER / name, copy / name, follow_symlinks=False)
        sources = {}
        for file in {place.fault.file for place in drawn}:
            source = (copy / file).read_bytes()
            sources[file] = source.decode()
            numbered = [each for each in enumerate(drawn) if each[1].fault.file == file]
            (copy / file).write_bytes(insert_probes(source, numbered))
        task = {"sources": sources, "places": [asdict(place) for place in drawn]}
        (copy / TASK.name).write_text(json.dumps(task), encoding="utf-8")
        (copy / REPORT.name).mkdir()
        output = copy / OUTPUT.name
        with output.open("wb") as written:
            code = subprocess.run(
                [sys.executable, "-B", "-m", "pytest", *WORDS, *words, f"tests/{folder}"],
                cwd=copy,
                env={**os.environ, "PYTHONPATH": scratch, "PYTEST_PLUGINS": "tests.mutation_testing"},
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                check=False,
            ).returncode
        if code:
            raise RuntimeError(f"tests/{folder} cannot be run:\n{output.read_text(encoding='utf-8')[-4000:]}")
        return (copy / RESULTS.name).read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Plant, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation_testing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="of these alone; can be repeated")
    parser.add_argument("--slow", action="store_true", help="run the slow tests too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="record the faults and what became of them")
    parser.add_argument("--again", type=Path, help="plant the faults of a record that was made before")
    options = parser.parse_args()
    folders = options.folder or list(FOLDERS)
    found = {folder: places(PROJECT_FOLDER, folder) for folder in folders}
    before: dict[Fault, str] = {}
    if options.again:
        records = json.loads(options.again.read_text(encoding="utf-8"))["faults"]
        before = {Fault(**each["fault"]): each["result"] for each in records}
        drawn = [place for each in found.values() for place in each if place.fault in before]
        print(f"{len(before) - len(drawn)} of {len(before)} faults have no place any more")
    else:
        drawn = draw(random.Random(options.seed), list(found.values()), options.faults)
    results: dict[Fault, str] = {}

    def attempt(folder: str) -> None:
        mine = [place for place in drawn if place.fault.folder == folder]
        for place, result in zip(mine, plant(folder, mine, ["-m", ""] if options.slow else []), strict=True):
            fault = place.fault
            results[fault] = result
            text = f"{fault.kind}: {fault.before!r} -> {fault.after!r}"
            print(f"{result:11} {fault.file}:{place.line} {text}", flush=True)
        if options.json:
            told = [{"fault": asdict(fault), "result": result} for fault, result in list(results.items())]
            text = json.dumps({"seed": options.seed, "faults": told}, indent=1)
            options.json.write_text(text, encoding="utf-8")

    with ThreadPoolExecutor(options.jobs) as pool:
        attempts = [
            pool.submit(attempt, folder) for folder in sorted({place.fault.folder for place in drawn})
        ]
    for each in attempts:
        if each.exception():
            print(each.exception())
    print("\n| folder | planted | caught | missed |\n| --- | --- | --- | --- |")
    for folder in folders:
        caught = [result not in MISSED for fault, result in results.items() if fault.folder == folder]
        print(f"| {folder} | {len(caught)} | {sum(caught)} | {len(caught) - sum(caught)} |")
    lost = [
        fault for fault in results if results[fault] in MISSED and before.get(fault, "passed") not in MISSED
    ]
    for fault in lost:
        print(f"caught before and not now: {fault.file} {fault.scope} {fault.kind}: {fault.before!r}")
    sys.exit(bool(lost) or len(results) < len(drawn))


if __name__ == "__main__":
    main()
