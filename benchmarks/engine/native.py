"""Raw nodes per second of plain alpha-beta: compiled Python against C, on the same memory."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim
from bots.compiled.catalogue import compile_game, weights_for
from bots.compiled.plain import FRAMES, frame_words, make_plain, result
from bots.compiled.riskless_kernel import planes_of

SOURCE = Path(__file__).with_name("plain_alphabeta.c")
ROUNDS = 3
NAMES = ("compiled Python", "C", "C with intrinsics")
CASES = (("m2", 8), ("grid:7x6", 7), ("world", 6), ("usa", 6))


def build(folder: Path, planes: int, *flags: str) -> Any:
    """The C program for armies of so many binary digits, as a function of (memory, rules, plies left, depth)."""
    program = folder / f"plain_alphabeta{planes}_{len(flags)}.so"
    subprocess.run(
        [
            "gcc",
            "-O3",
            "-march=native",
            "-shared",
            "-fPIC",
            f"-DPLANES={planes}",
            *flags,
            "-o",
            program,
            SOURCE,
        ],
        check=True,
    )
    function = ctypes.CDLL(str(program)).plain
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    return function


def run() -> Section:
    """Search the same positions by turns, and check that all enter the same nodes."""
    rows = []
    every: dict[str, list[float]] = {name: [] for name in NAMES[1:]}
    compiler = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:

        @cache
        def programs(planes: int) -> Sequence[Any]:
            natives = (build(Path(folder), planes, *flags) for flags in ((), ("-DBY_HAND",)))
            return make_plain(planes), *natives

        for map, depth in CASES:
            ratios: dict[str, list[float]] = {name: [] for name in NAMES[1:]}
            speeds: dict[str, list[float]] = {name: [] for name in NAMES}
            for seconds, nodes in by_turns(map, depth, programs):
                for name, each in zip(NAMES, seconds, strict=True):
                    speeds[name].append(nodes / each / 1e6)
                    if name in ratios:
                        ratios[name].append(each / seconds[0])
            for name, found in ratios.items():
                every[name] += found
            middles = (short(Ratio(speeds[name]).median) for name in NAMES)
            rows.append([map, str(depth), *middles, *(str(Ratio(found)) for found in ratios.values())])
    rows.append(["all", "", "", "", "", *(f"**{Ratio(found)}**" for found in every.values())])
    return Section(
        "Raw nodes per second against C",
        "Plain alpha-beta without table or ordering, leftmost ties, army difference: `bots/compiled/plain.py` and "
        "`benchmarks/engine/plain_alphabeta.c`, the same loop, layout and tables; "
        f"{compiler.splitlines()[0]}, `-O3 -march=native`. By turns on the same position, the same node count "
        f"and move checked; 5 middle-game positions a map, {ROUNDS} times each.",
        [
            "map",
            "depth",
            *(f"{name}, M nodes/s" for name in NAMES),
            "ratio to C",
            "ratio to C with intrinsics",
        ],
        rows,
        "The compiled Python collects a territory's bits by a vector instruction that `intrinsics.column` asks LLVM for "
        "and that gcc does not find; the last program is the C with this instruction written by hand, where the "
        "machine has AVX2.",
        [claim("raw nodes per second against C", "at least 1.0 ×", f"{Ratio(every[NAMES[1]])} ×")],
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
