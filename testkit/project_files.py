"""List of the project's files: all files in its folder, tracked or new, that `.gitignore` does not exclude."""

from __future__ import annotations

import os
from pathlib import Path

from pathspec import GitIgnoreSpec

PROJECT_FOLDER = Path(__file__).parents[1]


def list_project_files() -> list[str]:
    """Return the sorted paths of all files that `.gitignore` does not exclude, relative to the project's root.

    The function does not need git, so it returns the same files for an archive of the project as for a checkout. A
    symbolic link counts as a file, even if it leads to a folder.
    """
    ignored = GitIgnoreSpec.from_lines(
        (PROJECT_FOLDER / ".gitignore").read_text(encoding="utf-8").splitlines()
    )
    files: list[str] = []
    for folder, below, names in os.walk(PROJECT_FOLDER):
        place = Path(folder).relative_to(PROJECT_FOLDER)
        links = [name for name in below if (Path(folder) / name).is_symlink()]
        below[:] = [
            name
            for name in below
            if name not in links and name != ".git" and not ignored.match_file(f"{place / name}/")
        ]
        files += [str(place / name) for name in [*names, *links] if not ignored.match_file(place / name)]
    return sorted(name for name in files if name != ".git")
