"""Vehicles and scenes as manifests contain them: hashes that identify them, and sources that restore them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from skidpad import _core
from skidpad._core import Car, Scene


def identify(part: Car | Scene) -> dict[str, Any]:
    """Returns the hash of the description, and the hashes of the files that the description names."""
    toml, _, folder = restorable(part)
    return {"sha256": sha256(toml.encode()).hexdigest(), "files": _file_hashes(toml, folder)}


def to_source(part: Car | Scene) -> dict[str, Any]:
    """Returns the description with its name and the folder of the files that it names."""
    toml, name, folder = restorable(part)
    return {"toml": toml, "source": name, "folder": folder}


def restore_car(source: dict[str, Any]) -> Car:
    """Returns the vehicle of a source. Raises `VehicleError` with all faults, such as missing tyre files."""
    return _core.read_vehicle(source["toml"], source["source"], source["folder"])


def restore_scene(source: dict[str, Any]) -> Scene:
    """Returns the scene of a source. Raises `VehicleError` with all faults, such as missing height fields."""
    return Scene.read(source["toml"], source["source"], source["folder"])


def restorable(part: Car | Scene) -> tuple[str, str, str | None]:
    """Returns description, name and folder: what pickles of the part contain."""
    return cast(tuple[str, str, str | None], part.__reduce__()[1])


def _file_hashes(toml: str, folder: str | None) -> dict[str, str]:
    """Returns the hashes of the files in `folder` that a description names, by their names."""
    if folder is None:
        return {}
    names = {text for text in _texts(tomllib.loads(toml)) if text and "\n" not in text and len(text) < 1000}
    paths = {name: Path(folder) / name for name in sorted(names)}
    return {name: sha256(path.read_bytes()).hexdigest() for name, path in paths.items() if path.is_file()}


def _texts(value: Any) -> Iterator[str]:
    """Returns all texts in tables and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
