"""What the page's first view costs: bytes over the wire, and the time until it is complete.

Example: python -m benchmarks.page --loads 9
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Response

from testkit.browser import arena, chromium, wait


def main() -> None:
    """Print the median of some first loads, each with an empty cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", type=int, default=9)
    loads = parser.parse_args().loads
    with (
        tempfile.TemporaryDirectory(prefix="arena-") as folder,
        chromium() as browser,
        arena(Path(folder), "--tc", "1/move", bots=("random", "greedy")) as running,
    ):
        wait(lambda: running.ask("records")["matches"])
        found = [load(browser, running.url) for _ in range(loads)]
    seconds, sizes, counts = zip(*found, strict=True)
    print(f"first view, {loads} loads with an empty cache:")
    print(f"  {statistics.median(sizes) / 1000:.1f} kB over the wire in {counts[0]} answers")
    print(f"  complete after {statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s at most")


def load(browser: Browser, url: str) -> tuple[float, int, int]:
    """Seconds until matches and bots are on the page, bytes with their headers, and answers."""
    context = browser.new_context()
    page = context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108  playwright marks what it calls
    began = time.perf_counter()
    page.goto(url)
    page.locator(".bots .name").nth(1).wait_for()
    page.locator("main .card:not(.live)").first.wait_for()
    seconds = time.perf_counter() - began
    sizes = [each.request.sizes() for each in answers]
    size = sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes)
    context.close()
    return seconds, size, len(answers)


if __name__ == "__main__":
    main()
