"""Virtual time, and simulated processes with tasks and clocks of their own.

Everything that happens in a simulation is a call of a function, scheduled at a virtual time in one heap. After a call, the
process that made the call runs until all tasks of the process wait. While a process is frozen, its calls that are due wait
until it is resumed. After a process is killed, its calls are dropped. Each use of random numbers, such as the latency of one
connection, has its own random generator, so that an additional draw from one generator does not change the numbers of the
others.

All processes share one asyncio event loop. The loop itself executes only one callback, which runs the whole simulation. If
a task asks the loop to schedule a call, the call belongs to the process that is currently running.
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
    from testkit.simulation.network import SimulatedNetwork, SimulatedTransport

NS_PER_MS = 1_000_000
"""Nanoseconds in a millisecond."""
NS_PER_SECOND = 1_000 * NS_PER_MS
"""Nanoseconds in a second."""
START_UNIX_TIME_NS = 1_790_000_000 * NS_PER_SECOND
"""Unix time at which each simulation begins, in ns."""
FAST_CLOCK_DRIFT_PPM = 10_000
"""Rate at which the clock of a process with a fast clock gains on the world's virtual time, in parts per million: 1 %."""


FOREVER_S = 1e12
"""Time, in seconds by the clock of an event loop, that counts as never. A timer for this or a later time is not scheduled."""


class InvariantViolated(Exception):
    """Raised when an invariant of the simulation is violated, or a simulated process fails; the message's first line says
    why.
    """


