"""Run loop of `arena bot`, which plays until the bot's last match is over or a signal ends the program.

After the first Ctrl-C the bot accepts no more matches and finishes those in play, after the second it resigns them, and
after the third it exits. After SIGTERM it exits immediately without resigning: the server waits for the bot as after any
lost connection, and the next process resumes the matches.
"""

from __future__ import annotations

import logging
import math
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TextIO

import anyio

from arena.bots.api.bot import Ending, Match
from arena.bots.client.client import Client
from arena.bots.client.connection import BadURL, ClientError, ServerRefused
from arena.bots.client.session_file import SessionFile, make_session_file_name
from arena.bots.client.settings import ClientSettings
from arena.bots.client.status import format_match_result
from arena.bots.commands.bot_settings import BotSettings, get_user_state_folder
from arena.bots.engines.registry import Engine
from arena.clock import MONOTONIC_CLOCK
from arena.console import CommandError, UsageError, err, out
from arena.cores import list_usable_cores
from arena.games.catalogue import CATALOGUE
from arena.protocol.codes import ErrorCode

MAX_UNIQUE_NAME_TRIES = 1000
"""Number of names that `--unique` tries: NAME, NAME-2, NAME-3 and so on."""
MAX_GAMES_IN_HELLO = 32
"""Maximum number of games that a bot may name in `hello`, its first message to a server."""
PrintNote = Callable[[str], None]
"""Function that shows the bot's owner a message other than a result."""


def run_bot(engine: Engine, settings: BotSettings, bot_name: str) -> None:
    """Play under `bot_name`; with --unique, under the first of NAME, NAME-2, NAME-3 … that is free.

    Raises UsageError for an invalid URL, and CommandError if the client cannot continue for another reason.
    """
    with open_bot_owner_console(settings.log) as console:
        _run_client(engine, settings, bot_name, console)


def _run_client(engine: Engine, settings: BotSettings, base_name: str, console: BotOwnerConsole) -> None:
    names = (
        base_name if number == 1 else f"{base_name}-{number}"
        for number in range(1, MAX_UNIQUE_NAME_TRIES + 1)
    )
    for bot_name in names:
        session_file = _open_session_file(settings, bot_name, console)
        try:
            end_text = anyio.run(
                _play_matches,
                engine,
                settings,
                bot_name,
                console,
                session_file,
                backend_options={"use_uvloop": find_spec("uvloop") is not None},
            )
        except BadURL as error:
            raise UsageError(str(error)) from None
        except ClientError as error:
            is_name_taken = isinstance(error, ServerRefused) and error.code is ErrorCode.NAME_TAKEN
            if is_name_taken and settings.unique:
                continue
            raise CommandError(str(error)) from None
        finally:
            if session_file is not None:
                session_file.close()
        console.print_result(f"{bot_name}: {end_text}")
        return
    raise CommandError(
        f"every name from {base_name} to {base_name}-{MAX_UNIQUE_NAME_TRIES} is taken: give another --name"
    )


def _open_session_file(settings: BotSettings, bot_name: str, console: BotOwnerConsole) -> SessionFile | None:
    """Open the file that lets the bot `bot_name` resume its matches after a restart of this program.

    Return None if another process uses the file, or the file cannot be created.
    """
    folder = settings.state
    try:
        return SessionFile(
            (get_user_state_folder() if folder is None else folder)
            / make_session_file_name(bot_name, settings.url)
        )
    except (BlockingIOError, RuntimeError):
        return None  # another process uses the file, or there is no home directory
    except OSError as error:
        reason = f"cannot keep the session in {folder or get_user_state_folder()}: {error.strerror}"
        console.print_note(f"{reason}; without its token, a restarted {bot_name} loses its matches")
        return None


async def _play_matches(
    engine: Engine,
    settings: BotSettings,
    bot_name: str,
    console: BotOwnerConsole,
    session_file: SessionFile | None,
) -> str:
    """Play until the client stops. Return a line with the numbers of matches won, drawn, lost, void and unfinished.

    A void match counts for neither player.

    Raises ClientError if the client cannot continue.
    """
    options = ClientSettings(
        settings.url,
        bot_name,
        token=settings.token,
        concurrency=settings.concurrency,
        # Only the spec of a built-in engine is sent: the path of a file and a command line stay private.
        program_name=engine.spec if engine.parsed_spec else engine.name,
        engine_info=engine.describe(_count_cores_per_match(settings)),
        games=settings.games or tuple(CATALOGUE.list_game_names()[:MAX_GAMES_IN_HELLO]),
        rule_digests_by_game=CATALOGUE.get_custom_game_digests(),
        maps=settings.maps,
        time_controls=settings.time_controls,
        challenge=settings.make_challenge(),
        event_name=settings.enter,
        joins_matchmaking_pool=not (settings.challenges_only or settings.challenge),
        max_reconnect_attempts=settings.max_reconnect_attempts,
        connect_wait_seconds=settings.wait,
        quota=settings.max_matches,
        session_file=session_file,
    )

    def print_result(match: Match, ending: Ending) -> None:
        try:
            console.print_result(format_match_result(match, ending, settings.url))
        except BrokenPipeError:  # nobody reads the output any more, as after `| head`
            # Replace the output, because Python and this command write to it once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.file.fileno())
            client.stop()

    client = Client(
        engine.make_bot,
        options,
        on_finished=print_result,
        on_status=console.print_note,
        on_problem=console.print_note,
    )
    problem: ClientError | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_stop_on_signals, client, console.print_note)
        if settings.play_seconds < math.inf:
            tasks.start_soon(_stop_client_after, settings.play_seconds, client, console.print_note)
        try:
            await client.run()
        except ClientError as error:
            problem = error
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    unfinished_text = f", {client.match_count} left in play" if client.match_count else ""
    return f"{client.result_counts}{unfinished_text}"


