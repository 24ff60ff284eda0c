"""Vehicles, worlds and manoeuvres."""

import copy
import errno
import multiprocessing
import pickle
import signal
import struct
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest
import skidpad


@pytest.fixture(scope="module")
def car():
    return skidpad.load("corvette_c5")


def test_lists_name_what_the_command_line_names():
    assert "corvette_c5" in skidpad.vehicles() and "caravan" in skidpad.trailers()
    assert {"impulse", "rapier", "constraint", "bullet"} <= set(skidpad.solvers())
    assert {"braking", "step-steer", "moose"} <= set(skidpad.manoeuvres())
    assert skidpad.channels()["vx_mps"][0] == "m/s"


def test_cars_are_values(car):
    same = skidpad.load("corvette_c5")
    other = skidpad.load("unity_default")
    assert car == same and hash(car) == hash(same) and car != other
    assert pickle.loads(pickle.dumps(car)) == car
    assert "Corvette" in repr(car) and car.wheel_count == 4


def test_a_field_is_changed_by_its_path_or_its_key(car):
    heavier = car.with_(mass=1700)
    assert heavier.mass == 1700 and heavier != car
    assert heavier == car.with_(chassis__mass_kg=1700) == car.with_(mass_kg=1700.0)
    wider = car.with_(axles__0__track_m=1.7, name="Wide Corvette")
    assert wider.name == "Wide Corvette" and "track_m = 1.7" in wider.toml
    with pytest.raises(ValueError, match=r"several fields.*axles\[0\]\.track_m"):
        car.with_(track=1.7)
    # All faults are reported at once.
    with pytest.raises(ValueError, match="did you mean `mass_kg`.*\\n`chassis` is a table") as caught:
        car.with_(mas_kg=1.0, chassis={"mass_kg": 1.0})
    assert len(str(caught.value).splitlines()) == 2


def test_a_field_is_a_number_a_text_a_flag_a_list_or_a_dictionary(car):
    text = 'a "quoted" text\n\\ \x7f é'
    fields = tomllib.loads(car.with_(description=text, forward=(3, 2.0, np.float32(1.5))).toml)
    assert fields["description"] == text and fields["powertrain"]["gearbox"]["forward"] == [3.0, 2.0, 1.5]
    with pytest.raises(skidpad.VehicleError, match="unknown key `chassis.wings`"):
        car.with_(chassis__wings={"front": [1, {"a b": True}]})
    with pytest.raises(skidpad.VehicleError, match="mass_kg"):
        car.with_(mass=True)
    with pytest.raises(TypeError, match="a field is a number"):
        car.with_(mass=object())
    # Both faults of numbers are reported, by the names of their fields.
    with pytest.raises(ValueError, match="`mass`: NaN is not a value: finite.*\\n`axles__0__track_m`: the integer"):
        car.with_(mass=float("nan"), axles__0__track_m=2**70)


def test_arrays_and_flags_of_numpy_are_fields(car):
    assert car.with_(forward=np.array([3.0, 2.0, 1.5])) == car.with_(forward=[3.0, 2.0, 1.5])
    assert car.with_(mass=np.int64(1600)) == car.with_(mass=np.array(1600)) == car.with_(mass=1600)
    with pytest.raises(skidpad.VehicleError, match="is true, but must be"):
        car.with_(mass=np.bool_(True))


def test_a_field_has_a_limited_depth(car):
    endless_list, endless_table = [], {}
    endless_list.append(endless_list)
    endless_table["a"] = endless_table
    with pytest.raises(ValueError, match="`axles`: the value has more than 32 lists"):
        car.with_(axles=endless_list)
    with pytest.raises(ValueError, match="`chassis`: the value has more than 32 lists"):
        car.with_(chassis=endless_table)
    with pytest.raises(ValueError, match="has 8001 keys, but at most 32"):
        car.with_(**{"a__" * 8000 + "b": 1})


def test_equal_files_are_equal_cars_by_every_path(car, tmp_path):
    path = tmp_path / "car.toml"
    path.write_text(car.toml)
    (tmp_path / "folder").mkdir()
    direct, indirect = skidpad.load(path), skidpad.load(tmp_path / "folder" / ".." / "car.toml")
    assert direct == indirect and hash(direct) == hash(indirect)
    assert pickle.loads(pickle.dumps(indirect)) == direct != car
    assert skidpad.read_vehicle(car.toml, folder=str(tmp_path / "folder" / "..")) == direct


