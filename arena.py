"""The `arena` command: puts the maps', the server's and the bots' commands under one name."""

from __future__ import annotations

import sys

import typer

import bots.cli
import maps.cli
import server.cli
from console import Failure, err


def build() -> typer.Typer:
    """The command with all its subcommands."""
    app = typer.Typer(
        help="Host matches between bots, connect a bot, run ladders.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )
    server.cli.register(app)
    bots.cli.register(app)
    maps.cli.register(app)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command, and exit: 0, 1 for a failure that is explained in one line, 2 for bad usage."""
    try:
        code = build()(arguments, standalone_mode=False)
    except Failure as failure:
        err.print(f"arena: {failure}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(failure.exit_code)
    except typer.TyperException as problem:
        # bad options and arguments, as typer's own parser finds them
        told = getattr(problem, "format_message", None)
        message = told() if told else str(problem)
        err.print(f"arena: {message}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(getattr(problem, "exit_code", 1))
    except (KeyboardInterrupt, typer.Abort):
        err.print("arena: stopped")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
