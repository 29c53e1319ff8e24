"""Fuzzer for the codec and for live sockets, which looks for crashes, leaks and disturbed matches.

Frames are random bytes, random msgpack, deeply nested msgpack, and frames of the protocol's tests with changed bytes,
spliced with each other, or with a changed field. Most frames are only decoded with the codec. Once for every
`codec_frames_per_server_frame` of them, another frame is sent over a socket to a real server. Meanwhile, two honest bots,
which follow the protocol, play on that server.
"""

from __future__ import annotations

import asyncio
import gc
import random
import resource
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgpack
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from arena.games.catalogue import make_game
from arena.match.terms import MatchTerms
from arena.protocol.codec import DecodeError, decode_client_message, decode_server_message, encode_message
from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.messages import SUBPROTOCOL, Hello
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.core.bot import LobbyBot
from arena.server.core.lobby import LobbyClient
from arena.server.core.room import MatchRoom
from arena.server.edge.connection import Connection
from arena.server.edge.session import Session
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from testkit.players import RandomPlayer

GOLDEN_FOLDER = Path(__file__).parents[1] / "tests" / "protocol" / "golden"
"""Folder of valid websocket frames, which the tests of the protocol use too. The fuzzer sends changed copies of these frames."""
WARM_UP_SHARE_OF_FRAMES = 0.1
"""Share of the frames, from 0 to 1, that are decoded before the memory use is first measured.

Until then, growth of the memory use does not count as a leak.
"""
MAX_MEMORY_GROWTH_KIB = 8 * 1024
"""Maximum growth of memory use, in KiB, that does not count as a leak: the memory allocator may cause it.

With a million frames, a leak of 9 bytes per frame exceeds it.
"""
MAX_SECONDS_TO_FREE_OBJECTS = 150
"""Seconds within which the server must free its objects for bots that it has disconnected."""
TYPES_THAT_MUST_BE_FREED = (Connection, Session, LobbyBot, LobbyClient, MatchRoom)
"""Types of the objects that a server creates for each connection, bot and match, and must free again."""


@dataclass
class FuzzResult:
    """Results of a run of the fuzzer. Each line of `faults` describes a failure."""

    frame_count: int = 0
    sent_frame_count: int = 0
    """Number of frames that were sent to the server over sockets."""
    decoded_message_count: int = 0
    """Number of decodings that gave a valid message.

    Each frame is decoded twice: by the decoder of client messages, and by the decoder of server messages.
    """
    rejections_by_code: Counter[str] = field(default_factory=Counter)
    """Number of failed decodings, by error code. A frame that both decoders refuse counts twice."""
    warm_up_peak_memory_kib: int = 0
    """Peak memory of the process after the first tenth of the frames, in KiB."""
    peak_memory_kib: int = 0
    """Peak memory of the process after all frames, in KiB."""
    honest_end_reason_counts: Counter[EndReason] = field(default_factory=Counter)
    """Number of the honest bots' matches that ended during the run, by end reason."""
    faults: list[str] = field(default_factory=list)


