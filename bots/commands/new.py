"""`arena new`: write a first bot for the user to change."""

from __future__ import annotations

import re
import shlex
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from arena.atomic_file import create_text_file
from arena.console import CommandError, UsageError, err, validate_output_file

BOT_TEMPLATE = '''\
"""A bot that looks one move ahead. It plays: arena match {file} random --rounds 1"""

from arena import Bot


class {name}(Bot):
    def choose(self, position, clock):
        # One of self.game.moves(position). `clock.mine` is the time left, in seconds.
        return max(self.game.moves(position), key=lambda move: self.worth(position, move))

    def worth(self, position, move):
        after = self.game.successor(position, move)
        outcome = self.game.outcome(after)
        if outcome is not None:  # over: won, drawn or lost
            return 0 if outcome.winner is None else 1_000_000 if outcome.winner is self.seat else -1_000_000
        # An estimate is high when it is good for Maxie; her sign is +1, Minnie's is -1.
        return self.seat.sign * self.game.estimate(after)
'''


def new(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", callback=validate_output_file, help="File to write, e.g. my_bot.py."),
    ],
) -> None:
    """Write a small commented bot as a starting point.

    It plays every game. An existing file is not overwritten.

    Example: arena new my_bot.py
    """
    if file.suffix != ".py":
        raise UsageError(f"{file} is not a Python file: give a name that ends in .py, such as my_bot.py")
    if file.name == "arena.py":
        raise UsageError("arena.py would hide the package arena, which bots import: choose another name")
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", file.stem)
    name = "".join(word[0].upper() + word[1:] for word in words) or "MyBot"
    # A class called Bot would hide its base class, and None is not a valid class name.
    name = "MyBot" if name == "Bot" or iskeyword(name) else name
    text = BOT_TEMPLATE.format(file=shlex.quote(file.name), name=name)
    try:
        create_text_file(file, text)
    except FileExistsError:
        raise CommandError(f"{file} already exists: choose another name, or remove it first") from None
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}") from None
    err.print(f"{file} is written. Try it: arena match {shlex.quote(str(file))} random --rounds 1")
