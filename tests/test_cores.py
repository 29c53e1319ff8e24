"""arena.cores: affinity and CPU quotas, with control groups of versions 1 and 2."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import cores
from arena.cores import find_cpu_limit_in_cores, list_usable_cores, measure_container_cpu_ms


class Machine:
    """Simulated files of a machine with control groups, as a process reads them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cgroup = folder / "cgroup"
        self.mounts = folder / "mountinfo"
        monkeypatch.setattr(cores, "CGROUP_FILE", self.cgroup)
        monkeypatch.setattr(cores, "MOUNTINFO_FILE", self.mounts)
        self.tree = folder / "tree of groups"
        self._write([], [])

    def _write(self, groups: list[str], mounts: list[str]) -> None:
        self.cgroup.write_text("".join(f"{line}\n" for line in groups))
        self.mounts.write_text("".join(f"{line}\n" for line in mounts))

    def mount(self, kind: str, options: str, root: str = "/") -> str:
        """Return a line of the file mountinfo. A space in a path is escaped as by the kernel."""
        point = str(self.tree).replace(" ", "\\040")
        return f"31 23 0:28 {root} {point} rw,relatime shared:9 - {kind} {kind} {options}"

    def unified(self, path: str, limits: dict[str, str], root: str = "/") -> None:
        """Write control groups of version 2.

        path    group of the process
        limits  content of the file cpu.max in each folder of the tree
        """
        self._write([f"0::{path}"], [self.mount("cgroup2", "rw", root)])
        for folder, limit in limits.items():
            (self.tree / folder).mkdir(parents=True, exist_ok=True)
            (self.tree / folder / "cpu.max").write_text(f"{limit}\n")

    def split(
        self, path: str, limits: dict[str, tuple[int, int]], root: str = "/", controllers: str = "cpu,cpuacct"
    ) -> None:
        """Write control groups of version 1, with a further tree of groups for the controller `memory`.

        path    group of the process
        limits  CPU quota and period in µs, for each folder of the tree
        """
        self._write(
            [f"5:memory:{path}", f"4:{controllers}:{path}", "0::/"],
            [
                "30 23 0:27 / /nowhere rw - cgroup cgroup rw,memory",
                self.mount("cgroup", f"rw,{controllers}", root),
            ],
        )
        for folder, (amount, period) in limits.items():
            (self.tree / folder).mkdir(parents=True, exist_ok=True)
            (self.tree / folder / "cpu.cfs_quota_us").write_text(f"{amount}\n")
            (self.tree / folder / "cpu.cfs_period_us").write_text(f"{period}\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max 100000", math.inf), ("200000 100000", 2), ("150000 100000", 1.5), ("50000 100000", 0.5)],
)
def test_version_2_has_quota_and_period_in_one_file(machine: Machine, limit: str, expected: float) -> None:
    machine.unified("/", {".": limit})
    assert find_cpu_limit_in_cores() == expected


def test_parent_groups_limit_too(machine: Machine) -> None:
    machine.unified(
        "/a/b/c", {"a": "300000 100000", "a/b": "max 100000", "a/b/c": "400000 100000", "x": "1 100000"}
    )
    assert find_cpu_limit_in_cores() == 3


def test_version_1_has_two_files(machine: Machine) -> None:
    machine.split("/a/b", {"a": (400_000, 100_000), "a/b": (250_000, 100_000), ".": (-1, 100_000)})
    assert find_cpu_limit_in_cores() == 2.5


@pytest.mark.parametrize("path", ["/docker/abc", "/docker/abc/inner"])
def test_a_container_sees_its_own_group_as_the_root(machine: Machine, path: str) -> None:
    machine.split(path, {".": (200_000, 100_000)}, root="/docker/abc")
    assert find_cpu_limit_in_cores() == 2


