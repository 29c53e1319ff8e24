"""Ahead-of-time compilation of the solver's kernels (compiled functions): `python -m arena.lab.solving`.

Compilation takes about ten seconds on one CPU core, or one second if the kernels are in the cache.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from arena.bots.compiled.__main__ import make_two_territory_game
from arena.lab.solving.solver import Solver
from arena.lab.solving.verify import verify_table
from arena.solved.board_numbers import BoardNumbering
from arena.solved.solved_table import SolvedTable


def main() -> None:
    """Compile all kernels (compiled functions of the solver) by solving a tiny map and verifying its table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "two.solved"
        Solver(
            BoardNumbering.from_map(make_two_territory_game(2).map),
            path.with_suffix(".part"),
            1,
            lambda *_: None,
            0,
        ).solve(path)
        verify_table(SolvedTable(path), 1, lambda _done, _total: None)


if __name__ == "__main__":
    main()
