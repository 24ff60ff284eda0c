"""Descriptions of sweeps: runs, shards and manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from skidpad._core import Car, Scene, SweepPlan
from skidpad.arguments import as_list, load_car, load_cars
from skidpad.sweep.parameters import Parameter, Value, from_json, to_json

# Greatest numbers of samples, of seeds and of runs of a shard.
MOST_INTEGER = 1_000_000_000


@dataclass(frozen=True)
class PlannedRun:
    """Run of a sweep.

    Attributes:
        number: place in the sweep, from 0.
        id: hash of everything that the results of the run depend on, and of the number of the sample.
        sample: number of the sample, from 0. Distributions draw a value for each.
        solver: name of the solver.
        values: value of each parameter.
    """

    number: int
    id: str
    sample: int
    solver: str
    values: dict[str, Value]


class Sweep:
    """Sweep: runs of a manoeuvre on all values of grids, all samples of distributions and all solvers. Immutable.

        >>> from skidpad.sweep import Sweep, Uniform
        >>> parameters = {"mass": [1500, 1600], "initial_speed": Uniform(15, 25)}
        >>> sweep = Sweep("corvette_c5", "braking", ["impulse", "constraint"], 60.0, parameters, samples=10)
        >>> len(sweep), sweep.run(39).solver, sweep.run(39).values["mass"]
        (40, 'constraint', 1600)

    Attributes:
        car: vehicle.
        manoeuvre: name of the manoeuvre.
        solvers: names of the solvers.
        rate: steps per second.
        parameters: grids and distributions by the names of the parameters.
        samples: samples of the distributions at each point of the grids.
        seed: seed of the distributions.
        shard_size: greatest number of runs of a shard; if it is not stated, a 64th of the runs, at most 256.
        scene: ground that replaces that of the manoeuvre, or None.
        towing: trailers from the front.
        manifest: everything that the results depend on, as a dictionary.
        hash: hash of the manifest.
        plan: native plan of the runs.
    """

    def __init__(
        self,
        car: Car | str,
        manoeuvre: str,
        solvers: str | Sequence[str] = "impulse",
        rate: float = 240.0,
        parameters: Mapping[str, Any] | None = None,
        *,
        samples: int = 1,
        seed: int = 0,
        shard_size: int | None = None,
        scene: Scene | None = None,
        towing: Car | str | Iterable[Car | str] = (),
    ) -> None:
        """Describes a sweep.

        A key of `parameters` is a keyword of `Car.with_`, one of the options `initial_speed`, `slope_deg`,
        `heading_deg` and `duration` of `skidpad.run`, `scene__grip` or `scene__gravity` for a level plane, or
        `manoeuvre__` with a name of `skidpad.manoeuvre_parameters`. Its value is a number, a text, a flag, a list of
        them (a `Grid`) or a distribution. The attributes describe the others.

        Raises `SweepError` with all faults, and `VehicleError` for faults of a vehicle file.
        """
        faults: list[str] = []
        texts: list[tuple[str, str]] = []
        for name, value in (parameters or {}).items():
            try:
                texts.append((name, json.dumps(to_json(value))))
            except TypeError as error:
                faults.append(f"parameters.{name}: {error}")
        stated: dict[str, tuple[Any, int]] = {"samples": (samples, 1), "seed": (seed, 0)}
        if shard_size is not None:
            stated["shard_size"] = (shard_size, 1)
        for key, (number, least) in stated.items():
            if type(number) is not int or not least <= number <= MOST_INTEGER:
                faults.append(f"{key}: {number!r}, but must be an integer from {least} to {MOST_INTEGER}")
                # The native plan gets an accepted integer, so that it finds all other faults.
                stated[key] = (least, least)
        plan = SweepPlan(
            load_car(car),
            manoeuvre,
            as_list(solvers),
            rate,
            texts,
            stated["samples"][0],
            stated["seed"][0],
            stated["shard_size"][0] if "shard_size" in stated else None,
            scene,
            load_cars(towing),
            faults,
        )
        self._adopt(plan)

    def _adopt(self, plan: SweepPlan) -> None:
        """Sets all attributes to those of a plan."""
        manifest: dict[str, Any] = json.loads(plan.manifest)
        self.plan, self.manifest, self.hash = plan, manifest, plan.hash
        self.car, self.scene, self.towing = plan.car, plan.scene, tuple(plan.towing)
        self.manoeuvre: str = manifest["manoeuvre"]
        self.solvers: tuple[str, ...] = tuple(manifest["solvers"])
        self.rate: float = manifest["rate"]
        self.parameters: dict[str, Parameter] = {name: from_json(content) for name, content in manifest["parameters"]}
        self.samples: int = manifest["samples"]
        self.seed: int = manifest["seed"]
        self.shard_size: int = manifest["shard_size"]

    def __len__(self) -> int:
        """Returns the number of runs."""
        return len(self.plan)

    def __eq__(self, other: object) -> bool:
        """Returns whether the manifests are equal."""
        return self.hash == other.hash if isinstance(other, Sweep) else NotImplemented

    def __hash__(self) -> int:
        """Returns a hash of the manifest."""
        return hash(self.hash)

    def __repr__(self) -> str:
        """Returns vehicle, manoeuvre, numbers of runs and shards, and the hash."""
        counts = f"{len(self)} runs in {self.shard_count} shards"
        return f"<skidpad.sweep.Sweep of {self.car.name!r}, {self.manoeuvre}: {counts}, {self.hash[:12]}>"

    def __reduce__(self) -> tuple[Callable[[str], Sweep], tuple[str]]:
        """Returns what pickles restore. A process with another version or other tyre files refuses the sweep."""
        return Sweep.from_manifest, (self.to_manifest(),)

    @property
    def shard_count(self) -> int:
        """Number of shards."""
        return self.plan.shard_count

    def run(self, number: int) -> PlannedRun:
        """Returns the run of a number from 0. Solvers change fastest, then samples, then the last grid.

        Raises `IndexError` if there is no such run.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"run {number} of a sweep of {len(self)} runs")
        identifier, sample, solver, values = self.plan.run(number)
        return PlannedRun(number, identifier, sample, solver, dict(zip(self.parameters, values, strict=True)))

    def shard(self, index: int) -> Iterator[PlannedRun]:
        """Returns the runs of a shard. `index` counts from 0.

        Raises `IndexError` if there is no such shard.
        """
        if not 0 <= index < self.shard_count:
            raise IndexError(f"shard {index} of a sweep of {self.shard_count} shards")
        return map(self.run, range(*self.plan.shard(index)))

    def to_manifest(self) -> str:
        """Returns the manifest with its hash and the descriptions of vehicles and scene as a JSON text."""
        return self.plan.to_manifest()

    @staticmethod
    def from_manifest(text: str) -> Sweep:
        """Returns the sweep of the text of a manifest.

        Raises `SweepError` if the text is no manifest, or if this process would compute another sweep: with another
        version of the package, or if tyre files differ.
        """
        return Sweep._of(SweepPlan.from_manifest(text))

    @staticmethod
    def load(path: str | PathLike[str]) -> Sweep:
        """Loads the manifest of a folder, or a description in TOML with the arguments of `Sweep` as keys.

        Paths in a description are relative to its folder. Raises `SweepError` with all faults, and `OSError` if a file
        cannot be read.
        """
        return Sweep._of(SweepPlan.load(path))

    @staticmethod
    def _of(plan: SweepPlan) -> Sweep:
        """Returns the sweep of a plan."""
        sweep = Sweep.__new__(Sweep)
        sweep._adopt(plan)
        return sweep
