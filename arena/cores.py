"""The cores that this process may use: those of its affinity, and no more than the quotas of its control groups pay for.

A quota is CPU time for each period, so half a core more is no core more: a thread that the quota cannot pay for stands
still for the rest of every period. A quota of less than one core still is one core.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CGROUP = Path("/proc/self/cgroup")
"""The control groups that the process is in, one a line: `HIERARCHY:CONTROLLERS:PATH`."""
MOUNTS = Path("/proc/self/mountinfo")
"""What is mounted where, one a line (proc_pid_mountinfo(5))."""


@dataclass(frozen=True)
class Mount:
    """A place where a tree of control groups can be read."""

    root: PurePosixPath
    """The group that is seen at `point`: in a container not always the root of the tree."""
    point: Path
    unified: bool
    """Whether it is version 2, where one tree has all controllers."""


def cores(
    affinity: Sequence[int] | None = None, *, cgroup: Path = CGROUP, mounts: Path = MOUNTS
) -> list[int]:
    """The numbers of the cores that this process may use, in order: at least one.

    affinity  the cores that it may run on; None: as the system says
    cgroup    the file that names its control groups
    mounts    the file that says where these can be read; where one of the two is missing, there is no quota
    """
    every = sorted(_affinity() if affinity is None else affinity)
    return every[: max(1, math.floor(min(len(every), quota(cgroup, mounts))))]


def quota(cgroup: Path = CGROUP, mounts: Path = MOUNTS) -> float:
    """How many cores the control groups of this process pay for; infinite where there is no limit."""
    try:
        told, mounted = cgroup.read_text(), mounts.read_text()
    except OSError:  # as everywhere but on Linux
        return math.inf
    found = list(_mounts(mounted))
    limits = [math.inf]
    for line in told.splitlines():
        _, controllers, path = line.split(":", 2)
        for mount in found:
            if mount.unified != (controllers == "") or not (mount.unified or "cpu" in controllers.split(",")):
                continue
            limits += [_limit(folder, unified=mount.unified) for folder in _folders(mount, path)]
    return min(limits)


def _affinity() -> list[int]:
    try:
        return list(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return list(range(os.cpu_count() or 1))


def _mounts(text: str) -> Iterator[Mount]:
    """Where control groups with the controller of CPU time are mounted."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if kind[0] == "cgroup2" or (kind[0] == "cgroup" and "cpu" in kind[-1].split(",")):
            yield Mount(
                PurePosixPath(_unescaped(fields[3])), Path(_unescaped(fields[4])), kind[0] == "cgroup2"
            )


def _unescaped(text: str) -> str:
    """A path of the kernel's, in which a blank is `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _folders(mount: Mount, path: str) -> Iterator[Path]:
    """The folders of a group and of all above it that can be seen: each may have a limit of its own."""
    group = PurePosixPath(path)
    # What lies outside of what is mounted here is seen as the mount's own root, as by a container on version 1.
    inside = group.relative_to(mount.root) if group.is_relative_to(mount.root) else PurePosixPath()
    if ".." not in inside.parts:
        yield from (mount.point / each for each in (inside, *inside.parents))


def _limit(folder: Path, *, unified: bool) -> float:
    """The cores that one group pays for; infinite where it sets no limit, or where its files are not there."""
    with suppress(OSError, ValueError):
        if unified:
            amount, period = (folder / "cpu.max").read_text().split()
        else:
            amount, period = (
                (folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")
            )
        if amount != "max" and int(amount) > 0 and int(period) > 0:
            return int(amount) / int(period)
    return math.inf
