"""The command `arena solve`: compute the value of every position of a small map."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from arena.atomic_file import require_writable
from arena.console import CommandError, JsonOption, UsageError, err, get_progress_console, out, write_json
from arena.cores import list_usable_cores
from arena.games.riskless_map import RisklessMap
from arena.lab.variants import load_map_variant
from arena.maps.loader import MapError
from arena.solved.board_numbers import BoardNumbering
from arena.solved.folders import (
    find_solved_table_file,
    get_table_output_folder,
    make_table_file_name,
    require_matching_table,
)
from arena.solved.header import BadTable
from arena.solved.solved_table import SolvedTable
from arena.solved.solved_value import SolvedValue

if TYPE_CHECKING:
    from arena.lab.solving.verify import Verification


@dataclass(frozen=True)
class SolvedMap:
    """Solved map: the table with the value of each position, the duration of solving, and the result of the verification."""

    map: RisklessMap
    table: SolvedTable
    solving_seconds: float | None
    """Duration of solving, in seconds; None if the map was not solved now, because its solved table existed."""
    verification: Verification | None
    """Result of the check with the option `--verify`; None without this option."""

    @property
    def start_position_value(self) -> SolvedValue:
        """Return the value of the map's starting position for Maxie, who moves first, in a match without a ply limit."""
        return self.table.probe_board(self.map.start)


