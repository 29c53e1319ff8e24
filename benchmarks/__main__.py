"""Run the benchmarks and write RESULTS.md: `python -m benchmarks [NAME …]`; without names, all of them."""

from __future__ import annotations

import importlib
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import machine

PARTS = ("native", "peers", "devices", "depth", "threads", "scheduler", "delay", "start", "strength")
RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    """Each part in turn; one that needs what is not installed says so in its place."""
    chosen = sys.argv[1:] or PARTS
    unknown = set(chosen) - set(PARTS)
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    texts = []
    for name in chosen:
        start = time.perf_counter()
        section = importlib.import_module(f"benchmarks.{name}").run()
        texts.append(section.markdown())
        print(texts[-1], f"\n({time.perf_counter() - start:.0f} s)\n", flush=True)
    if len(chosen) == len(PARTS):
        head = (
            "# Benchmarks of the compiled engine\n\n"
            f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}. {machine()}.\n\n"
            "Figures are medians of ratios taken in one run, with the least and the greatest in brackets."
        )
        RESULTS.write_text("\n\n".join([head, *texts]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
