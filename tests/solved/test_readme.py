"""What maps/README.md tells of solved maps is what their tables hold."""

from __future__ import annotations

import re
from pathlib import Path

from maps.loader import load_map
from solved.boards import Boards
from solved.folders import SHIPPED, open_table

README = Path(__file__).parents[2] / "maps" / "README.md"


def test_the_row_of_each_shipped_table_is_true() -> None:
    text = README.read_text(encoding="utf-8")
    shipped = sorted(path.name.rpartition("-")[0] for path in SHIPPED.glob("*.solved"))
    assert shipped
    for name in shipped:
        map = load_map(name)
        table = open_table(Boards.of(map))
        assert table is not None
        totals, header = table.header.totals, table.header
        longest = " ".join(f"{n:+d}" if n else "." for n in table.boards.board(header.longest_board))
        shares = " | ".join(f"{100 * n / totals.open:.2f} %" for n in (totals.won, totals.lost, totals.drawn))
        row = f"| {name} | {totals.open:,} | {shares} | {header.longest} plies | `{longest} maxie 0` | "
        assert re.search(re.escape(row), text), row
        start = table.probe(map.start)
        assert start.plies is not None
        winner = "Maxie" if start.value.sign > 0 else "Minnie"
        assert f"{row}{winner} wins in {start.plies} plies |" in text
