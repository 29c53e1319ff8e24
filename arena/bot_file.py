"""Reader of bot.toml files, which hold a bot's account: the URL of a server, and the bot's name and token there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from arena.toml_file import BadTomlFile, TomlFile


@dataclass(frozen=True)
class BotAccount:
    """Name and token of a bot, and the URL of the server on which they are valid."""

    url: str
    """Websocket URL of the server, such as `wss://arena.example.org`."""
    name: str
    token: str
    """Secret that proves that this bot may use its name; empty for a server that needs no token."""


def read_bot_account(bot_file: Path) -> BotAccount:
    """Return the account in the bot.toml file at `bot_file`. Raises BadTomlFile if the file has no valid account."""
    file = TomlFile.read_file(bot_file)
    account_values = {key: file.data.get(key, "") for key in ("url", "name", "token-file", "token-env")}
    for key, value in account_values.items():
        if not isinstance(value, str):
            raise file.make_error_at([key], f"must be a string, not {value!r:.40}")
    for key in ("url", "name"):
        if not account_values[key]:
            raise BadTomlFile(f"{bot_file}: the key {key} is missing")
    return BotAccount(
        account_values["url"],
        account_values["name"],
        read_bot_token(file, account_values["token-file"], account_values["token-env"]),
    )


def read_bot_token(bot_file: TomlFile, token_file: str, token_env: str) -> str:
    """Return the token of the bot whose bot.toml is `bot_file`. Raises BadTomlFile if the token cannot be read.

    The bot.toml itself does not contain the token, so that the file can be shared.

    token_file  path of a file with the token, absolute or relative to the folder of bot.toml; empty for none
    token_env   name of an environment variable with the token; empty for none

    If both arguments are empty, so is the token.
    """
    if token_file and token_env:
        raise bot_file.make_error_at(["token-file"], "set token-file or token-env, not both")
    if token_env:
        if token_env not in os.environ:
            raise bot_file.make_error_at(["token-env"], f"the environment variable {token_env} is not set")
        return os.environ[token_env].strip()
    if not token_file:
        return ""
    file_beside_bot = bot_file.path.parent / token_file
    try:
        return file_beside_bot.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise bot_file.make_error_at(["token-file"], f"cannot read {file_beside_bot}: {reason}") from None
