"""The learning example learns. Needs JAX; `cargo xtask python-extras` runs it."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[1] / "examples/ppo_track.py"

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed"),
]


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("ppo_track", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    sys.modules["ppo_track"] = module
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("task", "updates", "expected"), [("FollowPath-v0", 60, 700.0), ("DriftCircle-v0", 60, 250.0)])
def test_ppo_reaches_its_stated_return(example, task, updates, expected):
    """The mean return of the episodes of the last ten updates. The book states the returns of the full training."""
    curve = example.learn(task, seed=0, updates=updates)
    assert np.nanmean(curve[-10:]) > expected > 2 * np.nanmean(curve[:10])
