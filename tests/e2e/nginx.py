"""The nginx of a guide or a container, on this machine."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from testkit.tools import find_program


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    held = [socket.socket() for _ in range(count)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def substitute(text: str, changes: Mapping[str, str]) -> str:
    """Replace each of these texts, which must occur once."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@contextmanager
def running_nginx(folder: Path, config: str, port: int) -> Iterator[None]:
    """Run nginx with this configuration, and begin when it listens on the port."""
    program, file, log = find_program("nginx"), folder / "nginx.conf", folder / "nginx.log"
    assert program is not None
    file.write_text(f"daemon off;\n{config}")
    words = [program, "-p", str(folder), "-c", str(file), "-e", str(log)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 150
        while True:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, log.read_text() if log.exists() else "nginx ended"
            assert time.monotonic() < end
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(150)
