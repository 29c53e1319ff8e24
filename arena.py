"""The `arena` command: puts the maps', the server's and the bots' commands under one name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import typer

from console import Failure, err

COMMANDS: dict[str, tuple[str, ...]] = {
    "ladder.commands.register": ("ladder", "match"),
    "server.commands.register": (
        "serve",
        "ratings",
        "token",
        "check",
        "log",
        "backup",
        "restore",
        "export",
        "import",
    ),
    "bots.commands.register": ("new", "bot", "play", "replay", "trace", "analyse", "tune"),
    "maps.cli": ("maps",),
}
"""Which module has which commands, so that a bot's process does not load the server's libraries."""


def build(modules: Sequence[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command with the subcommands of these modules."""
    app = typer.Typer(
        help="Host matches between bots, connect a bot, run ladders.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )
    # Without a callback typer would make a single command the whole of it.
    app.callback()(lambda: None)
    for module in modules:
        import_module(module).register(app)
    return app


def needed(arguments: Sequence[str]) -> list[str]:
    """The modules that a command line needs: one where its command is known, else all."""
    first = arguments[0] if arguments else ""
    return [module for module, names in COMMANDS.items() if first in names] or list(COMMANDS)


def main(arguments: list[str] | None = None) -> None:
    """Run the command, and exit: 0, 1 for a failure that is explained in one line, 2 for bad usage."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = build(needed(given))(given, standalone_mode=False, prog_name="arena")
    except Failure as failure:
        err.print(f"arena: {failure}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(failure.exit_code)
    except typer.TyperException as problem:
        # bad options and arguments, as typer's own parser finds them
        told = getattr(problem, "format_message", None)
        message = told() if told else str(problem)
        bare = message.startswith("Usage: ")  # the help of a command that was given nothing
        err.print(message if bare else f"arena: {message}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(getattr(problem, "exit_code", 1))
    except (KeyboardInterrupt, typer.Abort):
        err.print("arena: stopped")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
