"""Two hosts in network namespaces with a cable between them, and what breaks on the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from protocol.codes import EndReason
from protocol.record import Record, read

ROOT = Path(__file__).parents[2]
SERVER, BOTS = "10.213.7.1", "10.213.7.2"
PLAYED = {EndReason.LINE, EndReason.BOARD_FULL}
pytestmark = pytest.mark.timeout(180)  # processes start behind it all


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@dataclass
class Cable:
    """A namespace for the server and one for the bots."""

    name: str
    folder: Path
    started: list[subprocess.Popen[bytes]]

    @property
    def record(self) -> Path:
        return self.folder / "record.jsonl"

    def run(self, side: str, *command: str) -> None:
        """Start a program at one end; it ends with the test."""
        with (self.folder / f"{side}.log").open("ab") as log:
            whole = ["ip", "netns", "exec", f"{self.name}{side}", sys.executable, "-m", *command]
            self.started.append(subprocess.Popen(whole, cwd=ROOT, stdout=log, stderr=log))

    def play(self, tc: str, bots: int, think: float) -> None:
        """A server at one end, and bots that play on it at the other."""
        limits = (
            "--max-per-address",
            "1000",
            "--concurrency",
            str(bots // 2),
            "--game",
            "tictactoe",
            "--verbose",
        )
        store = ("--db", f"sqlite:///{self.folder / 'arena.db'}", "--record", str(self.record), "--tc", tc)
        self.run("s", "arena", "serve", "--anyone", "--house", "none", "--host", SERVER, *limits, *store)
        self.run("b", "tests.peers.reconnectors", f"ws://{SERVER}:8765", str(bots), str(think))

    def cut(self) -> None:
        """Every packet is lost from now on, and neither end is told."""
        ip("-n", f"{self.name}s", "link", "set", "v", "down")

    def mend(self) -> None:
        ip("-n", f"{self.name}s", "link", "set", "v", "up")

    def reset(self) -> None:
        """Every connection is reset, at both ends."""
        for side in "sb":
            subprocess.run(
                ["ip", "netns", "exec", f"{self.name}{side}", "ss", "-K", "state", "established"],
                check=True,
                capture_output=True,
            )

    def records(self) -> list[Record]:
        return list(read(self.record)) if self.record.exists() else []

    def wait(self, count: int) -> list[Record]:
        """The matches that are over, once there are so many."""
        end = time.monotonic() + 90
        while len(played := self.records()) < count:
            assert time.monotonic() < end, (self.folder / "s.log").read_text()[-2000:]
            time.sleep(0.05)
        return played


@pytest.fixture
def cable(tmp_path: Path) -> Iterator[Cable]:
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("ss"):
        pytest.skip("needs root, ip and ss to lay a cable between two network namespaces")
    made = Cable(f"arena{os.getpid()}", tmp_path, [])
    ends = [f"{made.name}{side}" for side in "sb"]
    try:
        try:
            for end in ends:
                ip("netns", "add", end)
            ip("-n", ends[0], "link", "add", "v", "type", "veth", "peer", "name", "v", "netns", ends[1])
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        for end, address in zip(ends, (SERVER, BOTS), strict=True):
            ip("-n", end, "address", "add", f"{address}/24", "dev", "v")
            ip("-n", end, "link", "set", "v", "up")
        yield made
    finally:
        for process in made.started:
            process.kill()
            process.wait()
        for end in ends:
            subprocess.run(["ip", "netns", "del", end], check=False, capture_output=True)


def test_packets_that_are_lost_for_a_second_cost_no_match(cable: Cable) -> None:
    cable.play("60+1", 6, 0.1)
    before = len(cable.wait(3))
    cable.cut()
    time.sleep(1)
    cable.mend()
    assert {each.result.reason for each in cable.wait(before + 6)} <= PLAYED


def test_behind_a_cable_that_stays_cut_the_flag_falls_on_who_was_to_move(cable: Cable) -> None:
    cable.play("2+0", 2, 0.5)
    before = len(cable.wait(1))
    cable.cut()
    lost = cable.wait(before + 1)[-1]
    if lost.result.reason in PLAYED:  # it was over as the cable was cut; the next one never began
        lost = cable.wait(before + 2)[-1]
    if lost.result.reason is EndReason.TIMEOUT:
        assert lost.result.winner == ("minnie" if len(lost.moves) % 2 == 0 else "maxie")
    else:
        assert lost.result.reason is EndReason.NO_SHOW


def test_a_storm_of_bots_that_were_all_reset_comes_back_and_plays_on(cable: Cable) -> None:
    cable.play("60+1", 40, 0.3)
    cable.wait(20)
    for _ in range(3):
        cable.reset()
        time.sleep(0.3)
    end = time.monotonic() + 30
    while (cable.folder / "s.log").read_text().count(": back from") < 40:
        if time.monotonic() > end:
            pytest.skip("this kernel does not reset connections for ss -K")
        time.sleep(0.1)
    before = len(cable.records())
    played = cable.wait(before + 40)
    assert {each.result.reason for each in played} <= PLAYED
    assert len({each.match for each in played}) == len(played)