def test_parameters_of_manoeuvres_are_set(car):
    about, low, high = skidpad.manoeuvre_parameters("braking")["pedal"]
    assert about == "brake pedal" and 0.0 < low < high == 1.0
    full, half = (skidpad.run(car, "braking", rate=60.0, parameters={"pedal": pedal}) for pedal in (1.0, 0.5))
    # Half of the brake torque does not lock the wheels, the whole does.
    assert half.metric("distance_m") > 1.1 * full.metric("distance_m")
    comparison = skidpad.compare(car, "braking", ["impulse"], 60.0, parameters={"pedal": 0.5})
    assert comparison.runs["impulse"].metric("distance_m") == half.metric("distance_m")
    certificate = skidpad.certify(car, "braking", ["impulse"], [30.0, 60.0], parameters={"pedal": 0.5})
    assert certificate.table[0]["60 Hz"] == half.metric("distance_m")
    with pytest.raises(ValueError) as caught:
        skidpad.run(car, "braking", initial_speed=500.0, parameters={"pedal": 2, "radius_m": 50})
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "initial_speed is 500, but must be a number from -200 to 200 m/s",
        "parameter pedal=2",
        "parameter radius_m=50",
    ]
    with pytest.raises(ValueError, match="unknown manoeuvre `brakin`"):
        skidpad.manoeuvre_parameters("brakin")


def test_all_faults_are_reported_with_their_places(car, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(car.toml.replace("mass_kg = 1545.0", "mass_kg = -1").replace("track_m = 1.575", 'track_m = "x"'))
    with pytest.raises(skidpad.VehicleError) as caught:
        skidpad.load(path)
    faults = caught.value.faults
    assert len(faults) == 2 and {fault["kind"] for fault in faults} == {"out_of_range", "wrong_type"}
    assert all(f"{path}:{fault['line']}:{fault['column']}" in str(caught.value) for fault in faults)
    with pytest.raises(skidpad.VehicleError, match="mass_kg"):
        car.with_(mass=-1)
    with pytest.raises(ValueError, match="did you mean `corvette_c5`"):
        skidpad.load("corvete_c5")


def test_scenes_are_values(tmp_path):
    scene = skidpad.Scene(grip=0.5, slope_deg=3.0)
    assert pickle.loads(pickle.dumps(scene)) == scene != skidpad.Scene()
    path = tmp_path / "scene.toml"
    path.write_text("grip = 0.5\nslope_deg = 3.0\n")
    assert skidpad.Scene.load(path) == scene
    with pytest.raises(skidpad.VehicleError, match="grip"):
        skidpad.Scene(grip=-1.0)


def test_errors_of_files_have_number_text_and_name(tmp_path):
    missing = tmp_path / "none.toml"
    for read in (skidpad.load, skidpad.Scene.load, lambda path: skidpad.import_vehicle("bullet", path)):
        with pytest.raises(FileNotFoundError) as caught:
            read(missing)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(missing))
        assert "file" in caught.value.strerror and str(missing) in str(caught.value)
        with pytest.raises(IsADirectoryError, match="name a file in it") as caught:
            read(tmp_path)
        assert caught.value.errno == errno.EISDIR


@pytest.mark.parametrize("solver", skidpad.solvers())
def test_a_world_resumes_from_its_bytes(car, solver):
    world = skidpad.World(solver, dt=0.01)
    index = world.spawn(car, speed=15.0, heading=0.3)
    world.controls(index, throttle=0.3, steer=0.05)
    assert world.step(50)
    saved = world.save()
    world.step(20)
    expected = world.state(index)
    world.load(saved)
    world.step(20)
    assert world.state(index) == expected and world.frame(index)["yaw_rate_radps"] > 0.1
    assert world.poses().shape == (1, 6)
    with pytest.raises(IndexError, match="no car 7"):
        world.state(7)
    with pytest.raises(ValueError):
        world.load(saved[:-1])


def test_states_are_bytes(car):
    world = skidpad.World()
    world.spawn(car, speed=10.0)
    world.step(10)
    state = world.state(0)
    assert skidpad.State.from_bytes(state.to_bytes()) == state == pickle.loads(pickle.dumps(state))
    with pytest.raises(ValueError):
        skidpad.State.from_bytes(b"nothing")
    for wheels in (0, 5, 2**62, 2**63, 2**64 - 1):
        with pytest.raises(ValueError, match=f"the data have 4 wheels, but this car has {wheels}"):
            skidpad.State.from_bytes(state.to_bytes(), wheels)


def test_states_with_equal_bytes_are_equal(car):
    world = skidpad.World()
    world.spawn(car)
    data = bytearray(world.state(0).to_bytes())
    state, same = skidpad.State.from_bytes(bytes(data)), skidpad.State.from_bytes(bytes(data))
    assert state == same and hash(state) == hash(same) and len({state, same}) == 1
    # Magic bytes and version are followed by the position, x first: 0, and then −0.
    data[6:14] = struct.pack("<d", 0.0)
    zero = skidpad.State.from_bytes(bytes(data))
    data[6:14] = struct.pack("<d", -0.0)
    negative = skidpad.State.from_bytes(bytes(data))
    assert zero.position == negative.position and zero != negative and hash(zero) != hash(negative)


