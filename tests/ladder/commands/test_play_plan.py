"""Lines that `arena ladder` prints about its web page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen


def test_the_page_is_where_the_ladder_says_and_has_loaded_what_its_tables_need(tmp_path: Path) -> None:
    words = [
        "ladder",
        "--game",
        "tictactoe",
        "--external",
        "2",
        "--wait",
        "1000",
        "--port",
        "0",
    ]  # two bots that are never started
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
    ) as process:
        try:
            assert process.stderr is not None
            imported = []
            for line in process.stderr:
                if not line.startswith("import time:"):
                    break
                imported.append(line.split("|")[-1].strip())
            match = re.fullmatch(r"watch the matches at (http://127\.0\.0\.1:\d+/)event/[^/ ]+\n", line)
            assert match
            assert "numpy" in imported
            with urlopen(match[1], timeout=500) as page:
                assert page.status == 200
                assert b"<html" in page.read()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=500)
    assert process.returncode == 130
