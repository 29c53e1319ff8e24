"""docs/architecture.md: every name that it mentions exists, and the way of a move is the one that the code has."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WORDS = [
    word for span in re.findall(r"`([^`]+)`", re.sub(r"(?ms)^```.*?^```", "", PAGE)) for word in span.split()
]
NAME = re.compile(r"(?:arena\.)?(?:games|maps|protocol|match|rating|server|ladder|bots|tests)(?:\.\w+)+")
HOP = re.compile(r"\| (\d+) \| `(\S+)` \| `(\S+)` \| (.+?) \| (.+) \|")
HOPS = [(int(number), file, function, caller) for number, file, function, caller, _ in HOP.findall(PAGE)]


def looked_up(name: str) -> Any:
    """What a dotted name stands for. Raises ImportError or AttributeError."""
    words = name.split(".")
    if words[0] not in ("arena", "tests"):
        words.insert(0, "arena")
    for size in range(len(words), 0, -1):
        try:
            found: Any = import_module(".".join(words[:size]))
        except ModuleNotFoundError:
            continue
        for word in words[size:]:
            found = getattr(found, word)
        return found
    raise ImportError(name)


def function_of(file: str, function: str) -> Any:
    return looked_up(f"{file.removesuffix('.py').replace('/', '.')}.{function}")


def test_it_mentions_enough_to_be_walked() -> None:
    assert len([word for word in WORDS if NAME.fullmatch(word)]) > 15
    assert len(HOPS) > 10


@pytest.mark.parametrize("name", sorted({word for word in WORDS if NAME.fullmatch(word)}))
def test_every_name_exists(name: str) -> None:
    if not (ROOT / name).exists():  # a path such as `server.py` would be one
        looked_up(name)


def test_the_hops_are_numbered() -> None:
    assert [number for number, *_ in HOPS] == list(range(1, len(HOPS) + 1))


@pytest.mark.parametrize(("number", "file", "function", "caller"), HOPS)
def test_each_hop_is_called_where_the_page_says(number: int, file: str, function: str, caller: str) -> None:
    here = inspect.unwrap(function_of(file, function))
    assert Path(inspect.getsourcefile(here) or "").resolve() == ROOT / file
    named = re.match(r"hop (\d+)", caller)
    if named is None:
        assert caller.startswith("the event loop")
        return
    before = {hop: (where, what) for hop, where, what, _ in HOPS if hop < number}
    text = inspect.getsource(function_of(*before[int(named[1])]))
    assert re.search(rf"\b{function.rpartition('.')[2]}\b", text), (
        f"hop {named[1]} does not mention {function}"
    )


def test_each_hop_is_one_call_deeper_or_after_a_return() -> None:
    """The caller of a hop is the hop before it, or one of those that are still under way in it."""
    under_way: list[int] = []
    for number, _, _, caller in HOPS:
        named = re.match(r"hop (\d+)(, as a callback)?", caller)
        if named is None or named[2]:
            under_way = []
        else:
            assert int(named[1]) in under_way, f"hop {number}: hop {named[1]} has returned"
            del under_way[under_way.index(int(named[1])) + 1 :]
        under_way.append(number)
