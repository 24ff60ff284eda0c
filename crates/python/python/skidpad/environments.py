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
`max_episode_steps` actions. This keyword has the same meaning in `VectorEnv`, `Env`, `gymnasium.make` and all modes of
`gymnasium.make_vec`. In environments of `gymnasium.make`, Gymnasium's wrapper `TimeLimit` truncates the episodes; their
`unwrapped` has no limit.

Numbers of the tasks, with their defaults and ranges; `ValueError` names a number out of its range:

    max_steer                      0.4 rad (parking: 0.6)   0.01 to 1.5 rad
    max_speed                      20 m/s                   0.1 to 200 m/s       `follow_path`, `track`
    max_lateral_acceleration       4 m/s^2                  0.1 to 100 m/s^2     `follow_path`, `track`
    max_longitudinal_acceleration  3 m/s^2                  0.1 to 100 m/s^2     `follow_path`, `track`
    max_offset                     4 m (circle: 6 m)        0.1 to 1000 m        `follow_path`, `drift_circle`
    radius                         15 m                     2 to 10000 m         `drift_circle`
    target_sideslip                0.5 rad                  0.01 to 1.5 rad      `drift_circle`
    start_speed                    8 m/s                    0.1 to 100 m/s       `drift_circle`
    goal_distance                  12 m                     0.1 to 1000 m        `parking`, `trailer_parking`
    distance_tolerance             0.5 m                    0.001 to 100 m       `parking`, `trailer_parking`
    heading_tolerance              0.15 rad                 0.001 to 3.2 rad     `parking`, `trailer_parking`
    max_articulation               1.2 rad                  0.01 to 3.2 rad      `trailer_parking`
