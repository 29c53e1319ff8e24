"""The `arena` command.

Subcommands are listed here by name. The module of a subcommand is loaded only when the subcommand is called.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib import import_module, metadata
from typing import Annotated, Any, cast

try:
    import typer
    from typer.core import TyperCommand, TyperGroup

    from arena.atomic_file import FULL_DISK_ERRNOS
    from arena.console import CommandError, err
except KeyboardInterrupt:  # Ctrl-C while these modules are being loaded
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write("arena: stopped\n")
    sys.exit(130)

COMMANDS_BY_GROUP: dict[str, dict[str, tuple[str, str]]] = {
    "Play": {
        "ladder": (
            "arena.ladder.commands.ladder:ladder_command",
            "Play a ladder of many bots on this machine.",
        ),
        "match": (
            "arena.ladder.commands.match:match_command",
            "Play pairs of matches between two bots, and estimate their Elo difference.",
        ),
        "play": ("arena.bots.commands.play:play", "Play against an engine at the terminal."),
        "new": ("arena.bots.commands.new:new", "Write a small commented bot as a starting point."),
        "bot": ("arena.bots.commands.bot:bot", "Connect a bot to a server."),
        "check": ("arena.check.commands.check:check", "Check that a bot follows the protocol."),
        "submit": (
            "arena.ladder.commands.submit:SUBCOMMAND_FUNCTIONS",
            "Check and keep bots submitted as zip files.",
        ),
    },
    "Host": {
        "serve": (
            "arena.server.commands.serve:serve",
            "Host matches between bots, and a page to watch them.",
        ),
        "event": (
            "arena.server.commands.event:SUBCOMMAND_FUNCTIONS",
            "Announce and manage tournaments on a server.",
        ),
        "season": (
            "arena.server.commands.season:SUBCOMMAND_FUNCTIONS",
            "Close seasons of ratings, and show closed ones.",
        ),
        "invite": (
            "arena.server.commands.invite:invite_command",
            "Create links with which people register bots.",
        ),
        "token": (
            "arena.server.commands.token:SUBCOMMAND_FUNCTIONS",
            "Create, list, rotate and revoke tokens.",
        ),
        "owner": (
            "arena.server.commands.owners:SUBCOMMAND_FUNCTIONS",
            "List, hide and ban the owners of bots.",
        ),
        "rename": (
            "arena.server.commands.owners:rename",
            "Rename a bot, which keeps its token, ratings, records and logs.",
        ),
        "kick": (
            "arena.server.commands.directives:kick",
            "Disconnect a bot now. It may reconnect after ten seconds.",
        ),
        "ban": (
            "arena.server.commands.directives:ban",
            "Disconnect a name or address now, and refuse it from now on.",
        ),
        "notice": (
            "arena.server.commands.directives:notice",
            "Send a notice to all bots, and show it on the web page.",
        ),
        "forget": (
            "arena.server.commands.owners:forget_bot_command",
            "Delete a bot's token, sessions and logs; its records get a random name.",
        ),
    },
    "Analyse": {
        "replay": ("arena.bots.commands.replay:replay", "Check a finished match, and step through it."),
        "analyse": (
            "arena.bots.commands.analyse:analyse",
            "Rank the moves of a position with an engine.",
        ),
        "trace": ("arena.bots.commands.trace:trace", "Print how an algorithm searches a tree."),
        "log": ("arena.server.commands.log:log", "Show a match from a server's journal, move by move."),
    },
    "Data": {
        "marks": (
            "arena.server.commands.marks:marks",
            "Show the ranks and points of an event, and Elo relative to one bot.",
        ),
        "audit": (
            "arena.server.commands.audit:audit",
            "Look for signs of cheating in finished matches.",
        ),
        "ratings": ("arena.server.commands.ratings:ratings", "Show the Glicko-2 ratings of all bots."),
        "export": (
            "arena.server.commands.backup:export_command",
            "Write finished matches as records, one JSON object per line.",
        ),
        "import": (
            "arena.server.commands.backup:import_command",
            "Check records by the rules, and add them to a database.",
        ),
        "backup": (
            "arena.server.commands.backup:backup_command",
            "Copy the database to a file while servers use it.",
        ),
        "restore": (
            "arena.server.commands.backup:restore_command",
            "Restore a backup into an empty database.",
        ),
        "store": ("arena.server.commands.store:SUBCOMMAND_FUNCTIONS", "Inspect and prune the database."),
    },
    "Lab": {
        "maps": (
            "arena.lab.commands.maps:SUBCOMMAND_FUNCTIONS",
            "List, draw, check and measure Riskless maps.",
        ),
        "openings": ("arena.lab.commands.openings:SUBCOMMAND_FUNCTIONS", "Find balanced openings."),
        "solve": (
            "arena.lab.commands.solve:solve_command",
            "Compute the value of every position of a small map.",
        ),
        "tune": ("arena.lab.commands.tune:tune_command", "Learn an evaluator's weights by self-play."),
    },
}
"""Commands by group and name, each as a pair: its function as `MODULE:FUNCTION`, and its line in `arena --help`.