def solve_command(
    map: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            help="Map: name, .toml file, ring:N or grid:WxH; append :cap=N,goal=N to change its army limits.",
        ),
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Solve the map again even if its solved table exists.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Check every position of the solved table with an independent verifier."
        ),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Compute the value of every position of a small map.

    A value is a win, a draw or a loss, and the number of plies to the end. The map is solved without its ply limit: a
    position in which neither player can force a win is a draw.

    The command first prints the expected memory and time, and refuses a map that is too large. If the command is
    stopped or killed, type it again: it resumes from the last checkpoint. The engine `perfect`, `--adjudicate table`,
    `arena analyse` and `arena replay` find the table by themselves.

    Example: arena solve m1 --verify

    Example: arena solve ring:7:cap=9,goal=47 --json -
    """
    try:
        variant_map = load_map_variant(map)
    except MapError as error:
        raise UsageError(str(error)) from None
    threads = len(list_usable_cores())
    path = find_solved_table_file(BoardNumbering.from_map(variant_map))
    seconds = None
    if again or path is None:
        path = get_table_output_folder() / make_table_file_name(variant_map)
        seconds = _solve_and_time(variant_map, path, threads)
    try:
        table = require_matching_table(SolvedTable(path), BoardNumbering.from_map(variant_map))
        solved = SolvedMap(
            variant_map, table, seconds, _verify_table_with_progress(table, threads) if verify else None
        )
        row = _make_json_fields(solved)
    except BadTable as error:
        raise CommandError(str(error)) from None
    if json is not None:
        write_json(row, json)
    if str(json) != "-":
        _print_solution(solved)
    _raise_if_table_corrupt(solved)


def _solve_and_time(map: RisklessMap, path: Path, thread_count: int) -> float:
    """Solve a map, write its solved table to `path`, and return the duration in seconds.

    Raises CommandError if the map is too large to solve, or a file cannot be read or written.
    """
    from arena.lab.solving.checkpoint import BadCheckpoint  # noqa: PLC0415 - an extra, and slow to load
    from arena.lab.solving.cost import (  # noqa: PLC0415
        CODE_BYTES_PER_BOARD,
        estimate_solving_cost,
        find_largest_territory_cap,
        measure_available_memory_bytes,
    )
    from arena.lab.solving.retrograde import WinTooLong  # noqa: PLC0415
    from arena.lab.solving.solver import Solver  # noqa: PLC0415

    boards = BoardNumbering.from_map(map)
    available_bytes = measure_available_memory_bytes()
    # Skip the exact cost of huge maps: with 1,000 territories there may be too many symmetries to count.
    cost = (
        estimate_solving_cost(boards)
        if CODE_BYTES_PER_BOARD * boards.board_count <= available_bytes
        else None
    )
    if cost is None or cost.peak_memory_bytes > available_bytes:
        largest_cap = find_largest_territory_cap(boards, available_bytes, max(abs(n) for n in map.start))
        cap_advice = (
            f"the largest cap that would fit is {largest_cap}"
            if largest_cap
            else "even with the smallest cap that its start allows, it is too large"
        )
        raise CommandError(
            f"{map.name} is too large: {_format_board_count(boards.board_count)} positions take "
            f"{_format_bytes(cost.peak_memory_bytes if cost is not None else CODE_BYTES_PER_BOARD * boards.board_count)} of memory, but only "
            f"{decimal(available_bytes)} are available; {cap_advice}"
        )
    err.print(
        f"{map.name}: {boards.board_count:,} boards, {cost.representative_count:,} of them not symmetric to others; at most "
        f"{decimal(cost.peak_memory_bytes)} of memory, about {cost.estimate_seconds(thread_count):,.0f} s on {thread_count} "
        f"{'core' if thread_count == 1 else 'cores'}"
    )
    checkpoint = path.with_name(f"{path.name}.part")
    start_time = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require_writable(path)
        require_writable(checkpoint)
        with Progress(*columns, console=get_progress_console(), transient=True) as bar:
            task = bar.add_task("start", total=None)

            def report_progress(part: str, done: int, total: int) -> None:
                bar.update(task, description=part, completed=done, total=total)

            Solver(boards, checkpoint, thread_count, report_progress).solve(path)
    except BadCheckpoint as error:
        raise CommandError(
            f"{error}; delete this file of an interrupted run, and run the command again to start from the beginning"
        ) from None
    except WinTooLong as error:
        raise CommandError(f"{map.name}: {error}") from None
    except OSError as error:
        raise CommandError(f"cannot write {error.filename or path}: {error.strerror}") from None
    return time.monotonic() - start_time


def _format_board_count(board_count: int) -> str:
    return f"{board_count:,}" if board_count < 10**15 else f"10^{int(log10(board_count))}"


def _format_bytes(byte_count: int) -> str:
    return decimal(byte_count) if byte_count < 10**15 else f"10^{int(log10(byte_count))} bytes"


def _verify_table_with_progress(table: SolvedTable, thread_count: int) -> Verification:
    from arena.lab.solving.verify import verify_table  # noqa: PLC0415 - an extra, and slow to load

    with Progress(console=get_progress_console(), transient=True) as bar:
        task = bar.add_task("verify")
        return verify_table(
            table, thread_count, lambda done, total: bar.update(task, completed=done, total=total)
        )


def _make_json_fields(solved: SolvedMap) -> dict[str, Any]:
    header, map, start = solved.table.header, solved.map, solved.start_position_value
    boards = solved.table.numbering
    return {
        "map": map.name,
        "territory_cap": map.territory_cap,
        "armies_to_win": map.armies_to_win,
        "boards": boards.board_count,
        "symmetries": len(boards.symmetries),
        "open": header.totals.open,
        "won": header.totals.won,
        "lost": header.totals.lost,
        "drawn": header.totals.drawn,
        "value": start.result.value,
        "plies": start.plies,
        "longest": header.longest,
        "longest_position": _format_longest_win_position(solved),
        "file": str(solved.table.path),
        "bytes": solved.table.size_bytes,
        "seconds": solved.solving_seconds,
        "peak_memory": _measure_peak_memory_bytes() if solved.solving_seconds is not None else None,
        "verified": solved.verification.board_counts.open if solved.verification is not None else None,
    }


def _format_longest_win_position(solved: SolvedMap) -> str | None:
    header = solved.table.header
    if not header.longest:
        return None
    board = solved.table.numbering.decode_board(header.longest_board)
    return " ".join([*(f"{n:+d}" if n else "." for n in board), "maxie", "0"])


def _measure_peak_memory_bytes() -> int:
    peak_size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_size if sys.platform == "darwin" else peak_size * 1024  # Linux reports KiB


def _print_solution(solved: SolvedMap) -> None:
    header, start = solved.table.header, solved.start_position_value
    counts = header.totals
    totals_text = ", ".join(
        f"{number:,} {outcome} ({100 * number / max(1, counts.open):.2f} %)"
        for number, outcome in ((counts.won, "won"), (counts.lost, "lost"), (counts.drawn, "drawn"))
    )
    lines = [
        f"{solved.map.name}: from the start {_describe_start_value(start)}",
        f"{counts.open:,} boards in play, for the player to move: {totals_text}",
    ]
    if header.longest:
        lines.append(f"longest win: {header.longest} plies, from {_format_longest_win_position(solved)}")
    lines.append(f"table: {solved.table.path}, {decimal(solved.table.size_bytes)}")
    if solved.solving_seconds is not None:
        lines.append(
            f"solved in {solved.solving_seconds:.1f} s, using at most {decimal(_measure_peak_memory_bytes())} of memory"
        )
    if solved.verification is not None and not solved.verification.errors:
        lines.append(
            f"verified: the values of all {solved.verification.board_counts.open:,} boards follow from those of their successors"
        )
    out.print("\n".join(lines))


def _describe_start_value(start: SolvedValue) -> str:
    if start.plies is None:
        return "nobody can force a win"
    return f"{'Maxie' if start.result.sign > 0 else 'Minnie'} wins in {start.plies} plies"


def _raise_if_table_corrupt(solved: SolvedMap) -> None:
    """Raise CommandError if the verification found an error in the solved table."""
    if solved.verification is not None and solved.verification.errors:
        raise CommandError(
            f"{solved.table.path} is corrupt: {solved.verification.errors[0]}; run with --again to solve the map anew"
        )
