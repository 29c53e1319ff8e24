"""Identity of a process, which lets another process check whether the identified process still runs.

A process id alone is not enough, because ids are reused. So the identity also contains the boot id of the machine (a
random text that Linux creates at each boot), the namespace of the process id, and the start time of the process.
"""

from __future__ import annotations

import os
import socket
from importlib.metadata import version
from pathlib import Path

from msgspec import Struct, field

_PROC_FOLDER = Path("/proc")

PROGRAM_NAME_AND_VERSION = f"riskless-arena {version('riskless-arena')}"


class ProcessIdentity(Struct, frozen=True):
    """Identity of a process, on this machine or another machine."""

    host: str
    """Name of the machine, only for messages to people."""
    pid: int
    boot_and_namespace_ids: str = field(name="place")
    """Boot id of the machine and namespace of `pid`; empty if the operating system does not provide them."""
    start_ticks: str = field(name="started")
    """Start time of the process, in clock ticks since boot; empty if the operating system does not provide it."""


def identify_this_process() -> ProcessIdentity:
    """Return the identity of this process, with empty parts where the operating system does not provide them."""
    pid = os.getpid()
    state = _read_state_and_start_time(pid)
    return ProcessIdentity(
        socket.gethostname()[:255], pid, _read_boot_and_namespace_ids(), state[1] if state else ""
    )


def has_ended(process: ProcessIdentity) -> bool:
    """Return True if the process is known to have ended.

    Return False if the process runs, or if this cannot be checked, as for a process on another machine.
    """
    if (
        not process.boot_and_namespace_ids
        or not process.start_ticks
        or process.boot_and_namespace_ids != _read_boot_and_namespace_ids()
    ):
        return False
    state = _read_state_and_start_time(process.pid)
    # An ended process keeps its number until its parent has reaped it.
    return state is None or state[0] in "ZX" or state[1] != process.start_ticks


def _read_boot_and_namespace_ids() -> str:
    try:
        boot = (_PROC_FOLDER / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC_FOLDER / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _read_state_and_start_time(pid: int) -> tuple[str, str] | None:
    """Return the state letter of a process (such as Z for a zombie) and its start time, in clock ticks since boot.

    Return None if there is no such process.
    """
    try:
        stat_text = (_PROC_FOLDER / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The program's name is in parentheses, and may contain parentheses itself.
    stat_fields = stat_text.rpartition(")")[2].split()
    return stat_fields[0], stat_fields[19]
