"""`arena solve`: what every position of a small map is worth."""

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
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from arena.console import Failure, JsonOption, Misuse, err, out, write_json
from arena.cores import cores
from arena.games.board import RisklessMap
from arena.lab.variants import variant
from arena.maps.loader import MapError
from arena.solved.boards import Boards
from arena.solved.folders import checked, file_name, find, made_here
from arena.solved.header import BadTable
from arena.solved.table import Table
from arena.solved.truth import Truth

if TYPE_CHECKING:
    from arena.lab.solving.agreement import Compared
    from arena.lab.solving.solver import Progress as Step
    from arena.lab.solving.verify import Verified


DEPTH = 4
"""Plies that the search looks ahead which a table is held against."""


def register(app: typer.Typer) -> None:
    """Add `arena solve`."""
    app.command("solve")(solve_command)


@dataclass(frozen=True)
class Solved:
    """A table, and what it cost where it was made now."""

    map: RisklessMap
    table: Table
    seconds: float | None
    verified: Verified | None
    compared: Compared | None

    @property
    def start(self) -> Truth:
        """The start's truth without the ply limit, for Maxie, who moves first."""
        return self.table.probe(self.map.start)


def solve_command(
    map: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            help="A map's name, a .toml file, ring:N or grid:WxH; :cap=N,goal=N for other numbers.",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The table's file; else one in the user's cache."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Solve it also where there is a table of it already.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Let a second program check every position of the table.")
    ] = False,
    searched: Annotated[
        int,
        typer.Option(
            "--check-with-search",
            metavar="N",
            min=0,
            max=100_000_000,
            help=f"Hold N boards, drawn at random, against what the search in Python finds within {DEPTH} plies.",
        ),
    ] = 0,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory", metavar="GIB", min=0.1, help="The most memory to take, in GB; else what is free."
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=0, max=1024, help="0: one for each core.")
    ] = 0,
    json: JsonOption = None,
) -> None:
    """Find out what every position of a small map is worth: a win, a draw or a loss, and in how many plies.

    The rules are those of the game without the ply limit: who cannot force an end draws. What it takes is told before it
    begins, and a map that is too large is refused. A solution that was stopped or killed goes on where it was.
    The engine `perfect`, `--adjudicate table`, `arena analyse` and `arena replay` find the table by the map.

    Example: arena solve m1 --verify

    Example: arena solve ring:7:cap=9,goal=47 --json -

    Example: arena solve path4 --check-with-search 1000
    """
    try:
        made = variant(map)
    except MapError as error:
        raise Misuse(str(error)) from None
    count = threads or len(cores())
    path = to or find(Boards.of(made))
    seconds = None
    if again or path is None or not path.exists():
        path = to or made_here() / file_name(made)
        seconds = _solve(made, path, count, memory)
    try:
        table = checked(Table(path), Boards.of(made))
        verified = _verify(table, count) if verify else None
        compared = _compare(made, table, searched, count) if searched else None
        found = Solved(made, table, seconds, verified, compared)
        row = _row(found)
    except BadTable as error:
        raise Failure(str(error)) from None
    if json is not None:
        write_json(row, json)
    if str(json) != "-":
        _print(found)
    _judge(found)


def _solve(map: RisklessMap, path: Path, threads: int, memory: float | None) -> float:
    """Solve a map into a file; the seconds that it took. Raises Failure."""
    from arena.lab.solving.checkpoint import BadCheckpoint  # noqa: PLC0415 - an extra, and slow to load
    from arena.lab.solving.layers import TooLong  # noqa: PLC0415
    from arena.lab.solving.plan import CODE_BYTES, available, largest_cap, plan  # noqa: PLC0415
    from arena.lab.solving.solver import Solver  # noqa: PLC0415

    boards = Boards.of(map)
    limit = int(memory * 1e9) if memory is not None else available()
    # A map of a thousand territories has more symmetries than can be counted, and is refused before.
    cost = plan(boards) if CODE_BYTES * boards.count <= limit else None
    if cost is None or cost.bytes > limit:
        largest = largest_cap(boards, limit, max(abs(n) for n in map.start))
        fits = (
            f"cap={largest} is the largest that would fit"
            if largest
            else "no cap that its start allows would fit"
        )
        raise Failure(
            f"{map.name} is too large: {_number(boards.count)} boards take "
            f"{_size(cost.bytes if cost is not None else CODE_BYTES * boards.count)} of memory, and there are "
            f"{decimal(limit)}; {fits}"
        )
    err.print(
        f"{map.name}: {boards.count:,} boards, {cost.representatives:,} of which stand for all; at most "
        f"{decimal(cost.bytes)} of memory, about {cost.seconds(threads):,.0f} s on {threads} "
        f"{'core' if threads == 1 else 'cores'}",
        highlight=False,
        soft_wrap=True,
    )
    checkpoint = path.with_name(f"{path.name}.part")
    began = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Progress(*columns, console=err, transient=True) as bar:
            Solver(boards, checkpoint, threads, _Teller(bar).tell).solve(path)
    except BadCheckpoint as error:
        raise Failure(f"{error}: delete it, and the solution begins anew") from None
    except TooLong as error:
        raise Failure(f"{map.name}: {error}") from None
    except OSError as error:
        raise Failure(f"cannot write {error.filename or path}: {error.strerror}") from None
    return time.monotonic() - began


