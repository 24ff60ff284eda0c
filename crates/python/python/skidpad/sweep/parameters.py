"""Parameters of sweeps: grids and distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from statistics import NormalDist
from typing import Any

# Value of a parameter in one run.
Value = bool | int | float | str


@dataclass(frozen=True)
class Grid:
    """Values that a sweep combines with all values of its other grids."""

    values: tuple[Value, ...]

    def faults(self) -> list[str]:
        """Returns the faults of the values."""
        return _list_faults(self.values, is_grid=True)

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"grid": list(self.values)}


@dataclass(frozen=True)
class Choice:
    """Values of which each sample draws one; all are equally likely."""

    values: tuple[Value, ...]

    def faults(self) -> list[str]:
        """Returns the faults of the values."""
        return _list_faults(self.values, is_grid=False)

    def quantile(self, share: float) -> Value:
        """Returns the value for `share`, a number above 0 and below 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"choice": list(self.values)}


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution from `low` to `high`."""

    low: float
    high: float

    def faults(self) -> list[str]:
        """Returns the faults of the bounds."""
        return _number_faults(self.low, self.high) or _order_faults(self.low, self.high)

    def quantile(self, share: float) -> float:
        """Returns the value for `share`, a number above 0 and below 1."""
        return self.low + (self.high - self.low) * share

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"uniform": [self.low, self.high]}


@dataclass(frozen=True)
class LogUniform:
    """Distribution from `low` to `high`, both above 0, whose logarithm is uniform."""

    low: float
    high: float

    def faults(self) -> list[str]:
        """Returns the faults of the bounds."""
        faults = _number_faults(self.low, self.high) or _order_faults(self.low, self.high)
        if not faults and self.low <= 0.0:
            return [f"the lower bound is {self.low}, but must be above 0"]
        return faults

    def quantile(self, share: float) -> float:
        """Returns the value for `share`, a number above 0 and below 1."""
        return self.low * math.exp((math.log(self.high) - math.log(self.low)) * share)

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"log_uniform": [self.low, self.high]}


@dataclass(frozen=True)
class Normal:
    """Normal distribution with a mean and a standard deviation."""

    mean: float
    deviation: float

    def faults(self) -> list[str]:
        """Returns the faults of the mean and of the deviation."""
        faults = _number_faults(self.mean, self.deviation)
        if not faults and self.deviation <= 0.0:
            return [f"the standard deviation is {self.deviation}, but must be above 0"]
        return faults

    def quantile(self, share: float) -> float:
        """Returns the value for `share`, a number above 0 and below 1."""
        return NormalDist(self.mean, self.deviation).inv_cdf(share)

    def to_json(self) -> dict[str, Any]:
        """Returns the parameter as manifests and TOML files contain it."""
        return {"normal": [self.mean, self.deviation]}


Distribution = Choice | Uniform | LogUniform | Normal
Parameter = Grid | Distribution

# Lowest share that a sample can have, and the distance of the highest one from 1.
EXTREME_SHARE = 2.0**-53
# Greatest magnitude of integers; float64 represents all of them.
MOST_INTEGER = 2**53
# Keys of manifests and TOML files for the kinds of parameters with two numbers.
PAIRS: dict[str, type[Uniform | LogUniform | Normal]] = {
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "normal": Normal,
}
LISTS: dict[str, type[Grid | Choice]] = {"grid": Grid, "choice": Choice}


def to_parameter(value: Any) -> Parameter:
    """Converts a number, a text, a flag, a list, a dictionary such as `{"normal": [1500, 20]}` or a parameter.

    Raises `ValueError` for anything else, and for values out of range.
    """
    parameter = _parse(value)
    faults = parameter.faults()
    if not faults and isinstance(parameter, Uniform | LogUniform | Normal):
        faults = _number_faults(parameter.quantile(EXTREME_SHARE), parameter.quantile(1.0 - EXTREME_SHARE))
    if faults:
        raise ValueError("; ".join(faults))
    return parameter


def draw(distribution: Distribution, seed: int, name: str, sample: int) -> Value:
    """Returns the value of a sample. It depends on the seed, the name of the parameter and the number of the sample
    only, so that it is the same at every point of the grids, for every solver and on every machine."""
    digest = sha256(f"{seed}\n{sample}\n{name}".encode()).digest()[:8]
    # 52 bits and a half: the share is exact in float64, above 0 and below 1.
    share = ((int.from_bytes(digest, "little") >> 12) + 0.5) * 2.0**-52
    return distribution.quantile(share)


def _parse(value: Any) -> Parameter:
    """Converts a value to a parameter, whose numbers may be out of range."""
    if isinstance(value, Grid | Choice):
        return type(value)(_unified(value.values))
    if isinstance(value, Uniform | LogUniform | Normal):
        return type(value)(*(float(number) for number in vars(value).values()))
    if isinstance(value, Mapping):
        return _parse_mapping(value)
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        value = value.tolist()
    if isinstance(value, str | bool | int | float):
        return Grid(_unified([value]))
    if isinstance(value, list | tuple | range):
        return Grid(_unified(value))
    raise ValueError(f"{value!r} is neither a number, a text, a flag, a list of them nor a distribution")


def _parse_mapping(value: Mapping[str, Any]) -> Parameter:
    """Converts a dictionary with the kind of a parameter as its only key."""
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind in LISTS and isinstance(content, list | tuple):
            return LISTS[kind](_unified(content))
        if kind in PAIRS and isinstance(content, list | tuple) and len(content) == 2:
            return PAIRS[kind](*(float(number) for number in content))
    accepted = [f"{{{kind} = [..]}}" for kind in LISTS] + [f"{{{kind} = [a, b]}}" for kind in PAIRS]
    raise ValueError(f"{dict(value)!r} is none of {', '.join(accepted)}")


def _unified(values: Iterable[Any]) -> tuple[Value, ...]:
    """Returns values of one type: integers beside numbers with a fraction become float64."""
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    if any(isinstance(value, float) for value in plain):
        plain = [float(value) if type(value) is int else value for value in plain]
    return tuple(plain)


def _list_faults(values: tuple[Value, ...], *, is_grid: bool) -> list[str]:
    """Returns the faults of a list of values."""
    if not values:
        return ["the list is empty; give at least one value"]
    if any(type(value) not in (bool, int, float, str) for value in values):
        return ["each value must be a number, a text or a flag"]
    if len({type(value) for value in values}) > 1:
        return ["the values are of different types"]
    faults = _number_faults(*(value for value in values if isinstance(value, float)))
    big = [value for value in values if type(value) is int and abs(value) > MOST_INTEGER]
    faults += [f"{value} is an integer beyond {MOST_INTEGER}" for value in big]
    if is_grid and len(set(values)) < len(values):
        twice = next(value for index, value in enumerate(values) if value in values[:index])
        faults.append(f"the value {twice!r} is in the grid twice")
    return faults


def _number_faults(*numbers: float) -> list[str]:
    """Returns a fault for every number that is not finite."""
    return [f"{number} is not a finite number" for number in numbers if not math.isfinite(number)]


def _order_faults(low: float, high: float) -> list[str]:
    """Returns a fault if the bounds are not in order."""
    return [] if low < high else [f"the lower bound {low} is not below the upper bound {high}"]
