from __future__ import annotations

import fcntl
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.client.session_file import SessionFile, make_session_file_name
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Error, Move, Ready, Status
from arena.protocol.messages import Standing as StandingMessage
from tests.bots.client.observed_client import STOP, First, run_client
from tests.bots.scripted_server import Peer
from tests.bots.server_messages import end, start, turn

URL = "ws://127.0.0.1:8765"


def open_session_file(folder: Path, name: str = "me", url: str = URL) -> SessionFile:
    return SessionFile(folder / make_session_file_name(name, url))


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_saved_session_is_readable_by_the_next_process_and_no_other_user(tmp_path: Path) -> None:
    memory = open_session_file(tmp_path / "new")
    assert (memory.session_secret, memory.match_ids) == ("", frozenset())
    memory.save("long secret", {"a", "b", "c"})
    memory.save("secret", {"b"})
    memory.close()
    assert stat.S_IMODE(only_file(tmp_path / "new").stat().st_mode) == 0o600
    assert only_file(tmp_path / "new").read_bytes() == b'{"session":"secret","matches":["b"]}\n'
    for other in (
        open_session_file(tmp_path / "new", "me", URL + "1"),
        open_session_file(tmp_path / "new", "You/ü" * 12),
    ):
        assert (other.session_secret, other.match_ids) == ("", frozenset())
    again = open_session_file(tmp_path / "new")
    assert (again.session_secret, again.match_ids) == ("secret", frozenset("b"))
    again.close()


@given(st.text(), st.text())
def test_every_bot_has_a_file_name_on_every_file_system(name: str, other: str) -> None:
    assert re.fullmatch("[A-Za-z0-9-]{13,45}[.]session", make_session_file_name(name, URL))
    assert (make_session_file_name(name, URL) == make_session_file_name(other, URL)) == (name == other)


def test_one_process_has_the_file_at_a_time(tmp_path: Path) -> None:
    first, second = open_session_file(tmp_path), open_session_file(tmp_path)
    first.save("secret", {"a"})
    with pytest.raises(BlockingIOError):
        open_session_file(tmp_path)
    second.save("other", {"b"})
    second.close()
    first.close()
    third = open_session_file(tmp_path)
    assert third.session_secret == "secret"
    third.close()


def test_a_file_removed_while_it_is_locked_is_locked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_session_file(tmp_path)
    first.save("secret", {"a"})
    removed = only_file(tmp_path)
    first.close()
    taken: list[int] = []

    def flock(file: int, how: int, real: Callable[[int, int], None] = fcntl.flock) -> None:
        if not taken:
            removed.unlink()
        taken.append(how)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    second = open_session_file(tmp_path)
    assert (len(taken), second.session_secret) == (2, "")
    second.close()


def test_without_matches_no_file_remains(tmp_path: Path) -> None:
    memory = open_session_file(tmp_path)
    memory.save("secret", set())
    assert list(tmp_path.iterdir()) == []
    memory.save("secret", {"a"})
    memory.save("secret", set())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b'{"session": 5}\n', b'{"session": "a"', b"[]\n"])
def test_an_invalid_file_counts_as_empty(content: bytes, tmp_path: Path) -> None:
    memory = open_session_file(tmp_path)
    memory.save("secret", {"a"})
    memory.close()
    only_file(tmp_path).write_bytes(content)
    again = open_session_file(tmp_path)
    assert (again.session_secret, again.match_ids) == ("", frozenset())
    again.save("secret", {"a"})
    again.close()
    last = open_session_file(tmp_path)
    assert last.session_secret == "secret"
    last.close()


async def test_a_new_process_resumes_and_learns_of_a_match_that_ended(tmp_path: Path) -> None:
    async def first(peer: Peer) -> None:
        assert (await peer.welcome_bot("one")).session == ""
        await peer.send(start(), start("other"))
        assert {(await peer.receive(Ready)).match for _ in range(2)} == {"m", "other"}
        await peer.send(STOP)

    memory = open_session_file(tmp_path)
    await run_client(First, first, concurrency=2, session_file=memory)
    memory.close()

    async def second(peer: Peer) -> None:
        hello = await peer.welcome_bot("one")
        assert (hello.session, hello.quota) == ("one", 1)
        assert await peer.receive(Status) == Status()
        await peer.send(start())
        await peer.send(StandingMessage("playing", ""))
        assert {(await peer.receive(Ready)).match for _ in range(2)} == {"m", "other"}
        await peer.send(turn([4, 0]))
        await peer.send(end([0], match="other", winner="minnie", reason=EndReason.DISCONNECT))
        assert await peer.receive(Move) == Move("m", 2, 1)
        await peer.send(end([4, 0, 1], winner="maxie"), STOP)

    again = open_session_file(tmp_path)
    observed = await run_client(First, second, concurrency=2, quota=1, session_file=again)
    assert [line.partition(";")[2] for line in observed.status_lines] == [" 2 matches in play"]
    assert observed.problems == ["match other ended while this bot was away: minnie won (disconnect)"]
    assert str(observed.client.result_counts) == "1 won, 0 drawn, 0 lost"
    assert list(tmp_path.iterdir()) == []


async def test_a_session_unknown_to_the_server_is_replaced(tmp_path: Path) -> None:
    memory = open_session_file(tmp_path)
    memory.save("old", {"gone"})

    async def script(peer: Peer) -> None:
        assert (await peer.welcome_bot("new")).session == "old"
        await peer.receive(Status)
        await peer.send(StandingMessage("waiting", "it waits"))
        assert await peer.receive(Ready) == Ready("gone")
        await peer.send(Error(ErrorCode.NO_SUCH_MATCH, "it does not exist", "gone"), STOP)

    observed = await run_client(First, script, session_file=memory)
    assert observed.problems == []
    assert (memory.session_secret, memory.match_ids) == ("new", frozenset())
