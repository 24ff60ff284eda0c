"""Vehicle dynamics: one vehicle description, several physics solvers, fleets of cars, and environments for learning.

World axes have z up; vehicle axes are x forward, y left, z up. Angles are in rad, other units are SI, unless a name
says otherwise. With Gymnasium, the import of this package registers the environments of `skidpad.environments`.
"""

from skidpad._core import (
    Car,
    Fleet,
    Scene,
    State,
    Track,
    VehicleError,
    World,
    channels,
    load,
    manoeuvre_parameters,
    manoeuvres,
    read_vehicle,
    solvers,
    trailers,
    vehicles,
)
from skidpad.registration import register_environments
from skidpad.runs import Certificate, Comparison, Run, Table, certify, compare, import_vehicle, run
from skidpad.tracks import load_track, tracks

__all__ = [
    "Car",
    "Certificate",
    "Comparison",
    "Fleet",
    "Run",
    "Scene",
    "State",
    "Table",
    "Track",
    "VehicleError",
    "World",
    "certify",
    "channels",
    "compare",
    "import_vehicle",
    "load",
    "load_track",
    "manoeuvre_parameters",
    "manoeuvres",
    "read_vehicle",
    "run",
    "solvers",
    "tracks",
    "trailers",
    "vehicles",
]

register_environments()
del register_environments
