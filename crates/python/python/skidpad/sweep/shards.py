"""Shards: runs of a part of a sweep, and their Parquet files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from skidpad.sweep.description import Sweep
from skidpad.sweep.errors import SweepError
from skidpad.sweep.files import write_atomically

# Keys of the metadata of a schema.
FORMAT_KEY, HASH_KEY, SHARD_KEY = b"skidpad.format", b"skidpad.manifest", b"skidpad.shard"
# Types of columns by the names that the native table gives them.
TYPES = {"text": pa.string(), "flag": pa.bool_(), "integer": pa.int64(), "number": pa.float64()}

# Column of a native table: name, role, type, unit, label and cells.
Column = tuple[str, str, str, str, str, list[Any]]
# State of the file of a shard.
State = Literal["missing", "torn", "complete"]


@dataclass(frozen=True)
class Outcome:
    """Result of a shard: its index, the state of its file before, and the number of runs with a fault."""

    index: int
    before: State
    faulty_runs: int


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
        raise SweepError([f"{path} has other runs than this process plans; remove it"])
    return "complete"


def schema_faults(sweep: Sweep, schema: pa.Schema, path: Path) -> list[str]:
    """Returns the faults of a file whose metadata is not that of the sweep."""
    metadata = schema.metadata or {}
    own = sweep.manifest["format"]
    if metadata.get(FORMAT_KEY) != own.encode():
        found = metadata.get(FORMAT_KEY, b"none").decode()
        return [f"{path} is no shard of the format {own!r}, but of {found!r}; move it away"]
    if metadata.get(HASH_KEY) != sweep.hash.encode():
        found = metadata.get(HASH_KEY, b"none").decode()
        return [f"{path} belongs to the sweep {found[:12]}, not to {sweep.hash[:12]}; move it away"]
    return []


def run_shard(sweep: Sweep, index: int, folder: Path, is_stopped: Callable[[], bool]) -> Outcome | None:
    """Simulates the runs of a shard and writes its file, unless the file is complete. Calls `is_stopped` before each
    run. Returns None without a file if `is_stopped` returns true.

    Raises `SweepError` for the file of another sweep.
    """
    before = shard_state(sweep, index, folder)
    if before == "complete":
        return Outcome(index, before, 0)
    simulated = sweep.plan.simulate_shard(index, is_stopped)
    if simulated is None:
        return None
    columns, faulty_runs = simulated
    table = _table(sweep, index, columns)
    path = shard_path(sweep, index, folder)
    write_atomically(path, lambda file: pq.write_table(table, file, write_page_checksum=True))
    return Outcome(index, before, faulty_runs)


def _table(sweep: Sweep, index: int, columns: list[Column]) -> pa.Table:
    """Returns the table of a shard. The metadata of each column has its role, and its unit and its label if they are
    known."""
    fields, arrays = [], []
    for name, role, kind, unit, label, cells in columns:
        metadata = {"role": role} | ({"unit": unit} if unit else {}) | ({"label": label} if label else {})
        fields.append(pa.field(name, TYPES[kind], metadata=metadata))
        arrays.append(pa.array(cells, TYPES[kind]))
    identity = {FORMAT_KEY: sweep.manifest["format"], HASH_KEY: sweep.hash, SHARD_KEY: str(index)}
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=identity))
