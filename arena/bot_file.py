"""Server and account of a bot, as `arena bot`, `log` and `replay` read them from its bot.toml file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path


class BadBotFile(ValueError):
    """Raised when a bot.toml has no valid account; the message is one line that says what is wrong."""


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
    return Account(values["url"], values["name"], read_token(path, values["token-file"], values["token-env"]))


def read_token(path: Path, file: str, variable: str) -> str:
    """Return the token of the bot whose bot.toml is at `path`. Raises BadBotFile.

    The token is in `file`, or in the environment variable `variable`; it is empty if both arguments are empty. The
    bot.toml itself does not contain the token, so it can be shared. A relative `file` is relative to the bot.toml's folder.
    """
    if file and variable:
        raise BadBotFile(f"{path}: set token-file or token-env, not both")
    if variable:
        if variable not in os.environ:
            raise BadBotFile(f"{path}: token-env: the environment variable {variable} is not set")
        return os.environ[variable].strip()
    if not file:
        return ""
    beside = path.parent / file
    try:
        return beside.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadBotFile(f"{path}: token-file: cannot read {beside}: {why}") from None
