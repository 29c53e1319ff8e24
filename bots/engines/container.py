"""Bots in containers of Docker or Podman, whose programs speak JSON Lines over stdin and stdout (docs/stdio.md).

Each match has its own container, which the command `docker` or `podman` creates. A container has no network, no
privileges, a read-only file system, and limits on memory, processes and CPU cores.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.bots.api.bot import Clock, ProgramCrash, Thinking
from arena.bots.api.engine_spec import BadSpec, ContainerSpec
from arena.bots.engines.from_program import ProgramBot
from arena.bots.engines.registry import MAX_ENGINE_NAME_CHARACTERS, Engine
from arena.bots.engines.submission import unpack_submission
from arena.cores import measure_container_cpu_ms

IMAGE_REFERENCE_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,299}")
"""Pattern of a valid reference of a container image, such as `registry.example/my-bot:1.2`."""
MOUNTED_BOT_FOLDER = "/bot"
"""Folder in the container in which the bot finds its unpacked submission."""
CONTAINER_LIMIT_OPTIONS = (
    "--network=none",
    "--read-only",
    "--tmpfs=/tmp:size=64m",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--user=65534:65534",
    "--memory=512m",
    "--memory-swap=512m",
    "--pids-limit=64",
    "--ulimit=core=0",
    "--stop-timeout=0",
    # Otherwise Docker or Podman copies all output to a file on this machine, and runs the image's health check.
    "--log-driver=none",
    "--no-healthcheck",
)
"""Options of `docker create` or `podman create` that keep every container from harming the machine.

`Container.create` adds `--pull=never`, so that no match waits for a download.
"""
EXTRA_PODMAN_OPTIONS = ("--read-only-tmpfs=false",)
"""Further options for Podman, which otherwise adds writable folders in memory."""
SUPPORTED_LIMITS_TEMPLATE_BY_TOOL = {
    "docker": "{{.MemoryLimit}} {{.PidsLimit}} {{.CPUCfsQuota}}",
    "podman": "{{range .Host.CgroupControllers}}{{.}} {{end}}",
}
"""Output templates with which `docker info` and `podman info` tell whether limits on memory, processes and CPU time work."""
REMOVE_CONTAINER_SCRIPT = 'read -r _; "$1" rm --force "$2"; rm -rf "$3"'
"""Shell script that waits for the end of its standard input, and then removes a container and a folder.

The standard input also ends if the process that runs the bot is killed, so no container is left behind.
The script's arguments are the path of `docker` or `podman`, the name of the container, and the folder.
"""
CONTAINER_TOOL_TIMEOUT_SECONDS = 60
"""Time limit for a command of `docker` or `podman`, in seconds."""


class ContainerProcess(NamedTuple):
    """First process of a running container: the container's id, and the process's id on this machine."""

    container_id: str
    process_id: int


@dataclass(frozen=True)
class Container:
    """Specification of a bot's containers: the image and, for a submitted bot, the zip file."""

    tool_path: str
    """Path of `docker` or `podman`."""
    image: str
    submission: Path | None
    """Zip file with the bot; None if the image itself contains the bot."""

    def create(self, container_name: str, folder: Path, core_count: int) -> None:
        """Create a container named `container_name`.

        folder      empty folder, into which the submission is unpacked
        core_count  maximum number of CPU cores that the container may use

        Raises BadSpec if Docker or Podman refuses, or the submission is invalid.
        """
        options = [
            f"--name={container_name}",
            f"--cpus={min(core_count, os.cpu_count() or 1)}",
            *_make_cpu_limit_options(),
        ]
        command: list[str] = []
        if self.submission is not None:
            first, *command = unpack_submission(self.submission, folder)
            mount = f"--mount=type=bind,source={folder},target={MOUNTED_BOT_FOLDER},readonly"
            options += [mount, f"--workdir={MOUNTED_BOT_FOLDER}", f"--entrypoint={first}"]
        if Path(self.tool_path).name == "podman":
            options += EXTRA_PODMAN_OPTIONS
        self._run_command(
            "create",
            "--rm",
            "--interactive",
            "--pull=never",
            *CONTAINER_LIMIT_OPTIONS,
            *options,
            self.image,
            *command,
        )

    def find_main_process(self, container_name: str) -> ContainerProcess:
        """Return the first process of a running container. Raises BadSpec if there is no such container."""
        container_id, process_id = self._run_command(
            "container", "inspect", "--format={{.Id}} {{.State.Pid}}", container_name
        ).split()
        return ContainerProcess(container_id, int(process_id))

    def pin_image(self) -> Container:
        """Return a copy that names the image by its id, so that every match uses the same image even if its tag moves.

        Raises BadSpec if this machine does not have the image, or the image declares a volume: a folder without a size limit.
        """
        result = _run_docker_or_podman(
            self.tool_path, "image", "inspect", "--format={{.Id}} {{json .Config.Volumes}}", self.image
        )
        if result.returncode == 0:
            identity, volumes = result.stdout.split(maxsplit=1)
            # A volume is a folder on this machine without a size limit: the bot could fill the disk.
            if json.loads(volumes):
                raise BadSpec(
                    f"the image {self.image} declares a VOLUME, which is not allowed: build it without one"
                )
            return Container(self.tool_path, identity, self.submission)
        reason, tool = _get_first_line(result.stderr), Path(self.tool_path).name
        if re.search("no such image|image not known", reason, re.IGNORECASE):
            raise BadSpec(
                f"image {self.image} does not exist on this machine: build it, or {tool} pull {self.image}"
            )
        raise BadSpec(f"{tool} cannot look for the image {self.image}: {reason}")

    def _run_command(self, *arguments: str) -> str:
        result = _run_docker_or_podman(self.tool_path, *arguments)
        if result.returncode:
            raise BadSpec(
                f"`{Path(self.tool_path).name} {arguments[0]}` failed: {_get_first_line(result.stderr)}"
            )
        return result.stdout


