"""Environments of PufferLib 3, whose layout of arrays and base class are rebuilt here from its documentation
(puffer.ai/docs.html, "PufferEnv"): the package itself compiles C code during its installation."""

import importlib
import sys
import types
from multiprocessing.sharedctypes import RawArray

import numpy as np
import pytest
from skidpad.environments import VectorEnv

AGENTS = 6
WORKERS = 2
# Arrays that PufferLib passes as `buf`.
ARRAY_NAMES = {"observations", "actions", "rewards", "terminals", "truncations", "masks"}


class BaseEnv:
    """Base class with the documented contract: spaces of one agent and `num_agents` exist before, arrays of `buf` or
    new ones exist after the constructor."""

    def __init__(self, buf=None):
        assert not hasattr(self, "observation_space") and not hasattr(self, "action_space")
        count = self.num_agents
        if buf is None:
            buf = {
                "observations": np.zeros((count, *self.single_observation_space.shape), np.float32),
                "actions": np.zeros((count, *self.single_action_space.shape), np.float32),
                "rewards": np.zeros(count, np.float32),
                "terminals": np.zeros(count, bool),
                "truncations": np.zeros(count, bool),
                "masks": np.ones(count, bool),
            }
        assert set(buf) == ARRAY_NAMES
        for name, array in buf.items():
            setattr(self, name, array)


@pytest.fixture
def puffer_env(monkeypatch):
    """Class `skidpad.puffer.PufferEnv` on the rebuilt base class."""
    package = types.ModuleType("pufferlib")
    package.PufferEnv = BaseEnv
    monkeypatch.setitem(sys.modules, "pufferlib", package)
    monkeypatch.delitem(sys.modules, "skidpad.puffer", raising=False)
    yield importlib.import_module("skidpad.puffer").PufferEnv
    sys.modules.pop("skidpad.puffer")


def shared_arrays(observation_count):
    """Returns the arrays of all workers in shared memory, each with the shape [workers, agents, ...]."""

    def array(kind, dtype, *shape):
        memory = RawArray(kind, WORKERS * AGENTS * int(np.prod(shape, initial=1)))
        return np.ndarray((WORKERS, AGENTS, *shape), dtype, buffer=memory)

    arrays = {
        "observations": array("f", np.float32, observation_count),
        "actions": array("f", np.float32, 2),
        "rewards": array("f", np.float32),
        "terminals": array("b", bool),
        "truncations": array("b", bool),
        "masks": array("b", bool),
    }
    arrays["masks"][:] = True
    return arrays


@pytest.mark.parametrize("task", ["follow_path", "track", "drift_circle", "parking"])
def test_workers_write_into_their_parts_of_shared_memory(puffer_env, task):
    count = len(VectorEnv(1, task=task).observation_names)
    arrays = shared_arrays(count)
    settings = {"task": task, "max_episode_steps": 15}
    parts = [{name: array[worker] for name, array in arrays.items()} for worker in range(WORKERS)]
    workers = [puffer_env(AGENTS, buf=part, seed=AGENTS * i, **settings) for i, part in enumerate(parts)]
    expected = VectorEnv(WORKERS * AGENTS, autoreset_mode="SameStep", **settings)
    observations, _ = expected.reset(seed=0)
    for worker in workers:
        found, infos = worker.reset()
        assert infos == [] and np.shares_memory(found, arrays["observations"])
    assert np.array_equal(arrays["observations"].reshape(-1, count), observations)
    random = np.random.default_rng(0)
    for _ in range(40):
        # PufferLib writes the actions into the shared array and passes a part of it.
        arrays["actions"][:] = random.uniform(-1, 1, arrays["actions"].shape)
        for worker, actions in zip(workers, arrays["actions"], strict=True):
            results = worker.step(actions)
            assert isinstance(results[4], list)
        results = expected.step(arrays["actions"].reshape(-1, 2))
        for name, result in zip(("observations", "rewards", "terminals", "truncations"), results, strict=False):
            assert np.array_equal(arrays[name].reshape(result.shape), result), name
    assert arrays["masks"].all()


def test_finished_episodes_are_reported(puffer_env):
    env = puffer_env(4, task="parking", max_episode_steps=5, log_interval=12)
    assert set(vars(env)) >= ARRAY_NAMES and env.num_agents == 4
    env.reset(seed=3)
    reports = [env.step(np.zeros((4, 2), np.float32))[4] for _ in range(24)]
    assert [bool(report) for report in reports] == [step % 12 == 11 for step in range(24)]
    assert reports[11][0]["episode_length"] == 5.0 and np.isfinite(reports[11][0]["episode_return"])
    assert env.render() is None
    env.close()


def test_arrays_of_another_shape_are_refused(puffer_env):
    arrays = {name: array[0] for name, array in shared_arrays(5).items()}
    with pytest.raises(ValueError, match="observations has the shape"):
        puffer_env(AGENTS, task="parking", buf=arrays)
