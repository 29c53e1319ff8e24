"""The bus over a real NATS server, also while NATS is unavailable, slow or refuses the client."""

from __future__ import annotations

import asyncio
import gc
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from arena.server.cluster import nats
from arena.server.cluster.bus import MAX_PAYLOAD_BYTES, BusError
from arena.server.cluster.nats import MAX_QUEUED_BUS_BYTES, NatsBus, open_nats_bus
from testkit.forwarder import ForwarderProcess
from testkit.nats_server import NatsServer, run_nats
from testkit.tools import mark_requires
from tests.certificates import make_certificate

pytestmark = mark_requires("nats")


@asynccontextmanager
async def open_bus(url: str, **options: Any) -> AsyncIterator[NatsBus]:
    async with open_nats_bus(url, connection_name="test", **options) as bus:
        yield bus


async def until(condition: Callable[[], bool], seconds: float = 500) -> None:
    """Wait until `condition()` is true. Raises TimeoutError after `seconds`."""
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.002)


@asynccontextmanager
async def nats_server(**settings: Any) -> AsyncIterator[NatsServer]:
    """Run a NATS server with these settings during the block."""
    held = run_nats(**settings)
    server = await asyncio.to_thread(held.__enter__)
    yield server
    await asyncio.to_thread(held.__exit__, None, None, None)


@pytest.fixture
async def own_nats() -> AsyncIterator[NatsServer]:
    """Run a NATS server that the test may stop."""
    async with nats_server() as server:
        yield server


@asynccontextmanager
async def open_forwarder(server: NatsServer) -> AsyncIterator[ForwarderProcess]:
    """Run a forwarder to a NATS server during the block, which can cut the connections through it."""
    with closing(await asyncio.to_thread(ForwarderProcess, server.port)) as forwarder:
        yield forwarder


async def refusal(url: str, **options: Any) -> str:
    """Return the error with which a connection to this URL is refused."""
    with pytest.raises(BusError) as refused:
        async with open_bus(url, **options):
            pytest.fail("the bus was opened")
    return str(refused.value)


async def check_round_trip(bus: NatsBus, received: list[bytes], subject: str) -> None:
    """Publish a message, and wait until it is in `received`, the list of a subscription."""
    before = len(received)
    assert bus.publish(subject, b"x")
    await until(lambda: len(received) > before)


async def test_subscriptions_survive_a_restart_of_nats(own_nats: NatsServer) -> None:
    payloads: list[bytes] = []
    async with open_bus(own_nats.url) as bus:
        await bus.subscribe("a.b", payloads.append)
        await check_round_trip(bus, payloads, "a.b")
        await asyncio.to_thread(own_nats.kill)
        await until(lambda: not bus.is_connected)
        assert not bus.publish("a.b", b"lost")
        late: list[bytes] = []
        await bus.subscribe("a.c", late.append)
        await asyncio.to_thread(own_nats.start)
        await until(lambda: bus.is_connected)
        await check_round_trip(bus, payloads, "a.b")
        await check_round_trip(bus, late, "a.c")
    assert payloads == [b"x", b"x"]


