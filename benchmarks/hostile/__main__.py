"""Delay of honest bots while strangers use all that the limits allow: p99 of a move, without and with each kind of
request.

    python -m benchmarks.hostile [--seconds 5] [--kinds "browse;watch"]

Honest bots play on a real `arena serve` with its default limits. Strangers at ten addresses send one kind of request as
often as the limits allow. Each kind has its own round, with addresses that start with a full budget. Before the round,
the strangers are connected and silent. The median of all these quiet periods is the baseline, and the ratio of a round
is its p99 divided by the baseline. A kind whose ratio exceeds the bound gets four more rounds. In rounds of attacks,
sixteen attackers break the limits, are disconnected, and reconnect at once.

Real strangers would use other machines. Here they run with the lowest priority, and on separate cores if the machine
has at least four. Control rounds show what they cost nevertheless: in these, the strangers send as many requests to a
plain server in another process. If the ratio of the control is above 1, the ratios of the arena are divided by it.

The p99 of a round is a median: that of the p99 of each 100 consecutive moves, which take a third of a second. One pause
of the disk or of the machine would decide the p99 of all moves of a round. (Of 112 periods without strangers, a tenth
had more than 9.5 ms, and a tenth less than 1.7 ms.) The strangers affect each third of a second, because the server
handles their requests at a limited rate. Pauses that they cause recur in each round, so for the p99 of all moves the
lowest of a kind's rounds counts.

The exit code is 1 in four cases: honest bots wait twice as long in a round of a kind as in the worst round of the
control, or 1.5 times as long in the median of its rounds; the p99 of all moves is twice that of the control in all
rounds of a kind; the server's memory grows by a fifth; or the server does not cut off an attack.
"""

from __future__ import annotations

import sys
import tempfile

import uvloop

from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.rounds import ADDRESSES, CLIENTS, SECONDS, list_faults, make_section, play_all_rounds
from benchmarks.kit.measure import make_parser
from benchmarks.kit.results import SERVER, describe_measurement, print_faults


def main() -> int:
    """Measure, print, and write the section if every kind was measured. Return 1 if there was a failure."""
    parser = make_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="seconds of each hostile period")
    parser.add_argument(
        "--clients", type=int, default=CLIENTS, help=f"clients at each of the {ADDRESSES} addresses"
    )
    parser.add_argument("--kinds", default=";".join(KINDS), metavar="KIND;KIND")
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(";")
    unknown = set(kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind is called {', '.join(unknown)}: there are {'; '.join(KINDS)}")
    with (
        tempfile.TemporaryDirectory(prefix="arena-hostile-") as folder,
        describe_measurement("python -m benchmarks.hostile") as note,
    ):
        outcome = uvloop.run(play_all_rounds(folder, kinds, arguments.seconds, arguments.clients))
    text = f"{make_section(outcome, arguments.seconds, arguments.clients).to_markdown()}\n\n{note()}"
    print(text)
    if set(kinds) == set(KINDS) and arguments.clients >= CLIENTS:
        SERVER.replace_section("hostile", text)
    return print_faults(list_faults(outcome))


if __name__ == "__main__":
    sys.exit(main())
