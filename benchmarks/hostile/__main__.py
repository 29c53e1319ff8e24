"""Delay of honest bots (p99 of a move) while hostile clients send as many requests as the limits allow.

    python -m benchmarks.hostile [--kinds "browse;watch"] [--write]

Honest bots play on a real `arena serve` with its default limits. Meanwhile strangers (hostile clients) at ten addresses
send one kind of request as often as the limits allow, or attackers break the limits. SERVER.md describes the rounds and
the figures. The bots and the process that serves matches have real-time priority, so this program must run as root.

The exit code is 1 if an honest bot gets an error or forfeits a match, if the strangers send nothing, or if one of these
bounds is reached:
- p99 of honest bots, divided by their p99 in quiet periods: 1.5 in the median of a kind's rounds, or 2 in two of its rounds
- the same ratio, with each p99 computed over all moves of a period at once: 2 in all rounds of a kind
- the server's memory after a hostile period, divided by its memory before the round: 1.2
- sessions in the store (one for each client that is connected, or has played in the last 30 s): more than 1,000
- time until the server disconnects an attacker: more than 8 s
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import uvloop

from benchmarks.hostile.kinds import REQUEST_KINDS
from benchmarks.hostile.rounds import (
    format_figures_by_name,
    list_faults,
    run_all_rounds,
    set_real_time_priority,
)
from benchmarks.kit.results import SERVER_PAGE, print_faults, start_recording_conditions

TMPFS_FOLDER = Path("/dev/shm")  # noqa: S108  a folder in memory
"""Folder in memory, which holds the server's store if the machine has this folder."""


def main() -> int:
    """Measure the requested kinds, and print the figures. With `--write`, also write them to SERVER.md.

    Return the exit code: 1 if any kind failed.
    """
    parser = SERVER_PAGE.make_parser(__doc__)
    parser.add_argument(
        "--kinds",
        default=";".join(REQUEST_KINDS),
        metavar="KIND;KIND",
        help="kinds of hostile requests to send, separated by semicolons; default: all",
    )
    arguments = SERVER_PAGE.parse_arguments(parser)
    kinds = arguments.kinds.split(";")
    unknown = set(kinds) - set(REQUEST_KINDS)
    if unknown:
        parser.error(f"no kind is called {', '.join(unknown)}: there are {'; '.join(REQUEST_KINDS)}")
    try:
        set_real_time_priority(os.getpid())
    except PermissionError:
        parser.error("the bots may not have real-time priority: run this as root")
    get_conditions = start_recording_conditions()
    with tempfile.TemporaryDirectory(
        prefix="arena-hostile-", dir=TMPFS_FOLDER if TMPFS_FOLDER.exists() else None
    ) as folder:
        outcome = uvloop.run(run_all_rounds(folder, kinds))
    SERVER_PAGE.publish(
        "hostile", format_figures_by_name(outcome), get_conditions, should_write=arguments.write
    )
    return print_faults(list_faults(outcome))


if __name__ == "__main__":
    sys.exit(main())
