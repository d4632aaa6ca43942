"""Running code again on purpose: as a retry, twice at once, in another process, after each crash."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import inspect
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pytest_stripe_idem.core.machine import Override
from pytest_stripe_idem.engine import Engine, Gate, Worker, current_run, current_worker
from pytest_stripe_idem.faults.kinds import Instead, KillAfter, KillBefore, Kind, LoseResponse
from pytest_stripe_idem.record.charges import Grouping, LogicalCharge, logical_charges
from pytest_stripe_idem.record.exchange import FRESH, Exchange, Run
from pytest_stripe_idem.report.timeline import headline
from pytest_stripe_idem.transports.environment import RUN
from pytest_stripe_idem.transports.errors import ProcessKilled

_scopes = count(1)

# Hash seeds of other interpreters: none that somebody would set for the tests themselves.
_SEED = 1000


def replay(engine: Engine, fn: Callable[..., Any], args: Any, kwargs: Any, times: int) -> Any:
    """Runs `fn` so often; every run but the last loses the response of its first money call.

    What the earlier runs raise is what a retry reacts to, so it ends there.

    Returns:
        What the last run returned; for an asynchronous `fn` inside a running loop a coroutine that
        gives this.
    """
    if times < 2:
        raise ValueError("a replay runs at least twice")
    steps = _replay_steps(engine, f"replay {next(_scopes)}", times)
    if inspect.iscoroutinefunction(fn) and _loop_runs():
        return _replay_async(steps, fn, args, kwargs)
    for careless in steps:
        with contextlib.suppress(*careless):
            result = _complete(fn(*args, **kwargs))
    return result


async def _replay_async(
    steps: Iterator[Errors], fn: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    for careless in steps:
        with contextlib.suppress(*careless):
            result = await fn(*args, **kwargs)
    return result


Errors = tuple[type[BaseException], ...]


def _replay_steps(engine: Engine, scope: str, times: int) -> Iterator[Errors]:
    """Prepares each run; gives the exceptions that end there."""
    before = engine.run
    try:
        for number in range(1, times):
            engine.run = Run(scope, number)
            lost = engine.faults.put(LoseResponse())
            yield (Exception,)
            lost.left = 0
        engine.run = Run(scope, times)
        yield ()
    finally:
        engine.run = before


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def concurrently(engine: Engine, fn: Callable[..., Any], args: Any, kwargs: Any, times: int) -> Any:
    """Runs `fn` so often at one time: threads, or tasks where `fn` is asynchronous.

    Returns:
        What each run returned or raised, in order; for an asynchronous `fn` inside a running loop a
        coroutine that gives this.
    """
    if times < 2:
        raise ValueError("at one time means at least twice")
    gate, scope = Gate(times), f"concurrently {next(_scopes)}"
    if inspect.iscoroutinefunction(fn):
        together = _tasks(fn, args, kwargs, gate, scope, times)
        return together if _loop_runs() else asyncio.run(together)
    results: list[Any] = [None] * times
    threads = [
        threading.Thread(
            target=_in_thread, args=(fn, args, kwargs, gate, Run(scope, number), results)
        )
        for number in range(1, times + 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _in_thread(
    fn: Callable[..., Any], args: Any, kwargs: Any, gate: Gate, run: Run, results: list[Any]
) -> None:
    current_worker.set(Worker(gate))
    current_run.set(run)
    try:
        results[run.number - 1] = fn(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - it is a result: the caller looks at it
        results[run.number - 1] = error
    finally:
        gate.ended()


async def _tasks(
    fn: Callable[..., Any], args: Any, kwargs: Any, gate: Gate, scope: str, times: int
) -> list[Any]:
    async def one(number: int) -> Any:
        current_worker.set(Worker(gate))
        current_run.set(Run(scope, number))
        try:
            return await fn(*args, **kwargs)
        finally:
            gate.ended()

    runs = [one(number) for number in range(1, times + 1)]
    return list(await asyncio.gather(*runs, return_exceptions=True))


def _complete(result: Any) -> Any:
    """The result of a run; an asynchronous one is run to its end.

    Raises:
        RuntimeError: Inside a running loop, which cannot be left for it.
    """
    if not inspect.isawaitable(result):
        return result
    if _loop_runs():
        getattr(result, "close", lambda: None)()
        raise RuntimeError(
            "this runs coroutines to their end itself: call it from a test that is not asynchronous"
        )
    return asyncio.run(_await(result))


async def _await(result: Any) -> Any:
    return await result


class FreshInterpreterError(RuntimeError):
    """The function raised in the other process; the message ends with its traceback."""


_CHILD = """\
import base64, pickle, sys
task = pickle.loads(base64.b64decode(sys.stdin.buffer.read()))
sys.path[:] = task["path"]
from pytest_stripe_idem.replaying import carry_out
carry_out(task)
"""


def in_fresh_interpreter(
    target: str | Callable[..., Any], args: Any, kwargs: Any, timeout: float
) -> Any:
    """Runs a function in another process with another `PYTHONHASHSEED`.

    Args:
        target: `pkg.mod:fn`, `path/to/file.py:fn`, or a function that can be found by its name.
        timeout: Seconds; then the process is killed.

    Raises:
        FreshInterpreterError: It raised, or died.
    """
    number = next(_scopes)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(_SEED + number),
        RUN: str(Run(FRESH, number)),
    }
    task = {"target": _spelled(target), "args": args, "kwargs": kwargs, "path": sys.path}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=base64.b64encode(pickle.dumps(task)),
        capture_output=True,
        env=environment,
        timeout=timeout,
        check=False,
    )
    mark, _, answer = done.stdout.rpartition(b"\n")[2].partition(b" ")
    if mark != b"stripe-idem":
        told = done.stderr.decode("utf-8", "replace").strip()
        raise FreshInterpreterError(f"the process ended with {done.returncode}\n{told}")
    result = pickle.loads(base64.b64decode(answer))
    if "error" in result:
        raise FreshInterpreterError(result["error"])
    return result["value"]


def carry_out(task: dict[str, Any]) -> None:
    """The other side: runs the function and prints what came out."""
    try:
        fn = find_function(task["target"])
        result = {"value": _complete(fn(*task["args"], **task["kwargs"]))}
        told = pickle.dumps(result)
    except Exception as error:  # noqa: BLE001 - it is told to the test, which raises it
        told = pickle.dumps({"error": f"{error!r}\n{traceback.format_exc()}"})
    sys.stdout.flush()
    sys.stdout.write("\nstripe-idem " + base64.b64encode(told).decode())


def find_function(spelled: str) -> Callable[..., Any]:
    """The function that `pkg.mod:fn` or `file.py:fn` names."""
    import importlib.util

    where, _, name = spelled.rpartition(":")
    if where.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(where).stem, where)
        assert spec is not None, "a file can be loaded"
        assert spec.loader is not None, "a file can be loaded"
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(where)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    made: Callable[..., Any] = found
    return made


def _spelled(target: str | Callable[..., Any]) -> str:
    if isinstance(target, str):
        if ":" not in target:
            raise ValueError(f"{target!r} is not pkg.mod:fn")
        return target
    name = getattr(target, "__qualname__", "")
    if not name or "<" in name:
        raise ValueError(f"{target!r} cannot be found by its name in another process")
    return f"{inspect.getfile(target)}:{name}"


@dataclass(frozen=True, slots=True)
class Point:
    """A place where a scenario can break.

    Attributes:
        call: Which of its writes, from 1.
        what: That request in words.
        fault: What happens to it.
    """

    call: int
    what: str
    fault: str

    def __str__(self) -> str:
        return f"call {self.call} ({self.what}), {self.fault}"


@dataclass(frozen=True, slots=True)
class CrashFailure:
    """A point after which the books are wrong.

    Attributes:
        problem: `charged twice`, `never charged` or `charged too seldom`.
        charge: Which one, in words.
        raised: What `recover` raised, in words; empty where it ended well.
    """

    point: Point
    problem: str
    charge: str
    raised: str = ""

    def __str__(self) -> str:
        cause = f" (recover raised {self.raised})" if self.raised else ""
        return f"{self.point}: {self.problem}: {self.charge}{cause}"


@dataclass(frozen=True, slots=True)
class CrashResult:
    """What `crash_points` found.

    Attributes:
        points: Every point that was tried.
        failures: Those after which a charge was made twice or not at all; empty when all hold.
        expected: The charges of the undisturbed run, in words.
    """

    points: tuple[Point, ...] = ()
    failures: tuple[CrashFailure, ...] = ()
    expected: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        tried = len(self.points)
        if not self.failures:
            return f"{tried} crash points, all of them recovered: {len(self.expected)} charges, once each"
        broken = len({failure.point for failure in self.failures})
        rows = [f"  {failure}" for failure in self.failures]
        return "\n".join([f"{broken} of {tried} crash points do not recover:", *rows])


_FAULTS: tuple[tuple[str, Kind], ...] = (
    ("response lost after the commit", LoseResponse()),
    ("killed before the request", KillBefore()),
    ("killed after the commit", KillAfter()),
    ("500 stored after the commit", Instead(Override.ERROR_AFTER_EFFECT, "500 after the effect")),
)

Step = Callable[[], Any]


def crash_points(
    fresh: Callable[[], Engine],
    scenario: Step,
    recover: Step,
    reset: Step | None,
    grouping: Grouping,
) -> CrashResult:
    """Tries every fault at every write of a scenario, and counts the charges after `recover`.

    Args:
        fresh: Puts a new, empty fake in place and gives it.
        reset: Brings the caller's own state back to the start.
    """
    engine = _begin(fresh, reset)
    _complete(scenario())
    writes = [each for each in engine.recorder.all() if each.call.method != "GET"]
    wanted = _executed(engine, grouping)
    points, failures = [], []
    for number, write in enumerate(writes, 1):
        for words, kind in _FAULTS:
            point = Point(number, f"{write.call.method} {write.call.path}", words)
            points.append(point)
            engine = _begin(fresh, reset)
            engine.faults.put(kind, when=_nth_write(number))
            raised = _run(scenario, recover)
            failures += _compare(point, raised, wanted, _executed(engine, grouping))
    expected = tuple(_words(charge) for charge in wanted.values())
    return CrashResult(tuple(points), tuple(failures), expected)


def _begin(fresh: Callable[[], Engine], reset: Step | None) -> Engine:
    if reset is not None:
        _complete(reset())
    return fresh()


def _nth_write(number: int) -> Callable[[Any], bool]:
    """True for the nth request that is no GET."""
    seen = count(1)
    return lambda call: call.method != "GET" and next(seen) == number


def _run(scenario: Step, recover: Step) -> str:
    """The scenario up to its crash, then the recovery; what the latter raised, in words."""
    with contextlib.suppress(Exception, ProcessKilled):
        _complete(scenario())
    try:
        _complete(recover())
    except (Exception, ProcessKilled) as error:  # noqa: BLE001 - it is told in the result
        return repr(error)
    return ""


def _executed(engine: Engine, grouping: Grouping) -> dict[Any, LogicalCharge]:
    """Logical charges that had an effect."""
    charges = logical_charges(engine.recorder.all(), grouping)
    return {charge.identity: charge for charge in charges if charge.executed}


def _compare(
    point: Point,
    raised: str,
    wanted: dict[Any, LogicalCharge],
    found: dict[Any, LogicalCharge],
) -> list[CrashFailure]:
    missing = [charge for identity, charge in wanted.items() if identity not in found]
    more = [charge for identity, charge in found.items() if identity not in wanted]
    for charge in list(more):
        # Under another name: ids of the caller's own database differ from run to run.
        twin = next((each for each in missing if _alike(each, charge)), None)
        if twin is not None:
            missing.remove(twin)
            more.remove(charge)
    problems = [("never charged", charge) for charge in missing]
    problems += [("charged twice", charge) for charge in more]
    for identity, charge in found.items():
        before = wanted.get(identity)
        often = len(before.executed) if before else 1
        if len(charge.executed) > often:
            problems.append(("charged twice", charge))
        if len(charge.executed) < often:
            problems.append(("charged too seldom", charge))
    return [CrashFailure(point, problem, _words(charge), raised) for problem, charge in problems]


def _alike(one: LogicalCharge, other: LogicalCharge) -> bool:
    return _core(one.first) == _core(other.first)


def _core(exchange: Exchange) -> tuple[str, Counter[str]]:
    flat = exchange.call.flat
    names = ("amount", "currency", "destination")
    return exchange.call.endpoint, Counter(f"{name}={flat.get(name)}" for name in names)


def _words(charge: LogicalCharge) -> str:
    return headline(charge.first.call)
