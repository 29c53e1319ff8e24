"""The engine that a command line names."""

from __future__ import annotations

from arena.bots.api.options import BadSpec
from arena.bots.engines.registry import Engine, make_engine
from arena.console import Misuse


def load_engine(spec: str) -> Engine:
    """The engine of that spec: a built-in with its options, a file.py, or file.py:Class. Raises Misuse."""
    try:
        return make_engine(spec)
    except BadSpec as error:
        raise Misuse(str(error)) from None
