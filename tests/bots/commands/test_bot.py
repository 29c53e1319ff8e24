"""`arena bot`, as a process against a real server."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from msgspec import structs

from arena.bots.evaluators.linear import EVALUATOR_FILES_FOLDER
from arena.cores import list_usable_cores
from arena.match.terms import SearchThreadLimits
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from testkit.forked import ForkedCommand
from tests.bots.command_line import ARENA, environment, fails
from tests.server.matches import spec

pytestmark = pytest.mark.usefixtures("loaded_commands")

WAIT_TIMEOUT_SECONDS = 200

BROKEN = """\
from arena.bots.api.bot import Bot

class Mine(Bot):
    def choose(self, position, clock):
        {choose}
"""


class Program:
    """Process of `arena bot`, with its output."""

    def __init__(self, folder: str | Path, *words: str, **more: str) -> None:
        self._out, self._err = Path(folder, "out"), Path(folder, "err")
        self.process = ForkedCommand(
            "bot", *words, cwd=Path(folder), env=environment(**more), stdout=self._out, stderr=self._err
        )

    async def wait(self, *signals: signal.Signals) -> int:
        """Send these signals, wait for the process to end, and return its exit code."""
        for each in signals:
            self.process.send_signal(each)
        return await anyio.to_thread.run_sync(self.process.wait, WAIT_TIMEOUT_SECONDS)

    @property
    def stdout(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def stderr(self) -> str:
        return self._err.read_text(encoding="utf-8")


@contextmanager
def running_bot(*words: str, **more: str) -> Iterator[Program]:
    """Yield a process of `arena bot`, which is killed at the end of the `with` block."""
    with TemporaryDirectory(prefix="arena-") as folder:
        program = Program(folder, *words, **more)
        try:
            yield program
        finally:
            program.process.kill()
            program.process.wait()


@asynccontextmanager
async def connected_bot(host: ArenaServer, *arguments: str, name: str, **more: str) -> AsyncIterator[Program]:
    """Yield a process of `arena bot` that has connected to `host`."""
    with running_bot(*arguments, "--url", host.url, "--name", name, **more) as program:
        assert await host.wait_until_connected(name, WAIT_TIMEOUT_SECONDS), program.stderr
        yield program


async def test_two_bots_play_and_each_match_is_a_line() -> None:
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, "greedy", name="g") as greedy,
        connected_bot(host, "random:seed=1", name="r") as other,
    ):
        record = await host.shell.play_match(spec("g", "r"))
        assert record.result.reason in {EndReason.LINE, EndReason.BOARD_FULL}
        for program in (greedy, other):
            assert await program.wait(signal.SIGTERM) == 0
        stdout = greedy.stdout
    word = {"maxie": "won", "minnie": "lost", None: "drawn"}[record.result.winner]
    lines = stdout.splitlines()
    assert lines[0].startswith(f"match {record.match[:8]}: tictactoe as maxie against r: {word} (")
    assert (
        lines[1] == f"g: {int(word == 'won')} won, {int(word == 'drawn')} drawn, {int(word == 'lost')} lost"
    )


@pytest.mark.parametrize(
    ("words", "engine"),
    [
        (("alphabeta:depth=4,exact=no",), "alphabeta:depth=4,evaluator=features,exact=no, 1 thread"),
        (
            ("jamboree", "--matches", "1000", "--challenges-only"),
            f"{min(8, len(list_usable_cores()))} thread",
        ),
        (("jamboree", "--matches", "1000"), "1 thread"),
        ((f"alphabeta:evaluator={EVALUATOR_FILES_FOLDER / 'riskless.toml'}",), "evaluator=riskless.toml"),
    ],
)
async def test_the_hello_names_the_engine_and_its_threads(words: tuple[str, ...], engine: str) -> None:
    """Simultaneous matches share the cores, except the matches of a bot that plays only challenges."""
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, *words, name="named"),
    ):
        known = host.shell.core.find_bot("named")
        assert known is not None
        assert engine in str(known.engine)


@pytest.mark.parametrize("words", [("{file}",), ("--exec", "cat {file} --key=secret")])
async def test_the_hello_has_no_path_and_no_argument_of_a_program(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "own.py"
    file.write_text(BROKEN.format(choose="return None"))
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, *(word.format(file=file) for word in words), name="named"),
    ):
        known = host.shell.core.find_bot("named")
        assert known is not None
        assert known.program == "own"


async def test_a_bot_file_without_threads_may_use_all_that_the_match_allows(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(BROKEN.format(choose="raise SystemExit(f'{self.threads} threads')"))
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, str(tmp_path / "own.py"), name="own") as program,
        connected_bot(host, "random", name="r"),
    ):
        record = await host.shell.play_match(
            structs.replace(spec("own", "r"), thread_limits=SearchThreadLimits(3, 3))
        )
        assert record.result.reason is EndReason.CRASH
        assert record.engines is not None
        assert record.engines.maxie == EngineInfo("own")
        assert await program.wait(signal.SIGTERM) == 0
        assert "SystemExit: 3 threads" in program.stderr


async def test_the_token_comes_from_the_environment_and_may_end_with_a_line_end_of_windows() -> None:
    async with open_arena_server() as host:
        token = host.issue_token("secretive")
        async with connected_bot(host, "random", name="secretive", ARENA_TOKEN=f"{token}\r") as program:
            assert await program.wait(signal.SIGINT) == 0


async def test_the_end_of_the_event_ends_the_bot_with_exit_code_0() -> None:
    with ExitStack() as programs:
        async with open_arena_server(make_private_server_settings(anyone=True), will_restart=False) as host:
            program = programs.enter_context(running_bot("random", "--url", host.url))
            assert await host.wait_until_connected("random", WAIT_TIMEOUT_SECONDS)
        assert await program.wait() == 0
        assert program.stdout == "random: 0 won, 0 drawn, 0 lost\n"


async def test_an_exception_resigns_with_its_traceback(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(BROKEN.format(choose="return 1 // 0"))
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, str(file), name="mine") as mine,
        connected_bot(host, "random", name="r"),
    ):
        record = await host.shell.play_match(spec("mine", "r"))
        await mine.wait(signal.SIGTERM)
        stderr = mine.stderr
    assert (record.result.winner, record.result.reason) == ("minnie", EndReason.CRASH)
    assert f'File "{tmp_path}/mine.py", line 5, in choose' in stderr
    assert f"match {record.match}: choose raised ZeroDivisionError" in stderr


async def test_a_closed_output_stops_the_bot() -> None:
    """The reader of the bot's output closes the pipe, as in `arena bot … | head`."""
    unread, lines = os.pipe()
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        connected_bot(host, "random", name="b"),
    ):
        words = [*ARENA, "bot", "random", "--url", host.url, "--name", "a"]
        process = await anyio.open_process(words, env=environment(), stdout=lines)
        os.close(lines)
        os.close(unread)
        assert await host.wait_until_connected("a", WAIT_TIMEOUT_SECONDS)
        await host.shell.play_match(spec("a", "b"))
        with anyio.fail_after(500):
            assert await process.wait() == 0
        assert process.stderr is not None
        stderr = b"".join([chunk async for chunk in process.stderr]).decode()
        assert re.fullmatch(rf"\d\d:\d\d:\d\d a is connected to {re.escape(host.url)}\n", stderr)
        await process.aclose()


