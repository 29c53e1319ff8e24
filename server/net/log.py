"""The log of a server: one line an event, with the match and the bot it is about."""

from __future__ import annotations

import logging
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

import msgspec
from msgspec import structs

from arena.protocol.messages import Hello, Message, Welcome

log = logging.getLogger("arena.log")

FIELDS = ("match", "bot", "address")
"""What a line says it is about, where it is about something: given with `extra=`."""


class LineFormatter(logging.Formatter):
    """Time, level, logger, message, and `key=value` for what the line is about."""

    def format(self, record: logging.LogRecord) -> str:
        about = "".join(
            f" {field}={value!r}" for field in FIELDS if (value := getattr(record, field, None)) is not None
        )
        line = f"{_time(record)} {record.levelname.lower()} {record.name}: {record.getMessage()}{about}"
        return line + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for what collects logs."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {field: value for field in FIELDS if (value := getattr(record, field, None)) is not None}
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def set_up(form: Literal["text", "json"], *, verbose: bool, wire: bool) -> None:
    """Send the server's log to stderr. `wire` adds every message, as `<` (in) and `>` (out)."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # What Python would write to stderr by itself is a line of the log too.
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_exception
    sys.unraisablehook = _log_unraisable
    threading.excepthook = _log_of_thread
    logging.getLogger("arena").setLevel(logging.INFO if verbose or form == "json" else logging.WARNING)
    logging.getLogger("arena.wire").setLevel(logging.DEBUG if wire else logging.NOTSET)


def _log_exception(kind: type[BaseException], error: BaseException, stack: TracebackType | None) -> None:
    """Log what ends the program."""
    log.critical("the program ends: %s: %s", kind.__name__, error, exc_info=(kind, error, stack))


def _log_unraisable(failed: sys.UnraisableHookArgs) -> None:
    """Log an exception that nobody can be given, as one of a destructor."""
    error = failed.exc_value
    what = failed.err_msg or "an exception that nobody could be given"
    log.error(
        "%s: %r",
        what,
        failed.object,
        exc_info=error if error is None else (type(error), error, failed.exc_traceback),
    )


def _log_of_thread(failed: threading.ExceptHookArgs) -> None:
    """Log an exception that ends a thread."""
    error = failed.exc_value
    name = failed.thread.name if failed.thread is not None else "?"
    log.error(
        "thread %s ends",
        name,
        exc_info=error if error is None else (type(error), error, failed.exc_traceback),
    )


def without_secrets(message: Message) -> Message:
    """A message as it may be shown: logs are kept, and read by others."""
    match message:
        case Hello():
            token, session = ("…" if secret else "" for secret in (message.token, message.session))
            return structs.replace(message, token=token, session=session)
        case Welcome():
            return structs.replace(message, session="…")
    return message


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
