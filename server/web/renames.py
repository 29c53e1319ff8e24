"""Renames of bots that an admin has requested on the web page.

Each rename runs in a child process, which does the same as `arena rename`. A rename may take more than a minute, because it
waits for the bot's matches in progress and rewrites all finished ones. If the server stops meanwhile, requesting the same
rename again resumes it.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import anyio
import msgspec
from msgspec import Struct, field

from arena.processes.supervisor import make_supervised_command
from arena.server.store import renaming
from arena.server.store.database import open_store
from arena.server.store.errors import StoreError
from arena.server.store.personal_data import NameInUse
from arena.server.store.renaming import NameChange
from arena.server.store.tokens import TokenError

log = logging.getLogger("arena.pages")

RENAME_PROCESS_MODULE = "arena.server.web.renames"
"""Name of this module, which the child process runs."""
MAX_LISTED_RENAMES = 20
"""Maximum number of finished renames that a server process remembers and lists."""
RENAME_JOB_ENV_VARIABLE = "ARENA_RENAME"
"""Environment variable that passes the rename to the child process, as JSON, because other users can see arguments."""
RENAME_REFUSED_EXIT_CODE = 3
"""Exit code of the child process if the bot cannot be renamed. The output of the process is then a one-line reason."""

SERVER_FAILURE_REASON = "the server failed; its log says why"
"""Reason why a bot keeps its name, as shown to an admin after an unexpected error."""


class RequestedRename(Struct, frozen=True):
    """Rename of a bot that an admin has requested, as shown to admins."""

    name: str
    new_name: str = field(name="other")
    problem: str | None
    """Reason why the bot keeps its name; empty after success, None while the rename is in progress."""


class _RenameJob(Struct, frozen=True):
    """Rename of a bot in a store, as passed to the child process."""

    store_url: str
    """Database URL of the store."""
    change: NameChange


_decode_rename_job = msgspec.json.Decoder(_RenameJob).decode


class RenameQueue:
    """Queue of the renames of bots that admins have requested from this process, with the results of the latest ones."""

    def __init__(self, store_url: str) -> None:
        """Prepare an empty queue. `store_url`: database URL of the store."""
        self._store_url = store_url
        self._problem_by_change: dict[NameChange, str | None] = {}
        """Requested renames, in the order of their requests, each with its outcome.

        The outcome is None until the rename is over, empty after success, and otherwise the reason why the bot keeps its name.
        """
        self._rename_added = anyio.Event()

    def add(self, change: NameChange) -> None:
        """Queue a rename, unless the same rename is already queued or in progress."""
        if self._problem_by_change.get(change, "") is None:
            return
        self._problem_by_change.pop(change, None)
        self._problem_by_change[change] = None
        self._rename_added.set()

    def list_renames(self) -> list[RequestedRename]:
        """Return the unfinished renames and the latest finished ones, in the order of their requests."""
        return [
            RequestedRename(change.name, change.new_name, problem)
            for change, problem in self._problem_by_change.items()
        ]

    async def run(self) -> None:
        """Carry out the queued renames, one at a time, until cancelled."""
        while True:
            await self._rename_added.wait()
            self._rename_added = anyio.Event()
            while (change := self._find_next_change()) is not None:
                self._problem_by_change[change] = await self._run_rename_and_describe_failure(change)
                finished_changes = [
                    change for change, problem in self._problem_by_change.items() if problem is not None
                ]
                for finished_change in finished_changes[:-MAX_LISTED_RENAMES]:
                    del self._problem_by_change[finished_change]

    def _find_next_change(self) -> NameChange | None:
        """Return the requested rename that is to run next; None if all are over."""
        return next((change for change, problem in self._problem_by_change.items() if problem is None), None)

    async def _run_rename_and_describe_failure(self, change: NameChange) -> str:
        """Rename a bot in a child process, and return the reason why it keeps its name; empty after success."""
        job = msgspec.json.encode(_RenameJob(self._store_url, change)).decode()
        # The priority is normal. With a lower one, the child could keep the store locked while other processes run.
        command = make_supervised_command(sys.executable, "-P", "-m", RENAME_PROCESS_MODULE, niceness=0)
        try:
            process = await anyio.run_process(
                command,
                stdin=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                env={**os.environ, RENAME_JOB_ENV_VARIABLE: job},
            )
        except OSError as error:
            log.error("the rename of %r failed: %s", change.name, error)  # noqa: TRY400  one line, no stack
            return SERVER_FAILURE_REASON
        output = process.stdout.decode(errors="replace").strip()
        if process.returncode in (0, RENAME_REFUSED_EXIT_CODE):
            return output
        log.error("the rename of %r failed (exit code %d): %s", change.name, process.returncode, output)
        return SERVER_FAILURE_REASON


async def _run_rename_job() -> None:
    """Carry out the rename in the environment variable RENAME_JOB_ENV_VARIABLE. Called in the child process."""
    job = _decode_rename_job(os.environ[RENAME_JOB_ENV_VARIABLE])
    try:
        async with open_store(job.store_url) as engine:
            await renaming.rename_bot(engine, job.change)
    except (NameInUse, TokenError, StoreError) as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(RENAME_REFUSED_EXIT_CODE)


if __name__ == "__main__":
    anyio.run(_run_rename_job)
