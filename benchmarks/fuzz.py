"""Fuzzer of the message decoder and of a running server, which looks for crashes, memory leaks and disturbed matches.

    python -m benchmarks.fuzz --frames 1000000

For every twenty frames that the decoder gets, another frame is sent over a socket to a real server. Meanwhile, two honest
bots, which follow the protocol, play on that server.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time

from benchmarks.kit.results import make_argument_parser, print_faults
from testkit.fuzz import run_fuzzer


def main() -> int:
    """Run the fuzzer and print the results. Return the exit code: 1 if there was a failure."""
    parser = make_argument_parser(__doc__)
    parser.add_argument(
        "--frames",
        type=int,
        default=1_000_000,
        help="number of random frames to decode; default: %(default)s",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed from which the random frames are generated (default 1)"
    )
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)  # a line for every refused frame would tell nothing
    start_time = time.monotonic()
    result = asyncio.run(run_fuzzer(arguments.frames, seed=arguments.seed))
    print(
        f"{result.frame_count:,} frames in {time.monotonic() - start_time:.0f} s, {result.sent_frame_count:,} of them over sockets, beside "
        f"{result.honest_end_reason_counts.total():,} matches: {result.decoded_message_count:,} were valid messages"
    )
    print(
        "refused:", ", ".join(f"{code} {count:,}" for code, count in result.rejections_by_code.most_common())
    )
    print(
        f"peak memory {result.warm_up_peak_memory_kib / 1024:.0f} MiB after a tenth, {result.peak_memory_kib / 1024:.0f} MiB after all"
    )
    return print_faults(result.faults)


if __name__ == "__main__":
    sys.exit(main())
