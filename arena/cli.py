"""The `arena` command.

Each subcommand is known by name, and its module is loaded when it is called.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module, metadata
from typing import Annotated, Any, cast

try:
    import typer
    from typer.core import TyperCommand, TyperGroup

    from arena.console import Failure, err
except KeyboardInterrupt:  # Ctrl-C while these are still being loaded
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write("arena: stopped\n")
    sys.exit(130)

COMMANDS: dict[str, tuple[str, str]] = {
    "ladder": (
        "arena.ladder.commands.ladder",
        "Play a whole ladder here: server, bots and table. Needs no arguments.",
    ),
    "match": (
        "arena.ladder.commands.ladder",
        "Play pairs between two bots, and say how much stronger A is, with the error.",
    ),
    "serve": (
        "arena.server.commands.serve",
        "Host matches: idle bots play near opponents that they seldom met.",
    ),
    "ratings": (
        "arena.server.commands.ratings",
        "Show the Glicko-2 ratings of every bot, per game, from the rated matches of a store.",
    ),
    "token": ("arena.server.commands.token", "Who may connect: make, list, rotate and revoke tokens."),
    "check": (
        "arena.server.commands.check",
        "Check whether a bot obeys the protocol, against a scripted server; exit code 1 when it does not.",
    ),
    "log": (
        "arena.server.commands.log",
        "Tell a match move by move from the journal of a server: why did a bot lose?",
    ),
    "backup": (
        "arena.server.commands.store",
        "Copy a whole store into a file while servers use it: matches, journals, tokens, ratings.",
    ),
    "restore": (
        "arena.server.commands.store",
        "Put a backup into an empty store, of either kind: all of it, or nothing.",
    ),
    "export": (
        "arena.server.commands.store",
        "Write the finished matches of a store as records, one JSON a line, in the order in which they came in.",
    ),
    "import": (
        "arena.server.commands.store",
        "Take records into a store, after replaying each by the rules; twice is as good as once.",
    ),
    "store": (
        "arena.server.commands.maintain",
        "What a host keeps: how much it is, and how it becomes less.",
    ),
    "new": (
        "arena.bots.commands.new",
        "Write a small commented bot that plays every game. A file that is there is left alone.",
    ),
    "bot": (
        "arena.bots.commands.bot",
        "Connect a bot to a server and play the matches that come, until its event is over or Ctrl-C.",
    ),
    "play": (
        "arena.bots.commands.play",
        "Play an engine at the terminal. You have all the time you want; --tc is the engine's.",
    ),
    "replay": (
        "arena.bots.commands.replay",
        "Step through a finished match, after checking that its moves and its result are true.",
    ),
    "trace": (
        "arena.bots.commands.search",
        "Print how an algorithm searches a tree, in the form of the course's own traces.",
    ),
    "analyse": (
        "arena.bots.commands.search",
        "Show what an engine thinks of a position, and with --trace or --svg its whole search.",
    ),
    "solve": (
        "arena.lab.commands.solve",
        "Find out what every position of a small map is worth: a win, a draw or a loss, and in how many plies.",
    ),
    "tune": (
        "arena.lab.commands.tune",
        "Learn the weights of an evaluator's features by self-play, from nothing, and write them with how they were made.",
    ),
    "openings": ("arena.lab.commands.openings", "Make openings that are worth playing."),
    "maps": ("arena.lab.commands.maps", "List, draw, check and measure Riskless maps."),
}
"""Each command's module, and its one line in `arena --help`, which is the first of the command's own help.

The line stands here too so that `arena --help` and the completion of a name load none of the modules.
"""

EXTRAS: dict[str, str] = {
    **dict.fromkeys(
        ("aiosqlite", "alembic", "PIL", "prometheus_client", "resvg_py", "sqlalchemy", "uvloop"), "server"
    ),
    **dict.fromkeys(("llvmlite", "numba", "numpy"), "engine"),
    "asyncpg": "postgres",
    "distributed": "cluster",
    "nats": "bus",
}
"""The extra that installs each package a plain `pip install riskless-arena` leaves out.

`numpy` belongs to two extras; a command that needs the server extra misses SQLAlchemy first.
"""


class Deferred(TyperCommand):
    """A command that is known by its name and one line of help until it is called, or its options are completed."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMANDS[name][1], rich_markup_mode=None)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which is loaded now and takes over from here."""
        return load(str(self.name)).make_context(info_name, args, parent, **extra)


def load(name: str) -> Any:
    """The command of this name, from its module. Raises KeyError where there is none."""
    app = _app()
    import_module(COMMANDS[name][0]).register(app)
    return _group(app).commands[name]


def build() -> TyperGroup:
    """`arena` with all its commands, none of which is loaded yet."""
    group = _group(_app())
    for name in COMMANDS:
        group.add_command(Deferred(name))
    return group


def main(arguments: list[str] | None = None) -> None:
    """Run the command, and exit: 0, 1 for a failure that is explained in one line, 2 for bad usage."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = build()(given, standalone_mode=False, prog_name="arena")
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
    except ModuleNotFoundError as missing:
        extra = EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
        needs = f'"{" ".join(given[:1])}" needs the {extra} extra: pip install "riskless-arena[{extra}]"'
        err.print(f"arena: {needs}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except OSError as problem:
        if given[:1] != ["--install-completion"]:
            raise
        where = f"{problem.filename}: {problem.strerror}; `arena --show-completion` prints it instead"
        err.print(f"arena: cannot install completion: {where}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        _ignore_interrupts(arguments)
        err.print("arena: stopped")
        sys.exit(130)
    _ignore_interrupts(arguments)
    sys.exit(code if isinstance(code, int) else 0)


def _tell_version(wanted: bool) -> None:  # noqa: FBT001 - so typer calls it
    if wanted:
        typer.echo(f"arena {metadata.version('riskless-arena')}")
        raise typer.Exit


def _ignore_interrupts(arguments: list[str] | None) -> None:
    """Let no further Ctrl-C cut off the end of the command, where that is the whole process."""
    if arguments is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _app() -> typer.Typer:
    app = typer.Typer(
        help="Host matches between bots, connect a bot, run ladders.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_common)  # without a callback typer would make a single command the whole of it
    return app


def _common(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_tell_version, help="Print the version, and exit."),
    ] = False,
) -> None:
    """What all commands share."""


def _group(app: typer.Typer) -> TyperGroup:
    return cast("TyperGroup", typer.main.get_command(app))  # a group, because it has a callback
