from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.server.bus.bus import BusError, Message
from arena.server.bus.local import LocalBus
from arena.server.bus.opening import open_bus


async def test_without_an_address_the_bus_is_within_the_process() -> None:
    async with open_bus() as bus, open_bus() as other:
        assert isinstance(bus, LocalBus)
        got: list[Message] = []
        await other.subscribe("a", got.append)
        bus.publish("a", b"")
        assert other.connected
    assert not got
    assert not bus.connected


async def test_the_block_s_own_error_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with open_bus():
            raise KeyError


async def test_a_bad_address_is_told_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(BusError, match="no address of a NATS"):
        async with open_bus("http://here", ca=tmp_path / "none.pem"):
            pass


def test_the_client_of_nats_is_not_loaded_without_need() -> None:
    program = "import sys, arena.server.bus.opening; print('nats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
