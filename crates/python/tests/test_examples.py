"""The example that compares rates runs, without the other packages, too."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = str(Path(__file__).parents[1] / "examples/compare_rates.py")
CARS = 64


def test_rates_of_all_environments_are_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [EXAMPLE, "--cars", str(CARS), "--seconds", "0.05"])
    example = runpy.run_path(EXAMPLE, run_name="__main__")
    text = capsys.readouterr().out
    rates = dict(re.findall(rf"^  (\S.*?) +{CARS} +0\.0100 +3 +([\d,]+) ", text, re.MULTILINE))
    for task, *_ in example["TASKS"]:
        for name in (task, f"Fleet.step, driven as in {task}"):
            assert int(rates[name].replace(",", "")) > 0
    for package in ("highway-env", "envpool", "rapier3d", "mujoco"):
        # Its version, or the command that installs it.
        assert re.search(rf"^{package} \d|^{package}: .*pip install {package}$", text, re.MULTILINE)


@pytest.mark.parametrize("number", range(4))
def test_fleet_of_a_comparison_has_the_states_of_the_environment(number):
    """The share of the rate of `Fleet.step` is that of equal work."""
    example = runpy.run_path(EXAMPLE)
    task, max_steer, grip = example["TASKS"][number]
    replay = example["Replay"](task, CARS, max_steer, grip)
    for seed in range(2):
        replay.drive(0.1, seed)
        assert all(replay.fleet.state(car) == replay.env.state(car) for car in range(CARS))
