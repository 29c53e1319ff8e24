"""The server's log as text and as JSON."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from arena.server.commands import server_log
from arena.server.settings import LogSettings


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Restore the exception hooks of the process after a test. `tests.conftest.log_as_it_was` restores its loggers."""
    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
    yield
    sys.excepthook, sys.unraisablehook, threading.excepthook = hooks
    logging.captureWarnings(capture=False)


def record(message: str = "hello %s", **about: object) -> logging.LogRecord:
    log_record = logging.LogRecord("arena.dispatch", logging.WARNING, __file__, 1, message, ("you",), None)
    log_record.created = 1_790_000_000.5
    for name, value in about.items():
        setattr(log_record, name, value)
    return log_record


def test_a_text_line_has_time_logger_message_and_bot() -> None:
    line = server_log.TextLogFormatter().format(record(bot="anna", match="m1"))
    assert line == "2026-09-21T14:13:20.500+00:00 warning arena.dispatch: hello you match='m1' bot='anna'"


def test_a_name_cannot_forge_a_line() -> None:
    line = server_log.TextLogFormatter().format(record(bot="x\n2026 error arena: all is lost"))
    assert "\n" not in line


def test_a_json_line_is_one_object() -> None:
    line = json.loads(server_log.JsonLogFormatter().format(record(address="10.0.0.1")))
    assert line == {
        "time": "2026-09-21T14:13:20.500+00:00",
        "level": "warning",
        "logger": "arena.dispatch",
        "message": "hello you",
        "address": "10.0.0.1",
    }


@pytest.mark.parametrize("formatter", [server_log.TextLogFormatter(), server_log.JsonLogFormatter()])
def test_an_exception_is_logged_with_its_stack(formatter: logging.Formatter) -> None:
    log_record = record()
    try:
        int("where")
    except ValueError:
        log_record.exc_info = sys.exc_info()
    assert "test_an_exception_is_logged_with_its_stack" in formatter.format(log_record)


def test_only_warnings_are_logged_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    server_log.configure_logging(LogSettings())
    logging.getLogger("arena.dispatch").info("here")
    logging.getLogger("arena.dispatch").warning("careful")
    assert "careful" in (stderr := capsys.readouterr().err)
    assert "here" not in stderr


def test_every_line_on_stderr_is_json() -> None:
    program = """
import logging, sys, threading, warnings
from arena.server.commands import server_log
from arena.server.settings import LogFormat, LogSettings

class Fails:
    def __del__(self):
        raise ValueError("in a destructor")

server_log.configure_logging(LogSettings(format=LogFormat.JSON))
warnings.warn("careful")
logging.getLogger("asyncio").error("a task\\nfails")
logging.getLogger("websockets.server").error("a peer fails", exc_info=ValueError("there"))
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
Fails()
raise RuntimeError("the end")
"""
    result = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=500
    )
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert [each["level"] for each in lines] == ["warning", "error", "error", "error", "error", "critical"]
    for each, words in zip(
        lines,
        ["careful", "a task\nfails", "there", "ZeroDivisionError", "destructor", "the end"],
        strict=True,
    ):
        assert words in each["message"] + each.get("stack", "")
