"""Settings of `arena bot`, from its options or a bot.toml file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from arena.bot_file import read_bot_token
from arena.games.basics import GameError
from arena.games.catalogue import CATALOGUE
from arena.games.loading import is_file_spec
from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import BadTimeControl, TimeControl, parse_duration
from arena.toml_file import BadTomlFile, TomlFile

DEFAULT_SERVER_URL = "ws://127.0.0.1:8765"
DEFAULT_GAME = "riskless"
DEFAULT_TIME_CONTROL = "10+0.1"
SESSION_FILES_SUBFOLDER = Path("riskless-arena") / "bots"
"""Folder of the files from which restarted bots resume, inside the user's state folder, such as `~/.local/state`."""


class BadBotSettings(ValueError):
    """Raised when an option of `arena bot` or its bot.toml is invalid; the message is one line with the valid forms."""


class BotFileSettings(Struct, frozen=True, rename="kebab"):
    """Keys of a bot.toml.

    Most keys have the names of options of `arena bot`. The keys `token-file` and `token-env` name the file or the
    environment variable that contains the bot's token.
    """

    engine: str = ""
    """Built-in engine, file.py, or file.py:Class; empty if `exec` is given."""
    program: str = field(name="exec", default="")
    """Command line of a program that speaks JSON Lines; empty if `engine` is given."""
    logs: Path | None = None
    """Folder for the standard error of bots that run in their own processes, one file per match; None for no files."""
    url: str = DEFAULT_SERVER_URL
    name: str = ""
    """Name of the bot; empty for the engine's name."""
    token_file: str = ""
    """File that contains the bot's token, relative to the bot.toml; empty if no file contains it."""
    token_env: str = ""
    """Environment variable that contains the bot's token; empty if no variable contains it."""
    concurrency: Annotated[int, Meta(ge=1, le=1000)] = field(name="matches", default=1)
    """Maximum number of simultaneous matches."""
    max_matches: Annotated[int, Meta(ge=1)] | None = field(name="games", default=None)
    """Total number of matches to play; None for no limit."""
    play_duration: str = field(name="for", default="ever")
    """Time from the start of the program after which the bot accepts no more matches, e.g. `10m`; `ever` for no limit."""
    games: tuple[str, ...] = field(name="game", default=())
    """Games to play; empty for all."""
    maps: tuple[str, ...] = field(name="map", default=())
    """Riskless maps to play on; empty for all."""
    time_controls: tuple[str, ...] = field(name="tc", default=())
    """Time controls to play at; empty for all that the server offers."""
    challenge: str = ""
    """Name of the bot to challenge repeatedly; empty to challenge nobody."""
    casual: bool = False
    """True if the bot's challenges are unrated."""
    max_reconnect_attempts: Annotated[int, Meta(ge=0)] | None = field(name="reconnect", default=None)
    """Number of failed attempts to reconnect in a row after which the program exits; None for no limit."""
    wait: Annotated[float, Meta(ge=0)] = 0.0
    """Time during which the first connection is retried, in seconds; 0 to try once."""
    unique: bool = False
    """True to play as NAME-2, NAME-3 and so on if the name is taken."""
    challenges_only: bool = False
    """True to play only matches by challenge; the server's matchmaker then does not pair the bot."""
    enter: str = ""
    """Name of the server's event (for example a tournament) to enter; empty to enter no event."""
    isolate: bool = False
    """True to play each match in its own process."""
    log: Path | None = None
    """File to which the console output is also appended; None to append it to no file."""
    verbose: bool = False
    """True to show every message to and from the server."""
    state: Path | None = None
    """Folder for the file from which a restarted bot resumes its matches.

    None for the folder of the bot.toml or, without a bot.toml, the user's state folder.
    """


LIST_SETTING_NAMES = frozenset({"game", "map", "tc"})
"""Keys of a bot.toml whose value may also be a single string instead of a list."""


