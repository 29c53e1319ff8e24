"""NATS server on a free port of the loopback address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from testkit.tools import find_program

NATS_START_TIMEOUT_SECONDS = 150
"""Maximum time for nats-server to start, in seconds."""


class NatsServer:
    """Process of nats-server, with its files in a folder. The port stays the same over restarts."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        """Prepare the server without starting it. `settings`: further entries of its configuration file."""
        self.folder = folder
        self.port = -1  # any free port at the first start
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """URL for clients, without credentials."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Process id. Raises RuntimeError if the server is not running."""
        if self._process is None:
            raise RuntimeError("the NATS server is not running: call start() first")
        return self._process.pid

    @property
    def log_text(self) -> str:
        """Text that the server has logged so far."""
        return (self.folder / "log").read_text()

    def make_configuration(self) -> str:
        """Return the content of the configuration file, as JSON. The format of nats-server includes JSON."""
        return json.dumps({"host": "127.0.0.1", "port": self.port, **self._settings})

    def start(self) -> None:
        """Start the server, and wait until it listens.

        Raises FileNotFoundError if this machine has no nats-server, and RuntimeError if it does not start.
        """
        program = find_program("nats-server")
        if program is None:
            raise FileNotFoundError("nats-server")
        (self.folder / "nats.conf").write_text(self.make_configuration())
        ports = self.folder / "ports"
        ports.mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program, "--config", str(self.folder / "nats.conf"), "--ports_file_dir", str(ports)],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        file = ports / f"{Path(program).name}_{self._process.pid}.ports"
        deadline = time.monotonic() + NATS_START_TIMEOUT_SECONDS
        while True:
            try:
                (output,) = json.loads(file.read_text())["nats"]
            except (OSError, ValueError):
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(
                        f"nats-server did not start; end of its log: {self.log_text[-2000:]}"
                    ) from None
                time.sleep(0.01)
            else:
                self.port = int(output.rpartition(":")[2])
                return

    def stop(self) -> None:
        """Stop the server with SIGTERM, as an administrator would, and wait for its end."""
        self._stop_with_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server with SIGKILL, and wait for its end."""
        self._stop_with_signal(signal.SIGKILL)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Suspend the server with SIGSTOP, and resume it at the end of the `with` block."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _stop_with_signal(self, signal_number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(signal_number)
            self._process.wait(NATS_START_TIMEOUT_SECONDS)
            self._process = None


@contextmanager
def run_nats(**settings: object) -> Iterator[NatsServer]:
    """Run a NATS server until the end of the `with` block. `settings`: further entries of its configuration file."""
    with tempfile.TemporaryDirectory(prefix="arena-nats-") as folder:
        server = NatsServer(Path(folder), settings)
        server.start()
        try:
            yield server
        finally:
            server.kill()
