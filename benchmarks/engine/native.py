"""Raw nodes per second of plain alpha-beta: compiled Python against C, on the same memory."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.compiled.plain import FRAMES, frame_words, make_plain, result
from arena.bots.compiled.riskless_kernel import planes_of
from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim

SOURCE = Path(__file__).with_name("plain_alphabeta.c")
ROUNDS = 3
COMPILERS = ("gcc", "clang")
BY_HAND = "instruction by hand"
CASES = (("m2", 8), ("grid:7x6", 7), ("world", 6), ("usa", 6))


def build(folder: Path, planes: int, *flags: str, compiler: str = "gcc") -> Any:
    """The C program for armies of so many binary digits, as a function of (memory, rules, plies left, depth)."""
    program = folder / f"plain_alphabeta{planes}_{compiler}_{len(flags)}.so"
    words = [compiler, "-O3", "-march=native", "-shared", "-fPIC", f"-DPLANES={planes}", *flags]
    subprocess.run([*words, "-o", program, SOURCE], check=True)
    function = ctypes.CDLL(str(program)).plain
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    return function


def ways() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The C programs by name, the headlines first: a compiler that there is here, and its flags."""
    here = [compiler for compiler in COMPILERS if which(compiler)]
    return {
        **{f"{compiler}, {BY_HAND}": (compiler, ("-DBY_HAND",)) for compiler in here},
        **{compiler: (compiler, ()) for compiler in here},
    }


def version_of(compiler: str) -> str:
    """The first line of what it says of itself."""
    told = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    return told.splitlines()[0]


def run() -> Section:
    """Search the same positions by turns, and check that all enter the same nodes."""
    rows = []
    natives = ways()
    names = ("compiled Python", *natives)
    every: dict[str, list[float]] = {name: [] for name in natives}
    with tempfile.TemporaryDirectory() as folder:

        @cache
        def programs(planes: int) -> Sequence[Any]:
            made = (
                build(Path(folder), planes, *flags, compiler=compiler) for compiler, flags in natives.values()
            )
            return make_plain(planes), *made

        for map, depth in CASES:
            ratios: dict[str, list[float]] = {name: [] for name in natives}
            speeds: dict[str, list[float]] = {name: [] for name in names}
            for seconds, nodes in by_turns(map, depth, programs):
                for name, each in zip(names, seconds, strict=True):
                    speeds[name].append(nodes / each / 1e6)
                    if name in ratios:
                        ratios[name].append(each / seconds[0])
            for name, found in ratios.items():
                every[name] += found
            middles = (short(Ratio(speeds[name]).median) for name in names)
            rows.append([f"{map}, depth {depth}, M nodes/s", *middles])
            rows.append(["compiled Python, times", "", *(str(Ratio(found)) for found in ratios.values())])
    rows.append(["on all maps", "", *(f"**{Ratio(found)}**" for found in every.values())])
    compilers = sorted({compiler for compiler, _ in natives.values()})
    return Section(
        "The bare loop's nodes per second against C",
        "Plain alpha-beta without table or ordering, leftmost ties, army difference: `bots/compiled/plain.py` and "
        "`benchmarks/engine/plain_alphabeta.c`, the same loop, layout and tables; "
        f"{'; '.join(version_of(each) for each in compilers)}; `-O3 -march=native`. By turns on the same position, the same node count "
        f"and move checked; 5 middle-game positions a map, {ROUNDS} times each.",
        ["", *names],
        rows,
        "The compiled Python collects a territory's bits by a vector instruction that `intrinsics.column` asks LLVM for. By "
        "hand: the C has the same instruction as an intrinsic, where the machine has AVX2; else the compiler is left to find "
        "it. No bot plays with this loop: what of its speed a search that plays has is told in `costs`.",
        [
            claim(
                f"nodes per second of the bare loop, with which no bot plays, against C, {name}",
                "at least 1.0 ×",
                f"{Ratio(every[name])} ×",
            )
            for name in natives
            if BY_HAND in name
        ],
    )


def by_turns(
    map: str, depth: int, programs: Callable[[int], Sequence[Any]]
) -> Iterator[tuple[list[float], int]]:
    """The seconds of each program, and the nodes, of every search.

    `programs` makes them for armies of so many binary digits, the compiled Python first.
    """
    board = game(map)
    rules = compile_game(board, weights_for(board, "plain"))
    if rules is None:
        raise ValueError(f"{map} does not fit the kernels")
    planes = planes_of(board)
    memory = np.zeros(FRAMES * frame_words(planes), np.int64)
    compiled, *natives = programs(planes)
    for position in positions(board, 5):
        words, left = rules.pack(position), rules.plies_left(position)
        addresses = memory.ctypes.data, rules.rules.ctypes.data
        calls = [
            partial(compiled, memory, rules.rules, left, depth),
            *(partial(native, *addresses, left, depth) for native in natives),
        ]
        for turn in range(ROUNDS + 1):
            seconds, seen = [], set()
            for call in calls:
                memory[: len(words)] = words
                took, nodes = timed(call)
                seconds.append(took)
                seen.add((int(nodes), result(memory, planes)))
            if len(seen) > 1:
                raise AssertionError(f"{map}: not the same search: {seen}")
            if turn:  # the first one warms the caches up
                yield seconds, int(nodes)
