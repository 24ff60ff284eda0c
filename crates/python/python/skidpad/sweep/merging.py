"""Merging of the shards of a sweep into one table."""

from __future__ import annotations

from collections import Counter
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from skidpad.sweep.description import Sweep
from skidpad.sweep.errors import SweepError
from skidpad.sweep.files import MANIFEST_NAME, write_atomically
from skidpad.sweep.shards import FORMAT_KEY, HASH_KEY, schema_faults

# Name of the table of all runs, in the folder of its shards.
TABLE_NAME = "sweep.parquet"
# Greatest number of identifiers that a fault names.
NAMED_IDS = 5


def merge(folder: str | PathLike[str], sweep: Sweep | None = None) -> pa.Table:
    """Joins the shards in a folder into one table, in the order of the runs, and writes it to `sweep.parquet` there.
    The sweep is that of the manifest in the folder if none is given.

    Raises `SweepError` with all faults: files of other sweeps, files that cannot be read, runs that are missing, double
    or unknown, and units that differ. Then no file is written.
    """
    place = Path(folder)
    if sweep is None:
        sweep = Sweep.load(place / MANIFEST_NAME)
    sweep.plan.check_folder(place)
    faults: list[str] = []
    tables: list[pa.Table] = []
    for path in sorted(place.glob("shard-*.parquet")):
        try:
            table = pq.read_table(path, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            faults.append(f"{path} cannot be read; run its shard again: {error}")
            continue
        found = schema_faults(sweep, table.schema, path)
        faults += found
        if not found:
            tables.append(table)
    faults += _id_faults(sweep, tables) + _unit_faults(tables)
    if faults:
        raise SweepError(faults)
    table = _joined(sweep, tables)
    write_atomically(place / TABLE_NAME, lambda file: pq.write_table(table, file, write_page_checksum=True))
    return table


def _id_faults(sweep: Sweep, tables: list[pa.Table]) -> list[str]:
    """Returns a fault for the runs that are missing, one for the double ones, and one for unknown ones."""
    counts = Counter(identifier for table in tables for identifier in table["id"].to_pylist())
    expected = {sweep.run(number).id: number for number in range(len(sweep))}
    missing = [identifier for identifier in expected if identifier not in counts]
    double = [identifier for identifier, count in counts.items() if count > 1]
    unknown = [identifier for identifier in counts if identifier not in expected]
    faults = []
    if missing:
        shards = sorted({expected[identifier] // sweep.shard_size for identifier in missing})
        places = f"shards {', '.join(map(str, shards[:NAMED_IDS]))}{', ..' if len(shards) > NAMED_IDS else ''}"
        faults.append(f"{_named(missing)} missing, in {places}; run the sweep again")
    if double:
        faults.append(f"{_named(double)} in several files; remove the copies")
    if unknown:
        faults.append(f"{_named(unknown)} unknown; remove their files")
    return faults


def _named(identifiers: list[str]) -> str:
    """Returns the number of runs with their first identifiers, and a verb."""
    names = ", ".join(identifiers[:NAMED_IDS]) + (", .." if len(identifiers) > NAMED_IDS else "")
    return f"{len(identifiers)} runs ({names}) are"


def _unit_faults(tables: list[pa.Table]) -> list[str]:
    """Returns a fault for each column whose unit or type differs between shards."""
    seen: dict[str, set[tuple[str, str]]] = {}
    for table in tables:
        for entry in table.schema:
            unit = (entry.metadata or {}).get(b"unit", b"").decode()
            seen.setdefault(entry.name, set()).add((unit, str(entry.type)))
    differing = {name: sorted(kinds) for name, kinds in seen.items() if len(kinds) > 1}
    return [f"column `{name}` differs between shards: {kinds}" for name, kinds in differing.items()]


def _joined(sweep: Sweep, tables: list[pa.Table]) -> pa.Table:
    """Returns all rows in the order of the runs. A metric that a shard lacks is null there."""
    table = pa.concat_tables(tables, promote_options="default").sort_by("run").combine_chunks()
    # Metrics that a later shard adds are placed before the health of the runs.
    is_health = {entry.name: entry.metadata[b"role"] == b"health" for entry in table.schema}
    names = sorted(table.column_names, key=lambda name: is_health[name])
    metadata = {FORMAT_KEY: sweep.manifest["format"], HASH_KEY: sweep.hash}
    return table.select(names).replace_schema_metadata(metadata)
