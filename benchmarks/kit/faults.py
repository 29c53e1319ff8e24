"""What a benchmark that looks for faults says at its end."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 20


def report(faults: Sequence[str]) -> int:
    """Print the first of them and how many there are; the exit code: 1 where there is one."""
    for each in faults[:SHOWN]:
        print("FAULT", each)
    print(f"{len(faults)} faults")
    return 1 if faults else 0
