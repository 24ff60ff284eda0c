"""Parameters of sweeps: grids and distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skidpad.arguments import as_list

# Value of a parameter in one run.
Value = bool | int | float | str
# Largest depth of lists and dictionaries in a value.
MOST_DEPTH = 8


@dataclass(frozen=True)
class Grid:
    """Values that a sweep combines with all values of its other grids."""

    values: tuple[Value, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"grid": as_list(self.values)}


@dataclass(frozen=True)
class Choice:
    """Values of which each sample draws one; all are equally likely."""

    values: tuple[Value, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"choice": as_list(self.values)}


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution from `low` to `high`."""

    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"uniform": [self.low, self.high]}


@dataclass(frozen=True)
class LogUniform:
    """Distribution from `low` to `high`, both above 0, whose logarithm is uniform."""

    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"log_uniform": [self.low, self.high]}


@dataclass(frozen=True)
class Normal:
    """Normal distribution with a mean and a standard deviation."""

    mean: float
    deviation: float

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"normal": [self.mean, self.deviation]}


Parameter = Grid | Choice | Uniform | LogUniform | Normal

# Keys of manifests and TOML files for the kinds of parameters.
PAIRS: dict[str, type[Uniform | LogUniform | Normal]] = {
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "normal": Normal,
}
LISTS: dict[str, type[Grid | Choice]] = {"grid": Grid, "choice": Choice}


def to_json(value: Any, depth: int = MOST_DEPTH) -> Any:
    """Returns a parameter, a number, a text, a flag, a list, a dictionary or an array of NumPy as JSON. Numbers that are
    not finite become None, which no parameter accepts.

    Raises `TypeError` for anything else, and for more than `depth` lists and dictionaries inside each other.
    """
    if isinstance(value, Parameter):
        value = value.to_json()
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        value = value.tolist()
    if isinstance(value, Mapping | list | tuple | range) and depth == 0:
        raise TypeError(f"the value has more than {MOST_DEPTH} lists and dictionaries inside each other")
    if isinstance(value, Mapping):
        return {str(key): to_json(entry, depth - 1) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [to_json(entry, depth - 1) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{value!r} is neither a number, a text, a flag, a list of them nor a distribution")


def from_json(content: Mapping[str, Iterable[Any]]) -> Parameter:
    """Returns the parameter that a manifest contains."""
    ((kind, values),) = content.items()
    return LISTS[kind](tuple(values)) if kind in LISTS else PAIRS[kind](*values)