"""

from __future__ import annotations

from itertools import combinations
from os import PathLike
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from skidpad._core import Car, EnvironmentBatch, Scene, State, Track, load
from skidpad.pictures import TopView
from skidpad.registration import MAX_EPISODE_STEPS
from skidpad.tracks import load_track

# Largest magnitude of an observation; the native part clamps them.
MAX_OBSERVATION = 10.0

# Numbers per action: longitudinal demand and steering demand.
ACTION_COUNT = 2

# Vehicle of the tasks that name no other.
DEFAULT_CAR = "corvette_c5"

# Settings of a task that differ from the defaults of the constructors.
TASK_SETTINGS: dict[str, dict[str, Any]] = {
    "follow_path": {"track": "hills"},
    "track": {"track": "hills"},
    "drift_circle": {"grip": 0.5},
    "trailer_parking": {"car": "toyota_4runner", "trailer": "caravan"},
}

# Value of `max_episode_steps` for episodes without a limit, as Gymnasium's wrapper `TimeLimit` has it.
NO_LIMIT = -1

# Largest limit of the native part, which no episode reaches.
LARGEST_LIMIT = 2**32 - 1

# Pictures of a second for videos with the default length of an action, 0.04 s.
RENDER_FPS = 25

# Types of the arrays in `buf`. `masks` belongs to PufferLib and is not used.
BUFFER_TYPES = {
    "observations": np.float32,
    "rewards": np.float32,
    "terminals": np.bool_,
    "truncations": np.bool_,
    "actions": np.float32,
}
OPTIONAL_BUFFERS = {"actions", "masks"}


class _Settings:
    """Car, trailer, ground and track of an environment, resolved from names and defaults."""

    def __init__(
        self,
        task: str,
        car: str | PathLike[str] | Car | None,
        trailer: str | PathLike[str] | Car | None,
        scene: Scene | None,
        track: str | PathLike[str] | Track | None,
        max_episode_steps: int | None,
    ) -> None:
        defaults = TASK_SETTINGS.get(task, {})
        car = car if car is not None else defaults.get("car", DEFAULT_CAR)
        self.car: Car = load(car) if isinstance(car, (str, PathLike)) else car
        trailer = trailer if trailer is not None else defaults.get("trailer")
        self.trailer = load(trailer) if isinstance(trailer, (str, PathLike)) else trailer
        grip = defaults.get("grip")
        self.scene = scene if scene is not None or grip is None else Scene(grip=grip)
        track = track if track is not None else defaults.get("track")
        self.track = load_track(track) if isinstance(track, (str, PathLike)) else track
        if max_episode_steps is None:
            max_episode_steps = MAX_EPISODE_STEPS.get(task, LARGEST_LIMIT)
        self.max_episode_steps = LARGEST_LIMIT if max_episode_steps == NO_LIMIT else max_episode_steps


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


def _pictures_per_second(dt: float, substeps: int) -> float:
    """Returns the number of actions of a second of the simulation, so that videos run at its speed."""
    return round(1.0 / (dt * substeps), 6)


def _check_buffers(buf: dict[str, np.ndarray], num_envs: int) -> None:
    """Raises `ValueError` unless `buf` has the arrays of `VectorEnv`, in native byte order and row by row, that can be
    written and share no memory. The native part checks the number of observations."""
    names = ", ".join(BUFFER_TYPES)
    for name in sorted(buf.keys() - BUFFER_TYPES.keys() - OPTIONAL_BUFFERS):
        raise ValueError(f"buf has an unknown array {name!r}; known names: {names}")
    for name in sorted(BUFFER_TYPES.keys() - buf.keys() - OPTIONAL_BUFFERS):
        raise ValueError(f"buf has no array {name!r}; required and optional names: {names}")
    arrays = {name: buf[name] for name in BUFFER_TYPES if name in buf}
    for name, array in arrays.items():
        _check_buffer(name, array, num_envs)
    for (name, array), (other, second) in combinations(arrays.items(), 2):
        # Arrays without gaps share memory exactly if their bounds overlap.
        if np.may_share_memory(array, second):
            raise ValueError(f"buf: {name} and {other} share memory, expected separate arrays")


def _check_buffer(name: str, array: np.ndarray, num_envs: int) -> None:
    """Raises `ValueError` unless an array of `buf` has the type and shape of `name`, can be written and has no gaps."""
    dtype = np.dtype(BUFFER_TYPES[name])
    if not isinstance(array, np.ndarray):
        raise ValueError(f"buf: {name} is a {type(array).__name__}, expected an array of {dtype}")
    if array.dtype != dtype:
        raise ValueError(f"buf: {name} has the type {array.dtype}, expected {dtype}")
    # Numbers of a row; only the native part knows that of the observations.
    observations = array.shape[1:2] or ("observations",)
    rows: dict[str, tuple[Any, ...]] = {"observations": observations, "actions": (ACTION_COUNT,)}
    expected = (num_envs, *rows.get(name, ()))
    if array.shape != expected:
        shape = ", ".join(map(str, expected))
        raise ValueError(f"buf: {name} has the shape {list(array.shape)}, expected [{shape}]")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError(f"buf: {name} is not C-contiguous and aligned; expected rows without gaps")
    if not array.flags.writeable and name != "actions":
        raise ValueError(f"buf: {name} is read-only, expected an array that can be written")


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
        num_envs: number of cars, at most 1,000,000.
        task: `follow_path`, `track`, `drift_circle`, `parking` or `trailer_parking`.
        car: vehicle, or the name or path of its file; by default the Corvette, or for `trailer_parking` the 4Runner.
        trailer: trailer of `trailer_parking`, or the name or path of its file; the caravan by default.
        scene: ground of the cars; level dry ground by default, for `drift_circle` with a grip of 0.5.
        track: track of `follow_path` and `track`, or its name or path.
        dt: length of a step of the simulation, 0.0001 to 1 s.
        substeps: steps of the simulation for each action, at most 10,000. `metadata["render_fps"]` is the number of
            actions of a second.
        max_episode_steps: actions after which an episode is truncated; -1 for no limit.
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`; see Gymnasium.
        threads: threads of the simulation, at most 1024; 0 for all processors.
        copy: whether `step` and `reset` return copies; otherwise they return the same arrays every time.
        buf: arrays that every step writes and returns, as PufferLib shares them between processes: `observations`
            (float32, shape [num_envs, observations]), `rewards` (float32), `terminals` and `truncations` (bool), each
            of shape [num_envs], and optionally `actions` (float32, shape [num_envs, 2]), which `step(None)` reads. They
            are C-contiguous and share no memory.
        render_mode: `rgb_array` or None.
        parameters: numbers of the task, such as `max_speed` or `radius`; see the module for their ranges.
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
        car: str | PathLike[str] | Car | None = None,
        trailer: str | PathLike[str] | Car | None = None,
        scene: Scene | None = None,
        track: str | PathLike[str] | Track | None = None,
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

        Raises `ValueError` for unknown names, numbers out of range and faulty arrays of `buf`.
        """
        _check_render_mode(render_mode)
        if buf is not None:
            _check_buffers(buf, num_envs)
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
        fps = _pictures_per_second(dt, substeps)
        self.metadata = {**self.metadata, "autoreset_mode": mode, "render_fps": fps}
        self.render_mode = render_mode
        self.actions = None if buf is None else buf.get("actions")
        self._autoreset_mode = mode
        self._copy = copy and buf is None
        # Whether each car had a seed.
        self._seeded = np.zeros(num_envs, np.bool_)
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
        car without a new seed continues its random numbers. At its first reset without a seed, a car gets a seed from
        the generator `np_random`, which itself has a random seed unless a number `seed` was given before.

        Raises `ValueError` for another number of seeds, seeds that are not 0 to 2**64 - 1, and another mask.
        """
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            mask = np.asarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ValueError(f"reset_mask must be a bool array of shape [{self.num_envs}] with at least one True")
        seeds = self._seeds(seed)
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else int(seed))
        selected = np.ones(self.num_envs, np.bool_) if mask is None else mask
        if not self._seeded.all():
            cars = [car for car in np.flatnonzero(selected & ~self._seeded).tolist() if seeds[car] is None]
            for car, drawn in zip(cars, self.np_random.integers(2**62, size=len(cars)).tolist(), strict=True):
                seeds[car] = drawn
        self._batch.reset(seeds, None if mask is None else mask.tolist())
        self._seeded |= selected
        return self._own(self.observations), {}

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        """Returns a seed or None for each car from the argument of `reset`."""
        if seed is None:
            return [None] * self.num_envs
        seeds: list[int | None]
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + car for car in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed is a list of {len(seeds)} seeds, expected {self.num_envs}")
        for car, number in enumerate(seeds):
            if number is not None and not 0 <= number < 2**64:
                raise ValueError(f"the seed of car {car} is {number}, expected None or 0 to 2**64 - 1")
        return seeds

    def step(self, actions: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Steps all cars with `actions`, shape [num_envs, 2]; None for the array `actions` of `buf`.

        Returns observations (float32, shape [num_envs, observations]), rewards (float32), terminations and truncations
        (bool), each of shape [num_envs], and infos. Infos are empty, except in the mode `SameStep` after the end of an
        episode: `final_obs` has the last observations of the cars in the mask `_final_obs`.

        Raises `ValueError` for another shape and for None without an array `actions` in `buf`, and `RuntimeError`
        before every car was reset.
        """
        if actions is None:
            actions = self.actions
        if actions is None:
            raise ValueError("step(None) reads the array `actions` of `buf`, but there is none; pass the actions")
        actions = np.asarray(actions, dtype=np.float32, order="C")
        if actions.shape != (self.num_envs, ACTION_COUNT):
            shape = list(actions.shape)
            raise ValueError(f"actions has the shape {shape}, expected [{self.num_envs}, {ACTION_COUNT}]")
        has_ended = self._batch.step(actions)
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
        car: str | PathLike[str] | Car | None = None,
        trailer: str | PathLike[str] | Car | None = None,
        scene: Scene | None = None,
        track: str | PathLike[str] | Track | None = None,
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
        self.metadata = {**self.metadata, "render_fps": _pictures_per_second(dt, substeps)}
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
        """Starts a new episode. Without a seed the car continues its random numbers, which have a random seed at first.
        `options` has no effect."""
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**62))
        self._batch.reset([seed])
        self._is_seeded = True
        return self._batch.observations[0].copy(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Steps the car with `action`, shape [2]: longitudinal and steering demand.

        Raises `ValueError` for another shape, and `RuntimeError` before the first reset and after an episode.
        """
        batch = self._batch
        action = np.asarray(action, dtype=np.float32, order="C")
        if action.size != ACTION_COUNT:
            raise ValueError(f"action has the shape {list(action.shape)}, expected [{ACTION_COUNT}]")
        batch.step(action.reshape(1, ACTION_COUNT))
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


class RegisteredEnv(Env):
    """`Env` of `gymnasium.make`: without a limit of its own, because Gymnasium's wrapper `TimeLimit` has
    `max_episode_steps` and truncates the episodes. A further limit could only shorten them."""

    def __init__(self, **settings: Any) -> None:
        """Creates the car; see `Env`."""
        super().__init__(**{"max_episode_steps": NO_LIMIT, **settings})
