"""Plant faults in a copy of the sources, and count those that the tests catch.

`python -m tests.mutation_testing --seed 1 --faults 200` draws the faults; `--json FILE` records them, and `--again FILE`
plants those of a record that the sources still have room for, to show that a change of the tests lost none.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from testkit.project import ROOT, list_files

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


def nodes(tree: ast.AST, scope: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """Yield the nodes that run, each with its scope: no annotations, and nothing of a format string."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from nodes(child, (*scope, child.name))
            elif isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                # what stands in no function and no class is imports, constants and types
                if scope and isinstance(child, ast.expr | ast.stmt):
                    yield ".".join(scope), child
                yield from nodes(child, scope)


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


class Copy:
    """A scratch copy of the working tree, in which tests run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in list_files():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)

    def test(self, folder: str, file: str, timeout_s: float) -> str:
        """Run the tests of a folder, those of the file first. Return "passed", "failed" or "hung"."""
        tests = [f"tests/{folder}"]
        own = Path("tests", file).parent / f"test_{Path(file).name}"
        if (self._folder / own).exists():
            tests.insert(0, str(own))
        words = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *tests]
        with subprocess.Popen(
            [sys.executable, "-B", "-m", "pytest", *words],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            try:
                return "failed" if process.wait(timeout_s) else "passed"
            except subprocess.TimeoutExpired:
                return "hung"
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def plant(self, place: Place, timeout_s: float) -> str:
        """Run the tests with a fault, and mend it."""
        path = self._folder / place.fault.file
        good = path.read_bytes()
        path.write_bytes(good[: place.start] + place.fault.after.encode() + good[place.end :])
        try:
            return self.test(place.fault.folder, place.fault.file, timeout_s)
        finally:
            path.write_bytes(good)


def main() -> None:
    """Plant, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation_testing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="of these alone; can be repeated")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="plant no more faults after so long")
    parser.add_argument("--json", type=Path, help="record the faults and what became of them")
    parser.add_argument("--again", type=Path, help="plant the faults of a record that was made before")
    options = parser.parse_args()
    folders = options.folder or list(FOLDERS)
    found = {folder: places(ROOT, folder) for folder in folders}
    before: dict[Fault, str] = {}
    if options.again:
        records = json.loads(options.again.read_text(encoding="utf-8"))["faults"]
        before = {Fault(**each["fault"]): each["result"] for each in records}
        drawn = [place for each in found.values() for place in each if place.fault in before]
        print(f"{len(before) - len(drawn)} of {len(before)} faults have no place any more")
    else:
        drawn = draw(random.Random(options.seed), list(found.values()), options.faults)
    end = time.monotonic() + 60 * options.minutes
    results: dict[Fault, str] = {}
    with TemporaryDirectory(prefix="mutations-") as scratch, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(Copy(Path(scratch) / str(number)))

        def attempt(place: Place) -> None:
            if time.monotonic() > end:
                return
            copy = copies.get()
            fault = place.fault
            results[fault] = copy.plant(place, patience_s[fault.folder])
            copies.put(copy)
            text = f"{fault.kind}: {fault.before!r} -> {fault.after!r}"
            print(f"{results[fault]:7} {fault.file}:{place.line} {text}", flush=True)

        patience_s = {}
        for folder in sorted({place.fault.folder for place in drawn}):
            began = time.monotonic()
            copy = copies.get()
            if copy.test(folder, "", timeout_s=900) != "passed":
                sys.exit(f"tests/{folder} fails without a fault; mend that first")
            copies.put(copy)
            patience_s[folder] = 20 + 3 * (time.monotonic() - began)
        list(pool.map(attempt, drawn))
    if options.json:
        told = [{"fault": asdict(fault), "result": result} for fault, result in results.items()]
        text = json.dumps({"seed": options.seed, "faults": told}, indent=1)
        options.json.write_text(text, encoding="utf-8")
    print("\n| folder | planted | caught | missed |\n| --- | --- | --- | --- |")
    for folder in folders:
        ends = [result for fault, result in results.items() if fault.folder == folder]
        missed = ends.count("passed")
        print(f"| {folder} | {len(ends)} | {len(ends) - missed} | {missed} |")
    lost = [fault for fault, result in results.items() if result == "passed" != before.get(fault, "passed")]
    for fault in lost:
        print(f"caught before and not now: {fault.file} {fault.scope} {fault.kind}: {fault.before!r}")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
