"""Summary of failures at the end of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence

MAX_SHOWN = 20


def print_faults(faults: Sequence[str]) -> int:
    """Print the first failures and their number. Return the exit code: 1 if there are any."""
    for each in faults[:MAX_SHOWN]:
        print("FAULT", each)
    print(f"{len(faults)} faults")
    return 1 if faults else 0
