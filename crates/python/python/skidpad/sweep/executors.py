"""Executors of sweeps: threads of this process, and tasks of Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

from skidpad.sweep.description import Sweep
from skidpad.sweep.files import STOP_ENDING, prepare_folder
from skidpad.sweep.shards import Outcome, run_shard

# Times that Ray repeats the task of a shard whose worker was killed.
WORKER_RETRIES = 8
# Tasks that are submitted to Ray ahead, for each processor.
TASKS_AHEAD = 2
# Longest wait for the end of tasks that were asked to stop, s. A task ends after its present run.
STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Report:
    """Shards of one call of an executor.

    Attributes:
        kept: shards whose files were complete before.
        written: shards that were simulated.
        torn: those of `written` whose files could not be read or lacked runs before.
        faulty_runs: runs of `written` shards with a text in the column `fault`.
    """

    kept: tuple[int, ...]
    written: tuple[int, ...]
    torn: tuple[int, ...]
    faulty_runs: int


def run_on_threads(
    sweep: Sweep, folder: str | PathLike[str], *, threads: int | None = None, shards: Iterable[int] | None = None
) -> Report:
    """Writes the missing shards into a folder, on threads of this process.

    Args:
        sweep: runs.
        folder: folder of the sweep; it is created if it is missing.
        threads: number of threads, each with one shard at a time; that of all processors if None.
        shards: indices of the shards, from 0; all if None.

    An interrupt stops the threads after their present runs and leaves complete files only. Raises `SweepError` if the
    folder or a file in it belongs to another sweep, and `IndexError` for an index out of range.
    """
    place, indices = Path(folder), _indices(sweep, shards)
    prepare_folder(sweep, place)
    stop = Event()
    outcomes: list[Outcome | None] = []
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        futures = [pool.submit(run_shard, sweep, index, place, stop.is_set) for index in indices]
        try:
            for future in as_completed(futures):
                outcomes.append(future.result())
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return _report(outcomes)


def run_on_ray(
    sweep: Sweep, folder: str | PathLike[str], *, workers: int = 2, shards: Iterable[int] | None = None
) -> Report:
    """Writes the missing shards into a folder, as tasks of Ray.

    Without a connection to Ray, connects to the cluster of the variable RAY_ADDRESS, or else starts a cluster with
    `workers` workers on this machine and stops it at the end. All machines of a cluster need the folder at the same
    path, and the same version of this package. The other arguments and errors are those of `run_on_threads`. The shard
    of a killed worker is repeated.
    """
    import ray

    place, indices = Path(folder).absolute(), _indices(sweep, shards)
    prepare_folder(sweep, place)
    is_own = not ray.is_initialized()
    if is_own:
        _connect(ray, workers)
    try:
        return _report(_run_tasks(ray, sweep, place, indices))
    finally:
        if is_own:
            ray.shutdown()


def _connect(ray: Any, workers: int) -> None:
    """Connects to the cluster of RAY_ADDRESS, or starts one on this machine."""
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False)


def _run_tasks(ray: Any, sweep: Sweep, folder: Path, indices: list[int]) -> list[Outcome | None]:
    """Runs one task for each shard and returns the outcomes. After an error or an interrupt, stops the tasks and waits
    for their end.

    The tasks stop at an empty file in the folder, which all machines can read. `ray.cancel` is not used: Ray 2.60 ends
    the whole process if a task completes while it is being cancelled.
    """
    task = ray.remote(num_cpus=1, max_retries=WORKER_RETRIES)(run_shard)
    shared, waiting = ray.put(sweep), iter(indices)
    most = max(1, int(ray.cluster_resources().get("CPU", 1))) * TASKS_AHEAD
    stop_file = folder / f"{uuid4().hex}{STOP_ENDING}"
    pending: list[Any] = []
    outcomes: list[Outcome | None] = []
    try:
        while True:
            for index in islice(waiting, most - len(pending)):
                pending.append(task.remote(shared, index, folder, stop_file.exists))
            if not pending:
                return outcomes
            done, pending = ray.wait(pending)
            outcomes += ray.get(done)
    except BaseException:
        try:
            stop_file.touch()
            if pending:  # a worker that ends while it writes would leave a partial file
                ray.wait(pending, num_returns=len(pending), timeout=STOP_TIMEOUT_S)
        finally:
            stop_file.unlink(missing_ok=True)
        raise


def _indices(sweep: Sweep, shards: Iterable[int] | None) -> list[int]:
    """Returns the indices of shards, each once. Raises `IndexError` for one out of range."""
    indices = list(range(sweep.shard_count) if shards is None else dict.fromkeys(shards))
    for index in indices:
        if not 0 <= index < sweep.shard_count:
            raise IndexError(f"shard {index} of a sweep of {sweep.shard_count} shards")
    return indices


def _report(outcomes: list[Outcome | None]) -> Report:
    """Returns the report of all outcomes. None stands for a shard that was left before its end."""
    complete = [outcome for outcome in outcomes if outcome]

    def select(fits: Callable[[Outcome], bool]) -> tuple[int, ...]:
        """Returns the indices of the shards whose outcome fits."""
        return tuple(sorted(outcome.index for outcome in complete if fits(outcome)))

    kept = select(lambda outcome: outcome.before == "complete")
    written = select(lambda outcome: outcome.before != "complete")
    torn = select(lambda outcome: outcome.before == "torn")
    return Report(kept, written, torn, sum(outcome.faulty_runs for outcome in complete))
