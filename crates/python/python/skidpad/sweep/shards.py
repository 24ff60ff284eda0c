"""Shards: runs of a part of a sweep, and their Parquet files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from skidpad._core import Car, Scene, VehicleError
from skidpad.runs import Run, run
from skidpad.sweep.description import FORMAT, MANOEUVRE_PREFIX, OPTIONS, SCENE_KEYWORDS, PlannedRun, Sweep
from skidpad.sweep.errors import SweepError
from skidpad.sweep.files import write_atomically
from skidpad.sweep.parameters import Value

# Keys of the metadata of a schema.
FORMAT_KEY, HASH_KEY, SHARD_KEY = b"skidpad.format", b"skidpad.manifest", b"skidpad.shard"
# Columns before the parameters, with their types.
FIRST_COLUMNS = {"id": pa.string(), "run": pa.int64(), "sample": pa.int64(), "solver": pa.string()}
# Columns behind the metrics, with their types: `health` of a run, and the text of the fault that prevented it.
HEALTH_COLUMNS = {
    "not_finite": pa.bool_(),
    "not_converged": pa.bool_(),
    "left_ground": pa.string(),
    "incomplete": pa.string(),
    "fault": pa.string(),
}
# Types of the columns of parameters.
VALUE_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
# Vehicles with changed fields that a shard keeps for its next runs.
KEPT_CARS = 64

# Units and labels of metrics by their names.
Metrics = dict[str, tuple[str, str]]
# State of the file of a shard.
State = Literal["missing", "torn", "complete"]


class Stopped(Exception):
    """Signal that a shard was left before its end, without a file."""


@dataclass(frozen=True)
class Outcome:
    """Result of a shard: its index, the state of its file before, and the number of runs with a fault."""

    index: int
    before: State
    faulty_runs: int


@dataclass
class _Rows:
    """Rows of a shard, and the metrics of its runs with unit and label."""

    plans: list[PlannedRun] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    metrics: Metrics = field(default_factory=dict)


def shard_path(sweep: Sweep, index: int, folder: Path) -> Path:
    """Returns the path of the file of a shard; its name contains the hash of the manifest."""
    return folder / f"shard-{index:06}-{sweep.hash[:12]}.parquet"


def shard_state(sweep: Sweep, index: int, folder: Path) -> State:
    """Returns the state of the file of a shard. A file that cannot be read or lacks runs is torn.

    Raises `SweepError` if the file belongs to another sweep, or has other runs.
    """
    path = shard_path(sweep, index, folder)
    if not path.exists():
        return "missing"
    try:
        table = pq.read_table(path, page_checksum_verification=True, use_threads=False)
    except (pa.ArrowException, OSError):
        return "torn"
    faults = schema_faults(sweep, table.schema, path)
    if faults:
        raise SweepError(faults)
    expected = [plan.id for plan in sweep.shard(index)]
    if len(table) != len(expected):
        return "torn"
    if table["id"].to_pylist() != expected:
        raise SweepError([f"{path} has other runs than this process plans: remove it, or use one platform for all"])
    return "complete"


def schema_faults(sweep: Sweep, schema: pa.Schema, path: Path) -> list[str]:
    """Returns the faults of a file whose metadata is not that of the sweep."""
    metadata = schema.metadata or {}
    if metadata.get(FORMAT_KEY) != FORMAT.encode():
        found = metadata.get(FORMAT_KEY, b"none").decode()
        return [f"{path} is no shard of the format {FORMAT!r}, but of {found!r}; move it away"]
    if metadata.get(HASH_KEY) != sweep.hash.encode():
        found = metadata.get(HASH_KEY, b"none").decode()
        return [f"{path} belongs to the sweep {found[:12]}, not to {sweep.hash[:12]}; move it away"]
    return []


def run_shard(sweep: Sweep, index: int, folder: Path, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Simulates the runs of a shard and writes its file, unless the file is complete. `is_stopped` is called before
    each run.

    Raises `Stopped` without a file if `is_stopped` returns true, and `SweepError` for the file of another sweep.
    """
    before = shard_state(sweep, index, folder)
    if before == "complete":
        return Outcome(index, before, 0)
    rows = _Rows()
    cars: dict[Any, Car] = {}
    for plan in sweep.shard(index):
        if is_stopped():
            raise Stopped
        rows.plans.append(plan)
        rows.results.append(_result(sweep, plan, cars, rows.metrics))
    table = _table(sweep, index, rows)
    path = shard_path(sweep, index, folder)
    write_atomically(path, lambda file: pq.write_table(table, file, write_page_checksum=True))
    return Outcome(index, before, sum(result["fault"] is not None for result in rows.results))