def generate_frames(seed: int) -> Iterator[bytes]:
    """Yield an endless sequence of frames, which the seed determines."""
    rng = random.Random(seed)
    known_frames = [bytes.fromhex(file.read_text()) for file in sorted(GOLDEN_FOLDER.glob("*.hex"))]
    while True:
        kind = rng.randrange(6)
        base = bytearray(rng.choice(known_frames))
        if kind == 0:
            yield rng.randbytes(rng.randrange(200))
        elif kind == 1:
            yield msgpack.packb(_generate_msgpack_value(rng, 5))
        elif kind == 2:
            for _ in range(rng.randint(1, 6)):
                base[rng.randrange(len(base))] = rng.randrange(256)
            yield bytes(base)
        elif kind == 3:
            cut = rng.randrange(len(base))
            yield bytes(base[:cut] + rng.choice(known_frames)[rng.randrange(20) :])
        elif kind == 4:
            message = msgpack.unpackb(bytes(base))
            message[rng.choice([*message])] = _generate_msgpack_value(rng, 3)
            yield msgpack.packb(message)
        else:
            depth = rng.randrange(1, 4000)
            yield (
                rng.choice([b"\x91", b"\x81\xa1a", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff\xa1a"])
                * depth
            )


def _generate_msgpack_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(10 if depth else 7)
    match kind:
        case 0:
            return rng.choice([None, True, False])
        case 1:
            return rng.choice([0, 1, -1, 2**31, 2**63, -(2**63), 2**64 - 1, rng.randrange(1000)])
        case 2:
            return rng.choice([0.0, -0.0, 1e308, float("nan"), float("inf"), rng.random()])
        case 3 | 4:
            return "".join(chr(rng.choice([65, 0, 10, 0x202E, 0x1F600])) for _ in range(rng.randrange(80)))
        case 5:
            return rng.randbytes(rng.randrange(20))
        case 6:
            return msgpack.ExtType(rng.randrange(128), rng.randbytes(rng.randrange(9)))
        case 7 | 8:
            return [_generate_msgpack_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {
        rng.choice(["type", "match", "ply", "move", "a"]): _generate_msgpack_value(rng, depth - 1)
        for _ in range(rng.randrange(4))
    }


def _decode_frame(frame: bytes, result: FuzzResult) -> None:
    for decode in (decode_client_message, decode_server_message):
        try:
            message = decode(frame)
        except DecodeError as error:
            result.rejections_by_code[error.code.value] += 1
            if len(error.detail) > 1000 or "\n" in error.detail:
                result.faults.append(f"the detail of an error is not one short line: {error.detail!r:.200}")
        else:
            result.decoded_message_count += 1
            if decode(encode_message(message)) != message:
                result.faults.append(f"decoding an encoded message changes it: {message!r:.200}")


async def _send_frames(host: ArenaServer, frames: Iterator[bytes], count: int) -> None:
    """Send `count` of these frames to the server, as a bot that reconnects whenever it is disconnected."""
    frame_count = 0
    name = f"fuzz {uuid.uuid4().hex}"
    while frame_count < count:
        with suppress(OSError, TimeoutError, ConnectionClosed, InvalidHandshake):
            async with connect(
                host.url,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                compression=None,
                proxy=None,
                close_timeout=1,
            ) as connection:
                if random.random() < 0.9:
                    await connection.send(encode_message(Hello(name)))
                while frame_count < count:
                    frame_count += 1
                    await connection.send(next(frames))
                    with suppress(TimeoutError):
                        await asyncio.wait_for(connection.recv(), 0.002)


async def run_fuzzer(
    frame_count: int, *, codec_frames_per_server_frame: int = 20, seed: int = 1
) -> FuzzResult:
    """Decode `frame_count` frames with the codec, and send further frames to a server in this process.

    codec_frames_per_server_frame: number of frames that are decoded for each frame that is sent to the server
    seed: seed of the random frames

    Failures are not raised: `FuzzResult.faults` lists them. Raises RuntimeError if the honest bots cannot connect.
    """
    result = FuzzResult(frame_count, frame_count // codec_frames_per_server_frame)
    codec_frames, server_frames = generate_frames(seed), generate_frames(seed + 1)
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        anyio.create_task_group() as tasks,
    ):
        players = [RandomPlayer(host.url, name) for name in ("anna", "bert")]
        for player in players:
            tasks.start_soon(player.run)
        for player in players:
            if not await host.wait_until_connected(player.name, 150):
                raise RuntimeError(f"{player.name} did not connect")
        is_fuzzing_over = False

        async def play_honest_match() -> None:
            is_last_match = False
            while not is_last_match:
                is_last_match = is_fuzzing_over
                record = await host.shell.play_match(_make_honest_match_terms())
                result.honest_end_reason_counts[record.result.reason] += 1
                for player in players:
                    player.clear_received_messages()

        async with anyio.create_task_group() as honest_tasks:
            honest_tasks.start_soon(play_honest_match)
            async with anyio.create_task_group() as attackers:
                for _ in range(4):
                    attackers.start_soon(_send_frames, host, server_frames, result.sent_frame_count // 4)
                for number in range(frame_count):
                    _decode_frame(next(codec_frames), result)
                    if number % 50 == 0:
                        await asyncio.sleep(0)
                    if number == int(frame_count * WARM_UP_SHARE_OF_FRAMES):
                        result.warm_up_peak_memory_kib = _measure_peak_memory_kib()
            result.peak_memory_kib = _measure_peak_memory_kib()
            is_fuzzing_over = True
        await _check_objects_were_freed(result, len(players))
        tasks.cancel_scope.cancel()
    if result.peak_memory_kib - result.warm_up_peak_memory_kib > MAX_MEMORY_GROWTH_KIB:
        result.faults.append(
            f"peak memory grew from {result.warm_up_peak_memory_kib} KiB after the first tenth to {result.peak_memory_kib} KiB"
        )
    result.faults += [
        f"{match_count} matches beside ended as {reason}"
        for reason, match_count in result.honest_end_reason_counts.items()
        if reason in FORFEIT_REASONS | {EndReason.SERVER_FAULT}
    ]
    return result


async def _check_objects_were_freed(result: FuzzResult, player_count: int) -> None:
    """Check that the server has freed its objects for all bots except the `player_count` honest bots.

    If the server still has more than `player_count` objects of a type in TYPES_THAT_MUST_BE_FREED after
    MAX_SECONDS_TO_FREE_OBJECTS, add a fault to the result.
    """
    end_time = time.monotonic() + MAX_SECONDS_TO_FREE_OBJECTS
    while True:
        gc.collect()
        # `type`, not `isinstance`: a weak proxy passes as an instance of its referent's class.
        counts = Counter(
            type(tracked).__name__
            for tracked in gc.get_objects()
            if issubclass(type(tracked), TYPES_THAT_MUST_BE_FREED)
        )
        counts_over_limit = {name: count for name, count in counts.items() if count > player_count}
        if not counts_over_limit:
            return
        if time.monotonic() > end_time:
            result.faults.append(f"kept after all attackers have gone: {counts_over_limit}")
            return
        await asyncio.sleep(0.1)


def _make_honest_match_terms() -> MatchTerms:
    control = TimeControl.parse("60+1")
    return MatchTerms(
        match=uuid.uuid4().hex,
        event="fuzz",
        game=make_game("tictactoe", {}),
        players=Players("anna", "bert"),
        time_control=control,
        margin_ms=100,
        ready_ms=30_000,
    )


def _measure_peak_memory_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