@pytest.mark.parametrize("how", ["frozen", "cut"])
async def test_a_silent_nats_counts_as_lost_and_does_not_block_the_event_loop(
    own_nats: NatsServer, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    payloads: list[bytes] = []
    async with open_forwarder(own_nats) as forwarder:
        url = own_nats.url if how == "frozen" else f"nats://127.0.0.1:{forwarder.port}"
        async with open_bus(url) as bus:
            await bus.subscribe("a", payloads.append)
            frozen = own_nats.suspend()
            began = time.monotonic()
            if how == "frozen":
                frozen.__enter__()
            else:
                await asyncio.to_thread(forwarder.send_command, "cut")
            refused, accepted, longest = 0, 0, 0.0
            # Publish more than all buffers can hold. No call of `publish` may wait.
            while bus.is_connected:
                before = time.monotonic()
                if bus.publish("a", b"x" * 100_000):
                    accepted += 100_000
                else:
                    refused += 1
                longest = max(longest, time.monotonic() - before)
                await anyio.sleep(0.001)
                assert time.monotonic() - began < 150
            # A call that waits would wait for ever. A busy machine may take a core away for seconds.
            assert longest < 60
            assert refused
            # The client buffers 2 MiB, and 2 MiB more while its transport waits. The rest is in buffers of the kernel.
            assert accepted < MAX_QUEUED_BUS_BYTES + 64 * 2**20
            log_lines = [each.getMessage() for each in caplog.records if each.name == "arena.bus"]
            assert log_lines == ["the connection to NATS is lost: it does not answer"], (
                "the NATS client did not block"
            )
            if how == "frozen":
                frozen.__exit__(None, None, None)
            else:
                await asyncio.to_thread(forwarder.send_command, "mend")
            # On a busy machine, the new connection may be lost too, so the message is repeated.
            await until(lambda: bus.publish("a", b"last") and bool(payloads) and payloads[-1] == b"last")


def test_a_connection_that_is_reset_while_messages_are_sent_is_replaced(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers run on uvloop, which raises other exceptions for a lost connection than asyncio's own event loop."""
    monkeypatch.setattr(nats, "NATS_RECONNECT_PAUSE_SECONDS", 0.01)
    anyio.run(reset_during_flood, backend_options={"use_uvloop": True})
    gc.collect()  # asyncio logs the exception of a task that nobody awaits once the task is removed
    assert [each.getMessage() for each in caplog.records if each.levelname == "ERROR"] == []


async def reset_during_flood() -> None:
    """Reset the connection of a bus 25 times while the bus sends messages, each time after it has received one."""
    received_count = 0

    def count(_: bytes) -> None:
        nonlocal received_count
        received_count += 1

    async def flood(bus: NatsBus) -> None:
        while True:
            for _ in range(10):
                bus.publish("a", b"x" * 200)
            await checkpoint()

    async with (
        nats_server() as server,
        open_forwarder(server) as forwarder,
        open_bus(f"nats://127.0.0.1:{forwarder.port}") as bus,
        anyio.create_task_group() as tasks,
    ):
        await bus.subscribe("a", count)
        tasks.start_soon(flood, bus)
        for _ in range(25):
            before = received_count
            with anyio.fail_after(500):
                while received_count == before:
                    await checkpoint()
            await asyncio.to_thread(forwarder.send_command, "vanish")
        tasks.cancel_scope.cancel()


async def test_an_error_of_the_bus_itself_is_raised_and_does_not_count_as_a_loss_of_nats(
    own_nats: NatsServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(NatsBus, "_check_connection_until_lost", fail)
    with anyio.fail_after(500), pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        async with open_bus(own_nats.url):
            await anyio.sleep_forever()
    assert "is lost" not in caplog.text


async def test_a_late_answer_of_nats_causes_no_error(
    own_nats: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    payloads: list[bytes] = []
    async with open_bus(own_nats.url) as bus:
        with own_nats.suspend():
            await bus.subscribe("a", payloads.append)
            assert bus.is_connected
        await until(lambda: bus.publish("a", b"x") and bool(payloads))
    assert [each.getMessage() for each in caplog.records if each.levelname == "ERROR"] == []


async def test_a_stall_of_the_process_itself_is_no_loss_of_nats(own_nats: NatsServer) -> None:
    program = f"""
import time, anyio
from arena.server.cluster.nats import open_nats_bus

async def main():
    async with open_nats_bus({own_nats.url!r}, connection_name="test") as bus:
        for _ in range(3):
            await anyio.sleep(0.6)
            time.sleep(1.6)
            assert bus.is_connected
        await anyio.sleep(0.6)
        print(bus.is_connected)

anyio.run(main, backend_options={{"use_uvloop": True}})
"""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


async def test_a_refused_connection_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = await refusal(f"nats://127.0.0.1:{port}")
    assert (
        error
        == f"cannot use the NATS server at nats://127.0.0.1:{port}: Connect call failed ('127.0.0.1', {port})"
    )


async def test_a_silent_server_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await refusal(f"nats://127.0.0.1:{silent.getsockname()[1]}")
    assert error.endswith(": it does not answer")


async def test_a_server_that_is_not_nats_is_reported_in_one_line() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail at your service\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        error = await refusal(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert error.endswith(": no NATS server listens there")


async def test_a_connection_that_is_lost_at_any_byte_of_the_greeting_is_refused() -> None:
    greeting = b"INFO {\"max_payload\": 1048576}\r\n-ERR 'Stale Connection'\r\n"
    sent = b""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        url = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for size in range(len(greeting) + 1):
            sent = greeting[:size]
            why = (await refusal(url)).removeprefix(f"cannot use the NATS server at {url}: ")
            if sent == b"INFO":
                assert (
                    why
                    == "the connection to the NATS server was lost (not enough values to unpack (expected 2, got 1))"
                )
            elif b"}" not in sent:
                assert why == "no NATS server listens there"
            else:
                assert "onnection" in why or "Broken pipe" in why
                assert "\n" not in why


async def test_the_next_server_of_the_url_is_used_if_one_is_unavailable(own_nats: NatsServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    payloads: list[bytes] = []
    async with open_bus(f"nats://127.0.0.1:{port},{own_nats.url}") as bus:
        await bus.subscribe("several", payloads.append)
        await check_round_trip(bus, payloads, "several")


async def test_nats_admits_the_right_credentials_and_rejects_wrong_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with nats_server(authorization={"user": "me", "password": "a:b/c@d"}) as server:
        payloads: list[bytes] = []
        async with open_bus(f"nats://me:a%3Ab%2Fc%40d@127.0.0.1:{server.port}") as bus:
            await bus.subscribe("a", payloads.append)
            await check_round_trip(bus, payloads, "a")
        (tmp_path / "password").write_text("a:b/c@d\n")
        with monkeypatch.context() as here:
            here.setenv("ARENA_BUS_PASSWORD_FILE", str(tmp_path / "password"))
            async with open_bus(f"nats://me@127.0.0.1:{server.port}") as bus:
                assert bus.is_connected
        for credentials in ("me:wrong@", "", "word@"):
            error = await refusal(f"nats://{credentials}127.0.0.1:{server.port}")
            assert error.endswith(": it rejects this user, password or token")
            assert "wrong" not in error
    async with (
        nats_server(authorization={"token": "word"}) as server,
        open_bus(f"nats://word@127.0.0.1:{server.port}") as bus,
    ):
        assert bus.is_connected


async def test_a_nats_with_a_small_message_limit_is_refused() -> None:
    async with nats_server(max_payload=1000) as server:
        assert (await refusal(server.url)).endswith(
            f": it accepts only messages of up to 1000 bytes; set its max_payload to {MAX_PAYLOAD_BYTES}"
        )


async def test_missing_permissions_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    permissions = {"publish": ["mine.>", "_INBOX.>"], "subscribe": [">"]}
    users = [{"user": "me", "password": "it", "permissions": permissions}]
    async with (
        nats_server(authorization={"users": users}) as server,
        open_bus(f"nats://me:it@127.0.0.1:{server.port}") as bus,
    ):
        bus.publish("others.x", b"")
        await until(lambda: "permissions violation for publish" in caplog.text)
        assert bus.is_connected


async def test_a_user_without_permission_for_inboxes_is_refused_with_the_reason() -> None:
    permissions = {"publish": ["mine.>"], "subscribe": [">"]}
    users = [{"user": "me", "password": "it", "permissions": permissions}]
    async with nats_server(authorization={"users": users}) as server:
        assert 'permissions violation for publish to "_inbox.' in await refusal(
            f"nats://me:it@127.0.0.1:{server.port}"
        )


async def make_server_certificate(folder: Path, address: str) -> tuple[Path, dict[str, str]]:
    """Return the file of a new certificate, and the settings of a NATS server that uses the certificate."""
    file, key = await asyncio.to_thread(make_certificate, folder, address, address)
    return file, {"cert_file": str(file), "key_file": str(key)}


@mark_requires("openssl")
async def test_tls_requires_a_trusted_certificate_for_the_host(tmp_path: Path) -> None:
    ca, right = await make_server_certificate(tmp_path, "127.0.0.1")
    other_ca, other = await make_server_certificate(tmp_path, "127.0.0.2")
    async with nats_server(tls=right) as server:
        payloads: list[bytes] = []
        for scheme in ("tls", "nats"):
            url = f"{scheme}://127.0.0.1:{server.port}"
            async with open_bus(url, ca_file=ca) as bus:
                await bus.subscribe("a", payloads.append)
                await check_round_trip(bus, payloads, "a")
            error = await refusal(url)
            assert "its certificate is not trusted (" in error
            assert error.endswith("; set bus.ca to the CA bundle")
    async with nats_server(tls=other) as server:
        error = await refusal(f"tls://127.0.0.1:{server.port}", ca_file=other_ca)
        assert "127.0.0.1" in error.partition("not trusted")[2]


@mark_requires("openssl")
async def test_no_credentials_are_sent_to_a_server_without_tls(tmp_path: Path) -> None:
    """An attacker on the network could remove the offer of TLS from the first message of NATS."""
    heard = b""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        writer.write(b'INFO {"max_payload": 1048576, "auth_required": true}\r\n')
        heard += await reader.read()
        writer.close()

    ca, _ = await make_server_certificate(tmp_path, "127.0.0.1")
    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        error = await refusal(f"tls://me:secret@127.0.0.1:{port}", ca_file=ca)
        assert error.endswith(": it offers no TLS, and nothing may be sent to it unencrypted")
    assert heard == b""
    async with nats_server() as plain:
        error = await refusal(f"tls://127.0.0.1:{plain.port}", ca_file=ca)
        assert error.endswith(": it offers no TLS, and nothing may be sent to it unencrypted")
