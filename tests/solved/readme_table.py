"""Solves the small maps of maps/README.md, has the second program check each, and writes their table there.

    python -m tests.solved.readme_table                     the maps that take less than a minute together
    python -m tests.solved.readme_table m1 ring:7           these alone
    python -m tests.solved.readme_table --list              what can be named

A table that is there already is taken; the rows of maps that are not named stay as they are.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from arena.cores import list_usable_cores
from arena.games.riskless_map import RisklessMap
from arena.lab.solving.solver import Solver
from arena.lab.solving.verify import verify_table
from arena.maps.loader import load_map
from arena.solved.board_numbers import Boards
from arena.solved.folders import find_table, get_local_folder, make_table_file_name
from arena.solved.solved_table import SolvedTable
from arena.solved.solved_value import SolvedValue

README = Path(__file__).parents[2] / "maps" / "README.md"
BEGIN, END = "<!-- solved -->\n", "<!-- /solved -->\n"
HEAD = (
    "| map | boards in play | won, for the player to move | lost | drawn | longest win | a board that shows it | from the start "
    "| without the extra army | is the extra army fair? |\n" + "| --- " * 10 + "|\n"
)


@dataclass(frozen=True)
class Case:
    """A map as it is, or with other numbers."""

    map: str
    cap: int | None = None
    goal: int | None = None
    small: bool = True

    @property
    def name(self) -> str:
        """Return the map's name as in the table."""
        return self.map if self.cap is None else f"{self.map}, cap {self.cap}, goal {self.goal}"

    def load(self) -> RisklessMap:
        """Return the map."""
        map = load_map(self.map)
        if self.cap is None or self.goal is None:
            return map
        return replace(map, territory_cap=self.cap, armies_to_win=self.goal)


CASES = (
    Case("path4"),
    Case("grid:1x2"),
    Case("grid:1x3"),
    Case("grid:2x2", 20, 20),
    Case("grid:2x3", 6, 27),
    Case("ring:3"),
    Case("ring:4", 20, 20),
    Case("ring:5", 10, 37),
    Case("m1"),
    Case("ring:7", 9, 47, small=False),
    Case("ring:8", 6, 36, small=False),
    Case("grid:2x4", 5, 30, small=False),
)
"""Generated maps as they are, where they have few boards; larger ones with about m1's share of what they hold as their goal."""


def table_of(map: RisklessMap) -> SolvedTable:
    """Return the table of a map, made where there is none."""
    boards = Boards.from_map(map)
    path = find_table(boards)
    if path is None:
        path = get_local_folder() / make_table_file_name(map)
        path.parent.mkdir(parents=True, exist_ok=True)
        Solver(boards, path.with_suffix(".part"), len(list_usable_cores()), lambda *_: None).solve(path)
    return SolvedTable(path)


def row(name: str, map: RisklessMap, table: SolvedTable) -> str:
    """Return the table's row of a map."""
    header, totals = table.header, table.header.totals
    shares = [f"{100 * n / max(1, totals.open):.2f} %" for n in (totals.won, totals.lost, totals.drawn)]
    board = " ".join(f"{n:+d}" if n else "." for n in table.boards.board(header.longest_board))
    longest = [plies_text(header.longest), f"`{board} maxie 0`"] if header.longest else ["none", ""]
    start = table.probe(map.start)
    cells = [
        name,
        f"{totals.open:,}",
        *shares,
        *longest,
        truth_text(start),
        truth_text(without(map, table)),
        fair(start),
    ]
    return f"| {' | '.join(cells)} |"


def truth_text(start: SolvedValue) -> str:
    """Return the truth of a start, in which Maxie is to move."""
    if start.plies is None:
        return "a draw"
    return f"{'Maxie' if start.result.sign > 0 else 'Minnie'} wins in {plies_text(start.plies)}"


def plies_text(plies: int) -> str:
    """Return a number of plies with its noun."""
    return f"{plies} {'ply' if plies == 1 else 'plies'}"


def without(map: RisklessMap, table: SolvedTable) -> SolvedValue:
    """Return the truth of the start without Minnie's extra army: the first of her territories with the most armies has one less."""
    most = min(map.start)
    place = map.start.index(most)
    return table.probe((*map.start[:place], most + 1, *map.start[place + 1 :]))


def fair(start: SolvedValue) -> str:
    """Return whether the extra army makes up for moving second, in a phrase."""
    if start.plies is None:
        return "yes: nobody can force a win"
    return "no: Minnie loses in spite of it" if start.result.sign > 0 else "no: it is a win for Minnie"


def page_with_rows(text: str, rows: dict[str, str]) -> str:
    """Return the page with these rows in the place of their maps' rows; all are in the order of CASES."""
    before, rest = text.split(BEGIN)
    between, after = rest.split(END)
    results = {
        match[1]: match[0] for match in re.finditer(r"^\| (.+?) \| [\d,]+ \|.*\|$", between, re.MULTILINE)
    }
    lines = [(results | rows)[case.name] for case in CASES if case.name in results | rows]
    return before + BEGIN + HEAD + "".join(f"{line}\n" for line in lines) + END + after


def wrong(table: SolvedTable) -> str:
    """Return the faults that the second program finds in a table; empty if there are none."""
    replay = verify_table(table, len(list_usable_cores()), lambda _done, _total: None)
    return str(replay.fault or "") or "; ".join(replay.false_statements)


def main() -> int:
    """Solve, verify, write; 1 where a table is not true."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("maps", nargs="*", metavar="MAP")
    parser.add_argument("--list", action="store_true", help="the maps that can be named")
    parser.add_argument(
        "--verified",
        action="store_true",
        help="`arena solve --verify` has checked these tables: do not do it again",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.maps) - {case.map for case in CASES}
    if unknown:
        parser.error(f"{min(unknown)} is none of them: there are {', '.join(case.map for case in CASES)}")
    if arguments.list:
        print(*(case.name for case in CASES), sep="\n")  # noqa: T201
        return 0
    rows = {}
    for case in CASES:
        if case.map not in arguments.maps and (arguments.maps or not case.small):
            continue
        map, began = case.load(), time.monotonic()
        table = table_of(map)
        solved = time.monotonic()
        if not arguments.verified and (why := wrong(table)):
            print(f"{case.name}: {table.path} is not true: {why}")  # noqa: T201
            return 1
        rows[case.name] = row(case.name, map, table)
        checked = "" if arguments.verified else f", verified in {time.monotonic() - solved:.1f} s"
        print(f"{case.name}: {solved - began:.1f} s{checked}, {table.size:,} bytes", flush=True)  # noqa: T201
        README.write_text(page_with_rows(README.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
