"""The log of a server: one line an event, with the match and the bot it is about."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec import structs

from protocol.messages import Hello, Message, Welcome

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
    logging.getLogger("arena").setLevel(logging.INFO if verbose or form == "json" else logging.WARNING)
    if wire:
        logging.getLogger("arena.wire").setLevel(logging.DEBUG)


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
