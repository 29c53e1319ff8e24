"""`python -m arena.lab.solving`: afterwards `arena solve` has to compile nothing but what a larger map needs."""

from __future__ import annotations

import subprocess
import sys

from arena.bots.compiled.cache import chosen_folder
from arena.lab.solving.__main__ import main
from arena.lab.solving.kernels import DIGEST

STEPS = ("survey", "step-riskless", "verify-unfold", "verify-check")


def test_a_second_run_finds_everything_compiled() -> None:
    main()
    names = [f"solve-{step}-{DIGEST}" for step in STEPS]
    kernels = [path for name in names for path in chosen_folder().glob(f"{name}*.nbc")]
    assert len(kernels) >= len(STEPS)
    before = [path.stat().st_mtime_ns for path in kernels]
    done = subprocess.run(
        [sys.executable, "-m", "arena.lab.solving"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.stat().st_mtime_ns for path in kernels] == before
