"""Gymnasium environments: many cars with one task, stepped as one fleet.

`gymnasium.make_vec("skidpad/Track-v0", num_envs=4096)` creates a `VectorEnv`, and `gymnasium.make("skidpad/Track-v0")`
an `Env` with one car. Observations, rewards, ends of episodes and resets are computed in Rust over arrays. A car
behaves the same whatever the number of cars, their threads and the other cars are: all its random numbers come from
its own seed.

Rewards of an action, where `offset` is the lateral offset as a share of `max_offset`:

- `follow_path`: progress as a share of the speed of the path, at most 1, less 0.5 offset^2 and 0.05 times the change of
  the steering demand. Leaving the path (offset above 1) or overturning costs 10 and ends the episode.
- `track`: 0.1 per metre along the centre line. Leaving the track with the centre of mass or overturning costs 5 and
  ends the episode.
- `drift_circle`: min(1, speed along the circle / 4 m/s) times (0.2 + 0.8 min(1, sideslip / target_sideslip)) times
  (1 - offset^2), less 0.05 times the change of the steering demand. Leaving the circle (offset above 1), spinning by 80
  degrees or overturning costs 10 and ends the episode. Half of the episodes start with a car that drifts already.
- `parking`: decrease of the distance plus 2 m/rad times the heading error, less 0.01. Parking earns 10; going too far
  away or overturning costs 10. Both end the episode.
- `trailer_parking`: as `parking` for the trailer that the car tows, with a goal behind it. An articulation angle above
  `max_articulation` also costs 10 and ends the episode.

A car whose motion becomes infinite or NaN ends its episode like one that overturns. Episodes are truncated after
`max_episode_steps` actions.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from skidpad._core import Car, EnvironmentBatch, Scene, State, Track, load
from skidpad.pictures import TopView
from skidpad.tracks import load_track

# Largest magnitude of an observation; the native part clamps them.
MAX_OBSERVATION = 10.0

# Numbers per action: longitudinal demand and steering demand.
ACTION_COUNT = 2

# Vehicle of the tasks that name no other.
DEFAULT_CAR = "corvette_c5"

# Settings of a task that differ from the defaults of the constructors.
TASK_SETTINGS: dict[str, dict[str, Any]] = {
    "follow_path": {"track": "hills", "max_episode_steps": 1000},
    "track": {"track": "hills", "max_episode_steps": 1500},
    "drift_circle": {"grip": 0.5, "max_episode_steps": 500},
    "parking": {"max_episode_steps": 400},
    "trailer_parking": {"car": "toyota_4runner", "trailer": "caravan", "max_episode_steps": 500},
}

# Pictures of a second for videos. An action lasts `dt * substeps` s: 0.04 s by default.
RENDER_FPS = 25


class _Settings:
    """Car, trailer, ground and track of an environment, resolved from names and defaults."""

    def __init__(
        self,
        task: str,
        car: str | Car | None,
        trailer: str | Car | None,
        scene: Scene | None,
        track: str | Track | None,
        max_episode_steps: int | None,
    ) -> None:
        defaults = TASK_SETTINGS.get(task, {})
        car = car if car is not None else defaults.get("car", DEFAULT_CAR)
        self.car: Car = load(car) if isinstance(car, str) else car
        trailer = trailer if trailer is not None else defaults.get("trailer")
        self.trailer = load(trailer) if isinstance(trailer, str) else trailer
        grip = defaults.get("grip")
        self.scene = scene if scene is not None or grip is None else Scene(grip=grip)
        track = track if track is not None else defaults.get("track")
        self.track = load_track(track) if isinstance(track, str) else track
        if max_episode_steps is None:
            max_episode_steps = defaults.get("max_episode_steps", 1000)
        self.max_episode_steps = max_episode_steps


def _spaces(batch: EnvironmentBatch) -> tuple[Box, Box]:
    """Returns the spaces of the observations and of the actions of one car."""
    shape = (len(batch.observation_names),)
    return (
        Box(-MAX_OBSERVATION, MAX_OBSERVATION, shape, np.float32),
        Box(-1.0, 1.0, (ACTION_COUNT,), np.float32),
    )


def _check_render_mode(render_mode: str | None) -> None:
    """Raises `ValueError` for an unknown mode."""
    if render_mode not in (None, "rgb_array"):
        raise ValueError(f"render_mode is {render_mode!r}, but must be None or 'rgb_array'")


class VectorEnv(gymnasium.vector.VectorEnv):
    """Cars with one task, stepped as one fleet. Cars with trailers are stepped in worlds of their own, several times
    slower.

    Actions are float32 arrays of shape [num_envs, 2]: the longitudinal demand (1 full throttle, -1 full brake; for
    `parking` and `trailer_parking` the direction of the drive) and the steering demand, a share of `max_steer`
    (positive to the left). Numbers beyond -1 to 1 are clamped; numbers that are not finite count as 0.

        >>> from skidpad.environments import VectorEnv
        >>> env = VectorEnv(64, task="parking")
        >>> observations, _ = env.reset(seed=0)
        >>> observations.shape
        (64, 12)
        >>> _, rewards, _, _, _ = env.step(env.action_space.sample())
        >>> rewards.shape, rewards.dtype
        ((64,), dtype('float32'))

    Args:
        num_envs: number of cars.
        task: `follow_path`, `track`, `drift_circle`, `parking` or `trailer_parking`.
        car: vehicle, or the name or path of its file; by default the Corvette, or for `trailer_parking` the 4Runner.
        trailer: trailer of `trailer_parking`, or the name or path of its file; the caravan by default.
        scene: ground of the cars; level dry ground by default, for `drift_circle` with a grip of 0.5.
        track: track of `follow_path` and `track`, or its name or path.
        dt: length of a step of the simulation, s.
        substeps: steps of the simulation for each action.
        max_episode_steps: actions after which an episode is truncated.
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`; see Gymnasium.
        threads: threads of the simulation; 0 for all processors.
        copy: whether `step` and `reset` return copies; otherwise they return the same arrays every time.
        buf: arrays that every step writes and returns, as PufferLib shares them between processes: `observations`
            (float32, shape [num_envs, observations]), `rewards` (float32), `terminals` and `truncations` (bool), each
            of shape [num_envs], and optionally `actions` (float32, shape [num_envs, 2]), which `step(None)` reads.
        render_mode: `rgb_array` or None.
        parameters: numbers of the task, such as `max_speed` or `radius`.
    """

    metadata: dict[str, Any] = {
        "render_modes": ["rgb_array"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        task: str = "track",
        car: str | Car | None = None,
        trailer: str | Car | None = None,
        scene: Scene | None = None,
        track: str | Track | None = None,
        dt: float = 0.01,
        substeps: int = 4,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        copy: bool = True,
        buf: dict[str, np.ndarray] | None = None,
        render_mode: str | None = None,
        **parameters: float,
    ) -> None:
        """Creates `num_envs` cars; see the class for the arguments.

        Raises `ValueError` for unknown names, numbers out of range and arrays of another shape.
        """
        _check_render_mode(render_mode)
        settings = _Settings(task, car, trailer, scene, track, max_episode_steps)
        mode = AutoresetMode(autoreset_mode)
        self._batch = EnvironmentBatch(
            task,
            settings.car,
            num_envs,
            trailer=settings.trailer,
            scene=settings.scene,
            track=settings.track,
            dt=dt,
            substeps=substeps,
            max_episode_steps=settings.max_episode_steps,
            autoreset=mode.name.lower(),
            threads=threads,
            buffers=buf,
            parameters=parameters,
        )
        self.num_envs = self.num_agents = num_envs
        self.single_observation_space, self.single_action_space = _spaces(self._batch)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.render_mode = render_mode
        self.actions = None if buf is None else buf.get("actions")
        self._autoreset_mode = mode
        self._copy = copy and buf is None
        self._is_seeded = False
        self._view = TopView(task, settings.track, parameters) if render_mode else None
        self.observations = self._batch.observations
        self.rewards = self._batch.rewards
        self.terminals = self._batch.terminated
        self.truncations = self._batch.truncated

    @property
    def observation_names(self) -> list[str]:
        """Names of the observations of a car, with their scales."""
        return self._batch.observation_names

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts new episodes of all cars, or of those in the bool array `options["reset_mask"]`.

        `seed` is a number for the seeds `seed`, `seed + 1`... of the cars, or a list of a seed or None for each car. A
        car without a new seed continues its random numbers. Without any seed before, the seeds are drawn at random.
        """
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else int(seed))
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**62))
        if seed is None:
            seeds: list[int | None] = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + car for car in range(self.num_envs)]
        else:
            seeds = list(seed)
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            mask = np.asarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ValueError(f"reset_mask must be a bool array of shape [{self.num_envs}] with at least one True")
            mask = mask.tolist()
        self._batch.reset(seeds, mask)
        self._is_seeded = True
        return self._own(self.observations), {}

    def step(self, actions: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Steps all cars with `actions`, shape [num_envs, 2]; None for the array `actions` of `buf`.

        Returns observations (float32, shape [num_envs, observations]), rewards (float32), terminations and truncations
        (bool), each of shape [num_envs], and infos. Infos are empty, except in the mode `SameStep` after the end of an
        episode: `final_obs` has the last observations of the cars in the mask `_final_obs`.
        """
        if actions is None:
            actions = self.actions
        has_ended = self._batch.step(np.ascontiguousarray(actions, dtype=np.float32))
        infos: dict[str, Any] = {}
        if has_ended and self._autoreset_mode == AutoresetMode.SAME_STEP:
            ended = np.logical_or(self.terminals, self.truncations)
            infos = {
                "final_obs": self._batch.final_observations(),
                "_final_obs": ended,
                "final_info": {},
                "_final_info": ended,
            }
        own = self._own
        return own(self.observations), own(self.rewards), own(self.terminals), own(self.truncations), infos

    def last_episodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the returns (float64) and lengths (int64) of the last finished episode of each car."""
        return self._batch.last_episodes()

    def state(self, car: int) -> State:
        """Returns the complete motion of a car."""
        return self._batch.state(car)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Returns a picture of each of the first four cars from above, uint8, shape [height, width, 3]."""
        if self._view is None:
            return None
        return tuple(self._view.draw(*self._batch.poses(car)) for car in range(min(self.num_envs, 4)))

    def _own(self, array: np.ndarray) -> np.ndarray:
        """Returns a copy of an array if the environment copies its results."""
        return array.copy() if self._copy else array


class Env(gymnasium.Env):
    """One car with a task. The keywords are those of `VectorEnv`.

        >>> from skidpad.environments import Env
        >>> env = Env(task="drift_circle", radius=20.0)
        >>> observation, _ = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        >>> observation.shape, terminated, truncated
        ((13,), False, False)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": RENDER_FPS}

    def __init__(
        self,
        *,
        task: str = "track",
        car: str | Car | None = None,
        trailer: str | Car | None = None,
        scene: Scene | None = None,
        track: str | Track | None = None,
        dt: float = 0.01,
        substeps: int = 4,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **parameters: float,
    ) -> None:
        """Creates the car; see `VectorEnv`.

        Raises `ValueError` for unknown names and numbers out of range.
        """
        _check_render_mode(render_mode)
        settings = _Settings(task, car, trailer, scene, track, max_episode_steps)
        self._batch = EnvironmentBatch(
            task,
            settings.car,
            1,
            trailer=settings.trailer,
            scene=settings.scene,
            track=settings.track,
            dt=dt,
            substeps=substeps,
            max_episode_steps=settings.max_episode_steps,
            autoreset="disabled",
            threads=1,
            parameters=parameters,
        )
        self.observation_space, self.action_space = _spaces(self._batch)
        self.render_mode = render_mode
        self._is_seeded = False
        self._view = TopView(task, settings.track, parameters) if render_mode else None

    @property
    def observation_names(self) -> list[str]:
        """Names of the observations, with their scales."""
        return self._batch.observation_names

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a new episode. Without a seed the car continues its random numbers."""
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**62))
        self._batch.reset([seed])
        self._is_seeded = True
        return self._batch.observations[0].copy(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Steps the car with `action`, shape [2]: longitudinal and steering demand."""
        batch = self._batch
        batch.step(np.asarray(action, dtype=np.float32).reshape(1, ACTION_COUNT))
        return (
            batch.observations[0].copy(),
            float(batch.rewards[0]),
            bool(batch.terminated[0]),
            bool(batch.truncated[0]),
            {},
        )

    def state(self) -> State:
        """Returns the complete motion of the car."""
        return self._batch.state(0)

    def render(self) -> np.ndarray | None:
        """Returns a picture of the car from above, uint8, shape [height, width, 3]."""
        return None if self._view is None else self._view.draw(*self._batch.poses(0))
