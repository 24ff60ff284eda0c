"""Fleets of cars."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import skidpad

CAR = skidpad.load("corvette_c5")


def actions_of(fleet, seed=0):
    """Returns pseudo-random actions of a fleet."""
    numbers = np.random.default_rng(seed).random((len(fleet), 4), np.float32)
    return numbers * np.float32([0.8, 0.0, 0.0, 0.2]) + np.float32([0.2, 0.0, 0.0, 0.0])


def test_observations_are_written_into_an_array():
    fleet = skidpad.Fleet(CAR, num_cars=20, observations=["x", "speed", "wheel_load_0"], threads=1)
    fleet.set_actions(actions_of(fleet))
    out = np.empty((20, 3), np.float32)
    assert fleet.step(50, out) is out and (out[:, 0] > 0.0).all() and (out[:, 2] > 1000.0).all()
    assert np.array_equal(fleet.step(0), out)
    for wrong in (np.empty((20, 2), np.float32), np.empty((3, 20), np.float32).T):
        with pytest.raises(ValueError, match="shape|C-contiguous"):
            fleet.step(1, wrong)
    with pytest.raises(ValueError, match="shape"):
        fleet.set_actions(np.zeros((19, 4), np.float32))
    with pytest.raises(ValueError, match="did you mean `speed`"):
        skidpad.Fleet(CAR, observations=["sped"])


def test_cars_move_the_same_in_every_fleet_and_in_a_world():
    fleets = [skidpad.Fleet(CAR, num_cars=n, threads=threads) for n, threads in ((40, 1), (40, 2), (3, 1))]
    actions = actions_of(fleets[0])
    for fleet in fleets:
        fleet.set_actions(actions[: len(fleet)])
        for _ in range(30):
            fleet.step(4)
    world = skidpad.World("impulse")
    world.spawn(CAR)
    throttle, brake, handbrake, steer = (float(number) for number in actions[0])
    world.controls(0, throttle=throttle, brake=brake, handbrake=handbrake, steer=steer)
    world.step(120)
    assert fleets[0].save() == fleets[1].save()
    assert fleets[0].state(0) == fleets[2].state(0) == world.state(0)


def test_cars_are_reset_as_arrays():
    fleet = skidpad.Fleet(CAR, num_cars=10)
    fleet.set_actions(actions_of(fleet))
    fleet.step(20)
    before = fleet.state(1)
    fleet.reset(np.array([0, 9]), np.array([[5.0, 6.0, 1.0, 12.0], [-5.0, 0.0, -1.0, 0.0]]))
    assert fleet.state(1) == before
    state = fleet.state(0)
    assert state.position[:2] == pytest.approx((5.0, 6.0), abs=0.05) and state.heading == pytest.approx(1.0, abs=1e-3)
    assert np.hypot(*state.velocity[:2]) == pytest.approx(12.0, abs=1e-3)
    saved = fleet.save()
    with pytest.raises(IndexError):
        fleet.reset(np.array([10]), np.zeros((1, 4)))
    with pytest.raises(ValueError, match="finite"):
        fleet.reset(np.array([1]), np.full((1, 4), np.nan))
    assert fleet.save() == saved


def test_masks_models_and_saved_states():
    fleet = skidpad.Fleet(CAR, num_cars=9)
    fleet.set_actions(np.full((9, 4), [1.0, 0.0, 0.0, 0.0], np.float32))
    fleet.set_model(2, CAR.with_(mass=2500))
    mask = np.arange(9) != 4
    fleet.set_active(mask)
    out = fleet.step(200)
    speed = out[:, fleet.observation_names.index("speed")]
    assert np.array_equal(fleet.active(), mask) and speed[4] == 0.0
    assert speed[2] < 0.9 * speed[1] and speed[1] == speed[3]
    saved = fleet.save()
    expected = fleet.step(10)
    fleet.load(saved)
    assert np.array_equal(fleet.step(10), expected)
    with pytest.raises(ValueError, match="is a trailer"):
        skidpad.Fleet(skidpad.load("caravan"))


def test_cars_that_lanes_do_not_support_are_stepped_in_worlds():
    fleet = skidpad.Fleet(skidpad.load("tesla_model3_awd"), num_cars=3)
    assert fleet.storage.startswith("worlds: ") and skidpad.Fleet(CAR).storage == "lanes"
    fleet.set_actions(actions_of(fleet))
    assert (fleet.step(50)[:, fleet.observation_names.index("speed")] > 0.1).all()


def test_a_fleet_is_used_on_several_threads():
    fleet = skidpad.Fleet(CAR, num_cars=40)

    def work():
        fleet.set_actions(actions_of(fleet))
        fleet.step(5)
        fleet.set_state(0, fleet.state(1))

    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert fleet.steps == 15 and fleet.state(0) == fleet.state(1)


def test_wheels_that_do_not_exist_are_refused():
    for name in ("wheel_spin_7", "wheel_load_4", "compression_300", "wheel_spin_+1", "wheel_load_001"):
        with pytest.raises(ValueError, match="unknown observation .*wheel_spin_3"):
            skidpad.Fleet(CAR, observations=[name])
    wheels = skidpad.Fleet(skidpad.load("truck_6x4"), observations=["wheel_load_5"], threads=1)
    assert (wheels.step(1) > 1000.0).all()


def test_sizes_out_of_range_are_refused():
    for sizes in ({"num_cars": 2**62}, {"num_cars": 2**40}, {"num_cars": -1}, {"threads": 5000}, {"threads": -1}):
        (name,) = sizes
        with pytest.raises(ValueError, match=f"{name} is -?[0-9]+, but must be 0"):
            skidpad.Fleet(CAR, **sizes)


@pytest.mark.parametrize("owner", [skidpad.Fleet(CAR, num_cars=3), skidpad.World()])
def test_cars_that_do_not_exist_are_refused(owner):
    for number in (3, -1, 2**70):
        for call in (owner.state, owner.frame, owner.controls, lambda car: owner.set_state(car, state)):
            state = skidpad.Fleet(CAR).state(0)
            with pytest.raises(IndexError, match=f"there is no car {number}"):
                call(number)


def test_arrays_of_another_type_are_named():
    fleet = skidpad.Fleet(CAR, num_cars=3, threads=1)
    with pytest.raises(TypeError, match="actions has numbers of the type float64, expected float32"):
        fleet.set_actions(np.zeros((3, 4)))
    with pytest.raises(TypeError, match="actions is a list, expected a NumPy array of float32"):
        fleet.set_actions([[0.0] * 4] * 3)
    with pytest.raises(ValueError, match=r"actions has the shape \[12\], expected 2 dimensions"):
        fleet.set_actions(np.zeros(12, np.float32))
    with pytest.raises(TypeError, match="out has numbers of the type float64"):
        fleet.step(1, np.zeros((3, 8)))
    read_only = np.zeros((3, 8), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="out: .*writeable"):
        fleet.step(1, read_only)
    with pytest.raises(ValueError, match="indices is not C-contiguous"):
        fleet.reset(np.arange(6)[::2], np.zeros((3, 4)))
    with pytest.raises(TypeError, match="mask has numbers of the type int64, expected bool"):
        fleet.set_active(np.ones(3, np.int64))
    assert fleet.steps == 0


FORK = r"""
import hashlib, os, skidpad
fleet = skidpad.Fleet(skidpad.load("corvette_c5"), num_cars=200, threads=2)
fleet.step(3)
child = os.fork()
digest = hashlib.sha256(fleet.step(5).tobytes()).hexdigest()
os.write(1, f"{digest}\n".encode())  # one write, so that the lines of both processes stay whole
if child:
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_steps_with_threads_of_its_own():
    output = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
    parent, child = output.stdout.split()
    assert parent == child


@pytest.mark.parametrize("solver", ["fleet", "impulse", "rapier"])
def test_an_interrupt_stops_long_steps(solver):
    if solver == "fleet":
        owner = skidpad.Fleet(CAR, num_cars=10, threads=1)
    else:
        owner = skidpad.World(solver)
        owner.spawn(CAR)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    # Background jobs of a shell ignore interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        owner.step(2**32 - 1)
    signal.signal(signal.SIGINT, handler)
    assert time.monotonic() - start < 60.0
    owner.step(1)


def test_interrupted_and_whole_steps_are_equal():
    fleets = [skidpad.Fleet(CAR, num_cars=20_000, threads=2) for _ in range(2)]
    for fleet in fleets:
        fleet.set_actions(actions_of(fleet))
    # 4 million car-steps are 200 steps of this fleet.
    whole = fleets[0].step(210)
    for _ in range(21):
        parts = fleets[1].step(10)
    assert np.array_equal(whole, parts) and fleets[0].steps == fleets[1].steps == 210
