"""Number of CPU cores that this process may use, and CPU time that a container has used.

CPU affinity and the quotas of control groups (cgroups) limit the cores. A quota is CPU time per period. It is rounded down
to whole cores, because one more thread would be stopped for part of every period. A quota below one core counts as one.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

CGROUP_FILE = Path("/proc/self/cgroup")
"""File that lists the control groups of this process, one per line: `HIERARCHY:CONTROLLERS:PATH`."""
MOUNTINFO_FILE = Path("/proc/self/mountinfo")
"""File that lists the mounts of this process, one per line (proc_pid_mountinfo(5))."""


@dataclass(frozen=True)
class CgroupMount:
    """Mount point of a tree of control groups."""

    root: PurePosixPath
    """Path, in the tree, of the control group mounted at `point`; in a container, not necessarily the root of the tree."""
    point: Path
    """Folder at which the tree of control groups, or a part of the tree, is mounted."""
    is_cgroup_v2: bool
    """True for version 2 of control groups, where one tree has all controllers."""


def list_usable_cores() -> list[int]:
    """Return the numbers of the CPU cores that this process may use, in ascending order; at least one.

    If a control group's CPU quota is smaller than the number of these cores, the list is cut to that many cores.
    """
    allowed_cores = sorted(_get_allowed_cores())
    return allowed_cores[: max(1, math.floor(min(len(allowed_cores), find_cpu_limit_in_cores())))]


def find_cpu_limit_in_cores() -> float:
    """Return the lowest CPU limit that this process's control groups set, in CPU cores; infinity if none sets a limit."""
    limits = [math.inf]
    for mount, path in _find_cgroups(CGROUP_FILE, "cpu"):
        limits += [
            _read_cpu_limit_in_cores(folder, is_cgroup_v2=mount.is_cgroup_v2)
            for folder in _list_cgroup_folders(mount, path)
        ]
    return min(limits)


def measure_container_cpu_ms(container_id: str, cgroup_file: Path) -> float | None:
    """Return the CPU time that a container has used, in ms; None if it has ended or its control group is not visible.

    container_id  id of the container, which is part of its control group's name
    cgroup_file   file that lists the control groups of a process in the container
    """
    for mount, path in _find_cgroups(cgroup_file, "cpuacct"):
        if container_id in path:
            return _read_cpu_ms(next(_list_cgroup_folders(mount, path)), is_cgroup_v2=mount.is_cgroup_v2)
    return None


def _get_allowed_cores() -> list[int]:
    try:
        return list(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return list(range(os.cpu_count() or 1))


def _find_cgroups(cgroup_file: Path, controller: str) -> Iterator[tuple[CgroupMount, str]]:
    """Yield each control group of a process that has a given controller, such as `cpu`, as (mount point, path in the tree).

    cgroup_file  file that lists the control groups of the process; nothing is yielded if it or MOUNTINFO_FILE is missing
    controller   name of the controller in version 1 of control groups, such as `cpu`
    """
    try:
        cgroups, mounted = cgroup_file.read_text(), MOUNTINFO_FILE.read_text()
    except OSError:  # not Linux, or the process has ended
        return
    hierarchy = list(_parse_cgroup_mounts(mounted, controller))
    for line in cgroups.splitlines():
        _, controllers, path = line.split(":", 2)
        for mount in hierarchy:
            if mount.is_cgroup_v2 == (controllers == "") and (
                mount.is_cgroup_v2 or controller in controllers.split(",")
            ):
                yield mount, path


def _parse_cgroup_mounts(mountinfo: str, controller: str) -> Iterator[CgroupMount]:
    """Yield the mount points of the control group trees that have a given controller, such as `cpu`.

    mountinfo   content of the file that lists the mounts
    controller  name of the controller in version 1 of control groups, such as `cpu`
    """
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if kind[0] == "cgroup2" or (kind[0] == "cgroup" and controller in kind[-1].split(",")):
            yield CgroupMount(
                PurePosixPath(_unescape_mount_path(fields[3])),
                Path(_unescape_mount_path(fields[4])),
                kind[0] == "cgroup2",
            )


def _unescape_mount_path(escaped_path: str) -> str:
    """Decode a path from Linux's list of mounts, in which a space is `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), escaped_path)


def _list_cgroup_folders(mount: CgroupMount, cgroup_path: str) -> Iterator[Path]:
    """Yield the folder of a control group, then those of its parents up to the mount point.

    A parent may set a lower CPU limit than the group itself.
    """
    group = PurePosixPath(cgroup_path)
    # A control group outside the mounted part appears as the root of the mount, as in a container with version 1.
    relative_path = group.relative_to(mount.root) if group.is_relative_to(mount.root) else PurePosixPath()
    if ".." not in relative_path.parts:
        yield from (mount.point / folder for folder in (relative_path, *relative_path.parents))


def _read_cpu_limit_in_cores(cgroup_folder: Path, *, is_cgroup_v2: bool) -> float:
    """Return the CPU limit of one control group, in CPU cores; infinity if it sets no limit or its files are missing.

    cgroup_folder  folder of the control group
    is_cgroup_v2   True for version 2 of control groups, False for version 1
    """
    with suppress(OSError, ValueError):
        if is_cgroup_v2:
            amount, period = (cgroup_folder / "cpu.max").read_text().split()
        else:
            amount, period = (
                (cgroup_folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")
            )
        if amount != "max" and int(amount) > 0 and int(period) > 0:
            return int(amount) / int(period)
    return math.inf


def _read_cpu_ms(cgroup_folder: Path, *, is_cgroup_v2: bool) -> float | None:
    """Return the CPU time that one control group has used, in ms; None if its accounting files are missing.

    cgroup_folder  folder of the control group
    is_cgroup_v2   True for version 2 of control groups, False for version 1
    """
    with suppress(OSError, ValueError):
        if not is_cgroup_v2:
            return int((cgroup_folder / "cpuacct.usage").read_text()) / 1e6
        for line in (cgroup_folder / "cpu.stat").read_text().splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / 1e3
    return None