For a command with subcommands, `MODULE:SUBCOMMAND_FUNCTIONS` names the list of their functions. The help line equals the first line
of the function's docstring. It is repeated here so that `arena --help` and shell completion need not load the module.
"""

COMMAND_BY_NAME = {name: entry for group in COMMANDS_BY_GROUP.values() for name, entry in group.items()}

REWORDING_BY_PARSER_TEXT = {
    "Value error, ": "",
    "Input should be greater than or equal to": "must be at least",
    "Input should be less than or equal to": "must be at most",
    "Input should be a valid integer, unable to parse string as an integer": "must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "must be a number",
}
"""Texts in error messages of typer's parser, each with the text that replaces it."""
EXTRA_BY_PACKAGE: dict[str, str] = {
    **dict.fromkeys(("aiosqlite", "PIL", "prometheus_client", "resvg_py", "sqlalchemy", "uvloop"), "server"),
    **dict.fromkeys(("llvmlite", "numba", "numpy"), "engine"),
    "asyncpg": "postgres",
    "distributed": "cluster",
    "nats": "bus",
}
"""Extra of riskless-arena that installs an optional package, by the package's import name.

`numpy` is part of two extras, `server` and `engine`, but stands for `engine` here. A command that needs `server` imports
SQLAlchemy before `numpy`, so that SQLAlchemy is the package reported as missing.
"""


class GroupWithSectionedHelp(TyperGroup):
    """The `arena` command, whose help lists its commands by group."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click passes it by name
        for group, commands in COMMANDS_BY_GROUP.items():
            with formatter.section(group):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])

    def invoke(self, ctx: Any) -> Any:
        """Call the subcommand. Raises typer.Abort on Ctrl-C.

        Without this, typer would exit silently. `main` catches typer.Abort and reports that the command was stopped.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None


class LazilyLoadedCommand(TyperCommand):
    """Placeholder that loads its command's module when the user calls the command, or the shell completes its options."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMAND_BY_NAME[name][1], rich_markup_mode=None)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Load the command, and return typer's context for parsing its options, instead of a context for this placeholder."""
        return load_command(str(self.name)).make_context(info_name, args, parent, **extra)


def load_command(name: str) -> Any:
    """Import the module of the command called `name`, and return the command. Raises KeyError for an unknown name."""
    target, line = COMMAND_BY_NAME[name]
    module, _, attribute = target.partition(":")
    function = getattr(import_module(module), attribute)
    app = _make_app()
    if callable(function):
        app.command(name)(function)
    else:
        group = typer.Typer(help=line, no_args_is_help=True)
        for subcommand in function:
            group.command(subcommand.__name__.removesuffix("_command").rstrip("_"))(subcommand)
        app.add_typer(group, name=name)
    if signal.getsignal(signal.SIGINT) is _exit_on_interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return _make_group(app).commands[name]