def test_other_threads_run_during_a_step(car):
    world = skidpad.World()
    world.spawn(car)
    count, stop = 0, threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=work)
    thread.start()
    before = count
    world.step(20_000)
    after = count
    stop.set()
    thread.join()
    # With a held lock, the other thread would get at most one switch interval of 5 ms at the start and at the end.
    assert after - before > 1000


def test_a_run_has_telemetry_and_metrics(car):
    run = skidpad.run(car, "braking", rate=60.0)
    speed = run.trajectory["vx_mps"]
    assert np.shares_memory(speed, run.trajectory["vx_mps"]) and np.shares_memory(speed.base, run.trajectory["x_m"])
    assert not speed.flags.writeable and speed.flags.c_contiguous
    assert speed[0] == pytest.approx(100 / 3.6, abs=1e-4) and len(speed) == len(run.trajectory["t_s"])
    assert 35.0 < run.metric("distance_m") < 55.0
    assert run.health["not_finite"] is False and run.health["incomplete"] is None
    assert "distance" in run.metrics._repr_html_()
    with pytest.raises(KeyError, match="distance_m"):
        run.metric("nothing")


def has_equal_content(run, other):
    """Returns whether two runs have equal content, and the second one its telemetry in one read-only memory."""
    speed = other.trajectory["vx_mps"]
    assert not speed.flags.writeable and np.shares_memory(speed.base, other.trajectory["x_m"])
    assert isinstance(other.metrics, skidpad.Table) and list(run.trajectory) == list(other.trajectory)
    return (run.solver, run.metrics, run.health) == (other.solver, other.metrics, other.health) and all(
        np.array_equal(run.trajectory[name], other.trajectory[name], equal_nan=True) for name in run.trajectory
    )


def test_runs_comparisons_and_certificates_are_copied_and_pickled(car):
    run = skidpad.run(car, "braking", rate=60.0)
    comparison = skidpad.compare(car, "braking", ["impulse", "constraint"], rate=60.0)
    certificate = skidpad.certify(car, "braking", ["impulse"], [30.0, 60.0])
    run.note = "kept"
    for copy_of in (lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy, copy.copy):
        again = copy_of(run)
        assert has_equal_content(run, again) and again.note == "kept"
        again = copy_of(comparison)
        assert (again.about, again.table) == (comparison.about, comparison.table)
        assert all(has_equal_content(run, again.runs[solver]) for solver, run in comparison.runs.items())
        assert copy_of(certificate).table == certificate.table
    deep = copy.deepcopy(run)
    assert not np.shares_memory(deep.trajectory["x_m"], run.trajectory["x_m"])
    assert run.trajectory["x_m"].base is not None and not run.trajectory["x_m"].flags.writeable


