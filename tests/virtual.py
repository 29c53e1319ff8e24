"""Tests on virtual time, one by one: each runs on a loop of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

from testkit.virtual_time import run_virtual

P = ParamSpec("P")


def virtual(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test on a loop of its own, whose time is not real."""

    @functools.wraps(test)
    def of_its_own(*args: P.args, **kwargs: P.kwargs) -> None:
        run_virtual(test(*args, **kwargs))

    # For pytest: the arguments of the test, in a function that is no coroutine function.
    vars(of_its_own)["__signature__"] = inspect.signature(test)
    del vars(of_its_own)["__wrapped__"]
    return of_its_own
