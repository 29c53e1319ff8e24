"""Virtual time, and simulated processes with tasks and clocks of their own.

Everything that happens is a call, scheduled at one time in one heap. After a call, its process runs until all its tasks
wait. While a process is frozen, calls that are due wait. After a process is killed, its calls are dropped. Each purpose
has its own random generator, so that an additional draw for one purpose does not change the others.

All processes share one asyncio event loop, and a whole run is one callback of it. A task's calls to the loop are
attributed to the process that is currently running.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import random
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from arena.clock import TimeSource

if TYPE_CHECKING:
    from testkit.simulation.network import ConnectionEnd, SimulatedNetwork

MS = 1_000_000
SECOND = 1_000 * MS
EPOCH_NS = 1_790_000_000 * SECOND
"""Unix time at which each simulation begins."""
FAST_PPM = 10_000
"""Speed of a fast clock, in parts per million above real time: 1 %."""


FOREVER_S = 1e12
"""Time beyond which a timer counts as never due, in seconds."""


class InvariantViolated(Exception):
    """Raised when an invariant does not hold; the message is one line."""


class World:
    """Simulation: its time, its processes, its random generators, and the log of the run."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now = 0
        """Time since the start, in ns."""
        self.network: SimulatedNetwork
        self.process: SimulatedProcess | None = None
        """Process that is currently running; None outside of all processes."""
        self.dead: list[tuple[SimulatedProcess, set[asyncio.Task[Any]]]] = []
        """Dead processes, kept because the garbage collection of their tasks would resume coroutines."""
        self.loop = SimulatedLoop(self)
        self.story: list[str] = []
        self.steps = 0
        self.failure = ""
        """First violated invariant; None if none was violated."""
        self._heap: list[tuple[int, int, SimulatedProcess | None, Callable[[], object]]] = []
        """Scheduled calls, by time and number."""
        self._count = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def random_generator(self, *purpose: object) -> random.Random:
        """Return the random generator for one purpose."""
        return random.Random(":".join(map(str, (self.seed, *purpose))))

    @property
    def seconds(self) -> float:
        """Time since the start, in seconds."""
        return self.now / SECOND

    def add_to_digest(self, occurrence: str | bytes) -> None:
        """Add an occurrence to the digest of the run."""
        data = occurrence.encode() if isinstance(occurrence, str) else occurrence
        self._digest.update(b"%d:%d:" % (self.now, len(data)))
        self._digest.update(data)

    def add_story_line(self, line: str) -> None:
        """Add a line to the story of the run."""
        self.story.append(f"{self.seconds:.3f} s: {line}")
        self.add_to_digest(line)

    @property
    def digest(self) -> str:
        """Digest of everything that has happened, equal for equal runs."""
        return self._digest.hexdigest()

    # time

    def call_at(self, at: int, call: Callable[[], object], process: SimulatedProcess | None = None) -> None:
        """Schedule a call at time `at`: in a process, if that is still alive, or outside of all processes."""
        self._count += 1
        heapq.heappush(self._heap, (max(at, self.now), self._count, process, call))

    def call_after(self, ns: int, call: Callable[[], object]) -> None:
        """Schedule a call outside of all processes, in `ns` ns."""
        self.call_at(self.now + ns, call)

    def run(self, until: int) -> None:
        """Run until a time. Raises InvariantViolated."""
        self.loop.run(partial(self._run, until))
        if self.failure:
            raise InvariantViolated(self.failure)

    def run_for(self, ns: int) -> None:
        """Run for `ns` ns. Raises InvariantViolated."""
        self.run(self.now + ns)

    def _run(self, until: int) -> None:
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, _, process, call = heapq.heappop(heap)
            if process is None:
                call()
            else:
                process.run(call)
            if self.failure:
                return
        self.now = until

    def close(self) -> None:
        """End all processes."""
        for _, _, process, _ in self._heap:
            if process is not None:
                process.kill()
        self._heap.clear()
        self.dead.clear()
        self.loop.close()