class World:
    """Simulation: its virtual time, its processes, its random generators, and the log of the run.

    event_log: lines of the log
    executed_call_count: number of calls that processes have executed
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now_ns = 0
        """Virtual time since the start of the simulation, in ns."""
        self.network: SimulatedNetwork
        self.running_process: SimulatedProcess | None = None
        """Process that is currently running; None outside of all processes."""
        self.dead_processes: list[tuple[SimulatedProcess, set[asyncio.Task[Any]]]] = []
        """Dead processes and their tasks, kept because a garbage collection of the tasks would run their code to close them."""
        self.loop = SimulatedLoop(self)
        self.event_log: list[str] = []
        self.executed_call_count = 0
        self.failure = ""
        """Description of the first failure of the run; empty if there was none."""
        self._scheduled_calls: list[tuple[int, int, SimulatedProcess | None, Callable[[], object]]] = []
        """Heap of scheduled calls, as (virtual time in ns, number in the order of scheduling, process or None, call)."""
        self._scheduled_call_count = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def make_random_generator(self, *purpose: object) -> random.Random:
        """Return a new random generator, determined by the seed of the run and by `purpose`, its use (any values)."""
        return random.Random(":".join(map(str, (self.seed, *purpose))))

    @property
    def elapsed_seconds(self) -> float:
        """Virtual time since the start of the simulation, in seconds."""
        return self.now_ns / NS_PER_SECOND

    def add_to_digest(self, data: str | bytes) -> None:
        """Add `data`, which describes an event, and the current virtual time to the digest of the run."""
        data_bytes = data.encode() if isinstance(data, str) else data
        self._digest.update(b"%d:%d:" % (self.now_ns, len(data_bytes)))
        self._digest.update(data_bytes)

    def add_log_line(self, line: str) -> None:
        """Add a line, with the current virtual time, to the log (`event_log`) and to the digest of the run."""
        self.event_log.append(f"{self.elapsed_seconds:.3f} s: {line}")
        self.add_to_digest(line)

    @property
    def digest(self) -> str:
        """Hash of all log lines and events so far, in hexadecimal. Runs of the same plan have the same digest."""
        return self._digest.hexdigest()

    # time

    def call_at(
        self, at_ns: int, call: Callable[[], object], process: SimulatedProcess | None = None
    ) -> None:
        """Schedule a call at virtual time `at_ns`, in ns, or now if that time has passed.

        process: process in which to run the call, if it is alive then; None to run it outside of all processes
        """
        self._scheduled_call_count += 1
        heapq.heappush(
            self._scheduled_calls, (max(at_ns, self.now_ns), self._scheduled_call_count, process, call)
        )

    def call_after(self, delay_ns: int, call: Callable[[], object]) -> None:
        """Schedule a call outside of all processes, `delay_ns` nanoseconds from now."""
        self.call_at(self.now_ns + delay_ns, call)

    def run(self, end_ns: int) -> None:
        """Run until virtual time `end_ns`, in ns. Raises InvariantViolated if the run fails."""
        self.loop.run(partial(self._run_scheduled_calls, end_ns))
        if self.failure:
            raise InvariantViolated(self.failure)

    def run_for(self, duration_ns: int) -> None:
        """Run for `duration_ns` nanoseconds of virtual time. Raises InvariantViolated if the run fails."""
        self.run(self.now_ns + duration_ns)

    def _run_scheduled_calls(self, end_ns: int) -> None:
        heap = self._scheduled_calls
        while heap and heap[0][0] <= end_ns:
            self.now_ns, _, process, call = heapq.heappop(heap)
            if process is None:
                call()
            else:
                process.run(call)
            if self.failure:
                return
        self.now_ns = end_ns

    def close(self) -> None:
        """Kill all processes that have scheduled calls, drop all calls, and close the event loop."""
        for _, _, process, _ in self._scheduled_calls:
            if process is not None:
                process.kill()
        self._scheduled_calls.clear()
        self.dead_processes.clear()
        self.loop.close()


class SimulatedProcess:
    """Simulated process, with tasks, connections and a monotonic clock of its own."""

    def __init__(
        self, world: World, name: str, *, address: str = "127.0.0.1", clock_drift_ppm: int = 0
    ) -> None:
        """Create a process without tasks. `clock_drift_ppm`: parts per million by which its clock gains on the world's time."""
        self.world = world
        self.name = name
        self.address = address
        self.is_alive = True
        self.clock_drift_ppm = clock_drift_ppm
        self.stalled_ns = 0
        """Total time for which the process was frozen, in ns."""
        self.is_store_cut = False
        """True while the process cannot reach the store."""
        self.connection_ends: dict[SimulatedTransport, None] = {}
        """Ends of connections that belong to this process: the keys of a dict, because a dict keeps their order."""
        self.started_at_ns = world.now_ns
        self.clock = TimeSource(self.now_ns, lambda: 0)
        self.main_task: asyncio.Task[Any] | None = None
        self.stall_observers: list[StallObserver] = []
        """Observers that are called after each freeze of the process, to measure the lag of its event loop."""
        self.tasks = weakref.WeakSet[asyncio.Task[Any]]()
        self.ready_calls: deque[Callable[[], object]] = deque()
        """Calls that are due now and wait for their turn."""
        self._clock_offset_ns = world.make_random_generator("clock", name, world.now_ns).randrange(
            1_000 * NS_PER_SECOND, 100_000 * NS_PER_SECOND
        )
        self._calls_while_frozen: list[Callable[[], object]] | None = None
        self._frozen_at_ns = 0
        self._context = Context()

    def __repr__(self) -> str:
        return self.name

    # clock

    def now_ns(self) -> int:
        """Return the monotonic time of the process's own clock, in ns."""
        now = self.world.now_ns
        return now + now * self.clock_drift_ppm // 1_000_000 + self._clock_offset_ns

    def convert_to_world_ns(self, local_ns: int) -> int:
        """Return the virtual time, in ns, at which the process's own clock shows `local_ns`."""
        local = local_ns - self._clock_offset_ns
        return (
            local if not self.clock_drift_ppm else -(-local * 1_000_000 // (1_000_000 + self.clock_drift_ppm))
        )

    # life

    def start(self, main: Coroutine[Any, Any, None]) -> None:
        """Start the main task of the process. An exception of the task fails the run."""

        def begin() -> None:
            self.main_task = asyncio.get_running_loop().create_task(main)
            self.main_task.add_done_callback(self._handle_main_task_end)

        self.schedule(begin)

    def _handle_main_task_end(self, main_task: asyncio.Task[Any]) -> None:
        error = None if main_task.cancelled() else main_task.exception()
        if error is not None:
            self.fail_run("the main task raised an exception", error)

    def schedule(self, call: Callable[[], object], at_ns: int | None = None) -> None:
        """Schedule a call in this process, now or at virtual time `at_ns`, in ns.

        The call runs later if the process is frozen then, and never if the process is dead.
        """
        self.world.call_at(self.world.now_ns if at_ns is None else at_ns, call, self)

    def run(self, *calls: Callable[[], object]) -> None:
        """Run calls in this process, and then all calls that they schedule for immediate execution.

        If the process is frozen, the calls wait until `thaw`. If the process is dead, the calls are dropped.
        """
        if self._calls_while_frozen is not None:
            self._calls_while_frozen += calls
            return
        if not self.is_alive:
            return
        self.ready_calls.extend(calls)
        self.world.running_process = self
        self._context.run(self._run_ready_calls)
        self.world.running_process = None

    def _run_ready_calls(self) -> None:
        ready, world = self.ready_calls, self.world
        while ready:
            world.executed_call_count += 1
            try:
                ready.popleft()()
            except Exception as error:  # noqa: BLE001  told as an event loop tells it
                self.fail_run("a callback raised an exception", error)

    def fail_run(self, reason: str, error: BaseException | None) -> None:
        """Record a failure of the run, unless the run has failed already or this process is dead.

        reason: description of the failure; not used if `error` is an InvariantViolated, whose message is used instead
        error: exception that caused the failure; None if there was none
        """
        if self.is_alive and not self.world.failure:
            trace = "" if error is None else "".join(traceback.format_exception(error))
            self.world.failure = (
                str(error)
                if isinstance(error, InvariantViolated)
                else f"{self.name}: {reason}\n{trace}".rstrip()
            )

    def freeze(self) -> None:
        """Freeze the process, as SIGSTOP would. The calls of the process wait until `thaw`."""
        if self.is_alive and self._calls_while_frozen is None:
            self._calls_while_frozen, self._frozen_at_ns = [], self.world.now_ns

    def thaw(self) -> None:
        """Resume the process after `freeze`. First run the calls that have waited, then the timers that have become due."""
        if self._calls_while_frozen is None:
            return
        self.stalled_ns += self.world.now_ns - self._frozen_at_ns
        delayed_calls, self._calls_while_frozen = self._calls_while_frozen, None
        delayed_calls.sort(key=lambda call: isinstance(call, SimulatedTimerHandle))
        for observer in self.stall_observers:
            observer.record_stall_start(self.now_ns() - (self.world.now_ns - self._frozen_at_ns))
            delayed_calls.append(observer.record_stall_end)
        self.world.call_after(0, lambda: self.run(*delayed_calls))

    def kill(self) -> None:
        """Kill the process: reset its connections, as an operating system would, and close its listeners."""
        if not self.is_alive:
            return
        self.is_alive = False
        self._calls_while_frozen = None
        self.ready_calls.clear()
        self.world.dead_processes.append((self, set(self.tasks)))
        for end in list(self.connection_ends):
            end.close_on_process_death()
        self.world.network.close_listeners_of(self)

    def stop(self) -> None:
        """Cancel the main task, so that the process ends gracefully."""
        if self.is_alive:
            self.schedule(lambda: self.main_task is not None and self.main_task.cancel())


class StallObserver(Protocol):
    """Observer of the freezes of a simulated process, called once the process is resumed."""

    def record_stall_start(self, start_ns: int) -> None:
        """Record that the process was frozen at time `start_ns`, by its own clock in ns."""
        ...

    def record_stall_end(self) -> None:
        """Record that the process runs again and has executed the calls that had waited."""
        ...


class SimulatedHandle:
    """Call that a simulated process has scheduled, in place of `asyncio.Handle`."""

    __slots__ = ("_arguments", "_callback", "_context")

    def __init__(self, callback: Callable[..., object], arguments: Any, context: Context | None) -> None:
        self._callback: Callable[..., object] | None = callback
        self._arguments = arguments
        self._context = copy_context() if context is None else context

    def __call__(self) -> None:
        if self._callback is not None:
            self._context.run(self._callback, *self._arguments)

    def cancel(self) -> None:
        """Cancel the scheduled call, unless it has run."""
        self._callback, self._arguments = None, ()

    def cancelled(self) -> bool:
        return self._callback is None


class SimulatedTimerHandle(SimulatedHandle):
    """Call scheduled at a later time, in place of `asyncio.TimerHandle`."""

    __slots__ = ("_when",)

    def __init__(
        self, when: float, callback: Callable[..., object], arguments: Any, context: Context | None
    ) -> None:
        super().__init__(callback, arguments, context)
        self._when = when

    def when(self) -> float:
        """Return the time at which the call is due, in seconds by the clock of its process."""
        return self._when


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Event loop that all simulated processes share, with in-memory connections, but without threads."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def run(self, run_world: Callable[[], None]) -> None:
        """Call `run_world`, which runs the whole simulation, as the loop's only callback. Its exceptions propagate."""
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
        process = self._world.running_process
        return 0.0 if process is None else process.now_ns() / 1e9

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        call, process = SimulatedHandle(callback, args, context), self._world.running_process
        if process is not None:
            process.ready_calls.append(call)
        return call

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        timer, process = SimulatedTimerHandle(when, callback, args, context), self._world.running_process
        if process is not None and when < FOREVER_S:
            self._world.call_at(process.convert_to_world_ns(round(when * 1e9)) + 1, timer, process)
        return timer

    def create_task(self, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **kwargs)
        if self._world.running_process is not None:
            self._world.running_process.tasks.add(task)
        return task

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Call a function at once in this thread, and return a future that is already done."""
        del executor
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  raised where the future is awaited
            future.set_exception(error)
        return future

    def call_exception_handler(self, context: Any) -> None:
        if self._world.running_process is not None:
            self._world.running_process.fail_run(context.get("message"), context.get("exception"))

    # connections

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:
        assert self._world.running_process is not None
        return self._world.network.listen(self._world.running_process, protocol_factory, port)

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any
    ) -> Any:
        assert self._world.running_process is not None
        return await self._world.network.connect(self._world.running_process, protocol_factory, port)


class OrderedSet(dict[Any, None]):
    """Set that keeps the order of insertion. The order of a `set` depends on memory addresses, which differ by run."""

    def add(self, member: Any) -> None:
        self[member] = None

    def discard(self, member: Any) -> None:
        self.pop(member, None)
