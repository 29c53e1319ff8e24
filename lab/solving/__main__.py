"""Compile the solver's kernels now: `python -m arena.lab.solving`.

It takes some ten seconds of one core, or one second if they are cached.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from arena.bots.compiled.__main__ import smallest
from arena.lab.solving.solver import Solver
from arena.lab.solving.verify import verify
from arena.solved.boards import Boards
from arena.solved.table import SolvedTable


def main() -> None:
    """Solve the smallest map and verify its table, which compiles all kernels."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "two.solved"
        Solver(Boards.of(smallest(2).map), path.with_suffix(".part"), 1, lambda _: None, 0).solve(path)
        verify(SolvedTable(path), 1, lambda _done, _total: None)


if __name__ == "__main__":
    main()