def test_a_group_outside_of_the_mount_is_limited_by_its_visible_parents(machine: Machine) -> None:
    machine.split("/docker/abc", {".": (300_000, 100_000)}, root="/elsewhere")
    assert find_cpu_limit_in_cores() == 3
    machine.unified("/../../other", {".": "200000 100000"})
    assert find_cpu_limit_in_cores() == math.inf, "a group outside of the namespace cannot be read"


def test_only_the_controller_of_cpu_time_counts(machine: Machine) -> None:
    machine.split("/a", {"a": (200_000, 100_000)}, controllers="cpuset,cpuacct")
    assert find_cpu_limit_in_cores() == math.inf


def test_without_the_files_there_is_no_limit(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.unified("/a", {"a": "100000 100000"})
    assert find_cpu_limit_in_cores() == 1
    monkeypatch.setattr(cores, "_get_allowed_cores", lambda: [3, 1, 2])
    for file in (machine.cgroup, machine.mounts):
        content = file.read_text()
        file.unlink()
        assert find_cpu_limit_in_cores() == math.inf
        assert list_usable_cores() == [1, 2, 3]
        file.write_text(content)


@pytest.mark.parametrize("limit", ["", "max", "many 100000", "100000 0", "-1 100000", "1 2 3"])
def test_an_invalid_limit_is_ignored(machine: Machine, limit: str) -> None:
    machine.unified("/", {".": limit})
    assert find_cpu_limit_in_cores() == math.inf


@given(
    affinity=st.sets(st.integers(0, 255), min_size=1, max_size=64),
    amount=st.integers(1, 10_000_000),
    period=st.integers(1_000, 1_000_000),
)
def test_the_cores_are_whole_ones_of_the_affinity(
    tmp_path_factory: pytest.TempPathFactory, affinity: set[int], amount: int, period: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machine = Machine(tmp_path_factory.mktemp("machine"), patch)
        machine.unified("/", {".": f"{amount} {period}"})
        patch.setattr(cores, "_get_allowed_cores", lambda: list(affinity))
        found = list_usable_cores()
    assert found == sorted(affinity)[: len(found)]
    assert len(found) == max(1, min(len(affinity), amount // period))


def test_a_machine_with_one_core_has_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.unified("/", {".": "max 100000"})
    monkeypatch.setattr(cores, "_get_allowed_cores", lambda: [0])
    assert list_usable_cores() == [0]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_affinity_of_this_process_is_its_own() -> None:
    program = "import os; from arena.cores import list_usable_cores; os.sched_setaffinity(0, {ONE}); print(list_usable_cores())"
    one = min(os.sched_getaffinity(0))
    result = subprocess.run(
        [sys.executable, "-c", program.replace("ONE", str(one))], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"[{one}]\n"
    assert set(list_usable_cores()) <= set(os.sched_getaffinity(0))


@pytest.mark.parametrize("controllers", ["cpuacct", "cpu,cpuacct"])
def test_cpu_time_of_a_container_in_both_versions(machine: Machine, controllers: str) -> None:
    machine.split("/docker/abc", {"docker/abc": (-1, 100_000)}, controllers=controllers)
    assert measure_container_cpu_ms("abc", machine.cgroup) is None
    (machine.tree / "docker/abc/cpuacct.usage").write_text("2500000\n")
    assert measure_container_cpu_ms("abc", machine.cgroup) == 2.5
    machine.unified("/docker/abc", {"docker/abc": "max 100000"})
    (machine.tree / "docker/abc/cpu.stat").write_text("nr_periods 0\nusage_usec 3500\nuser_usec 1\n")
    assert measure_container_cpu_ms("abc", machine.cgroup) == 3.5


def test_cpu_time_of_another_process_is_not_that_of_the_container(machine: Machine, tmp_path: Path) -> None:
    machine.unified("/user.slice", {"user.slice": "max 100000"})
    (machine.tree / "user.slice/cpu.stat").write_text("usage_usec 3500\n")
    assert measure_container_cpu_ms("abc", machine.cgroup) is None
    assert measure_container_cpu_ms("abc", tmp_path / "ended") is None