async def _stop_on_signals(
    client: Client,
    print_note: PrintNote,
    *,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    signal_actions: list[Callable[[], None]] = [
        lambda: _stop_after_current_matches(client, print_note),
        lambda: _resign_matches(client, print_note),
    ]
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for number in signals:
            if number == signal.SIGTERM or not signal_actions:
                client.stop()
            else:
                signal_actions.pop(0)()


def _stop_after_current_matches(client: Client, print_note: PrintNote) -> None:
    if client.match_count:
        print_note(
            f"accepting no more matches, and finishing {client.match_count}; press Ctrl-C again to resign them"
        )
    client.stop_after_current_matches()


def _resign_matches(client: Client, print_note: PrintNote) -> None:
    if client.match_count:
        print_note(f"resigning {client.match_count}; press Ctrl-C again to exit at once")
    client.resign_all()


async def _stop_client_after(seconds: float, client: Client, print_note: PrintNote) -> None:
    await MONOTONIC_CLOCK.sleep(seconds)
    if client.match_count:
        print_note(f"the time is over: accepting no more matches, and finishing {client.match_count}")
    client.stop_after_current_matches()


def _count_cores_per_match(settings: BotSettings) -> int:
    """Return the number of CPU cores for each match: all CPU cores divided by the maximum number of simultaneous matches.

    A bot that plays only challenges uses all CPU cores in each match. Its opponents are mostly people, who think longer, so
    its searches rarely overlap.
    """
    core_count = len(list_usable_cores())
    return (
        core_count
        if settings.challenges_only or settings.challenge
        else max(1, core_count // settings.concurrency)
    )


class BotOwnerConsole:
    """Output for the bot's owner. Each line is flushed immediately, because people watch their bots play.

    If a line cannot be written, for example because the disk is full, the bot plays on. The owner is informed once for each
    output that cannot be written.
    """

    def __init__(self, log: TextIO | None) -> None:
        self._log = log
        self._failed_outputs: set[str] = set()
        """Outputs of whose failure the owner was told: `standard output`, `standard error` or the path of the log file."""

    def print_result(self, result_line: str) -> None:
        """Print a result without a timestamp, so that programs can parse the line.

        Raises BrokenPipeError if the program that reads standard output has ended.
        """
        self._write_log(result_line)
        try:
            _write_line(out.file, result_line)
        except BrokenPipeError:
            raise
        except OSError as error:
            self._report_write_failure("standard output", error)

    def print_note(self, text: str) -> None:
        """Print a message other than a match's result, with a timestamp. `text` is one line or a traceback."""
        self._write_log(text)
        now = datetime.now().astimezone()
        try:
            _write_line(err.file, f"{now:%H:%M:%S} {text}")
        except OSError as error:
            self._report_write_failure("standard error", error)

    def _write_log(self, text: str) -> None:
        if self._log is None:
            return
        now = datetime.now().astimezone()
        try:
            _write_line(self._log, f"{now:%Y-%m-%dT%H:%M:%S%z} {text}")
        except OSError as error:
            self._report_write_failure(self._log.name, error)

    def _report_write_failure(self, output_name: str, error: OSError) -> None:
        """Report once, on the outputs that still work, that lines of the output called `output_name` are lost."""
        if output_name not in self._failed_outputs:
            self._failed_outputs.add(output_name)
            self.print_note(f"lines are lost, because {output_name} cannot be written: {error.strerror}")


def _write_line(stream: IO[str], line: str) -> None:
    # Not with rich, which keeps lines in memory that it cannot write.
    stream.write(f"{line}\n")
    stream.flush()


class _BotOwnerLogHandler(logging.Handler):
    """Log handler that prints the client's log for the bot's owner; with --verbose it includes every protocol message."""

    def __init__(self, console: BotOwnerConsole) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print_note(record.getMessage())


@contextmanager
def open_bot_owner_console(log_file: Path | None) -> Iterator[BotOwnerConsole]:
    """Yield a console for the bot's owner. Until the end of the `with` block, it also shows the client's log messages.

    log_file  file to which all output of the console is appended; None for no file

    Raises CommandError if the file cannot be opened.
    """
    try:
        file = None if log_file is None else log_file.open("a", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--log: cannot write {log_file}: {error.strerror}") from None
    console = BotOwnerConsole(file)
    handler = _BotOwnerLogHandler(console)
    logger = logging.getLogger("arena.client")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield console
    finally:
        logger.removeHandler(handler)
        if file is not None:
            with suppress(OSError):  # the owner has already been informed of lines that could not be written
                file.close()