def test_bad_input_is_reported_in_one_line(tmp_path: Path) -> None:
    fails("no engine is called 'gredy': did you mean \"greedy\"? (or give a file NAME.py)", 2, "bot", "gredy")
    fails("no.py does not exist", 2, "bot", "no.py")
    fails("alphabeta: weights file no.toml not found", 2, "bot", "alphabeta:evaluator=no.toml")
    fails("--name ' ' is not a valid name", 2, "bot", "random", "--name", " ")
    fails(
        "'http://here' is not a server URL: write ws://HOST:PORT",
        2,
        "bot",
        "random",
        "--url",
        "http://here",
    )
    fails("--matches", 2, "bot", "random", "--matches", "0")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("x = (\n")
    fails("line 1: SyntaxError", 2, "bot", wrong)


def test_a_program_or_an_engine_but_not_both(tmp_path: Path) -> None:
    fails("give exactly one bot", 2, "bot")
    fails("give exactly one bot", 2, "bot", "random", "--exec", "cat")
    fails("exec: has no command: write exec:COMMAND", 2, "bot", "exec:")
    empty = tmp_path / "12:30" / "bot.toml"
    empty.parent.mkdir()
    empty.write_text('name = "me"')
    fails(
        'bot.toml have neither engine nor exec: add engine = "my_bot.py" or exec = "COMMAND"',
        2,
        "bot",
        empty,
    )
    empty.write_text('engine = "random"\nexec = "cat"')
    fails("bot.toml have both engine and exec: leave one of them out", 2, "bot", empty)
    fails("program 'no-such-program-x' not found", 2, "bot", "--exec", "no-such-program-x")
    # Asking the file system for such a name is an error of its own.
    long_name = "x" * 300
    fails("evaluator must be", 2, "bot", f"alphabeta:evaluator={long_name}")
    fails("not found", 2, "bot", f"alphabeta:evaluator={long_name}.toml")
    fails("program 'no-such-program-x' not found", 2, "bot", f"exec:no-such-program-x {long_name}")
    fails("--logs needs a separate process", 2, "bot", "random", "--logs", tmp_path)


def test_a_wrong_option_beside_a_file_is_reported_as_an_option(tmp_path: Path) -> None:
    file = tmp_path / "bot.toml"
    file.write_text('engine = "greedy"\n')
    fails("arena: --for: the time must be a duration", 2, "bot", file, "--for", "soon")
    fails("arena: --tc: 'soon' is not a time control", 2, "bot", file, "--tc", "soon")


def test_without_a_server_the_bot_says_what_to_start(unused_tcp_port: int) -> None:
    url = f"ws://127.0.0.1:{unused_tcp_port}"
    fails(f"no server at {url} (", 1, "bot", "random", "--url", url)


async def test_with_wait_it_waits_for_the_server() -> None:
    tried = asyncio.Event()

    async def no_server(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        tried.set()

    # A port that closes each connection shows that the bot has tried to connect before the server starts.
    hanging_up = await asyncio.start_server(no_server, "127.0.0.1", 0)
    port = hanging_up.sockets[0].getsockname()[1]
    with running_bot("random", "--url", f"ws://127.0.0.1:{port}", "--wait", "300") as program:
        with anyio.fail_after(WAIT_TIMEOUT_SECONDS):
            await tried.wait()
        hanging_up.close()
        await hanging_up.wait_closed()
        async with open_arena_server(
            make_private_server_settings(port=port, anyone=True), will_restart=False
        ) as host:
            assert await host.wait_until_connected("random", WAIT_TIMEOUT_SECONDS)
        assert await program.wait() == 0


async def test_a_refusal_is_a_line() -> None:
    async with open_arena_server() as host:
        with running_bot("random", "--url", host.url) as program:
            assert await program.wait() == 1
            assert program.stderr.startswith("arena: the server refuses: the name 'random' has no token")
