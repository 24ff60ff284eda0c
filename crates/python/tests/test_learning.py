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


def test_ppo_learns_to_follow_the_path(example):
    """Mean return of the episodes of the last ten updates; 1000 is the largest possible one. The three seeds in the book
    reach 972 to 973; the rest is left for other versions of JAX."""
    curve = example.learn("FollowPath-v0", seed=0, updates=100)
    assert np.nanmean(curve[-10:]) > 900.0


def test_ppo_learns_to_drift(example):
    """As above; 500 is the largest possible return, and a car that follows the circle without a drift gets 100. The three
    seeds in the book reach 426 to 438."""
    curve = example.learn("DriftCircle-v0", seed=0, updates=100)
    assert np.nanmean(curve[-10:]) > 380.0


def test_ppo_learns_to_drive_around_a_track(example):
    """As above; a return of 10 is 100 m of track. A car that drives straight ahead gets about 0. The three seeds in the
    book reach 49 to 59."""
    curve = example.learn("Track-v0", seed=0, updates=100)
    assert np.nanmean(curve[-10:]) > 35.0