def _result(sweep: Sweep, plan: PlannedRun, cars: dict[Any, Car], metrics: Metrics) -> dict[str, Any]:
    """Returns metrics and health of a run, or its fault. Adds new metrics with unit and label to `metrics`."""
    try:
        done = _drive(sweep, plan, cars)
    except VehicleError as error:
        # Not the whole text, which names the path of the vehicle file on this machine.
        return {"fault": "\n".join(f"{fault['path']}: {fault['message']}" for fault in error.faults)}
    except ValueError as error:
        return {"fault": str(error)}
    for row in done.metrics:
        unit = metrics.setdefault(row["metric"], (row["unit"], row["label"]))[0]
        if unit != row["unit"]:
            raise SweepError([f"metric `{row['metric']}` has the units {unit} and {row['unit']} in one sweep"])
    return {row["metric"]: row["value"] for row in done.metrics} | done.health | {"fault": None}


def _drive(sweep: Sweep, plan: PlannedRun, cars: dict[Any, Car]) -> Run:
    """Simulates a run. `cars` keeps the last vehicles by their changed fields."""
    options: dict[str, Any] = {}
    fields: dict[str, Value] = {}
    ground: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, value in plan.values.items():
        if name in SCENE_KEYWORDS:
            ground[name.removeprefix("scene__")] = value
        elif name.startswith(MANOEUVRE_PREFIX):
            parameters[name.removeprefix(MANOEUVRE_PREFIX)] = value
        else:
            (options if name in OPTIONS else fields)[name] = value
    key = tuple(fields.values())
    if key not in cars:
        if len(cars) == KEPT_CARS:
            cars.pop(next(iter(cars)))
        cars[key] = sweep.car.with_(**fields) if fields else sweep.car
    scene = Scene(**ground) if ground else sweep.scene
    changes = {"scene": scene, "towing": sweep.towing, "parameters": parameters, **options}
    return run(cars[key], sweep.manoeuvre, plan.solver, sweep.rate, **changes)


def _table(sweep: Sweep, index: int, rows: _Rows) -> pa.Table:
    """Returns the table of a shard. The metadata of each column has its role, unit and label."""
    columns: list[tuple[pa.Field, list[Any]]] = []

    def add(name: str, kind: pa.DataType, values: list[Any], **metadata: str) -> None:
        """Appends a column."""
        columns.append((pa.field(name, kind, metadata=metadata), values))

    for name, kind in FIRST_COLUMNS.items():
        key = "number" if name == "run" else name
        add(name, kind, [getattr(plan, key) for plan in rows.plans], role="run")
    for name in sweep.parameters:
        values = [plan.values[name] for plan in rows.plans]
        unit = OPTIONS.get(name) or SCENE_KEYWORDS.get(name)
        add(name, VALUE_TYPES[type(values[0])], values, role="parameter", **({"unit": unit} if unit else {}))
    for name, (unit, label) in rows.metrics.items():
        add(name, pa.float64(), [result.get(name) for result in rows.results], role="metric", unit=unit, label=label)
    for name, kind in HEALTH_COLUMNS.items():
        add(name, kind, [result.get(name) for result in rows.results], role="health")
    fields = [entry for entry, _ in columns]
    names = [entry.name for entry in fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SweepError([f"`{name}` is a parameter and a column of results; write its whole path" for name in twice])
    metadata = {FORMAT_KEY: FORMAT, HASH_KEY: sweep.hash, SHARD_KEY: str(index)}
    schema = pa.schema(fields, metadata=metadata)
    arrays = [pa.array(values, entry.type) for entry, values in columns]
    return pa.Table.from_arrays(arrays, schema=schema)
