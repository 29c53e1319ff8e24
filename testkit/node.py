"""Preparation of programs for Node.js: each in a folder of its own, with the packages that it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from testkit.parts import skip_without

INSTALL_SECONDS = 50


def copy_with_packages(program: Path, folder: Path) -> Path:
    """Copy the program into the folder, beside `ws` and `@msgpack/msgpack`. Skip the test if npm cannot install these."""
    skip_without("node")
    try:
        result = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "ws", "@msgpack/msgpack"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"needs node: npm could not install the packages within {INSTALL_SECONDS} s")
    if result.returncode != 0:
        skip_without("node", f"npm could not install the packages: {result.stderr.strip().splitlines()[-1:]}")
    return Path(shutil.copy(program, folder))
