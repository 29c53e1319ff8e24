"""Keeps the project's modules and an author's apart where both have a folder of the same name.

The project's folders have common names: `bots`, `games`, `maps`, `server`. Whoever writes a bot or a game has folders
of such names too, beside the file or in the environment's path. From `guard` on, such a name is the project's
wherever it stands in the path; and a module that the project does not have in that folder, as `bots.mine`, is looked
for in the author's folders of the same name. So neither takes the other's place. (An author's `__init__.py` in such a
folder is not run.)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAMES = frozenset(
    ["games", "maps", "protocol", "solved", "match", "rating", "server", "ladder", "bots", "console", "cores"]
)
"""The project's own folders and modules, beside `arena` and this one."""


class _Own(MetaPathFinder):
    """Finds the project's folders and modules where this file is, before anything else is asked."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - where it is, is not asked
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Where one of the project's top modules is; None for everything else."""
        return PathFinder.find_spec(fullname, [self._folder], target) if fullname in NAMES else None


class _Beside(MetaPathFinder):
    """Finds an author's modules in folders that are called as one of the project's, after all else has failed."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - where it is, is not asked
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Where an author's module of such a folder is; None where there is none."""
        above, _, _ = fullname.rpartition(".")
        if above.partition(".")[0] not in NAMES:
            return None
        inside = above.replace(".", "/")
        others = [
            str(Path(each or ".", inside)) for each in sys.path if Path(each or ".").resolve() != self._folder
        ]
        return PathFinder.find_spec(fullname, others, target)


def guard() -> None:
    """Begin to tell the project's modules from an author's. Again is as good as once."""
    if not any(isinstance(each, _Own) for each in sys.meta_path):
        folder = str(Path(__file__).resolve().parent)
        sys.meta_path.insert(0, _Own(folder))
        sys.meta_path.append(_Beside(folder))