class SimulatedProcess:
    """Simulated process: an event loop, a clock and connections."""

    def __init__(self, world: World, name: str, *, address: str = "127.0.0.1", ppm: int = 0) -> None:
        """`ppm`: parts per million by which the process's clock runs fast."""
        self.world = world
        self.name = name
        self.address = address
        self.alive = True
        self.ppm = ppm
        self.stalled_ns = 0
        """Total time for which the process was frozen, in ns."""
        self.stored_cut = False
        """True while the process cannot reach the store."""
        self.ends: dict[ConnectionEnd, None] = {}
        """Ends of connections that the process holds."""
        self.started_at = world.now
        self.clock = TimeSource(self.now_ns, lambda: 0)
        self.main: asyncio.Task[Any] | None = None
        self.stalls: list[StallObserver] = []
        """Measurements of the lag of its event loop."""
        self.tasks = weakref.WeakSet[asyncio.Task[Any]]()
        self.ready: deque[Callable[[], object]] = deque()
        """Calls that are due at the current time."""
        self._offset = world.random_generator("clock", name, world.now).randrange(
            1_000 * SECOND, 100_000 * SECOND
        )
        self._frozen: list[Callable[[], object]] | None = None
        self._frozen_at = 0
        self._context = Context()

    def __repr__(self) -> str:
        return self.name

    # clock

    def now_ns(self) -> int:
        """Return the monotonic time of the process's own clock, in ns."""
        now = self.world.now
        return now + now * self.ppm // 1_000_000 + self._offset

    def world_time(self, local_ns: int) -> int:
        """Return the world's time, in ns, at which the process's own clock shows `local_ns`."""
        local = local_ns - self._offset
        return local if not self.ppm else -(-local * 1_000_000 // (1_000_000 + self.ppm))

    # life

    @property
    def frozen(self) -> bool:
        """True while the process is frozen."""
        return self._frozen is not None

    def start(self, main: Coroutine[Any, Any, None]) -> None:
        """Run the main task of the process."""

        def begin() -> None:
            self.main = asyncio.get_running_loop().create_task(main)
            self.main.add_done_callback(self._handle_main_end)

        self.schedule(begin)

    def _handle_main_end(self, main: asyncio.Task[Any]) -> None:
        error = None if main.cancelled() else main.exception()
        if error is not None:
            self.fail_run("the main task raised an exception", error)

    def schedule(self, call: Callable[[], object], at: int | None = None) -> None:
        """Schedule a call in this process, now or at time `at`.

        It runs later if the process is frozen then, and never if it is dead.
        """
        self.world.call_at(self.world.now if at is None else at, call, self)

    def run(self, *calls: Callable[[], object]) -> None:
        """Run calls, and all calls that they schedule for immediate execution."""
        if self._frozen is not None:
            self._frozen += calls
            return
        if not self.alive:
            return
        self.ready.extend(calls)
        self.world.process = self
        self._context.run(self._run_ready_calls)
        self.world.process = None

    def _run_ready_calls(self) -> None:
        ready, world = self.ready, self.world
        while ready:
            world.steps += 1
            try:
                ready.popleft()()
            except Exception as error:  # noqa: BLE001  told as an event loop tells it
                self.fail_run("a callback raised an exception", error)

    def fail_run(self, reason: str, error: BaseException | None) -> None:
        """End the run because of an error in this process."""
        if self.alive and not self.world.failure:
            trace = "" if error is None else "".join(traceback.format_exception(error))
            self.world.failure = (
                str(error)
                if isinstance(error, InvariantViolated)
                else f"{self.name}: {reason}\n{trace}".rstrip()
            )

    def freeze(self) -> None:
        """Freeze the process. Its calls wait."""
        if self.alive and self._frozen is None:
            self._frozen, self._frozen_at = [], self.world.now

    def thaw(self) -> None:
        """Resume the process: first the calls that have waited, then its timers."""
        if self._frozen is None:
            return
        self.stalled_ns += self.world.now - self._frozen_at
        waited, self._frozen = self._frozen, None
        waited.sort(key=lambda call: isinstance(call, ProcessTimer))
        for stall in self.stalls:
            stall.begin_stall(self.now_ns() - (self.world.now - self._frozen_at))
            waited.append(stall.end_stall)
        self.world.call_after(0, lambda: self.run(*waited))

    def kill(self) -> None:
        """Kill the process. The operating system resets its connections."""
        if not self.alive:
            return
        self.alive = False
        self._frozen = None
        self.ready.clear()
        self.world.dead.append((self, set(self.tasks)))
        for end in list(self.ends):
            end.end_with_process()
        self.world.network.close_listeners_of(self)

    def stop(self) -> None:
        """Stop the main task gracefully."""
        if self.alive:
            self.schedule(lambda: self.main is not None and self.main.cancel())


class StallObserver(Protocol):
    """Observer that is notified of each freeze of a simulated process, to measure its lag."""

    def begin_stall(self, at: int) -> None:
        """Record that the process was frozen at `at`, by its own clock."""
        ...

    def end_stall(self) -> None:
        """Record that the calls which had waited are done."""
        ...


class ProcessCall:
    """Scheduled call of a process, in place of asyncio's Handle."""

    __slots__ = ("_arguments", "_callback", "_context")

    def __init__(self, callback: Callable[..., object], arguments: Any, context: Context | None) -> None:
        self._callback: Callable[..., object] | None = callback
        self._arguments = arguments
        self._context = copy_context() if context is None else context

    def __call__(self) -> None:
        if self._callback is not None:
            self._context.run(self._callback, *self._arguments)

    def cancel(self) -> None:
        """Cancel the call."""
        self._callback, self._arguments = None, ()

    def cancelled(self) -> bool:
        """Return True if the call was cancelled."""
        return self._callback is None


class ProcessTimer(ProcessCall):
    """Call scheduled at a later time, in place of asyncio's TimerHandle."""

    __slots__ = ("_when",)

    def __init__(
        self, when: float, callback: Callable[..., object], arguments: Any, context: Context | None
    ) -> None:
        super().__init__(callback, arguments, context)
        self._when = when

    def when(self) -> float:
        """Return the time of the call, by the clock of its process."""
        return self._when


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Event loop of all processes. It supports in-memory connections, but no threads."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def run(self, run_world: Callable[[], None]) -> None:
        """Call a function in which processes run, as the loop's only callback."""
        error: BaseException | None = None

        def call() -> None:
            nonlocal error
            try:
                run_world()
            except BaseException as raised:  # noqa: BLE001  the loop would only log it, and wait forever
                error = raised
            self.stop()

        super().call_soon(call)
        self.run_forever()
        if error is not None:
            raise error

    # calls

    def time(self) -> float:
        process = self._world.process
        return 0.0 if process is None else process.now_ns() / 1e9

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        call, process = ProcessCall(callback, args, context), self._world.process
        if process is not None:
            process.ready.append(call)
        return call

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        timer, process = ProcessTimer(when, callback, args, context), self._world.process
        if process is not None and when < FOREVER_S:
            self._world.call_at(process.world_time(round(when * 1e9)) + 1, timer, process)
        return timer

    def create_task(self, coro: Any, **given: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **given)
        if self._world.process is not None:
            self._world.process.tasks.add(task)
        return task

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Call a function at once, because there are no threads."""
        del executor
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  raised where the future is awaited
            future.set_exception(error)
        return future

    def call_exception_handler(self, context: Any) -> None:
        if self._world.process is not None:
            self._world.process.fail_run(context.get("message"), context.get("exception"))

    # connections

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:
        assert self._world.process is not None
        return self._world.network.listen(self._world.process, protocol_factory, port)

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any
    ) -> Any:
        assert self._world.process is not None
        return await self._world.network.connect(self._world.process, protocol_factory, port)


class OrderedSet(dict[Any, None]):
    """Set in insertion order, because the order of memory addresses would differ between runs."""

    def add(self, member: Any) -> None:
        self[member] = None

    def discard(self, member: Any) -> None:
        self.pop(member, None)
