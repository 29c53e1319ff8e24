"""Reading of a bot's server and account from its bot.toml file, for `arena bot`, `arena log` and `arena replay`."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path


class BadBotFile(ValueError):
    """Raised when a bot.toml has no valid account; the message is one line with the file, the key and the reason."""


@dataclass(frozen=True)
class Account:
    """A bot's account on a server."""

    url: str
    name: str
    token: str


def read_account(path: Path) -> Account:
    """Return the account in the bot.toml file at `path`. Raises BadBotFile if the file has no valid account."""
    try:
        toml_table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadBotFile(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise BadBotFile(f"{path}: {error}") from None
    account_values = {key: toml_table.get(key, "") for key in ("url", "name", "token-file", "token-env")}
    for key, value in account_values.items():
        if not isinstance(value, str):
            raise BadBotFile(f"{path}: {key}: must be a string, not {value!r:.40}")
    for key in ("url", "name"):
        if not account_values[key]:
            raise BadBotFile(f"{path}: the key {key} is missing")
    token = read_token(path, account_values["token-file"], account_values["token-env"])
    return Account(account_values["url"], account_values["name"], token)


def read_token(bot_file: Path, token_file: str, token_env: str) -> str:
    """Return the token of the bot whose bot.toml is at `bot_file`. Raises BadBotFile if the token cannot be read.

    The token is in `token_file`, or in the environment variable `token_env`; it is empty if both arguments are empty. The
    bot.toml itself does not contain the token, so it can be shared. A relative `token_file` is relative to the bot.toml's folder.
    """
    if token_file and token_env:
        raise BadBotFile(f"{bot_file}: set token-file or token-env, not both")
    if token_env:
        if token_env not in os.environ:
            raise BadBotFile(f"{bot_file}: token-env: the environment variable {token_env} is not set")
        return os.environ[token_env].strip()
    if not token_file:
        return ""
    file_beside_bot = bot_file.parent / token_file
    try:
        return file_beside_bot.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadBotFile(f"{bot_file}: token-file: cannot read {file_beside_bot}: {why}") from None
