"""Every benchmark that a page names exists."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from benchmarks.__main__ import PARTS

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"python -m\s+benchmarks(\.[\w.]*\w|\s+[a-z]\w*)?")


def test_every_command_that_runs_a_benchmark_names_a_program() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / each for each in listed.stdout.splitlines() if each != "CHANGELOG.md"]
    named = {(page.name, each) for page in pages for each in NAMED.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 10
    for page, each in sorted(named):
        if each.startswith("."):
            assert find_spec(f"benchmarks{each}"), f"{page} names python -m benchmarks{each}"
        elif each:
            assert each.strip() in PARTS, f"{page} names python -m benchmarks{each}"
