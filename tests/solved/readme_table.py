"""Program that solves and verifies small maps, and writes the table of solved maps in maps/README.md.

    python -m tests.solved.readme_table                     the small maps, which take less than a minute together
    python -m tests.solved.readme_table m1 ring:7           only these maps
    python -m tests.solved.readme_table --list              list the maps

A map that has a solved table already is not solved again. Rows of other maps stay as they are.
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
from arena.solved.board_numbers import BoardNumbering
from arena.solved.folders import find_solved_table_file, get_table_output_folder, make_table_file_name
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
    """Map to solve, optionally with another cap and goal."""

    map: str
    cap: int | None = None
    goal: int | None = None
    small: bool = True

    @property
    def name(self) -> str:
        """Return the name of the case in the table."""
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
"""Maps in the table of maps/README.md.

Generated maps with few boards have their own cap and goal. The larger ones have a smaller cap, and a goal that is about the
same share of the map's capacity as on m1.
"""


def load_or_make_table(map: RisklessMap) -> SolvedTable:
    """Return the solved table of a map. Solve the map first if it has none."""
    boards = BoardNumbering.from_map(map)
    path = find_solved_table_file(boards)
    if path is None:
        path = get_table_output_folder() / make_table_file_name(map)
        path.parent.mkdir(parents=True, exist_ok=True)
        Solver(boards, path.with_suffix(".part"), len(list_usable_cores()), lambda *_: None).solve(path)
    return SolvedTable(path)


def make_row(name: str, map: RisklessMap, table: SolvedTable) -> str:
    """Return the row of a map as Markdown."""
    header, totals = table.header, table.header.totals
    shares = [f"{100 * n / max(1, totals.open):.2f} %" for n in (totals.won, totals.lost, totals.drawn)]
    board = " ".join(f"{n:+d}" if n else "." for n in table.numbering.decode_board(header.longest_board))
    longest = [format_plies(header.longest), f"`{board} maxie 0`"] if header.longest else ["none", ""]
    start = table.probe_board(map.start)
    cells = [
        name,
        f"{totals.open:,}",
        *shares,
        *longest,
        describe_value(start),
        describe_value(find_value_without_extra_army(map, table)),
        judge_extra_army(start),
    ]
    return f"| {' | '.join(cells)} |"


def describe_value(start: SolvedValue) -> str:
    """Return the value of a start, in which Maxie is to move, as a phrase."""
    if start.plies is None:
        return "a draw"
    return f"{'Maxie' if start.result.sign > 0 else 'Minnie'} wins in {format_plies(start.plies)}"


def format_plies(plies: int) -> str:
    """Return a number of plies as text, such as `1 ply`."""
    return f"{plies} {'ply' if plies == 1 else 'plies'}"


def find_value_without_extra_army(map: RisklessMap, table: SolvedTable) -> SolvedValue:
    """Return the value of the start without Minnie's extra army.

    The army is removed from the first of her territories with the most armies.
    """
    most = min(map.start)
    place = map.start.index(most)
    return table.probe_board((*map.start[:place], most + 1, *map.start[place + 1 :]))


def judge_extra_army(start: SolvedValue) -> str:
    """Say in a phrase whether Minnie's extra army makes up for moving second."""
    if start.plies is None:
        return "yes: nobody can force a win"
    return "no: Minnie loses in spite of it" if start.result.sign > 0 else "no: it is a win for Minnie"


def replace_rows(text: str, rows: dict[str, str]) -> str:
    """Return the page's text with new rows in its table, in the order of CASES.

    rows  new rows by the name of their case; other rows stay as they are
    """
    before, rest = text.split(BEGIN)
    between, after = rest.split(END)
    results = {
        match[1]: match[0] for match in re.finditer(r"^\| (.+?) \| [\d,]+ \|.*\|$", between, re.MULTILINE)
    }
    lines = [(results | rows)[case.name] for case in CASES if case.name in results | rows]
    return before + BEGIN + HEAD + "".join(f"{line}\n" for line in lines) + END + after


def find_faults(table: SolvedTable) -> str:
    """Return the errors that the verifier finds in a table; empty if there are none."""
    return "; ".join(verify_table(table, len(list_usable_cores()), lambda _done, _total: None).errors)


def main() -> int:
    """Solve and verify the maps, and write the page. Return 1 if a table is wrong, otherwise 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("maps", nargs="*", metavar="MAP")
    parser.add_argument("--list", action="store_true", help="list the maps")
    parser.add_argument(
        "--verified",
        action="store_true",
        help="do not verify the tables, because `arena solve --verify` has done so",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.maps) - {case.map for case in CASES}
    if unknown:
        parser.error(f"there is no map {min(unknown)}; choose from {', '.join(case.map for case in CASES)}")
    if arguments.list:
        print(*(case.name for case in CASES), sep="\n")  # noqa: T201
        return 0
    rows = {}
    for case in CASES:
        if case.map not in arguments.maps and (arguments.maps or not case.small):
            continue
        map, began = case.load(), time.monotonic()
        table = load_or_make_table(map)
        solved = time.monotonic()
        if not arguments.verified and (why := find_faults(table)):
            print(f"{case.name}: {table.path} is wrong: {why}")  # noqa: T201
            return 1
        rows[case.name] = make_row(case.name, map, table)
        checked = "" if arguments.verified else f", verified in {time.monotonic() - solved:.1f} s"
        print(f"{case.name}: {solved - began:.1f} s{checked}, {table.size_bytes:,} bytes", flush=True)  # noqa: T201
        README.write_text(replace_rows(README.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
