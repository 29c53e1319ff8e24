"""Games that tests write into files, as an author would."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.games.catalogue import CATALOGUE

EXAMPLES = Path(__file__).parents[2] / "examples" / "games"
GAME_FILES = [
    EXAMPLES / "breakthrough.py",
    EXAMPLES / "capitals.py",
    EXAMPLES / "connect4.py",
    EXAMPLES / "dots.py",
]

NIM = '''
from dataclasses import dataclass

from arena import MAXIE, Game, Outcome


@dataclass(frozen=True)
class Heap:
    left: int
    ply: int


class Nim(Game):
    """One heap; each takes one to three, and who takes the last one wins."""

    name = "nim"
    size = 9

    def start(self):
        return Heap(self.size, 0)

    def moves(self, position):
        return tuple(range(1, min(3, position.left) + 1))

    def successor(self, position, move):
        return Heap(position.left - move, position.ply + 1)

    def outcome(self, position):
        return None if position.left else Outcome(self.player(position).opponent, "the last one")
'''
"""Source text of Nim, a whole game without a board in few lines."""


def forget_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the catalogue's games from files for the duration of the test."""
    for attribute in ("_file_games", "_custom_game_digests"):
        monkeypatch.setattr(CATALOGUE, attribute, {})


def nim(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return a file with NIM, in which each first text of `changes` is replaced by the second, and must occur."""
    text = NIM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "nim.py"
    file.write_text(text, encoding="utf-8")
    return file
