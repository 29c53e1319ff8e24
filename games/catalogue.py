"""The games by name: what a match's `game` and `setup` stand for.

A game is known by its name when the project brings it, when an installed package brings it (`games.loading`), or
when somebody at this machine has named its class, `FILE.py:Class`. Whoever needs a game asks here, and lists no
names by hand. What comes over a network only ever looks names up: it makes nothing known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from arena.games.core import AnyGame, BadGame, Game, UnknownGame
from arena.games.digest import digest_of
from arena.games.hexapawn import Hexapawn
from arena.games.loading import GameClass, game_in_file, installed, installed_game, is_file_spec, split_spec
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

GAMES: Mapping[str, GameClass] = {game.name: game for game in (TicTacToe, Riskless, Hexapawn)}
"""The games that the project brings."""


class Catalogue:
    """The games that one process knows, by name."""

    def __init__(self, own: Mapping[str, GameClass] = GAMES) -> None:
        """Begin with the games of the project."""
        self._own = dict(own)
        self._named: dict[str, tuple[GameClass, str]] = {}
        self._digests: dict[tuple[GameClass, str], str] = {}
        self._standard: dict[str, str] = {}

    def names(self) -> list[str]:
        """Every game that is known: the project's, those of files, those of packages, which are not loaded for that."""
        return list(dict.fromkeys([*self._own, *self._named, *sorted(installed())]))

    def name(self, spec: str) -> str:
        """The name of the game that somebody at this machine means, which is known from now on.

        spec   a known name, or `FILE.py:Class`, or `FILE.py` with one game in it

        Raises UnknownGame, or BadGame for a file that is no game, or whose game has the name of another.
        """
        game = self.look(spec)
        if not is_file_spec(spec):
            self._compare(game, spec)
            return spec
        path = Path(split_spec(spec)[0]).absolute()
        known = self._named.get(game.name)
        if game.name in self._own or (known is not None and known[0] is not game):
            whose = "a game of the project" if known is None else f"the game of {known[1]}"
            raise BadGame(
                f"{spec}: {game.__name__} is called {game.name!r}, as {whose} is: give it another name"
            )
        self._compare(game, spec)
        self._named[game.name] = (game, f"{path}:{game.__name__}")
        return game.name

    def look(self, spec: str) -> GameClass:
        """The class that `name` means, without making it known. Raises UnknownGame, BadGame."""
        if not is_file_spec(spec):
            return self.find(spec)
        file, wanted = split_spec(spec)
        return game_in_file(Path(file).absolute(), wanted)

    def _compare(self, game: GameClass, spec: str) -> None:
        """Find the digest of a game that somebody plays here, by which others compare theirs. Raises BadGame."""
        if self.brings(game.name):
            return
        try:
            digest = self.rules(game.from_setup({}))
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise BadGame(
                f"{spec}: its rules cannot be played ({why}): arena check --game {spec} tells more"
            ) from error
        self._standard[game.name] = digest

    def find(self, name: str) -> GameClass:
        """The game of that name. Raises UnknownGame, and BadGame where a package's game cannot be loaded."""
        if name in self._own:
            return self._own[name]
        if name in self._named:
            return self._named[name][0]
        if name in installed():
            return installed_game(name)
        known = ", ".join(sorted(self.names()))
        raise UnknownGame(
            f"no game is called {name!r:.40}: there are {known}; one of your own is --game FILE.py:Class"
        )

    def knows(self, name: str) -> bool:
        """Whether there is a game of that name; nothing is loaded to find out."""
        return name in self._own or name in self._named or name in installed()

    def brings(self, name: str) -> bool:
        """Whether the game of that name is one of the project's own, whose rules come with the program."""
        return name in self._own

    def spec(self, name: str) -> str:
        """How another process of this machine is told to know the game: its file and class, or its name."""
        return self._named[name][1] if name in self._named else name

    def specs(self) -> list[str]:
        """What another process of this machine is to be told, so that it knows the games of files that this one does."""
        return [spec for _, spec in self._named.values()]

    def digests(self) -> dict[str, str]:
        """The digests of the games of somebody's own that are played here, by name, each on its ordinary setup."""
        return dict(self._standard)

    def disagreement(self, theirs: Mapping[str, str]) -> str | None:
        """Why somebody with these digests cannot play here, in a line: another game of the same name. None: they can."""
        for name, digest in theirs.items():
            ours = self._standard.get(name, digest)
            if ours != digest:
                return _differ(name, digest, ours)
        return None

    def rules(self, game: Game[Any, Any]) -> str:
        """The digest of a game's rules, by which two sides compare them; empty for the project's own games.

        It is made once for each setup (`games.digest`).
        """
        if self.brings(game.name):
            return ""
        key = (type(game), repr(game.setup()))
        if key not in self._digests:
            self._digests[key] = digest_of(game)
        return self._digests[key]


KNOWN = Catalogue()
"""The games that this process knows."""


def make_game(name: str, setup: Mapping[str, object]) -> AnyGame:
    """The game `name` on `setup`. Raises UnknownGame, BadGame or BadData."""
    return cast("AnyGame", KNOWN.find(name).from_setup(setup))


def differing_rules(game: Game[Any, Any], theirs: str) -> str | None:
    """Why a match of this game cannot be played with somebody whose rules have this digest, in a line, or None."""
    ours = KNOWN.rules(game)
    if not theirs or not ours or theirs == ours:
        return None
    return _differ(game.name, theirs, ours)


def _differ(name: str, theirs: str, ours: str) -> str:
    return f"{name:.64} has other rules there ({theirs:.64}) than here ({ours}): both sides need the same file of the game"
