"""Catalogue of games, which finds a game's class by name, and creates a match's game from its name and parameters.

A game is known if it is part of this project, if an installed package provides it (`games.loading`), or if somebody at
this machine named its class as `FILE.py:Class`. Code that needs a game asks the catalogue and keeps no list of its own.
A name from the network is only looked up; it never adds a game.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from arena.games.core import AnyGame, BadGame, Game, UnknownGame
from arena.games.digest import compute_rules_digest, make_seeded_index_chooser
from arena.games.hexapawn import Hexapawn
from arena.games.loading import (
    GameClass,
    is_file_spec,
    list_installed_game_entry_points,
    load_game_class_from_file,
    load_installed_game_class,
    split_file_spec,
)
from arena.games.name_hints import format_name_suggestion
from arena.games.riskless import Riskless
from arena.games.rule_check import check_rules
from arena.games.tictactoe import TicTacToe

BUILT_IN_GAMES: Mapping[str, GameClass] = {game.name: game for game in (TicTacToe, Riskless, Hexapawn)}
"""Game class of each game that is part of this project, by the game's name."""
RULE_CHECK_MATCH_COUNT = 2
"""Number of random matches that test a custom game when it is registered."""


class Catalogue:
    """Games that one process knows, by name."""

    def __init__(self) -> None:
        """Create a catalogue of the games of this project and of installed packages; `register_game` adds games from files."""
        self._file_games: dict[str, tuple[GameClass, str]] = {}
        """Class of each game from a file, and its spec (`FILE.py:Class`), by the game's name."""
        self._digests: dict[tuple[GameClass, str], str] = {}
        """Digests of rules (`games.digest`) computed so far, by the game's class and the `repr` of its parameters (`setup`)."""
        self._custom_game_digests: dict[str, str] = {}
        """Digest of the rules (`games.digest`) of each custom game with its default parameters, by the game's name."""

    def list_game_names(self) -> list[str]:
        """Return the names of all known games: of the project, of registered files, and of installed packages.

        No game is loaded for this.
        """
        return list(
            dict.fromkeys([*BUILT_IN_GAMES, *self._file_games, *sorted(list_installed_game_entry_points())])
        )

    def register_game(self, spec: str) -> str:
        """Add the game that `spec` names to the catalogue, and return its name.

        spec   `FILE.py:Class`, `FILE.py` if the file has only one game, or the name of a game that is known already

        Raises UnknownGame for an unknown name. Raises BadGame for a file without a valid game, for faulty rules, and for
        a game whose name another game has already.
        """
        game = self.load_game_class(spec)
        self._check_and_digest_rules(game, spec)
        if not is_file_spec(spec):
            return spec
        path = Path(split_file_spec(spec)[0]).absolute()
        self._file_games[game.name] = (game, f"{path}:{game.__name__}")
        return game.name

    def load_game_class(self, spec: str) -> GameClass:
        """Return the game class that `spec` names (a game's name, `FILE.py:Class` or `FILE.py`), without registering it.

        Raises UnknownGame if there is no such game, and BadGame if its file cannot be used.
        """
        if not is_file_spec(spec):
            return self.find_game_class(spec)
        file, class_name = split_file_spec(spec)
        game = load_game_class_from_file(Path(file).absolute(), class_name)
        known_class, known_spec = self._file_games.get(game.name, (None, ""))
        if game.name in BUILT_IN_GAMES or (known_class is not None and known_class is not game):
            existing_game = "a game of the project" if known_class is None else f"the game of {known_spec}"
            raise BadGame(
                f"{spec}: the name {game.name!r} is already taken by {existing_game}: give {game.__name__} another name"
            )
        return game

    def _check_and_digest_rules(self, game: GameClass, spec: str) -> None:
        """Check a custom game's rules by a few random matches, and store their digest (hash) for `get_custom_game_digests`.

        Raises BadGame if a match breaks a rule for games: if it depends on chance, has a third player, or does not end,
        for example.
        """
        if self.is_builtin(game.name) or game.name in self._custom_game_digests:
            return
        default_game = game.from_setup({})
        for violation in check_rules(default_game, make_seeded_index_chooser(seed=1), RULE_CHECK_MATCH_COUNT):
            raise BadGame(
                f"{spec}: its rules are faulty ({violation.rule}: {violation.reason}); "
                f"`arena check --game {spec}` lists all faults"
            )
        self._custom_game_digests[game.name] = self.get_rules_digest(default_game)

    def find_game_class(self, game_name: str) -> GameClass:
        """Return the class of the game called `game_name`. Raises UnknownGame if there is none, BadGame if loading it fails."""
        if game_name in BUILT_IN_GAMES:
            return BUILT_IN_GAMES[game_name]
        if game_name in self._file_games:
            return self._file_games[game_name][0]
        if game_name in list_installed_game_entry_points():
            return load_installed_game_class(game_name)
        suggestion = format_name_suggestion(game_name, sorted(self.list_game_names()))
        raise UnknownGame(
            f"no game is called {game_name!r:.40}: {suggestion}", "or your own: --game FILE.py:Class"
        )

    def is_known(self, game_name: str) -> bool:
        """Return True if a game has this name, without loading it."""
        return (
            game_name in BUILT_IN_GAMES
            or game_name in self._file_games
            or game_name in list_installed_game_entry_points()
        )

    def is_builtin(self, game_name: str) -> bool:
        """Return True if the game called `game_name` is part of this project."""
        return game_name in BUILT_IN_GAMES

    def get_game_spec(self, game_name: str) -> str:
        """Return the spec with which another process on this machine can load the game: `FILE.py:Class`, or the game's name."""
        return self._file_games[game_name][1] if game_name in self._file_games else game_name

    def list_file_game_specs(self) -> list[str]:
        """Return the spec `FILE.py:Class` of each game from a file, by which another process on this machine can load it."""
        return [spec for _, spec in self._file_games.values()]

    def get_custom_game_digests(self) -> dict[str, str]:
        """Return the digest (hash) of the rules of each custom game with its default parameters, by the game's name."""
        return dict(self._custom_game_digests)

    def explain_digest_mismatch(self, client_digests: Mapping[str, str]) -> str | None:
        """Return one line about a custom game whose rules differ between a client and this server; None if there is none.

        client_digests   digest of the rules (`games.digest`) of each custom game of the client, by the game's name

        A game that this server does not know is ignored.
        """
        for name, digest in client_digests.items():
            own_digest = self._custom_game_digests.get(name, digest)
            if own_digest != digest:
                return _describe_rules_mismatch(name, digest, own_digest)
        return None

    def get_rules_digest(self, game: Game[Any, Any]) -> str:
        """Return the digest of a custom game's rules (`games.digest`), computed once for each choice of parameters.

        Return an empty text for a game of the project, because all copies of the project have the same rules.
        """
        if self.is_builtin(game.name):
            return ""
        key = (type(game), repr(game.setup()))
        if key not in self._digests:
            self._digests[key] = compute_rules_digest(game)
        return self._digests[key]


CATALOGUE = Catalogue()
"""Catalogue of the games that this process knows, which all modules share."""


def make_game(game_name: str, setup: Mapping[str, object]) -> AnyGame:
    """Return the game called `game_name` with the parameters `setup`, such as a map.

    Raises UnknownGame if there is no such game, BadGame if it cannot be loaded, and BadData for an invalid setup.
    """
    return cast("AnyGame", CATALOGUE.find_game_class(game_name).from_setup(setup))


def explain_rules_mismatch(game: Game[Any, Any], other_digest: str) -> str | None:
    """Return one line about a difference between the rules of `game` here and in another program; None if they are equal.

    other_digest  digest of the other program's rules (`games.digest`)

    If either digest is empty, as for a game of the project, the rules count as equal.
    """
    own_digest = CATALOGUE.get_rules_digest(game)
    if not other_digest or not own_digest or other_digest == own_digest:
        return None
    return _describe_rules_mismatch(game.name, other_digest, own_digest)


def _describe_rules_mismatch(game_name: str, other_digest: str, own_digest: str) -> str:
    return f"{game_name:.64} has other rules there (digest {other_digest:.64}) than here (digest {own_digest}): both sides need the same file of the game"
