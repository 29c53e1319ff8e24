import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.processes import supervisor

GRANDCHILD = "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); "


@contextmanager
def supervised(*command: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with process:
            yield process
    finally:
        if process.poll() is None:
            process.kill()


def is_alive(pid: int) -> bool:
    """Return True if a process runs. A process that has ended but was not reaped does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_dead(pid: int) -> bool:
    """Wait until a process has ended, and return True."""
    for _ in range(3000):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("code", "seen"), [("raise SystemExit(3)", 3), ("pass", 0), ("import os; os.abort()", 134)]
)
def test_the_exit_code_is_the_commands(code: str, seen: int) -> None:
    with supervised(sys.executable, "-I", "-S", "-c", code) as process:
        assert process.wait(150) == seen


def test_output_and_environment_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TEST", "seen")
    code = "import os, sys; print(os.environ['ARENA_TEST']); print(sys.stdin.read() == '', file=sys.stderr)"
    with supervised(sys.executable, "-I", "-S", "-c", code) as process:
        assert process.stdout is not None
        assert sorted(process.stdout.read().split()) == ["True", "seen"]


def test_a_missing_command() -> None:
    with supervised("no-such-program") as process:
        assert process.stdout is not None
        assert process.stdout.read() == "cannot start 'no-such-program': No such file or directory\n"
        assert process.wait(150) == supervisor.CANNOT_START_EXIT_CODE


def test_a_signal_that_arrives_before_the_command_starts_is_forwarded_to_it() -> None:
    """Without forwarding, the signal would end only the supervisor and leave the command running."""
    # A blocked signal stays pending, and stays blocked, when the process executes another program.
    early = (
        "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
        "os.kill(os.getpid(), signal.SIGTERM); os.execv(sys.argv[1], sys.argv[1:])"
    )
    words = supervisor.make_supervised_command(
        sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", early, *words], stdin=subprocess.PIPE
    ) as process:
        try:
            assert process.wait(150) == 128 + signal.SIGTERM
        finally:
            process.kill()


def test_a_closed_pipe_kills_the_command_and_its_children() -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + GRANDCHILD + "time.sleep(60)"
    with supervised(sys.executable, "-c", code) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        grandchild = int(process.stdout.readline())
        process.stdin.close()
        assert process.wait(150) == 128 + signal.SIGKILL
    assert wait_until_dead(grandchild)


def test_child_processes_of_the_command_end_with_it() -> None:
    with supervised(sys.executable, "-c", GRANDCHILD) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        assert process.wait(150) == 0
    assert wait_until_dead(grandchild)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_that_ask_to_stop_are_forwarded(number: signal.Signals) -> None:
    # A Python handler runs between two bytecodes, so a signal just before a sleep would be handled only after the sleep.
    # `sigwait` accepts a signal at any time.
    code = (
        f"import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [{number:d}]);"
        f"print('ready', flush=True); signal.sigwait([{number:d}]); sys.exit(7)"
    )
    with supervised(sys.executable, "-I", "-S", "-c", code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(150) == 7


def test_kill_9_of_the_starter_kills_the_command() -> None:
    starter = (
        "import subprocess, sys;"
        f"p = subprocess.Popen([sys.executable, {supervisor.__file__!r}, 'sh', '-c', 'echo $$; exec sleep 60'],"
        " stdin=subprocess.PIPE); p.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert is_alive(pid)
        os.kill(process.pid, signal.SIGKILL)
    assert wait_until_dead(pid)
