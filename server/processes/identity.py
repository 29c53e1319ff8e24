"""Which program and which process this is, the latter in words that another process can check: is it still there?

A process is known by its number, by the boot of its machine and the namespace in which the number counts, and by
when it started: numbers are given again.
"""

from __future__ import annotations

import os
import socket
from importlib.metadata import version
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")

PROGRAM = f"riskless-arena {version('riskless-arena')}"
"""The program and its version, as it presents itself."""


class Process(Struct, frozen=True):
    """A process of some machine."""

    host: str
    """The machine's name, for people."""
    pid: int
    place: str
    """The boot of the machine and the namespace of the number; empty where the system does not tell."""
    started: str
    """When it started, in the system's own ticks since the boot; empty where the system does not tell."""


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    state = _state(pid)
    return Process(socket.gethostname()[:255], pid, _place(), state[1] if state else "")


def is_gone(process: Process) -> bool:
    """Whether a process has certainly ended. False where that cannot be known from here, as of another machine."""
    if not process.place or not process.started or process.place != _place():
        return False
    state = _state(process.pid)
    # One that has ended keeps its number until its parent has asked after it.
    return state is None or state[0] in "ZX" or state[1] != process.started


def _place() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _state(pid: int) -> tuple[str, str] | None:
    """What a process is at, as one letter, and when it started; None where there is no such process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the program stands in parentheses, and may hold some itself.
    fields = text.rpartition(")")[2].split()
    return fields[0], fields[19]
