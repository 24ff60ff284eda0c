"""Files of sweeps: the folder of the shards, and writing without partial files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from skidpad.sweep.description import Sweep

MANIFEST_NAME = "manifest.json"
# Ending of files that are being written.
PARTIAL_ENDING = ".partial"
# Ending of empty files that ask tasks to stop.
STOP_ENDING = ".stop"
# Age from which a file with one of these endings belongs to a killed process, s. Writing takes less than a second, and
# stopping less than a minute.
STALE_AGE_S = 3600.0


def prepare_folder(sweep: Sweep, folder: Path) -> None:
    """Creates the folder with its manifest. Removes files of killed processes.

    Raises `SweepError` with the differences if the folder has the manifest of another sweep.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sweep.plan.prepare_folder(folder)
    for temporary in (*folder.glob(f"*{PARTIAL_ENDING}"), *folder.glob(f"*{STOP_ENDING}")):
        if time.time() - temporary.stat().st_mtime > STALE_AGE_S:
            temporary.unlink(missing_ok=True)


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
