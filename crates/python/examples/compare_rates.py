"""Compares car-steps per second of processor time from Python: skidpad beside other simulators, in one run.

Usage: `python compare_rates.py [--cars 4096] [--seconds 1.0]`. Needs `pip install "skidpad[gym]"`. Of the packages
highway-env, envpool, rapier3d and mujoco, the installed ones are measured, and the other ones are listed.

All simulations run on one thread with random inputs. A car-step is a step of the simulation for one car. Times are the
least processor times of three repetitions, from inputs to observations in Python, with resets.
"""

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from itertools import cycle
from typing import Any

import gymnasium
import numpy as np
import skidpad

REPETITIONS = 3
# Length of a step of skidpad, rapier3d and MuJoCo, s, and steps for each action.
STEP_S, SUBSTEPS = 0.01, 3
# Environments of a batch of EnvPool, and cars of the world of rapier3d. Larger numbers hardly change their rates.
BATCH_CARS = 64
# Task of highway-env and EnvPool, cars of an environment with its traffic, and steps (1/15 s) for each action.
HIGHWAY_TASKS = [("parking-v0", 1, 3), ("highway-v0", 51, 15)]
# Environment of skidpad, road-wheel angle of the steering demand 1 (rad) and grip of its ground.
TASKS = [("FollowPath-v0", 0.4, 1.0), ("Track-v0", 0.4, 1.0), ("DriftCircle-v0", 0.4, 0.5), ("Parking-v0", 0.6, 1.0)]
# Speed above which a car of Parking-v0 brakes before it changes its direction, m/s.
STANDING_SPEED = 0.3
OBSERVATIONS = ["x", "y", "forward_x", "forward_y", "up_z", "speed", "lateral_speed", "yaw_rate"]
OBSERVATIONS += ["acceleration", "lateral_acceleration", "steer", "engine_speed"]
# Wheels of the cars of rapier3d and MuJoCo: x (forward) and y (left), m.
WHEELS = [(1.3, 0.75), (1.3, -0.75), (-1.3, 0.75), (-1.3, -0.75)]


def row(name: str, cars: int, step_s: float, substeps: int, action_time: float, share: float | None = None) -> str:
    """Returns a row of the table. `action_time` is the processor time of `substeps` steps of all cars, s."""
    rate = cars * substeps / action_time
    columns = f"{name:<43} {cars:>6,} {step_s:>7.4f} {substeps:>7} {rate:>12,.0f} {1e9 / rate:>12,.0f}"
    return columns if share is None else f"{columns} {share:>10.2f}"


def least_time(act: Callable[[], Any], seconds: float) -> float:
    """Returns the least processor time of a call of `act` over repetitions of at least `seconds`, s."""
    times = []
    for _ in range(REPETITIONS):
        calls, elapsed, start = 0, 0.0, time.process_time()
        while elapsed < seconds:
            act()
            calls, elapsed = calls + 1, time.process_time() - start
        times.append(elapsed / calls)
    return min(times)


