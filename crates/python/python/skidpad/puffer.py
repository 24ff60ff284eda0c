"""Environments of PufferLib 3, which must be installed.

`PufferEnv` is a native environment of PufferLib: one object steps many cars and writes observations, rewards and flags
into the arrays that PufferLib shares between its processes.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import pufferlib  # type: ignore[import-not-found]  # not a dependency: its installation builds C code

from skidpad._core import Track
from skidpad.environments import TASK_SETTINGS, VectorEnv
from skidpad.tracks import load_track

# Steps between two reports of finished episodes.
LOG_INTERVAL = 128


class PufferEnv(pufferlib.PufferEnv):  # type: ignore[misc]  # the base class has no types
    """Cars of one fleet with one task, as an environment of PufferLib.

    A car whose episode ends is reset in the same step: its row of the observations belongs to the next episode.

    Args:
        num_envs: number of cars, the agents of PufferLib.
        task: task of the cars; see `skidpad.environments.VectorEnv`.
        buf: arrays of PufferLib: `observations` (float32, shape [num_envs, observations]), `actions` (float32, shape
            [num_envs, 2]), `rewards` (float32), `terminals`, `truncations` and `masks` (bool), each of shape
            [num_envs]. Without it PufferLib creates them.
        seed: seed of the first car, used by the first `reset`; the others have the seeds that follow.
        log_interval: steps between two reports of finished episodes.
        settings: further keywords of `skidpad.environments.VectorEnv`.

    Raises `ValueError` for unknown names, numbers out of range and faulty arrays.
    """

    def __init__(
        self,
        num_envs: int = 1024,
        *,
        task: str = "track",
        track: str | PathLike[str] | Track | None = None,
        buf: Any = None,
        seed: int = 0,
        log_interval: int = LOG_INTERVAL,
        **settings: Any,
    ) -> None:
        """Creates the cars; see the class for the arguments."""
        # Both environments share the track with its tables.
        track = track if track is not None else TASK_SETTINGS.get(task, {}).get("track")
        settings["track"] = load_track(track) if isinstance(track, (str, PathLike)) else track
        spaces = VectorEnv(1, task=task, **settings)
        self.single_observation_space = spaces.single_observation_space
        self.single_action_space = spaces.single_action_space
        self.num_agents = num_envs
        self.render_mode = spaces.render_mode
        super().__init__(buf)
        arrays = {
            "observations": self.observations,
            "actions": self.actions,
            "rewards": self.rewards,
            "terminals": self.terminals,
            "truncations": self.truncations,
        }
        self.cars = VectorEnv(num_envs, task=task, autoreset_mode="SameStep", buf=arrays, **settings)
        self._seed = seed
        self._log_interval = log_interval
        self._steps = 0
        self._returns: list[np.ndarray] = []
        self._lengths: list[np.ndarray] = []

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list[dict[str, float]]]:
        """Starts new episodes of all cars. `seed` is that of the first car; without it that of the constructor."""
        self.cars.reset(seed=self._seed if seed is None else seed)
        return self.observations, []

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict[str, float]]]:
        """Steps all cars with `actions`, shape [num_envs, 2], and writes the arrays.

        Returns the arrays of observations, rewards, terminals and truncations, and every `log_interval` steps a list
        with the mean `episode_return` and `episode_length` of the episodes that have ended since; otherwise an empty
        list.
        """
        self.actions[:] = actions
        self.cars.step(None)
        ended = np.logical_or(self.terminals, self.truncations)
        if ended.any():
            returns, lengths = self.cars.last_episodes()
            self._returns.append(returns[ended])
            self._lengths.append(lengths[ended])
        self._steps += 1
        return self.observations, self.rewards, self.terminals, self.truncations, self._report()

    def _report(self) -> list[dict[str, float]]:
        """Returns the means of the episodes since the last report, at the end of an interval."""
        if self._steps % self._log_interval or not self._returns:
            return []
        report = {
            "episode_return": float(np.concatenate(self._returns).mean()),
            "episode_length": float(np.concatenate(self._lengths).mean()),
        }
        self._returns.clear()
        self._lengths.clear()
        return [report]

    def render(self) -> np.ndarray | None:
        """Returns a picture of the first car from above, uint8, shape [height, width, 3]; None without `render_mode`."""
        pictures = self.cars.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """Closes the environment, which holds no files or processes."""
        self.cars.close()
