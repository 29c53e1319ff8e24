"""Imports of a server and a bot.

`testkit.forked` loads this module once, in the process from which it forks commands.
"""

import gc
import os
from importlib import import_module

from arena.cli import load_command

# NumPy's threads would not be there in a fork.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

for command in ("serve", "bot", "token", "ladder"):
    load_command(command)
for module in (
    # what these commands load only when they run
    "aiosqlite",
    "arena.bots.client.client",
    "arena.bots.engines.from_file",
    "arena.bots.engines.isolated",
    "arena.rating.bradley_terry",
    "arena.server.web.__main__",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "uvloop",
):
    import_module(module)
# What all commands share is left alone by the collector of each, which would copy the memory that it writes into.
gc.collect()
gc.freeze()
