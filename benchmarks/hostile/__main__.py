"""What strangers who keep within all limits cost honest bots: the p99 of a move by turns without and with each request.

    python -m benchmarks.hostile [--seconds 5] [--kinds browse,watch]

Honest bots play on a real `arena serve` with its default limits. From ten addresses, strangers send one kind of request
as often as the limits allow, each kind in a round of its own, from addresses that have saved up all the work they may ask
for; before it they are connected and silent, and the median of all these quiet times is what rounds are held against.
Where a round comes near the bound, the kind has two more, and the worst of them counts. A stranger's machine is another
one. Here the strangers have cores of their own where there are four or more; on fewer they share all of them with the bots and
their server, with a scheduler that treats everybody alike.

Exit code 1 when honest bots wait twice as long in a kind's rounds, or the server's memory grows by a fifth.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

import uvloop

from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.rounds import ADDRESSES, CLIENTS, SECONDS, faults, run, section
from benchmarks.kit.faults import report
from benchmarks.kit.results import measured_on, write_server


def main() -> int:
    """Measure, print, and write the section when every kind was measured; 1 for any fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each quiet and each hostile time")
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"of each of the {ADDRESSES} addresses")
    parser.add_argument("--kinds", default=";".join(KINDS), metavar="KIND;KIND")
    given = parser.parse_args()
    kinds = given.kinds.split(";")
    unknown = set(kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind is called {', '.join(unknown)}: there are {'; '.join(KINDS)}")
    with (
        tempfile.TemporaryDirectory(prefix="arena-hostile-") as folder,
        measured_on("python -m benchmarks.hostile") as note,
    ):
        database = f"sqlite:///{folder}/arena.db"
        outcome = uvloop.run(run(database, kinds, given.seconds, given.clients))
    text = f"{section(outcome, given.seconds, given.clients).markdown()}\n\n{note()}"
    print(text)
    if set(kinds) == set(KINDS) and given.clients >= CLIENTS:
        write_server("hostile", text)
    return report(faults(outcome))


if __name__ == "__main__":
    sys.exit(main())
