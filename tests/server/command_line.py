"""The `arena` command, called as a user calls it."""

from __future__ import annotations

from tests.bots.command_line import arena


def run(*arguments: str) -> tuple[int, str, str]:
    """Run a command. Return its exit code, output and error output."""
    result = arena(*arguments)
    return result.code, result.stdout, result.stderr
