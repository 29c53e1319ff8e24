"""Imports of everything that a server or a bot needs.

`testkit.forked` loads this module once, in the process from which it forks commands, so that no command has to import
anything.
"""

import gc
import os
from importlib import import_module

from arena.cli import load_command

# NumPy's worker threads would not exist in a forked process.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

for command in ("serve", "bot", "token", "ladder"):
    load_command(command)
for module in (
    # modules that these commands import only when they run
    "aiosqlite",
    "anyio._backends._asyncio",
    "arena.bots.client.client",
    "arena.bots.commands.bot_run",
    "arena.bots.engines.from_file",
    "arena.bots.engines.isolated",
    "arena.rating.bradley_terry",
    "arena.server.cluster.nats",
    "arena.server.web.__main__",
    "asyncpg",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "typer._adapters",
    "uvloop",
):
    import_module(module)
# The garbage collector of a command must not touch the objects that all commands share: a write copies their memory.
gc.collect()
gc.freeze()