def build_cli() -> TyperGroup:
    """Return the `arena` command with placeholders for all subcommands."""
    group = _make_group(_make_app())
    for name in COMMAND_BY_NAME:
        group.add_command(LazilyLoadedCommand(name))
    return group


def main(arguments: list[str] | None = None) -> None:
    """Run an `arena` command and exit: 0 for success, 1 for a failure explained in one line, 2 for bad usage, 130 after Ctrl-C.

    arguments  command line without the program's name; None for that of the process
    """
    argv = sys.argv[1:] if arguments is None else arguments
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_on_interrupt)
    try:
        exit_code = build_cli()(argv, standalone_mode=False, prog_name="arena")
    except CommandError as failure:
        err.print(f"arena: {failure}")
        sys.exit(failure.exit_code)
    except typer.TyperException as problem:
        message = _describe_usage_error(problem)
        is_help = message.startswith("Usage: ")  # the help of a command called without arguments
        err.print(message if is_help else f"arena: {message}")
        sys.exit(getattr(problem, "exit_code", 1))
    except ModuleNotFoundError as missing:
        extra = EXTRA_BY_PACKAGE.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
        requirement = f'"{" ".join(argv[:1])}" needs the {extra} extra: pip install "riskless-arena[{extra}]"'
        err.print(f"arena: {requirement}")
        sys.exit(1)
    except OSError as problem:
        if argv[:1] == ["--install-completion"]:
            message_text = (
                f"{problem.filename}: {problem.strerror}; `arena --show-completion` prints it instead"
            )
            err.print(f"arena: cannot install completion: {message_text}")
        elif problem.errno in FULL_DISK_ERRNOS:
            err.print(f"arena: cannot write {problem.filename or 'standard output'}: {problem.strerror}")
        else:
            raise
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        _ignore_interrupts_at_exit(arguments)
        err.print("arena: stopped")
        sys.exit(130)
    _ignore_interrupts_at_exit(arguments)
    sys.exit(exit_code if isinstance(exit_code, int) else 0)


def _describe_usage_error(error: typer.TyperException) -> str:
    """Return the parser's message about a bad option or argument, with its phrases replaced by REWORDING_BY_PARSER_TEXT."""
    format_message = getattr(error, "format_message", None)
    message: str = format_message() if format_message else str(error)
    message = re.sub(r"^Invalid value for '([^']+)': ", r"\1: ", message)
    for text, replacement in REWORDING_BY_PARSER_TEXT.items():
        message = message.replace(text, replacement)
    context = getattr(error, "ctx", None)
    # If the parser gives a hint, it contains a question mark or parentheses: "Did you mean --map?"
    lacks_hint = re.match(r"(Missing|No such) [^?(]*$", message) is not None
    if context is not None and lacks_hint:
        message = f"{message.rstrip('.')}; see `{context.command_path} --help`"
    return message


def _print_version(is_requested: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if is_requested:
        typer.echo(f"arena {metadata.version('riskless-arena')}")
        raise typer.Exit


def _exit_on_interrupt(_signal_number: int, _frame: object) -> None:
    """Handle Ctrl-C while a command is being loaded, by ending the process at once.

    The handler does not raise KeyboardInterrupt, because the import system could print that exception and continue.
    """
    os.write(2, b"arena: stopped\n")
    os._exit(130)


def _ignore_interrupts_at_exit(main_arguments: list[str] | None) -> None:
    """Ignore further Ctrl-C while the process exits.

    main_arguments  argument of `main`. If it is not None, Python code called `main`, and the process may continue afterwards.
                    Ctrl-C is then not ignored.
    """
    if main_arguments is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _make_app() -> typer.Typer:
    app = typer.Typer(
        cls=GroupWithSectionedHelp,
        help="Host matches between bots, connect a bot, run ladders.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # without a callback typer would turn a single command into the whole app
    app.callback()(_accept_common_options)
    return app


def _accept_common_options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """Accept the options of `arena` itself, which come before the name of a command: only `--version`."""


def _make_group(app: typer.Typer) -> TyperGroup:
    return cast("TyperGroup", typer.main.get_command(app))  # a group, because it has a callback
