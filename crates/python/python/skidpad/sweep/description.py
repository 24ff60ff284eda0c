"""Descriptions of sweeps: runs, shards and manifests."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from skidpad import _core
from skidpad._core import Car, Scene
from skidpad.sweep import sources
from skidpad.sweep.errors import SweepError
from skidpad.sweep.parameters import Distribution, Grid, Parameter, Value, draw, to_parameter

# Format of manifests and shards. Files of another format are refused.
FORMAT = "skidpad sweep 1"
# Parameters that are options of `skidpad.run`, with their units.
OPTIONS = {"initial_speed": "m/s", "slope_deg": "deg", "heading_deg": "deg", "duration": "s"}
# Parameters that are keywords of `skidpad.Scene`, with their units.
SCENE_KEYWORDS = {"scene__grip": "-", "scene__gravity": "m/s²"}
# Beginning of the names of parameters of the manoeuvre, such as `manoeuvre__radius_m`.
MANOEUVRE_PREFIX = "manoeuvre__"
# Lowest step rate of runs, Hz.
LOWEST_RATE = 10.0
# Number of shards of a sweep without a stated shard size, and the largest size then.
USUAL_SHARDS, MOST_USUAL_SIZE = 64, 256


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
        towing: Iterable[Car | str] = (),
    ) -> None:
        """Describes a sweep.

        A key of `parameters` is a keyword of `Car.with_`, one of the options `initial_speed`, `slope_deg`,
        `heading_deg` and `duration` of `skidpad.run`, `scene__grip` or `scene__gravity` for a level plane, or
        `manoeuvre__` with a name of `skidpad.manoeuvre_parameters`. Its value is a number, a text, a flag, a list of them (a `Grid`) or a distribution. The attributes describe the others.

        Raises `SweepError` with all faults, and `VehicleError` for faults of a vehicle file.
        """
        self.car = car if isinstance(car, Car) else _core.load(car)
        self.towing = tuple(unit if isinstance(unit, Car) else _core.load(unit) for unit in towing)
        self.manoeuvre = manoeuvre
        self.solvers = (solvers,) if isinstance(solvers, str) else tuple(solvers)
        self.scene, self.samples, self.seed = scene, samples, seed
        self.rate = rate
        faults = self._option_faults(shard_size)
        self.parameters: dict[str, Parameter] = {}
        for name, value in (parameters or {}).items():
            try:
                self.parameters[name] = to_parameter(value)
                faults += self._name_faults(name, self.parameters[name])
            except (ValueError, TypeError) as error:
                faults.append(f"parameter `{name}`: {error}")
        if faults:
            raise SweepError(faults)
        self.rate = float(rate)
        self._grids = {name: entry.values for name, entry in self.parameters.items() if isinstance(entry, Grid)}
        usual_size = min(max(-(-len(self) // USUAL_SHARDS), 1), MOST_USUAL_SIZE)
        self.shard_size: int = usual_size if shard_size is None else shard_size
        self.manifest = self._describe()
        self.hash = sha256(canonical(self.manifest)).hexdigest()
        # Hash of what all runs share. Seed, sizes and parameters act through the values of a run only.
        shared = ("format", "skidpad", "vehicle", "towing", "scene", "manoeuvre", "rate")
        self._shared = sha256(canonical({key: self.manifest[key] for key in shared})).hexdigest()

    def __len__(self) -> int:
        """Returns the number of runs."""
        return math.prod(len(values) for values in self._grids.values()) * self.samples * len(self.solvers)

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
        return -(-len(self) // self.shard_size)

    def run(self, number: int) -> PlannedRun:
        """Returns the run of a number from 0. Solvers change fastest, then samples, then the last grid."""
        if not 0 <= number < len(self):
            raise IndexError(f"run {number} of a sweep of {len(self)} runs")
        rest, solver = divmod(number, len(self.solvers))
        point, sample = divmod(rest, self.samples)
        values: dict[str, Value] = {}
        for name in reversed(self._grids):
            point, index = divmod(point, len(self._grids[name]))
            values[name] = self._grids[name][index]
        for name, parameter in self.parameters.items():
            if not isinstance(parameter, Grid):
                values[name] = draw(parameter, self.seed, name, sample)
        values = {name: values[name] for name in self.parameters}
        name = self.solvers[solver]
        content = {"shared": self._shared, "solver": name, "sample": sample, "values": values}
        return PlannedRun(number, sha256(canonical(content)).hexdigest()[:24], sample, name, values)

    def shard(self, index: int) -> Iterator[PlannedRun]:
        """Returns the runs of a shard. `index` counts from 0."""
        if not 0 <= index < self.shard_count:
            raise IndexError(f"shard {index} of a sweep of {self.shard_count} shards")
        last = min((index + 1) * self.shard_size, len(self))
        return map(self.run, range(index * self.shard_size, last))

    def to_manifest(self) -> str:
        """Returns the manifest with its hash and the descriptions of vehicles and scene as a JSON text."""
        named = {"scene": None if self.scene is None else sources.to_source(self.scene)}
        named |= {"vehicle": sources.to_source(self.car)}
        towing = [sources.to_source(unit) for unit in self.towing]
        content = {"hash": self.hash, "manifest": self.manifest, "sources": {**named, "towing": towing}}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def from_manifest(text: str) -> Sweep:
        """Returns the sweep of the text of a manifest.

        Raises `SweepError` if the text is no manifest, or if this process would compute another sweep: with another
        version of the package, or if tyre files differ.
        """
        try:
            content = json.loads(text)
            manifest, named = content["manifest"], content["sources"]
            sweep = Sweep(
                sources.restore_car(named["vehicle"]),
                manifest["manoeuvre"],
                manifest["solvers"],
                manifest["rate"],
                {name: to_parameter(value) for name, value in manifest["parameters"]},
                samples=manifest["samples"],
                seed=manifest["seed"],
                shard_size=manifest["shard_size"],
                scene=None if named["scene"] is None else sources.restore_scene(named["scene"]),
                towing=[sources.restore_car(source) for source in named["towing"]],
            )
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise SweepError([f"the text is no manifest of a sweep: {type(error).__name__}: {error}"]) from error
        if sweep.hash != content["hash"]:
            faults = differences(manifest, sweep.manifest) or ["the manifest was changed: its hash does not fit"]
            raise SweepError(["this process would compute another sweep than the manifest:", *faults])
        return sweep

    @staticmethod
    def load(path: str | PathLike[str]) -> Sweep:
        """Loads the manifest of a folder, or a description in TOML with the arguments of `Sweep` as keys.

        Paths in a description are relative to its folder. Raises `SweepError` and `VehicleError` with all faults, and
        `OSError` if a file cannot be read.
        """
        from skidpad.sweep.files import read_description

        text = Path(path).read_text(encoding="utf-8")
        return Sweep.from_manifest(text) if Path(path).suffix == ".json" else read_description(text, Path(path))

    def _describe(self) -> dict[str, Any]:
        """Returns the manifest."""
        return {
            "format": FORMAT,
            "skidpad": version("skidpad"),
            "vehicle": sources.identify(self.car),
            "towing": [sources.identify(unit) for unit in self.towing],
            "scene": None if self.scene is None else sources.identify(self.scene),
            "manoeuvre": self.manoeuvre,
            "solvers": list(self.solvers),
            "rate": self.rate,
            # A list, because the order of the grids is the order of the runs.
            "parameters": [[name, parameter.to_json()] for name, parameter in self.parameters.items()],
            "samples": self.samples,
            "seed": self.seed,
            "shard_size": self.shard_size,
        }

    def _option_faults(self, shard_size: int | None) -> list[str]:
        """Returns the faults of everything but the parameters."""
        faults = []
        if self.manoeuvre not in _core.manoeuvres():
            close = get_close_matches(str(self.manoeuvre), _core.manoeuvres(), 1)
            hint = f"did you mean `{close[0]}`?" if close else f"accepted are {', '.join(_core.manoeuvres())}"
            faults.append(f"unknown manoeuvre `{self.manoeuvre}`; {hint}")
        for solver in self.solvers:
            try:
                _core.World(solver)
            except ValueError as error:
                faults.append(str(error))
        if not self.solvers or len(set(self.solvers)) < len(self.solvers):
            faults.append("name at least one solver, and none twice")
        is_number = isinstance(self.rate, int | float) and math.isfinite(self.rate)
        if not is_number or self.rate < LOWEST_RATE:
            faults.append(f"rate is {self.rate} Hz, but must be a finite number from {LOWEST_RATE} on")
        integers: dict[str, tuple[int, int]] = {"samples": (self.samples, 1), "seed": (self.seed, 0)}
        if shard_size is not None:
            integers["shard_size"] = (shard_size, 1)
        for name, (value, least) in integers.items():
            if type(value) is not int or value < least:
                faults.append(f"{name} is {value!r}, but must be an integer from {least} on")
        return faults

    def _name_faults(self, name: str, parameter: Parameter) -> list[str]:
        """Returns the faults of the name of a parameter: unknown and ambiguous fields, and values of a wrong type."""
        value = parameter.values[0] if isinstance(parameter, Grid) else _middle(parameter)
        if name in SCENE_KEYWORDS and self.scene is not None:
            return [f"parameter `{name}`: the sweep has a scene; change its file instead"]
        is_of_manoeuvre = name.startswith(MANOEUVRE_PREFIX)
        if is_of_manoeuvre and self.manoeuvre in _core.manoeuvres():
            known = _core.manoeuvre_parameters(self.manoeuvre)
            if name.removeprefix(MANOEUVRE_PREFIX) not in known:
                accepted = ", ".join(MANOEUVRE_PREFIX + key for key in known) or "none"
                return [f"parameter `{name}`: `{self.manoeuvre}` has no such parameter; accepted are {accepted}"]
        if name in OPTIONS or name in SCENE_KEYWORDS or is_of_manoeuvre:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return [] if is_number else [f"parameter `{name}` is {value!r}, but must be a number"]
        try:
            self.car.with_(**{name: value})
        except _core.VehicleError as error:
            # Values out of range are faults of single runs.
            kinds = {"unknown_key", "wrong_type"}
            return [f"parameter `{name}`: {error}"] if kinds & {fault["kind"] for fault in error.faults} else []
        except ValueError as error:
            return [f"parameter `{name}`: {error}"]
        return []


def _middle(distribution: Distribution) -> Value:
    """Returns the median."""
    return distribution.quantile(0.5)


def canonical(content: Any) -> bytes:
    """Returns the same bytes for equal contents, whatever the order of their keys. Numbers keep all their digits."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def differences(there: Any, here: Any, place: str = "") -> list[str]:
    """Returns what differs between two manifests, one text for each place."""
    if isinstance(there, dict) and isinstance(here, dict):
        faults: list[str] = []
        for key in dict.fromkeys([*there, *here]):
            faults += differences(there.get(key), here.get(key), f"{place}.{key}" if place else key)
        return faults
    if place == "parameters" and isinstance(there, list) and isinstance(here, list):
        named = differences(dict(there), dict(here), "parameter")
        return named or ([] if there == here else ["parameters: the order of the grids differs"])
    if there == here:
        return []
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        return [fault for index, (old, new) in pairs for fault in differences(old, new, f"{place}.{index}")]
    return [f"{place}: {json.dumps(there)} there, {json.dumps(here)} here"]
