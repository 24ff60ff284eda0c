"""Files of sweeps: descriptions in TOML, the manifest of a folder, and writing without partial files."""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from skidpad import _core
from skidpad._core import Car, Scene
from skidpad.sweep.description import Sweep, differences
from skidpad.sweep.errors import SweepError

MANIFEST_NAME = "manifest.json"
# Ending of files that are being written.
PARTIAL_ENDING = ".partial"
# Age from which a file that is being written belongs to a killed process, s. Writing takes less than a second.
STALE_AGE_S = 3600.0
# Keys of a description in TOML.
KEYS = {"car", "manoeuvre", "solvers", "rate", "parameters", "samples", "seed", "shard_size", "scene", "towing"}
# Types of the keys that `Sweep` does not check itself, and their names.
TYPES: dict[str, Any] = {
    "car": str,
    "manoeuvre": str,
    "solvers": str | list,
    "parameters": dict,
    "scene": str,
    "towing": list,
}
NAMES: dict[Any, str] = {
    str: "a text",
    str | list: "a text or a list of texts",
    dict: "a table",
    list: "a list of texts",
}


def read_description(text: str, path: Path) -> Sweep:
    """Returns the sweep of a description in TOML. `path` is the place of its file, to which its paths are relative."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError([f"{path}: {error}"]) from error
    faults = [f"{path}: unknown key `{key}`; accepted are {', '.join(sorted(KEYS))}" for key in table.keys() - KEYS]
    faults += [f"{path}: the key `{key}` is missing" for key in ("car", "manoeuvre") if key not in table]
    for key, kind in TYPES.items():
        if key in table and not isinstance(table[key], kind):
            faults.append(f"{path}: `{key}` must be {NAMES[kind]}")
    for key in ("towing", "solvers"):
        texts = table.get(key)
        if isinstance(texts, list) and not all(isinstance(text, str) for text in texts):
            faults.append(f"{path}: `{key}` must contain texts only")
    if faults:
        raise SweepError(faults)
    table["car"] = _load_car(table["car"], path.parent)
    table["towing"] = [_load_car(name, path.parent) for name in table.get("towing", [])]
    if "scene" in table:
        table["scene"] = Scene.load(path.parent / table["scene"])
    return Sweep(**table)


def _load_car(name: str, folder: Path) -> Car:
    """Loads a shipped vehicle by its name, or the vehicle file at a path relative to `folder`."""
    return _core.load(folder / name if name.endswith(".toml") else name)


def prepare_folder(sweep: Sweep, folder: Path) -> None:
    """Creates the folder with its manifest. Removes files of killed processes.

    Raises `SweepError` with the differences if the folder has the manifest of another sweep.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST_NAME
    if not path.exists():
        write_atomically(path, lambda file: file.write(sweep.to_manifest().encode()))
    check_manifest(sweep, folder)
    for partial in folder.glob(f"*{PARTIAL_ENDING}"):
        if time.time() - partial.stat().st_mtime > STALE_AGE_S:
            partial.unlink(missing_ok=True)


def check_manifest(sweep: Sweep, folder: Path) -> None:
    """Raises `SweepError` if the folder has no manifest or that of another sweep."""
    path = folder / MANIFEST_NAME
    own = _with_descriptions(json.loads(sweep.to_manifest()))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, there = content["hash"], _with_descriptions(content)
    except FileNotFoundError as error:
        raise SweepError([f"{path} is missing; run the sweep into this folder first"]) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SweepError([f"{path} is no manifest of a sweep; use another folder"]) from error
    if found != sweep.hash or there != own:
        faults = differences(there, own) or ["the manifest was changed: its hash does not fit"]
        raise SweepError([f"{folder} is the folder of another sweep; use another folder, or undo:", *faults])


def _with_descriptions(content: dict[str, Any]) -> dict[str, Any]:
    """Returns a manifest with the fields of the vehicle and of the scene in place of the hashes of their texts."""
    manifest, named = dict(content["manifest"]), content.get("sources", {})
    for part in ("vehicle", "scene"):
        if manifest.get(part) and named.get(part):
            manifest[part] = {"files": manifest[part]["files"], **tomllib.loads(named[part]["toml"])}
    return manifest


def write_atomically(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Writes a file beside `path`, flushes it to the disk and renames it, so that `path` is never partial. Removes the
    file after an error or an interrupt."""
    partial = path.with_name(f"{path.name}.{uuid4().hex}{PARTIAL_ENDING}")
    try:
        with open(partial, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
