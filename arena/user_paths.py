# ruff: noqa: PTH110, PTH112, PTH113
"""Tests of paths that users give. For a path that is too long, the tests return False, where `Path.exists` raises OSError."""

from __future__ import annotations

import os
from pathlib import Path


def exists(path: Path | str) -> bool:
    """Return True if `path` is a file, a folder or another existing path, or a link to one."""
    return os.path.exists(path)


def is_file(path: Path | str) -> bool:
    """Return True if `path` is a regular file, or a link to one."""
    return os.path.isfile(path)


def is_folder(path: Path | str) -> bool:
    """Return True if `path` is a folder, or a link to one."""
    return os.path.isdir(path)
