"""What `arena bot` is told, by options or by a file: as whom to connect where, and what to play."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import asdict, fields, replace

from arena.games.basics import GameError
from arena.games.catalogue import KNOWN
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.duration import seconds_of
from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import BadTimeControl, TimeControl

DEFAULT_URL = "ws://127.0.0.1:8765"
DEFAULT_GAME = "riskless"
DEFAULT_TIME = "10+0.1"


class BadSettings(ValueError):
    """An option or a file that cannot be followed; one line, with what would be right."""


class BotFile(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of a bot.toml: the names of the options of `arena bot`, and where its token is."""

    engine: str = ""
    """A built-in engine, file.py, or file.py:Class; empty where there is a program."""
    program: str = field(name="exec", default="")
    """The command line of a program that plays by JSON lines; empty where there is an engine."""
    logs: Path | None = None
    """Where the standard error of what runs in a process of its own is kept, match by match."""
    url: str = DEFAULT_URL
    name: str = ""
    """The bot's name; empty for the engine's."""
    token_file: str = ""
    token_env: str = ""
    matches: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Matches to play at once."""
    games: Annotated[int, Meta(ge=1)] | None = None
    """Matches to play in all; None for as many as come."""
    for_: str = field(name="for", default="ever")
    """The time after which it takes no more matches."""
    game: tuple[str, ...] = ()
    """The games that it plays; none for all. `map` and `tc` likewise."""
    map: tuple[str, ...] = ()
    tc: tuple[str, ...] = ()
    challenge: str = ""
    """The bot that it challenges again and again; empty for nobody."""
    casual: bool = False
    """Whether the matches of its challenges are not rated."""
    reconnect: Annotated[int, Meta(ge=0)] | None = None
    """Attempts in a row to return; None for ever."""
    wait: Annotated[float, Meta(ge=0)] = 0.0
    """Seconds to wait for a server that is not there yet."""
    unique: bool = False
    """Whether to be NAME-2, NAME-3 and so on when the name is taken."""
    challenges_only: bool = False
    """Whether the matchmaker gives it nothing."""
    isolate: bool = False
    """Whether each match is played in a process of its own."""
    log: Path | None = None
    """The file that keeps all that it says."""
    verbose: bool = False
    """Whether every message of the wire is shown."""


class BotSettings(BotFile, frozen=True):
    """One bot on one server."""

    token: str = ""

    @property
    def seconds(self) -> float:
        """Seconds after which it takes no more matches. Raises ValueError."""
        return seconds_of(self.for_)

    def asks(self) -> Challenge | None:
        """The challenge that it opens; None where it opens none."""
        if not self.challenge:
            return None
        return Challenge(
            self.challenge,
            game=next(iter(self.game), DEFAULT_GAME),
            map=next(iter(self.map), DEFAULT_MAP),
            time_control=TimeControl.parse(next(iter(self.tc), DEFAULT_TIME)),
            rated=not self.casual,
        )


def listed(text: str) -> tuple[str, ...]:
    """The words of a list with commas between."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def checked(settings: BotSettings) -> BotSettings:
    """The settings, with games and time controls as the wire writes them; games of somebody's own are known from now on.

    Raises BadSettings.
    """
    try:
        games = tuple(KNOWN.name(each) for each in settings.game)
    except GameError as error:
        raise BadSettings(f"--game: {error}") from None
    try:
        controls = tuple(str(TimeControl.parse(each)) for each in settings.tc)
    except BadTimeControl as error:
        raise BadSettings(f"--tc: {error}") from None
    try:
        seconds_of(settings.for_)
    except ValueError as error:
        raise BadSettings(f"--for: {error}") from None
    if settings.casual and not settings.challenge:
        raise BadSettings("--casual is for --challenge: what the pool gives is rated as the host says")
    return replace(settings, game=games, tc=controls)


def read_settings(path: Path) -> BotSettings:
    """The settings of a file; the files that it names are beside it. Raises BadSettings."""
    beside = path.parent
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        told = msgspec.convert(data, BotFile, dec_hook=lambda _, file: beside / file)
        seconds_of(told.for_)
    except OSError as error:
        raise BadSettings(f"cannot read {path}: {error.strerror}") from None
    except msgspec.ValidationError as error:
        keys = ", ".join(each.encode_name for each in fields(BotFile))
        raise BadSettings(f"{path}: {error}; the keys are {keys}") from None
    except ValueError as error:  # of TOML, of the encoding, and of `for`
        raise BadSettings(f"{path}: {error}") from None
    settings = BotSettings(**asdict(told), token=_token(path, told))
    if told.engine.partition(":")[0].endswith(".py"):
        settings = replace(settings, engine=str(beside / told.engine))
    return settings


def _token(path: Path, told: BotFile) -> str:
    """The token, from its own file or from the environment: a settings file is shown to others."""
    if told.token_file and told.token_env:
        raise BadSettings(f"{path}: token-file or token-env; one of the two")
    if told.token_env:
        if told.token_env not in os.environ:
            raise BadSettings(f"{path}: token-env: {told.token_env} is not in the environment")
        return os.environ[told.token_env]
    if not told.token_file:
        return ""
    file = path.parent / told.token_file
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadSettings(f"{path}: token-file: cannot read {file}: {why}") from None
