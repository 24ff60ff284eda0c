"""Motion of the cars against closed forms, and policies at different rates."""

import time
from pathlib import Path

import numpy as np
import pytest
import skidpad
from skidpad.environments import VectorEnv

CAR = skidpad.load("corvette_c5")


def test_a_policy_of_any_rate_stops_in_the_same_distance():
    """Accepted: 0.5 %. The distances count from the decision to brake, but the throttle that the controller has at that
    moment differs, and with it the slip of the tyres and the drag of the engine at the start."""
    distances = [stopping_distance(rate) for rate in (10, 20, 25, 50, 100)]
    assert np.ptp(distances) < 0.005 * np.mean(distances), distances


def stopping_distance(rate):
    """Returns the stopping distance of a policy with decisions at `rate` Hz, m. The policy holds 20 m/s, and brakes with
    half the pressure from its first decision beyond x = 20 m on. The distance counts from that decision and is scaled to
    20 m/s by the square of the speed."""
    fleet = skidpad.Fleet(CAR, num_cars=1, observations=["x", "speed"], threads=1)
    fleet.reset(np.array([0]), np.array([[0.0, 0.0, 0.0, 20.0]]))
    actions = np.zeros((1, 4), np.float32)
    start = start_speed = None
    out = fleet.step(0)
    for _ in range(20 * rate):
        x, speed = out[0].tolist()
        actions[0, 0] = np.clip(0.3 + 0.5 * (20.0 - speed), 0.0, 1.0)
        if x >= 20.0:
            if start is None:
                start, start_speed = x, speed
            actions[0, :2] = 0.0, 0.5
        fleet.set_actions(actions)
        out = fleet.step(100 // rate, out)
        assert np.isfinite(out).all()
    assert abs(out[0, 1]) < 0.01
    return (float(out[0, 0]) - start) * (20.0 / start_speed) ** 2


def test_constant_steering_and_speed_give_a_constant_yaw_rate():
    """A controller holds 15 m/s at 0.03 rad. After 20 s, the yaw rate changes by less than 0.1 % in 5 s."""
    fleet = skidpad.Fleet(CAR, num_cars=1, observations=["speed", "yaw_rate"], threads=1)
    fleet.reset(np.array([0]), np.array([[0.0, 0.0, 0.0, 15.0]]))
    actions, integral, yaw_rates = np.array([[0.0, 0.0, 0.0, 0.03]], np.float32), 0.0, []
    out = fleet.step(0)
    for step in range(2500):
        error = 15.0 - float(out[0, 0])
        integral += 0.01 * error
        actions[0, 0] = np.clip(0.2 * error + 0.1 * integral, 0.0, 1.0)
        fleet.set_actions(actions)
        out = fleet.step(1, out)
        if step >= 2000:
            yaw_rates.append(float(out[0, 1]))
    assert np.ptp(yaw_rates) < 0.001 * np.mean(yaw_rates)


def test_the_turning_centre_is_on_the_line_of_the_rear_axle_at_walking_pace():
    """At 1 m/s tyres hardly slip: the point of the car without lateral velocity is on the rear axle. Accepted: 2 cm,
    for the slip angles at 0.04 m/s² and the slightly different lines of both front wheels."""
    fleet = skidpad.Fleet(CAR, num_cars=1, observations=["speed", "lateral_speed", "yaw_rate"], threads=1)
    fleet.reset(np.array([0]), np.array([[0.0, 0.0, 0.0, 1.0]]))
    fleet.controls(0, steer=0.1, gear=0)
    fleet.step(150)
    speed, lateral_speed, yaw_rate = fleet.step(0)[0].tolist()
    assert speed > 0.5
    # The description states the centre of mass 1.300 m behind the front axle.
    rear_axle_behind_centre = 2.654 - 1.300
    assert lateral_speed / yaw_rate == pytest.approx(rear_axle_behind_centre, abs=0.02)


MODEL_CAR = skidpad.load(Path(__file__).parents[3] / "vehicles/model_cars/f1tenth.toml")
# Numbers of the file: axle distances (m), cornering stiffness per load (1/rad), friction, height of the centre (m).
FRONT_DISTANCE, REAR_DISTANCE = 0.15875, 0.17145
FRONT_STIFFNESS, REAR_STIFFNESS = 4.718, 5.4562
FRONT_FRICTION, REAR_FRICTION = 0.65, 0.62
CENTRE_HEIGHT = 0.074
GRAVITY = 9.80665


@pytest.mark.parametrize("speed", [1.0, 2.0, 3.0])
def test_a_model_car_with_sourced_tyres_turns_like_the_single_track_model(speed):
    """Yaw rate of the linear single-track model: v d / (L + K v^2) with K = (1 / C_front - 1 / C_rear) / g, because the
    stiffness is proportional to the load. Accepted: 1.5 %, for slip angles and steering angles of up to 0.05 rad, whose
    cosines and tangents the model leaves out, and for the drag of the steered wheels."""
    fleet = skidpad.Fleet(MODEL_CAR, dt=0.005, observations=["speed", "yaw_rate"], threads=1)
    fleet.reset(np.array([0]), np.array([[0.0, 0.0, 0.0, speed]]))
    steer = 0.05 / max(speed, 1.0)
    actions, integral = np.array([[0.0, 0.0, 0.0, steer]], np.float32), 0.0
    out = fleet.step(0)
    for _ in range(2000):
        error = speed - float(out[0, 0])
        integral += 0.005 * error
        actions[0, 0] = np.clip(0.3 * error + 0.5 * integral, 0.0, 1.0)
        fleet.set_actions(actions)
        out = fleet.step(1, out)
    found_speed, yaw_rate = out[0].tolist()
    gradient = (1 / FRONT_STIFFNESS - 1 / REAR_STIFFNESS) / GRAVITY
    expected = found_speed * steer / (FRONT_DISTANCE + REAR_DISTANCE + gradient * found_speed**2)
    assert found_speed == pytest.approx(speed, rel=0.01) and yaw_rate == pytest.approx(expected, rel=0.015)


def test_a_model_car_with_locked_wheels_stops_by_the_friction_of_its_tyres():
    """With all wheels locked, the deceleration is friction times load on each axle, with the load transfer of the height
    of the centre. Accepted: 3 %, for the time until the wheels lock and the load has moved."""
    fleet = skidpad.Fleet(MODEL_CAR, dt=0.002, observations=["x", "speed"], threads=1)
    fleet.reset(np.array([0]), np.array([[0.0, 0.0, 0.0, 5.0]]))
    fleet.set_actions(np.array([[0.0, 1.0, 0.0, 0.0]], np.float32))
    x, speed = fleet.step(2000)[0].tolist()
    # a L = friction_front (g b + a h) + friction_rear (g a' - a h), solved for the deceleration a.
    wheelbase = FRONT_DISTANCE + REAR_DISTANCE
    static = GRAVITY * (FRONT_FRICTION * REAR_DISTANCE + REAR_FRICTION * FRONT_DISTANCE)
    deceleration = static / (wheelbase - (FRONT_FRICTION - REAR_FRICTION) * CENTRE_HEIGHT)
    assert abs(speed) < 1e-3 and x == pytest.approx(5.0**2 / (2 * deceleration), rel=0.03)


def test_policies_of_any_rate_drive_a_model_car_without_nan():
    """Random actions at 10 to 100 Hz for 10 s. The car may slide and roll over, but stays finite."""
    for rate in (10, 20, 50, 100):
        fleet = skidpad.Fleet(MODEL_CAR, num_cars=16)
        random = np.random.default_rng(rate)
        for _ in range(10 * rate):
            actions = random.uniform([0, 0, 0, -0.4], [1, 1, 1, 0.4], (16, 4)).astype(np.float32)
            fleet.set_actions(actions)
            assert np.isfinite(fleet.step(100 // rate)).all()


def test_a_fleet_of_cars_stays_finite_at_random_actions():
    env = VectorEnv(256, task="drift_circle")
    env.reset(seed=0)
    random = np.random.default_rng(0)
    for _ in range(200):
        observations, rewards, *_ = env.step(random.uniform(-1, 1, (256, 2)).astype(np.float32))
        assert np.isfinite(observations).all() and np.isfinite(rewards).all()


def test_step_rates_are_printed(capsys):
    """Prints the rates of one car, and those of highway-env if it is installed. Nothing is asserted about times."""
    env = VectorEnv(1024, task="track")
    lines = [f"skidpad/Track-v0, 1,024 cars: {car_steps_per_second(env, 1024):,.0f} actions/s"]
    try:
        import gymnasium
        import highway_env  # noqa: F401
    except ModuleNotFoundError:
        lines.append("highway-env is not installed")
    else:
        other = gymnasium.make("parking-v0")
        lines.append(f"highway-env parking-v0, 1 car: {car_steps_per_second(other, 1):,.0f} actions/s")
    with capsys.disabled():
        print("\n" + "\n".join(lines))


def car_steps_per_second(env, num_envs):
    """Returns the number of actions per second of a short drive without inputs."""
    env.reset(seed=0)
    actions = np.zeros((num_envs, 2) if num_envs > 1 else 2, np.float32)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.5:
        ended = env.step(actions)[2:4]
        count += num_envs
        if num_envs == 1 and any(ended):
            env.reset()
    return count / (time.perf_counter() - start)
