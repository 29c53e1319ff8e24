"""The server and account of a bot in its bot.toml file, as read by `arena bot`, `log` and `replay`."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path


class BadBotFile(ValueError):
    """Raised when a bot.toml has no valid account; the message is one line with the valid form."""


@dataclass(frozen=True)
class Account:
    """A bot's account on a server."""

    url: str
    name: str
    token: str


def read_account(path: Path) -> Account:
    """Return the account in the bot.toml file at `path`. Raises BadBotFile."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadBotFile(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise BadBotFile(f"{path}: {error}") from None
    values = {key: data.get(key, "") for key in ("url", "name", "token-file", "token-env")}
    for key, value in values.items():
        if not isinstance(value, str):
            raise BadBotFile(f"{path}: {key}: must be a string, not {value!r:.40}")
    for key in ("url", "name"):
        if not values[key]:
            raise BadBotFile(f"{path}: {key} is missing")
    return Account(values["url"], values["name"], token_of(path, values["token-file"], values["token-env"]))


def token_of(path: Path, file: str, variable: str) -> str:
    """Return a bot's token from `file` or from the environment `variable`; empty if both are empty.

    The token is not in the bot.toml itself, because that file may be shared. A relative `file` is found next to `path`.
    Raises BadBotFile.
    """
    if file and variable:
        raise BadBotFile(f"{path}: give token-file or token-env, not both")
    if variable:
        if variable not in os.environ:
            raise BadBotFile(f"{path}: token-env: {variable} is not in the environment")
        return os.environ[variable].strip()
    if not file:
        return ""
    beside = path.parent / file
    try:
        return beside.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadBotFile(f"{path}: token-file: cannot read {beside}: {why}") from None
