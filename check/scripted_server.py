"""Server for one bot under test, which sends only the messages that the checks choose.

The server starts the bot, if a command is given, and passes the bot's connections to the checks.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

import anyio
import anyio.abc
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from arena.check.bot_connection import BotConnection, FrameLog, ProtocolFault
from arena.processes.child import BotLaunchSettings, ChildProcess
from arena.processes.tasks import open_background_tasks
from arena.protocol.messages import MAX_CLIENT_FRAME_BYTES, SUBPROTOCOL, Hello

BOT_START_TIMEOUT_SECONDS = 60.0
"""Time limit, in seconds, for a newly started bot to connect, unless `patience_seconds` is longer.

The limit is generous, because a busy machine loads programs slowly.
"""
MAX_QUEUED_CONNECTIONS = 100
"""Maximum number of the bot's connections that wait to be used by a check. Further connections are closed at once."""


class ScriptedServer:
    """Server for one bot under test, which sends only the messages that the checks choose. Opened by `open_scripted_server`."""

    def __init__(
        self,
        command: Sequence[str] | None,
        patience_seconds: float,
        tasks: anyio.abc.TaskGroup,
        host: str,
        port: int,
    ) -> None:
        """Prepare the server without opening its port.

        command: command that starts the bot; None if the bot is started elsewhere
        patience_seconds: time limit, in seconds, for each action of the bot that no chess clock limits, such as connecting
        tasks: task group in which a task reads the output of the bot's process
        host, port: address on which to listen; port 0 for any free port
        """
        self.patience_seconds = patience_seconds
        self.frame_log = FrameLog()
        self.hello: Hello | None = None
        """Latest hello of the bot; None before the first hello."""
        self.session_secret = ""
        """Secret in the server's last welcome, with which the bot must resume its session; empty before the first welcome."""
        self.connection_count = 0
        """Number of connections that the bot has opened, including those that were dropped at once."""
        self.bot_process: ChildProcess | None = None
        """Process of the bot; None if this server has not started the bot, or has stopped it."""
        self.url = ""
        """Websocket URL of the server; empty until the server listens."""
        self._command = command
        self._tasks = tasks
        self._host = host
        self._port = port
        self._server: Server | None = None
        self._bot_connection: BotConnection | None = None
        self._accepts_connections = True
        self._refusal_reason = ""
        """Reason why the server refused the bot's last opening handshake; empty if it has refused none."""
        self._connection_sender, self._connection_receiver = anyio.create_memory_object_stream[
            ServerConnection
        ](MAX_QUEUED_CONNECTIONS)

    async def start_listening(self) -> None:
        """Start listening; after `simulate_crash`, on the same port as before. Raises OSError if the port cannot be used."""
        self._server = await serve(
            self._handle_connection,
            self._host,
            self._port,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            process_request=self._check_subprotocol,
            compression=None,
            max_size=MAX_CLIENT_FRAME_BYTES,
            ping_interval=None,
            close_timeout=2,
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"ws://{self._host}:{self._port}"

    @contextmanager
    def drop_new_connections(self) -> Iterator[None]:
        """During the `with` block, close each new connection of the bot at once."""
        self._accepts_connections = False
        try:
            yield
        finally:
            self._accepts_connections = True

    async def simulate_crash(self) -> None:
        """Simulate a killed server: close the port, and cut all connections without a closing handshake."""
        self.frame_log.add_remark("the server is killed")
        if self._server is not None:
            for connection in self._server.connections:
                connection.transport.abort()
            self._server.close(close_connections=False)
            await self._server.wait_closed()
            self._server = None
        self._bot_connection = None

    async def connect_bot(self) -> BotConnection:
        """Return the bot's open connection.

        If the bot has no open connection, start the bot's process unless the process is running, wait for the bot to connect,
        and exchange hello and welcome.

        Raises ProtocolFault if the bot ends, does not connect in time, or violates the protocol.
        """
        if self._bot_connection is not None and self._bot_connection.websocket.close_code is None:
            return self._bot_connection
        if self.bot_process is not None and self.bot_process.exit_code is not None:
            raise ProtocolFault(f"the bot ended unexpectedly (exit code {self.bot_process.exit_code})")
        max_seconds = self.patience_seconds
        if self.bot_process is None and self._command is not None:
            max_seconds = max(max_seconds, BOT_START_TIMEOUT_SECONDS)
            program = BotLaunchSettings("checked", self._command, self.url)
            self.bot_process = await ChildProcess.start(program, "check-token")
            self._tasks.start_soon(self.bot_process.read_output_until_closed)
        connection = await self._wait_for_bot_connection(max_seconds)
        self._bot_connection = BotConnection(connection, self.frame_log, self.patience_seconds)
        self.session_secret = secrets.token_hex(8)
        self.hello = await self._bot_connection.exchange_hello_and_welcome(self.session_secret)
        return self._bot_connection

    async def wait_for_reconnection(self) -> BotConnection:
        """Wait until the bot connects again after its connection was lost, and return the new connection.

        Raises ProtocolFault if the bot does not reconnect in time, or does not resume its session.
        """
        session, self._bot_connection = self.session_secret, None
        try:
            peer = await self.connect_bot()
        except ProtocolFault as fault:
            raise ProtocolFault(f"while reconnecting after a lost connection: {fault}") from None
        if self.hello is None or self.hello.session != session:
            raise ProtocolFault(
                "the bot must reconnect with the session of its last welcome; otherwise its matches are lost"
            )
        return peer

    async def stop_bot_process(self) -> None:
        """Stop the bot's process, if this server started it, and drop the bot's connections."""
        if self.bot_process is not None:
            await self.bot_process.stop_or_kill()
            self.bot_process = None
        if self._bot_connection is not None:
            self._bot_connection.websocket.transport.abort()
            self._bot_connection = None
        while self._connection_receiver.statistics().current_buffer_used:
            self._connection_receiver.receive_nowait().transport.abort()
        self._refusal_reason = ""

    async def close(self) -> None:
        """Close the server and all connections, and stop the bot's process."""
        with anyio.CancelScope(shield=True):
            await self.stop_bot_process()
            await self.simulate_crash()
        self._connection_sender.close()
        self._connection_receiver.close()

    async def _wait_for_bot_connection(self, timeout_seconds: float) -> ServerConnection:
        with anyio.move_on_after(timeout_seconds):
            while True:
                with anyio.move_on_after(0.05):
                    return await self._connection_receiver.receive()
                if self._refusal_reason:
                    raise ProtocolFault(self._refusal_reason)
                if self.bot_process is not None and self.bot_process.exit_code is not None:
                    raise ProtocolFault(
                        f"the bot ended (exit code {self.bot_process.exit_code}) and did not connect"
                    )
        raise ProtocolFault(f"the bot did not connect within {timeout_seconds:g} s")

    async def _handle_connection(self, connection: ServerConnection) -> None:
        self.connection_count += 1
        if not self._accepts_connections:
            connection.transport.abort()
            return
        try:
            self._connection_sender.send_nowait(connection)
        except anyio.WouldBlock:
            connection.transport.abort()
        await connection.wait_closed()

    def _check_subprotocol(self, connection: ServerConnection, request: Request) -> Response | None:
        values = request.headers.get_all("Sec-WebSocket-Protocol")
        offered = [part.strip() for value in values for part in value.split(",")]
        if SUBPROTOCOL in offered:
            return None
        self._refusal_reason = (
            f"the handshake offers the subprotocol {', '.join(offered) or 'none'}, not {SUBPROTOCOL}"
        )
        return connection.respond(HTTPStatus.BAD_REQUEST, f"the subprotocol {SUBPROTOCOL} is required\n")


@asynccontextmanager
async def open_scripted_server(
    command: Sequence[str] | None, patience_seconds: float, host: str, port: int
) -> AsyncIterator[ScriptedServer]:
    """Open a scripted server that listens during the `async with` block.

    command: command that starts the bot at the first `connect_bot`; None if the bot is started elsewhere
    patience_seconds: time limit in seconds for each action of the bot that no chess clock limits, such as connecting
    host, port: address on which to listen; port 0 for any free port

    Raises OSError if the port cannot be used.
    """
    async with open_background_tasks() as tasks:
        server = ScriptedServer(command, patience_seconds, tasks, host, port)
        try:
            await server.start_listening()
            yield server
        finally:
            await server.close()
