"""A bot that tries to get out of its box, and writes to standard error what came of each attempt."""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

MEBIBYTE = bytes(2**20)
GIBIBYTES = 10
MAX_FORKS = 10_000


def attempt(act: Callable[[], object]) -> str:
    """Return the result of an attempt, or the name of the error that it failed with."""
    try:
        return f"done: {act()}"
    except (OSError, ValueError) as error:
        return type(error).__name__


def find_files(name: str) -> str:
    """Look everywhere for files whose names begin with `name`."""
    return str([file for _, _, files in os.walk("/") for file in files if file.startswith(name)])


def connect(address: tuple[str, int]) -> None:
    socket.create_connection(address, 2).close()


def fill(folder: str) -> int:
    """Write into a folder until that fails, and return the number of MiB."""
    written = 0
    with contextlib.suppress(OSError), (Path(folder) / "filled").open("wb", buffering=0) as file:
        while written < 1024 * GIBIBYTES and file.write(MEBIBYTE) == len(MEBIBYTE):
            written += 1
    with contextlib.suppress(OSError):
        (Path(folder) / "filled").unlink()
    return written


def forked() -> int:
    """Fork until that fails, and return the number of processes."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        while len(children) < MAX_FORKS:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def processes() -> list[str]:
    """Return the command lines of all processes that the bot can see."""
    folders = [each for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [(each / "cmdline").read_text().replace("\0", " ").strip() for each in folders]


def report(secret: str, path: str, port: int) -> dict[str, object]:
    return {
        "secret": attempt(lambda: find_files(secret)),
        "token": attempt(lambda: Path(path).read_text()),
        "environment": sorted(os.environ),
        "server": attempt(lambda: connect(("127.0.0.1", port))),
        "gateway": attempt(lambda: connect(("172.17.0.1", port))),
        "name": attempt(lambda: socket.getaddrinfo("example.org", 80)),
        "interfaces": [
            line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]
        ],
        "processes": processes(),
        "memory of the machine": attempt(lambda: Path("/proc/kcore").read_bytes()[:1]),
        "host name": attempt(lambda: Path("/proc/sys/kernel/hostname").write_text("mine")),
        "restart": attempt(lambda: Path("/proc/sysrq-trigger").write_text("h")),
        "root": attempt(lambda: os.setuid(0)),
        "change of root": attempt(lambda: os.chroot("/tmp")),
        "device": attempt(lambda: os.mknod("/tmp/disk", 0o60666, os.makedev(8, 0))),
        "root folder": attempt(lambda: Path("/mine").write_text("mine")),
        "own folder": attempt(lambda: Path("/bot/bot.py").write_text("mine")),
        "MiB": sum(map(fill, ("/tmp", "/dev/shm", "/bot", "/var/tmp"))),
        "forks": forked(),
    }


def bomb() -> None:
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def flood() -> None:
    for _ in range(1024 * GIBIBYTES):
        sys.stdout.buffer.write(MEBIBYTE)


def make_noise() -> None:
    for _ in range(1024 * GIBIBYTES):
        sys.stderr.buffer.write(b"noise\n" * 100_000)


def fill_memory() -> None:
    blocks: list[bytearray] = []
    for _ in range(1024 * GIBIBYTES):
        blocks.append(bytearray(b"x" * len(MEBIBYTE)))


def stop_listening() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


ATTACKS = {"bomb": bomb, "flood": flood, "noise": make_noise, "memory": fill_memory, "deaf": stop_listening}


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    how, *told = sys.argv[1:]
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            if how == "look":
                secret, path, port = told
                sys.stderr.write(json.dumps(report(secret, path, int(port))) + "\n")
            say({"ready": True})
        elif message["type"] == "turn":
            ATTACKS.get(how, lambda: None)()
            say({"move": message["legal"][0]})


main()