def test_runs_cross_processes(car):
    run = skidpad.run(car, "braking", rate=60.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert has_equal_content(run, pool.apply(skidpad.run, (car, "braking"), {"rate": 60.0}))
        other = pool.apply(skidpad.compare, (car, "braking", ["impulse"], 60.0))
    assert has_equal_content(run, other.runs["impulse"])


INTERRUPTED = """
import os, signal, threading, time
import skidpad

car = skidpad.load("corvette_c5")
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore interrupts
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    skidpad.{call}
except KeyboardInterrupt:
    print("interrupted after", time.monotonic() - start)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt of a process ends it")
@pytest.mark.parametrize(
    "call",
    [
        "run(car, 'coast-scene', rate=2e4, duration=100.0)",
        "compare(car, 'coast-scene', ['impulse', 'constraint'], 2e4, duration=100.0)",
        "certify(car, 'coast-scene', ['impulse'], [1e4, 2e4], duration=100.0)",
    ],
)
def test_an_interrupt_stops_a_run(call):
    """The process has used no array before, so that NumPy's functions are not loaded by an earlier use."""
    command = [sys.executable, "-c", INTERRUPTED.format(call=call)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stdout.startswith("interrupted after"), result.stderr
    # A whole run takes up to a minute.
    assert 0.4 < float(result.stdout.split()[-1]) < 10.0


def test_a_handler_that_raises_nothing_does_not_stop_a_run(car):
    run = skidpad.run(car, "braking", rate=60.0)
    caught, thread_runs = [], []
    thread = threading.Thread(target=lambda: thread_runs.append(skidpad.run(car, "braking", rate=60.0)))
    previous = signal.signal(signal.SIGINT, lambda *_: caught.append(1))
    try:
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        long = skidpad.run(car, "coast-scene", rate=5e3, duration=40.0)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, previous)
    thread.start()
    thread.join()
    assert caught == [1] and len(long.trajectory["t_s"]) == 200_001
    # Threads other than the main one run as well.
    assert has_equal_content(run, thread_runs[0])


def test_tables_become_data_frames(car):
    metrics = skidpad.run(car, "braking", rate=60.0).metrics
    for name, method in (("pandas", metrics.to_pandas), ("polars", metrics.to_polars)):
        try:
            frame = method()
        except ModuleNotFoundError as error:
            assert error.name == name
        else:
            assert list(frame.columns) == ["metric", "label", "value", "unit"] and len(frame) == len(metrics)


def test_solvers_are_compared_and_certified(car):
    comparison = skidpad.compare(car, "braking", ["impulse", "constraint", "bullet"], rate=60.0)
    row = comparison.table[0]
    assert row["metric"] == "distance_m" and row["spread_percent"] < 1.0
    assert row["impulse"] == comparison.runs["impulse"].metric("distance_m")
    certificate = skidpad.certify(car, "braking", ["impulse"], rates=[30.0, 60.0, 120.0])
    assert certificate.summaries[0]["solver"] == "impulse" and "120 Hz" in certificate.table[0]
    with pytest.raises(ValueError, match="two different rates"):
        skidpad.certify(car, "braking", rates=[60.0, 60.0])


def test_trailers_and_faulty_arguments(car):
    train = skidpad.run("toyota_4runner", "braking", rate=60.0, towing=["caravan"])
    assert "trailer1.x_m" in train.trajectory
    for towing in ("caravan", skidpad.load("caravan")):
        single = skidpad.run("toyota_4runner", "braking", rate=60.0, towing=towing)
        assert single.metrics == train.metrics
    comparison = skidpad.compare("toyota_4runner", "braking", "impulse", 60.0, towing="caravan")
    assert list(comparison.runs) == ["impulse"] and comparison.runs["impulse"].metrics == train.metrics
    certificate = skidpad.certify(car, "braking", "impulse", [30.0, 60.0])
    assert [row["solver"] for row in certificate.summaries] == ["impulse"]
    with pytest.raises(ValueError, match="without a `\\[hitch\\]`"):
        skidpad.run(car, "braking", towing=["caravan"])
    with pytest.raises(ValueError, match=r"slope_deg is 100.*\n.*duration is -1"):
        skidpad.run(car, "braking", slope_deg=100.0, duration=-1.0)
    with pytest.raises(ValueError, match="did you mean `braking`"):
        skidpad.run(car, "brakin")
    with pytest.raises(ValueError, match="rate is 1 Hz"):
        skidpad.run(car, "braking", rate=1.0)


FOREIGN_CARS = Path(__file__).parents[2] / "skidpad-import/tests/it/files"


def test_a_car_of_bullet_is_imported_with_its_springs_and_brakes():
    """Bullet's spring rate is the stiffness times the mass: 40 * 1500 N/m. Its brake is an impulse per step: 60 N s in
    1/60 s at a radius of 0.33 m, and four times that torque at 240 Hz."""
    car, notes = skidpad.import_vehicle("bullet", FOREIGN_CARS / "bullet.toml")
    faster, _ = skidpad.import_vehicle("bullet", FOREIGN_CARS / "bullet.toml", rate=240.0)
    axles, faster_axles = (tomllib.loads(vehicle.toml)["axles"] for vehicle in (car, faster))
    assert car.mass == 1500.0 and car.wheel_count == 4 and all(isinstance(note, str) for note in notes)
    for axle, faster_axle in zip(axles, faster_axles, strict=True):
        assert axle["suspension"]["rate_n_per_m"] == pytest.approx(60e3)
        assert axle["brake_torque_nm"] == pytest.approx(3600.0 * 0.33)
        assert faster_axle["brake_torque_nm"] == pytest.approx(4 * 3600.0 * 0.33)


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("bullet", "bullet.toml"),
        ("commonroad", "commonroad_2.yaml"),
        ("godot", "car.tscn"),
        ("jolt", "jolt.toml"),
        ("physx", "physx.toml"),
        ("rapier", "rapier.toml"),
        ("unity", "unity5_default.prefab"),
    ],
)
def test_a_car_of_every_format_is_imported_and_drives(format, name):
    car, _ = skidpad.import_vehicle(format, FOREIGN_CARS / name)
    assert skidpad.read_vehicle(car.toml) == car
    world = skidpad.World("impulse")
    world.spawn(car, speed=5.0)
    assert world.step(100) and 0.0 < world.state(0).position[0] < 10.0


def test_faults_of_a_foreign_file_are_reported(tmp_path):
    path = tmp_path / "car.toml"
    path.write_text("nothing = 1\n")
    with pytest.raises(skidpad.VehicleError) as caught:
        skidpad.import_vehicle("bullet", path)
    assert any(fault["kind"] == "unknown_key" for fault in caught.value.faults)
    with pytest.raises(ValueError, match="unknown format"):
        skidpad.import_vehicle("unreal", path)
