"""Log of a server as text or JSON. Each line reports one occurrence, with the match, the bot and the address concerned."""

from __future__ import annotations

import logging
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType

import msgspec

from arena.server.settings import LogFormat, LogSettings

log = logging.getLogger("arena.log")

LOG_RECORD_FIELDS = ("match", "bot", "address", "trace")
"""Fields that a log call may pass with `extra=`. `trace` is the number of a client, in hexadecimal."""


class TextLogFormatter(logging.Formatter):
    """Formatter of log lines as text: time, level, logger and message, then `key=value` for each field."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(
            f" {field}={value!r}"
            for field in LOG_RECORD_FIELDS
            if (value := getattr(record, field, None)) is not None
        )
        line = f"{_format_record_time(record)} {record.levelname.lower()} {record.name}: {record.getMessage()}{fields}"
        return line + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


class JsonLogFormatter(logging.Formatter):
    """Formatter for log collectors: one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _format_record_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {
            field: value for field in LOG_RECORD_FIELDS if (value := getattr(record, field, None)) is not None
        }
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def configure_logging(settings: LogSettings) -> None:
    """Send the server's log to stderr.

    With the setting `log.wire`, the log contains all messages: `>` marks a message from a client, `<` a message to a client.
    """
    is_json = settings.format is LogFormat.JSON
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLogFormatter() if is_json else TextLogFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Warnings and exceptions that Python would write to stderr become log lines.
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught_exception
    sys.unraisablehook = _log_unraisable_exception
    threading.excepthook = _log_thread_exception
    logging.getLogger("arena").setLevel(logging.INFO if settings.verbose or is_json else logging.WARNING)
    logging.getLogger("arena.wire").setLevel(logging.DEBUG if settings.wire else logging.NOTSET)


def _log_uncaught_exception(
    exception_type: type[BaseException], exception: BaseException, traceback: TracebackType | None
) -> None:
    log.critical(
        "the program stops: %s: %s",
        exception_type.__name__,
        exception,
        exc_info=(exception_type, exception, traceback),
    )


def _log_unraisable_exception(unraisable: sys.UnraisableHookArgs) -> None:
    """Log an exception that Python cannot raise to a caller, for example in a destructor (see `sys.unraisablehook`)."""
    error = unraisable.exc_value
    description = unraisable.err_msg or "an exception was ignored"
    log.error(
        "%s: %r",
        description,
        unraisable.object,
        exc_info=error if error is None else (type(error), error, unraisable.exc_traceback),
    )


def _log_thread_exception(thread_error: threading.ExceptHookArgs) -> None:
    error = thread_error.exc_value
    name = thread_error.thread.name if thread_error.thread is not None else "?"
    log.error(
        "thread %s stopped",
        name,
        exc_info=error if error is None else (type(error), error, thread_error.exc_traceback),
    )


def _format_record_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