def make_container_engine(spec: str, log_folder: Path | None = None) -> Engine:
    """Return the engine of `image:NAME` or `submit:FILE.zip[,image=NAME]`.

    log_folder  folder for the standard error of each match's container, as MATCH.log; None for no files

    Raises BadSpec if the image or the submission is missing or invalid, or neither Docker nor Podman can be used.
    """
    parsed = ContainerSpec.parse(spec)
    image, submission = parsed
    if IMAGE_REFERENCE_PATTERN.fullmatch(image) is None:
        raise BadSpec(f"{image!r:.100} is not a valid image: give a name, NAME@sha256:DIGEST, or an id")
    if submission is not None:
        with tempfile.TemporaryDirectory() as folder:
            unpack_submission(submission, Path(folder))
    container = Container(_find_docker_or_podman(), image, submission).pin_image()
    return Engine(
        parsed.bot_name[:MAX_ENGINE_NAME_CHARACTERS] or "container",
        spec,
        lambda: ContainerBot(container, log_folder),
    )


class ContainerBot(ProgramBot):
    """Bot in a container that is created for one match, and removed after the match."""

    def __init__(self, container: Container, log_folder: Path | None) -> None:
        self._container_name = f"arena-box-{uuid.uuid4().hex}"
        super().__init__(
            [container.tool_path, "start", "--attach", "--interactive", self._container_name], log_folder
        )
        self._container = container
        self._reaper: subprocess.Popen[bytes] | None = None
        """Process that runs REMOVE_CONTAINER_SCRIPT; None before `prepare`."""
        self._main_process = ContainerProcess("", 0)
        """First process of the container; a placeholder until the container is running."""
        self._cpu_ms: float | None = None
        """CPU time in ms that the container had used when ready, or at its last answer; None if it cannot be measured."""

    def prepare(self) -> None:
        folder = tempfile.mkdtemp(prefix="arena-box-")
        self._reaper = subprocess.Popen(  # noqa: S603
            [
                "/bin/sh",
                "-c",
                REMOVE_CONTAINER_SCRIPT,
                "sh",
                self._container.tool_path,
                self._container_name,
                folder,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._container.create(self._container_name, Path(folder), self.match.threads)
            super().prepare()
            self._main_process = self._container.find_main_process(self._container_name)
        except BadSpec as error:
            raise ProgramCrash(str(error)) from None
        self._cpu_ms = self._measure_cpu_ms()

    def choose(self, position: Any, clock: Clock) -> Any:
        move = super().choose(position, clock)
        cpu_ms_before, self._cpu_ms = self._cpu_ms, self._measure_cpu_ms()
        if cpu_ms_before is not None and self._cpu_ms is not None:
            self.thinking = replace(self.thinking or Thinking(), cpu_ms=self._cpu_ms - cpu_ms_before)
        return move

    def close(self) -> None:
        super().close()
        if self._reaper is not None:
            self._reaper.communicate(timeout=CONTAINER_TOOL_TIMEOUT_SECONDS)

    def _measure_cpu_ms(self) -> float | None:
        process = self._main_process
        return measure_container_cpu_ms(process.container_id, Path(f"/proc/{process.process_id}/cgroup"))


def _find_docker_or_podman() -> str:
    """Return the path of the command `docker`, or of `podman` if `docker` cannot be used.

    Either can be used if it is installed, answers, and can limit the memory, processes and CPU time of a container on this
    machine. Raises BadSpec if neither can be used.
    """
    reasons = []
    for tool, template in SUPPORTED_LIMITS_TEMPLATE_BY_TOOL.items():
        tool_path = shutil.which(tool)
        if tool_path is None:
            continue
        result = _run_docker_or_podman(tool_path, "info", f"--format={template}")
        words = result.stdout.split()
        if result.returncode:
            reasons.append(f"{tool} does not answer: {_get_first_line(result.stderr)}")
        elif "false" in words or (tool == "podman" and not {"memory", "pids", "cpu"} <= set(words)):
            reasons.append(
                f"{tool} cannot limit the memory, processes and cores of a container here: see docs/ladders.md"
            )
        else:
            return tool_path
    raise BadSpec(
        "; ".join(reasons)
        or "a container needs Docker or Podman, and neither is in the PATH: install one of them"
    )


def _run_docker_or_podman(tool_path: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - no shell, and the reference of the image is checked
            [tool_path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=CONTAINER_TOOL_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadSpec(f"`{Path(tool_path).name} {arguments[0]}` failed: {error}") from None


def _make_cpu_limit_options() -> list[str]:
    """Return the options of Docker or Podman that keep a container on the CPU cores that this process may use.

    The list is empty if this process may use all cores of the machine, or on an operating system without CPU affinity.
    """
    if not hasattr(os, "sched_getaffinity"):  # macOS, where nothing is pinned
        return []
    allowed_cores = os.sched_getaffinity(0)
    is_unrestricted = len(allowed_cores) == os.cpu_count()
    return [] if is_unrestricted else [f"--cpuset-cpus={','.join(map(str, sorted(allowed_cores)))}"]


def _get_first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "it gave no reason").strip()