class Replay:
    """Environment, and a fleet that repeats the motion of its cars: equal states, inputs, gears and resets."""

    def __init__(self, task: str, cars: int, max_steer: float, grip: float) -> None:
        settings: dict[str, Any] = {"dt": STEP_S, "substeps": SUBSTEPS, "max_steer": max_steer, "threads": 1}
        self.env: Any = gymnasium.make_vec(f"skidpad/{task}", num_envs=cars, **settings).unwrapped
        car, scene = skidpad.load("corvette_c5"), skidpad.Scene(grip=grip)
        self.fleet = skidpad.Fleet(car, scene, STEP_S, cars, observations=OBSERVATIONS, threads=1)
        self.out = np.empty((cars, len(OBSERVATIONS)), np.float32)
        self.max_steer, self.selects_gears = max_steer, task == "Parking-v0"
        # Gears that the environment requests, and those that the fleet has received; 0 for none.
        self.gears, self.set_gears = np.ones(cars), np.zeros(cars)

    def copy_states(self, cars: np.ndarray) -> None:
        """Copies the states of the cars with the numbers `cars`, whose episodes begin."""
        for car in cars.tolist():
            self.fleet.controls(car)
            self.fleet.set_state(car, self.env.state(car))
        self.gears[cars], self.set_gears[cars] = 1, 0
        self.fleet.step(0, self.out)

    def inputs(self, actions: np.ndarray) -> np.ndarray:
        """Returns throttle, brake, handbrake and steering angle for `actions`, shape [cars, 4]. Sets the gears."""
        demand, steer = actions.T
        is_braking = demand < 0.0
        if self.selects_gears:
            speed = self.out[:, OBSERVATIONS.index("speed")]
            is_braking = (speed * demand < 0.0) & (np.abs(speed) > STANDING_SPEED)
            self.gears = np.where(is_braking, self.gears, np.sign(demand))
            for car in np.flatnonzero((self.gears != self.set_gears) & self.fleet.active()).tolist():
                self.fleet.controls(car, gear=int(self.gears[car]))
                self.set_gears[car] = self.gears[car]
        throttle, brake = np.where(is_braking, 0, np.abs(demand)), np.where(is_braking, np.abs(demand), 0)
        return np.stack((throttle, brake, np.zeros_like(demand), self.max_steer * steer), axis=1).astype(np.float32)

    def drive(self, seconds: float, seed: int) -> tuple[float, float]:
        """Steps environment and fleet by turns, each for at least `seconds`. Returns the processor times of an action
        of the environment and of the fleet, s. The copies for the fleet are not timed; resets do not count as steps."""
        cars, count, env_time, fleet_time = self.env.num_envs, 0.0, 0.0, 0.0
        rng, ended = np.random.default_rng(seed), np.zeros(cars, np.bool_)
        self.env.reset(seed=seed)
        self.copy_states(np.arange(cars))
        while min(env_time, fleet_time) < seconds:
            actions = rng.uniform(-1.0, 1.0, (cars, 2)).astype(np.float32)
            # The environment resets the cars whose episodes have ended, and steps only the other ones.
            self.fleet.set_active(~ended)
            inputs = self.inputs(actions)
            start = time.process_time()
            _, _, terminated, truncated, _ = self.env.step(actions)
            middle = time.process_time()
            self.fleet.set_actions(inputs)
            self.fleet.step(SUBSTEPS, self.out)
            end = time.process_time()
            env_time, fleet_time, count = env_time + middle - start, fleet_time + end - middle, count + 1 - ended.mean()
            self.copy_states(np.flatnonzero(ended))
            ended = terminated | truncated
        return env_time / count, fleet_time / count


def skidpad_rates(cars: int, seconds: float) -> Iterator[str]:
    """Measures the environments, and the fleet with the same states and inputs."""
    for task, max_steer, grip in TASKS:
        replay = Replay(task, cars, max_steer, grip)
        times = [replay.drive(seconds, seed) for seed in range(REPETITIONS)]
        env_time, fleet_time = (min(column) for column in zip(*times, strict=True))
        yield row(f"  Fleet.step, driven as in {task}", cars, STEP_S, SUBSTEPS, fleet_time, 1.0)
        yield row(f"  {task}", cars, STEP_S, SUBSTEPS, env_time, fleet_time / env_time)


def step_next(env: Any, actions: Iterator[Any]) -> None:
    """Steps the environment with the next element of `actions`."""
    env.step(next(actions))


def highway_env_rates(seconds: float) -> Iterator[str]:
    """Measures environments of highway-env."""
    import highway_env  # noqa: F401, registers the environments

    for task, cars, substeps in HIGHWAY_TASKS:
        env = gymnasium.make_vec(task, num_envs=1)
        env.reset(seed=0)
        act = partial(step_next, env, cycle([env.action_space.sample() for _ in range(16)]))
        yield row(f"  {task}", cars, 1 / 15, substeps, least_time(act, seconds))


def envpool_rates(seconds: float) -> Iterator[str]:
    """Measures the ports of the environments of highway-env in EnvPool."""
    import envpool

    for task, cars, substeps in HIGHWAY_TASKS:
        env = envpool.make_gymnasium(task, num_envs=BATCH_CARS, num_threads=1, seed=0)
        env.reset()
        actions = np.array([[env.action_space.sample() for _ in range(BATCH_CARS)] for _ in range(16)])
        act = partial(step_next, env, cycle(actions))
        yield row(f"  {task}, {BATCH_CARS} environments", BATCH_CARS * cars, 1 / 15, substeps, least_time(act, seconds))