class BotSettings(BotFileSettings, frozen=True):
    """Settings of one bot on one server, from a bot.toml, from the options of `arena bot`, or from both."""

    token: str = ""
    """Token that proves the bot's right to its name; empty for a bot without a token."""

    @property
    def play_seconds(self) -> float:
        """Return the seconds until the bot accepts no more matches; infinity for no limit.

        Raises ValueError if the setting `for` is not a duration.
        """
        return parse_duration(self.play_duration)

    def make_challenge(self) -> Challenge | None:
        """Return the challenge that the bot repeats, or None if the bot challenges nobody.

        The challenge has the first game, the first map and the first time control in the settings. If the settings name
        no game, map or time control, the challenge has the default.
        """
        if not self.challenge:
            return None
        return Challenge(
            self.challenge,
            game=next(iter(self.games), DEFAULT_GAME),
            map=next(iter(self.maps), DEFAULT_MAP),
            time_control=TimeControl.parse(next(iter(self.time_controls), DEFAULT_TIME_CONTROL)),
            rated=not self.casual,
        )


def get_user_state_folder() -> Path:
    """Return the folder for the files from which restarted bots resume their matches.

    Raises RuntimeError if the user has no home directory.
    """
    xdg_folder = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (
        xdg_folder if xdg_folder.is_absolute() else Path.home() / ".local" / "state"
    ) / SESSION_FILES_SUBFOLDER


def split_comma_list(text: str) -> tuple[str, ...]:
    """Return the non-empty parts of a comma-separated list, without surrounding spaces."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def validate_settings(
    settings: BotSettings, format_setting_name: Callable[[str], str] = "--{}".format
) -> BotSettings:
    """Return the settings with the names of games and time controls as the network protocol writes them.

    User-defined games (FILE.py:Class) are first added to this process's catalogue of games.

    format_setting_name  returns the name of a setting as the user wrote it, such as `--game`, for error messages

    Raises BadBotSettings if a setting is invalid.
    """
    try:
        games = tuple(CATALOGUE.register_game(spec) for spec in settings.games)
    except GameError as error:
        raise BadBotSettings(f"{format_setting_name('game')}: {error}") from None
    try:
        controls = tuple(str(TimeControl.parse(text)) for text in settings.time_controls)
    except BadTimeControl as error:
        raise BadBotSettings(f"{format_setting_name('tc')}: {error}") from None
    try:
        parse_duration(settings.play_duration)
    except ValueError as error:
        raise BadBotSettings(f"{format_setting_name('for')}: {error}") from None
    if settings.casual and not settings.challenge:
        raise BadBotSettings(
            f"{format_setting_name('casual')} works only with {format_setting_name('challenge')}: give both, "
            f"or leave {format_setting_name('casual')} out, because in the pool the server decides whether a match is rated"
        )
    return replace(settings, games=games, time_controls=controls)


def read_settings(path: Path) -> BotSettings:
    """Return the settings in a bot.toml. Relative paths are relative to the folder of the file.

    Raises BadBotSettings if the file cannot be read or has an invalid key or value.
    """
    folder = path.parent
    try:
        file = TomlFile.read_file(path)
        for key in LIST_SETTING_NAMES & file.data.keys():
            if isinstance(file.data[key], str):
                file.data[key] = [file.data[key]]
        content = file.convert_to_struct(BotFileSettings, lambda _, relative_path: folder / relative_path)
        settings = BotSettings(
            **asdict(content), token=read_bot_token(file, content.token_file, content.token_env)
        )
    except BadTomlFile as error:
        raise BadBotSettings(str(error)) from None
    if content.state is None:
        settings = replace(settings, state=folder)

    def resolve_file_spec(spec: str) -> str:
        return str(folder / spec) if is_file_spec(spec) else spec

    return replace(
        settings,
        engine=resolve_file_spec(content.engine),
        games=tuple(map(resolve_file_spec, content.games)),
    )
