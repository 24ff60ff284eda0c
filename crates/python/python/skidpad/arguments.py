"""Arguments that several functions accept in short forms."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TypeVar

from skidpad import _core
from skidpad._core import Car

T = TypeVar("T")


def as_list(values: str | Iterable[T]) -> list[str | T]:
    """Returns the values as a list; a text is one value."""
    return [values] if isinstance(values, str) else list(values)


def load_car(car: Car | str) -> Car:
    """Returns the car, loaded if it is a name or path."""
    return car if isinstance(car, Car) else _core.load(car)


def load_cars(cars: Car | str | Iterable[Car | str]) -> list[Car]:
    """Returns the cars as a list, loaded if they are names or paths. A single car, name or path is a list of one."""
    return [load_car(car) for car in ([cars] if isinstance(cars, Car | str | PathLike) else cars)]