def rapier_rates(seconds: float) -> Iterator[str]:
    """Measures the vehicle of rapier3d: cars on a plane, far apart."""
    import rapier3d

    world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
    world.set_num_threads(1)
    world.integration_parameters.dt = STEP_S
    world.add_collider(rapier3d.Collider.halfspace((0.0, 0.0, 1.0)))
    tuning = rapier3d.WheelTuning(30.0, 3.0, 4.0, max_suspension_force=1e5)
    cars = []
    for number in range(BATCH_CARS):
        body = rapier3d.RigidBody.dynamic().translation((0.0, 50.0 * number, 0.8)).can_sleep(False)
        handle = world.add_body(body, [rapier3d.Collider.cuboid(2.2, 0.9, 0.3).mass(1500.0)])
        car = rapier3d.DynamicRayCastVehicleController(handle)
        car.index_up_axis, car.index_forward_axis = 2, 0
        for x, y in WHEELS:
            car.add_wheel((x, y, -0.1), (0.0, 0.0, -1.0), (0.0, -1.0, 0.0), 0.3, 0.32, tuning)
        cars.append((handle, car))
    world.step()
    world.update_query_pipeline()
    bodies, colliders, queries = world.rigid_bodies, world.colliders, world.query_pipeline
    ground, rng = rapier3d.QueryFilter.only_fixed(), np.random.default_rng(0)

    def act() -> list[Any]:
        for (_, car), (force, angle) in zip(cars, rng.uniform(-1.0, 1.0, (BATCH_CARS, 2)).tolist(), strict=True):
            for front, rear in ((0, 2), (1, 3)):
                car.set_steering(front, 0.1 * angle)
                car.apply_engine_force(rear, 1000.0 * force)
        for _ in range(SUBSTEPS):
            for _, car in cars:
                car.update_vehicle(STEP_S, bodies, colliders, queries, ground)
            world.step()
        return [(body.translation, body.linvel) for body in (bodies[handle] for handle, _ in cars)]

    yield row("  DynamicRayCastVehicleController", BATCH_CARS, STEP_S, SUBSTEPS, least_time(act, seconds))


def mujoco_rates(seconds: float) -> Iterator[str]:
    """Measures a car in MuJoCo: a chassis with a slide, a knuckle and a wheel at each corner."""
    import mujoco

    corners = "".join(
        f'<body pos="{x} {y} -0.25"><joint type="slide" axis="0 0 1" stiffness="25000" damping="2500" springref="-0.13"'
        '/><geom size="0.05" mass="15"/><body>'
        + (f'<joint name="knuckle{number}" axis="0 0 1" damping="1000"/>' if x > 0.0 else "")
        + f'<geom size="0.05" mass="5"/><body><joint name="wheel{number}" axis="0 1 0"/>'
        '<geom type="cylinder" size="0.32 0.11" euler="90 0 0" mass="20" conaffinity="1"/></body></body></body>'
        for number, (x, y) in enumerate(WHEELS)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP_S}" integrator="implicitfast"/><default><geom contype="0" conaffinity="0"/>'
        '</default><worldbody><geom type="plane" size="0 0 1" contype="1"/><body pos="0 0 0.57"><freejoint/>'
        f'<geom type="box" size="2.2 0.9 0.2" mass="1300"/>{corners}</body></worldbody><actuator>'
        '<position joint="knuckle0" kp="100000"/><position joint="knuckle1" kp="100000"/>'
        '<motor joint="wheel2"/><motor joint="wheel3"/></actuator></mujoco>'
    )
    data, rng = mujoco.MjData(model), np.random.default_rng(0)

    def act() -> np.ndarray:
        torque, angle = rng.uniform(-1.0, 1.0, 2).tolist()
        data.ctrl[:] = (0.1 * angle, 0.1 * angle, 300.0 * torque, 300.0 * torque)
        mujoco.mj_step(model, data, nstep=SUBSTEPS)
        return np.concatenate((data.qpos, data.qvel))

    yield row(f"  own car of {model.nbody - 1} bodies", 1, STEP_S, SUBSTEPS, least_time(act, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cars", type=int, default=4096, help="cars of each environment and fleet of skidpad")
    parser.add_argument("--seconds", type=float, default=1.0, help="least processor time of a repetition")
    arguments = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}, NumPy {np.__version__}, one thread")
    print("The models differ: none of the other packages has tyre slip curves, an engine or a gearbox.\n")
    print(f"{'':<43} {'cars':>6} {'step, s':>7} {'steps/':>7} {'car-steps':>12} {'ns per':>12} {'share of':>10}")
    print(f"{'':<43} {'':>6} {'':>7} {'action':>7} {'per second':>12} {'car-step':>12} {'Fleet.step':>10}")
    packages: list[tuple[str, str, Callable[[float], Iterator[str]]]] = [
        ("skidpad", "tyre slip curves, wheel spin, drivetrain", partial(skidpad_rates, arguments.cars)),
        ("highway-env", "kinematic bicycles", highway_env_rates),
        ("envpool", "kinematic bicycles", envpool_rates),
        ("rapier3d", "ray-cast wheels on a rigid body", rapier_rates),
        ("mujoco", "rigid wheels on slides and hinges", mujoco_rates),
    ]
    for package, model, rates in packages:
        try:
            print(f"{package} {metadata.version(package)}: {model}")
            for line in rates(arguments.seconds):
                print(line, flush=True)
        except metadata.PackageNotFoundError:
            print(f"{package}: not installed; pip install {package}")


if __name__ == "__main__":
    main()
