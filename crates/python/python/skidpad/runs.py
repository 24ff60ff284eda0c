"""Manoeuvres: runs, comparisons of solvers, and longest accurate steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np

from skidpad import _core
from skidpad._core import Car, Scene
from skidpad.arguments import as_list, load_car, load_cars

# Step rates of a certificate, Hz; the last one is the reference.
CERTIFY_RATES = (30.0, 60.0, 120.0, 240.0, 480.0)


class Table(list[dict[str, Any]]):
    """Table: a list of rows, each a dictionary from the names of the columns to the values."""

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`. Raises `ModuleNotFoundError` without pandas."""
        import pandas

        return pandas.DataFrame(list(self))

    def to_polars(self) -> Any:
        """Returns a `polars.DataFrame`. Raises `ModuleNotFoundError` without polars."""
        import polars

        return polars.DataFrame(list(self))

    def _repr_html_(self) -> str:
        """Returns the table as HTML, which notebooks show."""
        from html import escape

        columns = list(self[0]) if self else []
        head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_text(row.get(column)))}</td>" for column in columns) + "</tr>"
            for row in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _text(value: Any) -> str:
    """Returns a value of a table as text; an empty one without a value."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Run:
    """Manoeuvre that was driven on one solver. Pickles contain the whole telemetry.

    Attributes:
        solver: name of the solver.
        metrics: table with the columns `metric`, `label`, `value` and `unit`.
        health: worst step report (`not_finite`, `not_converged`, `most_iterations`, `largest_residual` in m/s), and the
            texts `left_ground` and `incomplete` if the car left the ground or did not complete its course.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        """Takes the dictionary of a native run."""
        self.solver: str = result["solver"]
        self.metrics = Table(result["metrics"])
        self.health: dict[str, Any] = result["health"]
        self._set_trajectory(result["channels"], result["array"])

    def _set_trajectory(self, channels: list[str], array: np.ndarray) -> None:
        """Sets the telemetry from an array with a row for each channel, and makes it read-only."""
        array.flags.writeable = False
        self._array = array
        self._trajectory = MappingProxyType(dict(zip(channels, array, strict=True)))

    def __getstate__(self) -> dict[str, Any]:
        """Returns what pickles contain: the attributes, with the names of the channels instead of the mapping."""
        return self.__dict__ | {"_trajectory": list(self._trajectory)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores the attributes. All channels share one memory again."""
        self.__dict__.update(state)
        self._set_trajectory(state["_trajectory"], state["_array"])

    @property
    def trajectory(self) -> Mapping[str, np.ndarray]:
        """Telemetry of every step: a read-only mapping from channels to float64 arrays of shape [rows]. Row 0 is the
        start. All arrays are views of one memory, so that an access copies nothing. See `skidpad.channels`."""
        return self._trajectory

    def metric(self, name: str) -> float | None:
        """Returns the value of a metric; None if it does not apply. Raises `KeyError` for an unknown name."""
        for row in self.metrics:
            if row["metric"] == name:
                value: float | None = row["value"]
                return value
        raise KeyError(f"unknown metric {name!r}; this run has {', '.join(row['metric'] for row in self.metrics)}")

    def __repr__(self) -> str:
        """Returns solver, number of rows and number of metrics."""
        rows = len(self._trajectory["t_s"])
        return f"<skidpad.Run on {self.solver}: {rows} rows, {len(self.metrics)} metrics>"


class Comparison:
    """Manoeuvre that was driven on several solvers.

    Attributes:
        about: description of the manoeuvre.
        table: one row for each metric, with a column for each solver, the spread in percent and the spread as text.
            Reference vehicles do not count in the spread.
        runs: the runs by the names of the solvers.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        """Takes the dictionary of a native comparison."""
        self.about: str = result["about"]
        self.table = Table(result["rows"])
        self.runs = {run["solver"]: Run(run) for run in result["runs"]}

    def __repr__(self) -> str:
        """Returns the solvers and the description."""
        return f"<skidpad.Comparison of {', '.join(self.runs)}: {self.about}>"


class Certificate:
    """Longest steps that keep the metrics of a manoeuvre.

    Attributes:
        about: description of the manoeuvre.
        table: one row for each metric and solver, with a column for each rate, the order of convergence and the longest
            step in s that keeps the metric (0 for none, None if unknown).
        summaries: one row for each solver with its longest step in s and the metrics that limit it.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        """Takes the dictionary of a native study."""
        self.about: str = result["about"]
        self.table = Table(result["rows"])
        self.summaries = Table(result["summaries"])

    def __repr__(self) -> str:
        """Returns the longest step of each solver."""
        steps = ", ".join(f"{row['solver']} {row['longest_step_s']} s" for row in self.summaries)
        return f"<skidpad.Certificate: {steps}>"


def _changes(
    scene: Scene | None,
    initial_speed: float | None,
    slope_deg: float | None,
    heading_deg: float | None,
    duration: float | None,
    towing: Car | str | Iterable[Car | str],
    parameters: Mapping[str, float] | None,
) -> tuple[Any, ...]:
    """Returns the changes of a manoeuvre in the order of the native functions."""
    return scene, initial_speed, slope_deg, heading_deg, duration, load_cars(towing), list((parameters or {}).items())


def run(
    car: Car | str,
    manoeuvre: str,
    solver: str = "impulse",
    rate: float = 240.0,
    *,
    scene: Scene | None = None,
    initial_speed: float | None = None,
    slope_deg: float | None = None,
    heading_deg: float | None = None,
    duration: float | None = None,
    towing: Car | str | Iterable[Car | str] = (),
    parameters: Mapping[str, float] | None = None,
) -> Run:
    """Drives a car through a manoeuvre on one solver.

    Args:
        car: vehicle, or its name or path.
        manoeuvre: one of `skidpad.manoeuvres()`.
        solver: one of `skidpad.solvers()`.
        rate: steps per second, at least 10.
        scene: ground that replaces that of the manoeuvre.
        initial_speed: forward speed at the start, m/s.
        slope_deg: slope of the ground, degrees.
        heading_deg: heading at the start, degrees, positive to the left.
        duration: maximum duration, s.
        towing: trailers from the front, or their names or paths; a single one needs no list.
        parameters: numbers of the manoeuvre by their names, such as `{"radius_m": 50}` of `circle`; see
            `skidpad.manoeuvre_parameters`.

        >>> run = skidpad.run("corvette_c5", "braking", "impulse", rate=120.0)
        >>> run.metrics[0]["metric"], run.metrics[0]["unit"]
        ('distance_m', 'm')
        >>> 40.0 < run.metric("distance_m") < 50.0
        True
        >>> half = skidpad.run("corvette_c5", "braking", rate=120.0, parameters={"pedal": 0.5})
        >>> half.metric("distance_m") > run.metric("distance_m")
        True
        >>> float(run.trajectory["t_s"][-1]) > 2.0
        True

    Raises `ValueError` for unknown names and values out of range, and `VehicleError` for faults of a file. An interrupt
    (Ctrl-C) ends the run after its present step and is then raised.
    """
    changes = _changes(scene, initial_speed, slope_deg, heading_deg, duration, towing, parameters)
    return Run(_core.run_manoeuvre(load_car(car), manoeuvre, solver, rate, changes))


def compare(
    car: Car | str,
    manoeuvre: str,
    solvers: str | Sequence[str] = (),
    rate: float = 240.0,
    *,
    scene: Scene | None = None,
    initial_speed: float | None = None,
    slope_deg: float | None = None,
    heading_deg: float | None = None,
    duration: float | None = None,
    towing: Car | str | Iterable[Car | str] = (),
    parameters: Mapping[str, float] | None = None,
) -> Comparison:
    """Drives a car through a manoeuvre on several solvers, each on its own thread; on all of them without names.

    A single name needs no list.

        >>> comparison = skidpad.compare("corvette_c5", "braking", ["impulse", "constraint"], rate=120.0)
        >>> comparison.table[0]["spread_percent"] < 0.5
        True

    The other arguments and the errors are those of `run`.
    """
    changes = _changes(scene, initial_speed, slope_deg, heading_deg, duration, towing, parameters)
    return Comparison(_core.compare_solvers(load_car(car), manoeuvre, as_list(solvers), rate, changes))


def certify(
    car: Car | str,
    manoeuvre: str,
    solvers: str | Sequence[str] = (),
    rates: Sequence[float] = CERTIFY_RATES,
    within_percent: float = 2.0,
    *,
    scene: Scene | None = None,
    initial_speed: float | None = None,
    slope_deg: float | None = None,
    heading_deg: float | None = None,
    duration: float | None = None,
    towing: Car | str | Iterable[Car | str] = (),
    parameters: Mapping[str, float] | None = None,
) -> Certificate:
    """Finds the longest step that keeps each metric within `within_percent` of its value at the highest rate (Hz).

        >>> certificate = skidpad.certify("corvette_c5", "braking", ["impulse"], rates=[30.0, 120.0, 240.0])
        >>> certificate.summaries[0]["solver"]
        'impulse'
        >>> certificate.summaries[0]["longest_step_s"] >= 1 / 240
        True

    The other arguments and the errors are those of `run`.
    """
    changes = _changes(scene, initial_speed, slope_deg, heading_deg, duration, towing, parameters)
    arguments = (load_car(car), manoeuvre, as_list(solvers), list(rates), within_percent, changes)
    return Certificate(_core.certify_steps(*arguments))


def import_vehicle(format: str, path: str | PathLike[str], *, rate: float | None = None) -> tuple[Car, list[str]]:
    """Converts the file of a car of another program.

    `format` is `bullet`, `rapier`, `godot`, `unity`, `jolt`, `physx` or `commonroad`; `rate` is the step rate of that
    program in Hz, for formats whose numbers depend on it. Returns the car and notes about properties that a vehicle
    file cannot contain; `car.toml` is the text of the vehicle file.

    Raises `VehicleError` with all faults of the file, and `OSError` if it cannot be read.
    """
    return _core.import_vehicle(format, path, rate=rate)
