"""docs/architecture.md: every path and name that it mentions exists, and the way of a move is the one that the code has."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.house import read

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WORDS = [word for span in re.findall(r"`([^`]+)`", PAGE) for word in span.split()]
NAME = re.compile(r"(?:games|maps|protocol|match|rating|server|ladder|bots|tests)(?:\.\w+)+")
HOP = re.compile(r"\| (\d+) \| `(\S+)` \| `(\S+)` \| (.+?) \| (.+) \|")
SIZE = re.compile(r"^\| `([\w/]+)` \| (\d+) % \|", re.MULTILINE)
SIZES = {room: int(share) for room, share in SIZE.findall(PAGE)}
HOPS = [(int(number), file, function, caller) for number, file, function, caller, _ in HOP.findall(PAGE)]


def looked_up(name: str) -> Any:
    """What a dotted name stands for. Raises ImportError or AttributeError."""
    words = name.split(".")
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
    assert len([word for word in WORDS if "/" in word]) > 25
    assert len(HOPS) > 10


@pytest.mark.parametrize(
    "word", sorted({word for word in WORDS if "/" in word or Path(word).suffix == ".py"})
)
def test_every_path_exists(word: str) -> None:
    assert (ROOT / word).exists()


@pytest.mark.parametrize("name", sorted({word for word in WORDS if NAME.fullmatch(word)}))
def test_every_name_exists(name: str) -> None:
    if not (ROOT / name).exists():  # a path such as `server.py` would be one
        looked_up(name)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", PAGE))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


def test_every_folder_of_the_contracts_is_told_of() -> None:
    for container, building in read().items():
        if container in {"", "server", "bots"}:
            for folder in (folder for floor in building.floors for folder in floor):
                path = folder.name.replace(".", "/")
                path = path if (ROOT / path).is_dir() else f"{path}.py"
                assert path in WORDS, f"{path} stands on a floor, and docs/architecture.md says nothing of it"


def test_the_hops_are_numbered() -> None:
    assert [number for number, *_ in HOPS] == list(range(1, len(HOPS) + 1))


@pytest.mark.parametrize(("number", "file", "function", "caller"), HOPS)
def test_each_hop_is_called_where_the_page_says(number: int, file: str, function: str, caller: str) -> None:
    here = inspect.unwrap(function_of(file, function))
    assert inspect.getsourcefile(here) == str(ROOT / file)
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


def rooms() -> dict[str, int]:
    """The lines of each innermost folder that the contracts name, of what a folder has beside those, and of the page."""
    house = read()
    found = {folder.name.replace(".", "/"): folder.lines for floor in house[""].floors for folder in floor}
    for container in [name for name in house if name]:
        inside = [
            folder
            for floor in house[container].floors
            for folder in floor
            if (ROOT / folder.name.replace(".", "/")).is_dir()
        ]
        found |= {folder.name.replace(".", "/"): folder.lines for folder in inside}
        found[container] -= sum(folder.lines for folder in inside)
    files = [file for kind in ("js", "css", "html") for file in (ROOT / "page").rglob(f"*.{kind}")]
    shown = [file for file in files if "vendor" not in file.parts]
    return found | {"page": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in shown)}


def test_each_room_is_as_large_as_the_page_says_and_none_has_a_third_of_the_code() -> None:
    lines = rooms()
    shares = {room: 100 * count / sum(lines.values()) for room, count in lines.items()}
    assert {room for room, share in shares.items() if share >= 5} <= SIZES.keys()
    for room, told in SIZES.items():
        assert abs(shares[room] - told) <= 2, f"{room} has {shares[room]:.1f} % of the code"
    assert max(shares.values()) < 100 / 3
