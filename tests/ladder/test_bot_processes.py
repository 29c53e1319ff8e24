import sys
import time
from pathlib import Path

import anyio
import pytest

from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.bot_processes import BotProcesses, make_start_command, open_bot_processes
from arena.ladder.plan import BotPlan
from arena.processes.bot_process import RestartPolicy
from arena.processes.child import MAX_KEPT_OUTPUT_LINES
from arena.server.host import ArenaServer
from tests.server.fleets import QUICK, ROOT, all_gone, bot, processes_of


async def until_lost(fleet: BotProcesses, name: str) -> None:
    with anyio.fail_after(500):
        while not fleet.has_dropped_out(name):
            await fleet.wait_for_bot_change()


async def test_bots_are_taken_once_and_given_back(host: ArenaServer) -> None:
    async with open_bot_processes(
        host, [bot("a"), bot("b")], folder=ROOT, restart_policy=QUICK, on_notice=pytest.fail
    ) as fleet:
        await fleet.wait_until_connected()
        assert fleet.reserve_connection("a") == "a"
        assert fleet.reserve_connection("a") is None
        assert fleet.reserve_connection("b") == "b"
        fleet.finish_match("a", "a", made_move=True)
        fleet.release_connection("b")
        assert (fleet.reserve_connection("a"), fleet.reserve_connection("b")) == ("a", "b")


@pytest.mark.parametrize("mode", ["play", "stay", "never"])
async def test_nothing_is_left_behind(host: ArenaServer, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"arena-test-{mode}-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    restart_policy = RestartPolicy(
        first_match_wait_seconds=0.5 if mode == "never" else 200, stop_timeout_seconds=0.2
    )
    with pytest.raises(RuntimeError, match="the program fails"):
        async with open_bot_processes(
            host,
            [bot("a", mode)],
            count_processes=lambda _bot: 2,
            folder=ROOT,
            restart_policy=restart_policy,
            on_notice=pytest.fail,
        ) as fleet:
            await fleet.wait_until_connected()
            with anyio.fail_after(200):
                while len(processes_of(mark)) < 4:  # two supervisors, two bots, and the bots' child processes
                    await anyio.sleep(0.02)
            raise RuntimeError("the program fails")
    assert all_gone(mark)


async def test_a_bot_that_was_started_wrongly_says_so_in_its_own_words(host: ArenaServer) -> None:
    with pytest.raises(BotNotStarted, match=r"^bot b cannot play: no engine is called 'x'$"):
        await settle(host, bot("a"), bot("b", "misuse"))
    with pytest.raises(
        BotNotStarted,
        match=r"^bot b cannot play: cannot start 'no-such-program': (No such file|Permission denied)",
    ):
        await settle(host, bot("a"), BotPlan("b", None, ("no-such-program",)))


async def settle(host: ArenaServer, *bots: BotPlan) -> None:
    async with open_bot_processes(
        host, bots, folder=ROOT, restart_policy=QUICK, on_notice=pytest.fail
    ) as fleet:
        await fleet.wait_until_connected()


async def test_a_bot_that_crashes_is_named_and_started_again_until_it_is_lost(host: ArenaServer) -> None:
    lines: list[str] = []
    async with open_bot_processes(
        host, [bot("a", "crash")], folder=ROOT, restart_policy=QUICK, on_notice=lines.append
    ) as fleet:
        await until_lost(fleet, "a")
    assert lines == [
        "bot a ended unexpectedly (exit code 1); it is started again\n    the disk is full",
        "bot a ended unexpectedly (exit code 1); it is lost, and so are its matches\n    the disk is full",
    ]


async def test_a_bot_that_never_connects_is_named_and_lost(host: ArenaServer) -> None:
    lines: list[str] = []
    restart_policy = RestartPolicy(
        connect_timeout_seconds=0.3,
        first_match_wait_seconds=0.1,
        max_restarts=1,
        backoff_seconds=0.01,
        stop_timeout_seconds=0.2,
    )
    async with open_bot_processes(
        host, [bot("a", "never")], folder=ROOT, restart_policy=restart_policy, on_notice=lines.append
    ) as fleet:
        await fleet.wait_until_connected()  # does not wait for it forever
        await until_lost(fleet, "a")
    assert lines == [
        "bot a hung: it did not connect within 0.3 s; it is started again",
        "bot a hung: it did not connect within 0.3 s; it is lost, and so are its matches",
    ]


async def test_the_last_lines_of_a_bots_output_are_kept(host: ArenaServer) -> None:
    lines: list[str] = []
    async with open_bot_processes(
        host, [bot("a", "babble")], folder=ROOT, restart_policy=QUICK, on_notice=lines.append
    ) as fleet:
        await until_lost(fleet, "a")
    first, *kept = lines[0].split("\n")
    assert first == "bot a ended unexpectedly (exit code 3); it is started again"
    assert len(kept) == MAX_KEPT_OUTPUT_LINES
    assert kept[0].startswith(f"    {1000 - MAX_KEPT_OUTPUT_LINES + 1} xxx")
    assert kept[-1].startswith("    yyy")
    assert max(map(len, kept)) < 600


async def test_a_bot_that_stays_silent_is_killed_and_started_again(host: ArenaServer) -> None:
    lines: list[str] = []
    async with open_bot_processes(
        host, [bot("a")], folder=ROOT, restart_policy=QUICK, on_notice=lines.append
    ) as fleet:
        await fleet.wait_until_connected()
        assert fleet.reserve_connection("a") == "a"
        fleet.finish_match("a", "a", made_move=False)
        assert fleet.reserve_connection("a") is None  # not before it is back
        with anyio.fail_after(500):
            while fleet.reserve_connection("a") is None:
                await fleet.wait_for_bot_change()
    [notice] = lines
    assert notice.startswith("bot a hung: it did not answer in 1 matches in a row; it is started again")


async def test_an_answer_resets_the_count_of_silent_matches(host: ArenaServer) -> None:
    restart_policy = RestartPolicy(max_silent_matches=2)
    async with open_bot_processes(
        host, [bot("a")], folder=ROOT, restart_policy=restart_policy, on_notice=pytest.fail
    ) as fleet:
        await fleet.wait_until_connected()
        for answered in (False, None, True, False):
            assert fleet.reserve_connection("a") == "a"
            fleet.finish_match("a", "a", made_move=answered)
        assert fleet.reserve_connection("a") == "a"


def test_an_engines_command_hides_its_token_and_the_folders_files() -> None:
    words = make_start_command(BotPlan("deep", "minimax:depth=4"), "ws://127.0.0.1:1", "deep#2", ())
    assert words[1:] == (
        *("-P", "-m", "arena", "bot", "minimax:depth=4"),
        *("--url", "ws://127.0.0.1:1", "--name", "deep#2"),
    )
    assert make_start_command(BotPlan("mine", None, ("mine", "-x")), "ws://127.0.0.1:1", "mine", ()) == (
        "mine",
        "-x",
    )


async def test_arena_and_python_are_those_of_the_ladder(host: ArenaServer, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    show = BotPlan("a", None, ("sh", "-c", f"command -v python > {shown}; env >> {shown}; exit 1"))
    texts: list[str] = []
    async with open_bot_processes(
        host, [show], folder=tmp_path, restart_policy=QUICK, on_notice=texts.append
    ) as fleet:
        await until_lost(fleet, "a")
    lines = shown.read_text().splitlines()
    assert Path(lines[0]).parent == Path(sys.executable).parent
    assert f"ARENA_URL={host.url}" in lines
    assert "ARENA_NAME=a" in lines
    assert f"PWD={tmp_path}" in lines