def _number(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"10^{int(log10(count))}"


def _size(count: int) -> str:
    return decimal(count) if count < 10**15 else f"10^{int(log10(count))} bytes"


class _Teller:
    """One bar for the part of the work that is under way."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID = bar.add_task("begin", total=None)

    def tell(self, step: Step) -> None:
        self._bar.update(self._task, description=step.part, completed=step.done, total=step.total or None)


def _verify(table: Table, threads: int) -> Verified:
    from arena.lab.solving.verify import verify  # noqa: PLC0415 - an extra, and slow to load

    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("verify")
        return verify(table, threads, lambda done, total: bar.update(task, completed=done, total=total))


def _compare(map: RisklessMap, table: Table, boards: int, processes: int) -> Compared:
    from arena.lab.solving.agreement import compare  # noqa: PLC0415 - slow to load

    if not table.header.totals.open:
        raise Failure(f"{map.name} has no board in play")
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("search", total=boards)
        return compare(
            map,
            table,
            boards=boards,
            depth=DEPTH,
            seed=1,
            processes=processes,
            advance=lambda done: bar.update(task, completed=done),
        )


def _row(found: Solved) -> dict[str, Any]:
    header, map, start = found.table.header, found.map, found.start
    boards = found.table.boards
    return {
        "map": map.name,
        "territory_cap": map.territory_cap,
        "armies_to_win": map.armies_to_win,
        "boards": boards.count,
        "symmetries": len(boards.symmetries),
        "open": header.totals.open,
        "won": header.totals.won,
        "lost": header.totals.lost,
        "drawn": header.totals.drawn,
        "value": start.value.value,
        "plies": start.plies,
        "longest": header.longest,
        "longest_position": _longest(found),
        "file": str(found.table.path),
        "bytes": found.table.size,
        "seconds": found.seconds,
        "peak_memory": _peak() if found.seconds is not None else None,
        "verified": found.verified.totals.open if found.verified is not None else None,
        "searched": found.compared.boards if found.compared is not None else None,
        "searched_decided": found.compared.decided if found.compared is not None else None,
    }


def _longest(found: Solved) -> str | None:
    header = found.table.header
    if not header.longest:
        return None
    board = found.table.boards.board(header.longest_board)
    return " ".join([*(f"{n:+d}" if n else "." for n in board), "maxie", "0"])


def _peak() -> int:
    """The most memory that this process has had, in bytes; macOS counts it so, Linux in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _print(found: Solved) -> None:
    header, start = found.table.header, found.start
    totals = header.totals
    shares = ", ".join(
        f"{number:,} {what} ({100 * number / max(1, totals.open):.2f} %)"
        for number, what in ((totals.won, "won"), (totals.lost, "lost"), (totals.drawn, "drawn"))
    )
    lines = [
        f"{found.map.name}: from the start {_told(start)}",
        f"{totals.open:,} boards in play, for the player to move: {shares}",
    ]
    if header.longest:
        lines.append(f"longest win: {header.longest} plies, from {_longest(found)}")
    lines.append(f"table: {found.table.path}, {decimal(found.table.size)}")
    if found.seconds is not None:
        lines.append(f"solved in {found.seconds:.1f} s with {decimal(_peak())} of memory at the most")
    if found.verified is not None and found.verified.fault is None and not found.verified.lies:
        lines.append(
            f"verified: the values of all {found.verified.totals.open:,} boards follow from their successors'"
        )
    if found.compared is not None and not found.compared.differ:
        lines.append(
            f"the search agrees on {found.compared.boards:,} boards, of which it finds {found.compared.decided:,} decided"
        )
    out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _told(start: Truth) -> str:
    if start.plies is None:
        return "nobody can force a win"
    return f"{'Maxie' if start.value.sign > 0 else 'Minnie'} wins in {start.plies} plies"


def _judge(found: Solved) -> None:
    """Raises Failure for a table that is not true."""
    verified, compared = found.verified, found.compared
    if compared is not None and compared.differ:
        board = " ".join(map(str, compared.differ[0]))
        raise Failure(
            f"{found.table.path} is not true: on {len(compared.differ):,} of {compared.boards:,} boards the search finds "
            f"another value, on {board} for one; solve the map again with --again"
        )
    if verified is None:
        return
    if verified.fault is not None:
        fault = verified.fault
        raise Failure(
            f"{found.table.path} is not true: board {' '.join(map(str, fault.board))} has code {fault.told}, and from its "
            f"successors follows {fault.right}; solve the map again with --again"
        )
    if verified.lies:
        raise Failure(f"{found.table.path} is not true: {verified.lies[0]}; solve the map again with --again")
