"""Sweeps: parameter studies, Monte Carlo studies and agreement studies as shards that any number of machines run.

A `Sweep` is a list of runs with identifiers. Each shard of it is one Parquet file in a folder that all machines share.
`run_on_threads`, `run_on_ray` and `python -m skidpad.sweep` write the shards that are missing, and `merge` joins them.
Results are equal to the bit in every case. Needs `pip install "skidpad[sweep]"`.
"""

try:
    import pyarrow  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError('sweeps need pyarrow: pip install "skidpad[sweep]"', name="pyarrow") from error

from skidpad.sweep.description import PlannedRun, Sweep
from skidpad.sweep.errors import SweepError
from skidpad.sweep.executors import Report, run_on_ray, run_on_threads
from skidpad.sweep.merging import merge
from skidpad.sweep.parameters import Choice, Grid, LogUniform, Normal, Uniform

__all__ = [
    "Choice",
    "Grid",
    "LogUniform",
    "Normal",
    "PlannedRun",
    "Report",
    "Sweep",
    "SweepError",
    "Uniform",
    "merge",
    "run_on_ray",
    "run_on_threads",
]
