"""Preparation of JavaScript programs for Node.js: each in a folder of its own, with the packages that it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from testkit.tools import skip_without

NPM_INSTALL_TIMEOUT_SECONDS = 150
"""Maximum time for npm to install the packages, in seconds."""


def copy_program_with_node_packages(program: Path, folder: Path) -> Path:
    """Install the npm packages `ws` and `@msgpack/msgpack` in the folder, and copy the program there. Return the copy's path.

    Skip the test if this machine has no Node.js, or if npm cannot install the packages.
    """
    skip_without("node")
    try:
        result = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "ws", "@msgpack/msgpack"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=NPM_INSTALL_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"needs node: npm could not install the packages within {NPM_INSTALL_TIMEOUT_SECONDS} s")
    if result.returncode != 0:
        skip_without("node", f"npm could not install the packages: {result.stderr.strip().splitlines()[-1:]}")
    return Path(shutil.copy(program, folder))
