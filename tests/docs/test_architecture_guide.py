"""docs/architecture.md: every name that it mentions exists, and the way of a move is the one that the code has."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import pytest

from arena.protocol.messages import Move, Ready, Start, Turn
from arena.server.host import open_arena_server
from tests.server.matches import spec
from tests.server.peer import enter

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WORDS = [
    word for span in re.findall(r"`([^`]+)`", re.sub(r"(?ms)^```.*?^```", "", PAGE)) for word in span.split()
]
NAME = re.compile(
    r"(?:arena\.)?(?:games|maps|protocol|match|rating|processes|server|check|ladder|bots|tests)(?:\.\w+)+"
)
HOP = re.compile(r"\| (\d+) \| `(\S+)` \| `(\S+)` \| .+ \|")
HOPS = [(int(number), file, function) for number, file, function in HOP.findall(PAGE)]


def looked_up(name: str) -> Any:
    """Return the object with a dotted name. Raises ImportError or AttributeError."""
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


def test_it_mentions_enough_to_be_walked() -> None:
    assert len([word for word in WORDS if NAME.fullmatch(word)]) > 15
    assert 5 < len(HOPS) <= 10


@pytest.mark.parametrize("name", sorted({word for word in WORDS if NAME.fullmatch(word)}))
def test_every_name_exists(name: str) -> None:
    if not (ROOT / name).exists():  # a path such as `server.py` would be one
        looked_up(name)


def test_the_hops_are_numbered() -> None:
    assert [number for number, *_ in HOPS] == list(range(1, len(HOPS) + 1))


async def test_a_move_takes_these_hops_in_this_order() -> None:
    """The server's calls lead from the bytes of a move to the bytes of the opponent's turn."""
    hops = [(str(ROOT / file), function) for _, file, function in HOPS]
    seen: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _given: object) -> None:
        code = frame.f_code
        hop = str(Path(code.co_filename).resolve()), code.co_qualname
        if event == "call" and hop in hops:
            seen.append(hop)

    async with (
        open_arena_server() as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(host.shell.play_match, spec("anna", "bert"))
        for peer in (anna, bert):
            await peer.say(Ready((await peer.hear(Start)).match))
        turn = await anna.hear(Turn)
        sys.setprofile(note)
        try:
            await anna.say(Move(turn.match, 0, 4))
            await bert.hear(Turn)
        finally:
            sys.setprofile(None)
        tasks.cancel_scope.cancel()
    calls = iter(seen)  # which may have calls for other messages between those for the move
    assert [hop for hop in hops if hop not in calls] == [], seen
