"""docs/hosting.md, typed word for word on an empty machine: a container in which systemd runs."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.project_files import list_project_files
from testkit.tools import mark_requires
from tests.docker.compose import ROOT, docker, token_in
from tests.docs.hosting_guide import Block, sections

pytestmark = [
    pytest.mark.timeout(900),
    mark_requires("docker"),
]

SOURCES = "/srv/riskless-arena"
IN_CONTAINERS = "10. In containers"
"""The section that tests/docker/test_postgres_profile.py types."""
SERVICE = "3. As a service"
HELD = re.compile(r"(\w+=\S+ )*arena (serve|bot) ")
"""A command that runs until somebody stops it: here, until its section ends."""
RUNNING = "arena_bots 1.0"


class Machine:
    """An empty machine, and somebody who types on it."""

    def __init__(self, container: str) -> None:
        self._container = container
        self._held: list[subprocess.Popen[str]] = []
        self._token = ""

    def run(self, commands: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Type commands; the first that fails ends them."""
        words = ["docker", "exec", "-i", "--user", "host", "--workdir", SOURCES, *options, self._container]
        return subprocess.run(
            # Both outputs in one there: Docker would carry them apart, and their lines would change places.
            [*words, "sh", "-c", "exec bash -e -o pipefail 2>&1"],
            input=commands,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=500,
        )

    def do(self, block: Block) -> None:
        """Type a block, and see what is shown."""
        commands = block.commands.replace("THE-TOKEN", self._token)
        if HELD.match(commands):
            self._hold(commands, block)
            return
        result = self.run(commands)
        assert result.returncode == 0, f"{commands}\n{result.stdout[-5000:]}\n{self.journal()}"
        missing = block.missing(result.stdout)
        assert missing is None, f"{missing}\nis not in\n{result.stdout[-5000:]}"
        if "token create ada" in commands:
            self._token = token_in(result.stdout)

    def _hold(self, commands: str, block: Block) -> None:
        name = f"held-{len(self._held)}"
        self._held.append(
            subprocess.Popen(
                ["docker", "exec", "-i", "--user", "host", "--workdir", SOURCES, self._container, "bash"],
                stdin=subprocess.PIPE,
                text=True,
            )
        )
        stdin = self._held[-1].stdin
        assert stdin is not None
        stdin.write(f"echo $$ >/tmp/{name}.pid; exec env {commands.rstrip()} >/tmp/{name}.log 2>&1\n")
        stdin.close()
        end = time.monotonic() + 150
        while True:
            told = self.run(f"cat /tmp/{name}.log").stdout
            up = "" if block.shown else self.run("curl -s http://127.0.0.1:8765/metrics").stdout
            if block.missing(told) is None and (block.shown or RUNNING in up):
                return
            assert time.monotonic() < end, f"{commands}\n{told}\n{up}\n{self.journal()}"
            time.sleep(1)

    def let_go(self) -> None:
        """Send Ctrl-C to all running commands."""
        for number, process in enumerate(self._held):
            self.run(f"kill -INT $(cat /tmp/held-{number}.pid)")
            assert process.wait(150) in (0, 130), self.run(f"cat /tmp/held-{number}.log").stdout
        self._held.clear()

    def assert_unprivileged(self) -> None:
        """Check that the service's process is the user arena, has no capability, and can get none."""
        status = self.run("cat /proc/$(systemctl show arena --property MainPID --value)/status").stdout
        shown = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert set(shown["Uid"].split()) == {self.run("id -u arena").stdout.strip()}
        assert {int(shown[each], 16) for each in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {0}
        assert shown["NoNewPrivs"] == "1"

    def close(self) -> None:
        """End all commands typed on the machine."""
        for process in self._held:
            process.wait(150)

    def journal(self) -> str:
        """Return the end of the machine's journal."""
        return docker("exec", self._container, "journalctl", "--no-pager", "-n", "40")


def sources() -> bytes:
    """Return the files of the project as a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in list_project_files():
            # A link to a folder is part of the package, as arena/server is.
            tar.add(ROOT / name, name)
    return packed.getvalue()


def system_state(container: str) -> str:
    """Return the state of systemd after it has started; empty if it does not start."""
    words = ["docker", "exec", container, "systemctl", "is-system-running", "--wait"]
    end, state = time.monotonic() + 150, ""
    while not state and time.monotonic() < end:
        state = subprocess.run(words, capture_output=True, text=True, check=False, timeout=500).stdout.strip()
        time.sleep(0.2)
    return state


@pytest.fixture
def machine() -> Iterator[Machine]:
    image, container = "riskless-arena-test-machine", f"arena-machine-{os.getpid()}"
    docker("build", "--tag", image, str(Path(__file__).parent / "machine"))
    # What systemd itself needs: to mount, and folders that are gone at the next start.
    folders = [word for folder in ("/run", "/run/lock", "/tmp") for word in ("--tmpfs", f"{folder}:exec")]
    allowed = ["--cap-add", "SYS_ADMIN", "--security-opt", "seccomp=unconfined", "--cgroupns", "private"]
    docker("run", "--detach", "--name", container, *folders, *allowed, image)
    try:
        state = system_state(container)
        if state not in ("running", "degraded"):
            pytest.skip(f"systemd does not run in a container of this engine: {state!r}")
        subprocess.run(
            ["docker", "exec", "-i", "--user", "host", container, "tar", "-x", "-C", SOURCES],
            input=sources(),
            check=True,
            timeout=500,
        )
        machine = Machine(container)
        yield machine
    finally:
        docker("rm", "--force", "--volumes", container)
    machine.close()


def test_the_guide_leads_from_an_empty_machine_to_a_public_host(machine: Machine) -> None:
    typed = 0
    for title, blocks in sections().items():
        if title == IN_CONTAINERS:
            continue
        for block in blocks:
            machine.do(block)
            typed += 1
        if title == SERVICE:
            machine.assert_unprivileged()
        machine.let_go()
    assert typed >= 15
