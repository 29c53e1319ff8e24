"""What `arena ladder` says of its own page."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen


def test_the_page_is_where_the_ladder_says(tmp_path: Path) -> None:
    words = ["ladder", "--game", "tictactoe", "--bot", "random", "--bot", "greedy", "--for", "ever"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            told = re.fullmatch(
                r"watch it at (http://127\.0\.0\.1:\d+/)event/[^/ ]+\n", process.stderr.readline()
            )
            assert told
            with urlopen(told[1], timeout=10) as page:
                assert page.status == 200
                assert b"<html" in page.read()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
    assert process.returncode == 130
