"""Vehicles, worlds and manoeuvres."""

import pickle
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
    with pytest.raises(ValueError, match="is not a value of `chassis.mass_kg`"):
        car.with_(mass=float("nan"))


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
    with pytest.raises(FileNotFoundError):
        skidpad.load(tmp_path / "none.toml")


def test_scenes_are_values(tmp_path):
    scene = skidpad.Scene(grip=0.5, slope_deg=3.0)
    assert pickle.loads(pickle.dumps(scene)) == scene != skidpad.Scene()
    path = tmp_path / "scene.toml"
    path.write_text("grip = 0.5\nslope_deg = 3.0\n")
    assert skidpad.Scene.load(path) == scene
    with pytest.raises(skidpad.VehicleError, match="grip"):
        skidpad.Scene(grip=-1.0)


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
