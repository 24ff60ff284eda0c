"""Types: the sources pass mypy, and the stubs of the native part fit it."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]
# Longest time of a command, s. Only a command that does not end needs it.
PATIENCE_S = 1200
COMMANDS = {
    "sources": ["mypy", "python/skidpad"],
    "stubs": ["mypy.stubtest", "skidpad._core", "--mypy-config-file", "pyproject.toml"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_types_are_consistent(name):
    command = [sys.executable, "-m", *COMMANDS[name]]
    result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE_S)
    assert result.returncode == 0, result.stdout + result.stderr
