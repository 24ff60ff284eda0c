"""Sweeps: runs and draws, shards, executors, resuming, merging and the command."""

import importlib.util
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import skidpad

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed; pip install -r requirements.txt")

from skidpad.sweep import (  # noqa: E402
    Choice,
    Grid,
    LogUniform,
    Normal,
    Sweep,
    SweepError,
    Uniform,
    merge,
    run_on_ray,
    run_on_threads,
)

needs_ray = [
    pytest.mark.ray,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None,
        reason="ray is not installed; pip install -r requirements-extras.txt",
    ),
]
# Ray's workers have the lowest priority by default, which delays the tests on busy machines.
os.environ.setdefault("RAY_worker_niceness", "0")
# Longest time that a started process may take until its first shard, s. Only a process that does not work needs it.
PATIENCE_S = 240.0
DESCRIPTION = """
car = "corvette_c5"
manoeuvre = "braking"
solvers = ["impulse", "constraint"]
rate = 60.0
samples = 5
seed = 7
shard_size = 4
[parameters]
mass = [1500, 1600]
initial_speed = { uniform = [8.0, 12.0] }
scene__grip = { normal = [0.9, 0.05] }
"""


@pytest.fixture(scope="module")
def sweep():
    parameters = {"mass": [1500, 1600], "initial_speed": Uniform(8, 12), "scene__grip": Normal(0.9, 0.05)}
    return Sweep("corvette_c5", "braking", ["impulse", "constraint"], 60.0, parameters, samples=5, seed=7, shard_size=4)


@pytest.fixture(scope="module")
def complete(sweep, tmp_path_factory):
    """Folder of the complete sweep, written by one thread."""
    folder = tmp_path_factory.mktemp("sweep")
    assert run_on_threads(sweep, folder, threads=1).written == tuple(range(sweep.shard_count))
    return folder


def copy_of(folder, tmp_path):
    """Returns the path of a copy of a folder."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def contents(folder):
    """Returns the bytes of the manifest and of the shards by their names."""
    return {path.name: path.read_bytes() for path in folder.glob("*") if path.name != "sweep.parquet"}


def long_sweep(**changes):
    """Sweep that takes seconds, so that an executor is interrupted in the middle."""
    parameters = {"initial_speed": Uniform(20, 40)}
    return Sweep("corvette_c5", "braking", "impulse", 240.0, parameters, **{"samples": 240, "shard_size": 4} | changes)


def test_runs_are_grids_samples_and_solvers(sweep):
    assert len(sweep) == 2 * 5 * 2 and sweep.shard_count == 5
    runs = [sweep.run(number) for number in range(len(sweep))]
    assert len({run.id for run in runs}) == len(runs)
    assert [run.values["mass"] for run in runs] == [1500] * 10 + [1600] * 10
    assert runs[0].values == runs[1].values and {runs[0].solver, runs[1].solver} == {"impulse", "constraint"}
    # Every point of the grid has the same samples.
    assert runs[0].values["initial_speed"] == runs[10].values["initial_speed"] != runs[2].values["initial_speed"]
    assert [run for index in range(5) for run in sweep.shard(index)] == runs
    assert pickle.loads(pickle.dumps(sweep)) == sweep and hash(sweep) == hash(pickle.loads(pickle.dumps(sweep)))


def test_identifiers_depend_on_the_content_of_a_run_only(sweep):
    larger = Sweep(
        sweep.car, "braking", sweep.solvers, 60.0, {**sweep.parameters, "mass": [1400, 1500]}, samples=9, seed=7
    )
    both = {run.id for run in map(sweep.run, range(10))} & {larger.run(number).id for number in range(len(larger))}
    assert len(both) == 10
    other = Sweep(sweep.car.with_(mass=1600), "braking", "impulse", 60.0)
    assert other.run(0).id != Sweep(sweep.car, "braking", "impulse", 60.0).run(0).id


def test_draws_follow_their_distributions():
    parameters = {
        "mass": Normal(1500, 20),
        "initial_speed": Uniform(20, 30),
        "slope_deg": Choice((0.0, 1.0, 2.0)),
        "scene__grip": LogUniform(0.1, 1.0),
    }
    sweep = Sweep("corvette_c5", "braking", "impulse", 60.0, parameters, samples=4000)
    runs = [sweep.run(number).values for number in range(len(sweep))]

    def mean(name, power=1):
        return sum(values[name] ** power for values in runs) / len(runs)

    # Four standard errors of 4,000 draws.
    assert mean("mass") == pytest.approx(1500, abs=4 * 20 / 4000**0.5)
    assert mean("mass", 2) - mean("mass") ** 2 == pytest.approx(400, rel=4 * (2 / 4000) ** 0.5)
    assert mean("initial_speed") == pytest.approx(25, abs=4 * (10 / 12**0.5) / 4000**0.5)
    assert mean("slope_deg") == pytest.approx(1, abs=4 * (2 / 3) ** 0.5 / 4000**0.5)
    assert sum(values["scene__grip"] < 0.1**0.5 for values in runs) / 4000 == pytest.approx(
        0.5, abs=4 * 0.5 / 4000**0.5
    )
    assert all(20 < values["initial_speed"] < 30 and 0.1 < values["scene__grip"] < 1 for values in runs)
    again = Sweep("corvette_c5", "braking", "impulse", 60.0, parameters, samples=4000, seed=1)
    assert again.run(0).values != runs[0]


def test_all_faults_of_a_description_are_reported():
    parameters = {
        "mas": 1,
        "track": 1.5,
        "axles__0__trac_m": 1.5,
        "mass": "heavy",
        "initial_speed": Uniform(3, 2),
        "scene__grip": [0.5, 0.5],
        "slope_deg": {"gauss": [0, 1]},
        "duration": [],
        "heading_deg": float("nan"),
        "chassis__centre_left_m": Uniform(-1e308, 1e308),
        "chassis__centre_above_ground_m": 2**60,
    }
    with pytest.raises(SweepError) as caught:
        Sweep("corvette_c5", "brakin", ["impulse", "impuls"], 5, parameters, samples=0, shard_size=1.5)
    faults = "\n".join(caught.value.faults)
    for text in ("did you mean `braking`", "`impuls`", "rate: 5", "samples: 0", "shard_size: 1.5", *parameters):
        assert text in faults
    assert len(caught.value.faults) == 5 + len(parameters)
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults


def test_faults_of_parameters_are_sentences():
    with pytest.raises(SweepError) as caught:
        parameters = {"scene__grip": 0.5, "mas": 1, "mass": "heavy"}
        Sweep("corvette_c5", "braking", "impulse", 60.0, parameters, scene=skidpad.Scene())
    grip, unknown, heavy = caught.value.faults
    assert grip == "parameters.scene__grip: the sweep has a scene; change its file instead"
    assert unknown.startswith("parameters.mas: unknown field `mas`; use a field of the vehicle file, a parameter of")
    assert heavy.count("but must be") == 1 and heavy.startswith('parameters.mass: `chassis.mass_kg` is "heavy", but')


def test_values_and_paths_have_a_limited_depth():
    endless = []
    endless.append(endless)
    with pytest.raises(SweepError) as caught:
        Sweep("corvette_c5", "braking", "impulse", 60.0, {"mass": endless, "a__" * 8000 + "b": 1})
    value, path = caught.value.faults
    assert value == "parameters.mass: the value has more than 8 lists and dictionaries inside each other"
    assert "has 8001 keys, but at most 32" in path and len(path) < 200


def test_a_name_needs_no_list():
    one, several = (Sweep("toyota_4runner", "braking", rate=60.0, towing=towing) for towing in ("caravan", ["caravan"]))
    assert one == several and len(one.towing) == 1
    assert Grid("sport").to_json() == {"grid": ["sport"]} and Choice(("a", "b")).to_json() == {"choice": ["a", "b"]}


def test_there_are_no_other_shards(sweep):
    for index in (sweep.shard_count, 10**18, 2**63):
        for call in (sweep.shard, sweep.plan.shard, lambda index: sweep.plan.simulate_shard(index, lambda: False)):
            with pytest.raises(IndexError, match=f"shard {index} of a sweep of 5 shards"):
                call(index)


def test_a_shard_has_parameters_metrics_and_units(sweep, complete):
    table = merge(complete)
    assert table.equals(pq.read_table(complete / "sweep.parquet"), check_metadata=True)
    assert table["id"].to_pylist() == [sweep.run(number).id for number in range(len(sweep))]
    assert table.schema.field("distance_m").metadata[b"unit"] == b"m"
    assert table.schema.field("initial_speed").metadata == {b"role": b"parameter", b"unit": b"m/s"}
    assert table.schema.metadata[b"skidpad.manifest"] == sweep.hash.encode()
    row = table.to_pylist()[13]
    scene = skidpad.Scene(grip=row["scene__grip"])
    car = sweep.car.with_(mass=row["mass"])
    run = skidpad.run(car, "braking", row["solver"], 60.0, scene=scene, initial_speed=row["initial_speed"])
    assert all(row[metric["metric"]] == metric["value"] for metric in run.metrics)


def test_faulty_runs_are_rows_with_their_fault(tmp_path):
    sweep = Sweep("corvette_c5", "braking", "impulse", 60.0, {"mass": [-1.0, 1500.0], "initial_speed": [10.0, 500.0]})
    assert run_on_threads(sweep, tmp_path).faulty_runs == 3
    faults = merge(tmp_path)["fault"].to_pylist()
    assert "mass_kg" in faults[0] and "initial_speed is 500" in faults[3] and faults[2] is None


def test_parameters_of_the_manoeuvre_are_varied(tmp_path):
    sweep = Sweep("corvette_c5", "braking", "impulse", 60.0, {"manoeuvre__pedal": [0.5, 1.0, 2.0]})
    assert run_on_threads(sweep, tmp_path).faulty_runs == 1
    table = merge(tmp_path)
    half, full, _ = table["distance_m"].to_pylist()
    assert half == skidpad.run("corvette_c5", "braking", rate=60.0, parameters={"pedal": 0.5}).metric("distance_m")
    assert half > 1.1 * full and "pedal=2: accepted are pedal from" in table["fault"].to_pylist()[2]
    with pytest.raises(SweepError, match="`braking` has no parameter `radius_m`; accepted are pedal"):
        Sweep("corvette_c5", "braking", parameters={"manoeuvre__radius_m": 50})


def test_threads_orders_and_parts_give_equal_bytes(sweep, complete, tmp_path):
    run_on_threads(sweep, tmp_path / "threads", threads=4)
    for index in (3, 0, 4, 2, 1):
        assert run_on_threads(sweep, tmp_path / "order", threads=1, shards=[index]).written == (index,)
    assert contents(tmp_path / "threads") == contents(tmp_path / "order") == contents(complete)


def test_the_command_runs_parts_and_merges(complete, tmp_path):
    (tmp_path / "sweep.toml").write_text(DESCRIPTION)
    folder = tmp_path / "out"

    def command(source, *arguments):
        program = [sys.executable, "-m", "skidpad.sweep", source, "--out", folder, *arguments]
        return subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE_S)

    first = command(tmp_path / "sweep.toml", "--shard", "2/2")
    assert first.stdout == "2 shards written, 0 were complete\n" and first.returncode == 0
    incomplete = command(folder / "manifest.json", "--merge")
    assert incomplete.returncode == 1 and "12 runs" in incomplete.stderr and "shards 0, 2, 4" in incomplete.stderr
    assert command(folder / "manifest.json").stdout == "3 shards written, 2 were complete\n"
    assert "20 runs" in command(folder / "manifest.json", "--merge").stdout
    assert contents(folder) == contents(complete)
    assert command(tmp_path / "sweep.toml", "--shard", "3/2").returncode == 2


def test_descriptions_with_faults_are_refused(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text('manoeuver = "braking"\nparameters = 3\n')
    with pytest.raises(SweepError) as caught:
        Sweep.load(path)
    # A misspelt key does not count as missing as well.
    assert len(caught.value.faults) == 3
    assert "sweep.toml:1:1: unknown key `manoeuver`; did you mean `manoeuvre`" in str(caught.value)
    path.write_text('car = 3\nmanoeuvre = [1]\nsolvers = [2]\nscene = true\ntowing = ["a", 1]\n')
    with pytest.raises(SweepError) as caught:
        Sweep.load(path)
    assert len(caught.value.faults) == 5
    assert all(f"`{key}" in str(caught.value) for key in ("car", "manoeuvre", "solvers[0]", "scene", "towing[1]"))
    path.write_text("car = ")
    with pytest.raises(SweepError, match="sweep.toml"):
        Sweep.load(path)
    with pytest.raises(SweepError, match="no manifest"):
        Sweep.from_manifest("{}")


def test_named_files_are_part_of_the_manifest(tmp_path):
    car = skidpad.load("corvette_c5").with_(description="notes.txt")
    (tmp_path / "car.toml").write_text(car.toml)
    (tmp_path / "notes.txt").write_text("first")
    sweep = Sweep(skidpad.load(tmp_path / "car.toml"), "braking")
    assert list(sweep.manifest["vehicle"]["files"]) == ["notes.txt"]
    text = sweep.to_manifest()
    assert Sweep.from_manifest(text) == sweep
    (tmp_path / "notes.txt").write_text("second")
    with pytest.raises(SweepError, match=r"vehicle.files.notes.txt"):
        Sweep.from_manifest(text)


def test_the_folder_of_another_sweep_is_refused(sweep, complete, tmp_path):
    folder = copy_of(complete, tmp_path)
    changed = {"mass": [1500, 1600], "initial_speed": Uniform(8, 13), "scene__grip": Normal(0.9, 0.05)}
    car = sweep.car.with_(axles__0__track_m=1.6)
    other = Sweep(car, "braking", sweep.solvers, 120.0, changed, samples=5, seed=7, shard_size=4)
    with pytest.raises(SweepError) as caught:
        run_on_threads(other, folder)
    assert sorted(caught.value.faults[1:]) == [
        "parameter.initial_speed.uniform.1: 12.0 there, 13.0 here",
        "rate: 60.0 there, 120.0 here",
        "vehicle.axles.0.track_m: 1.575 there, 1.6 here",
    ]
    manifest = folder / "manifest.json"
    version = f'"skidpad": "{sweep.manifest["skidpad"]}"'
    manifest.write_text(manifest.read_text().replace(version, '"skidpad": "9"').replace(sweep.hash, "0"))
    with pytest.raises(SweepError, match='skidpad: "9" there'):
        Sweep.load(manifest)
    with pytest.raises(SweepError, match='skidpad: "9" there'):
        run_on_threads(sweep, folder)
    for text in (
        "[]",
        '{"hash": 1, "manifest": [1]}',
        '{"hash": 1, "manifest": {"vehicle": 1}, "sources": {"vehicle": 1}}',
    ):
        manifest.write_text(text)
        with pytest.raises(SweepError, match="no manifest"):
            run_on_threads(sweep, folder)
        with pytest.raises(SweepError, match="no manifest"):
            Sweep.load(manifest)
    shutil.copy(complete / "manifest.json", manifest)
    assert contents(folder) == contents(complete)


def test_torn_files_are_replaced_and_foreign_ones_refused(sweep, complete, tmp_path):
    folder = copy_of(complete, tmp_path)
    first, second, third, fourth, _ = sorted(folder.glob("shard-*"))
    first.write_bytes(first.read_bytes()[:-100])
    second.write_bytes(b"")
    middle = bytearray(third.read_bytes())
    middle[60:80] = bytes(20)
    third.write_bytes(middle)
    pq.write_table(pq.read_table(fourth).slice(1), fourth)
    report = run_on_threads(sweep, folder)
    assert report.torn == report.written == (0, 1, 2, 3) and contents(folder) == contents(complete)
    other = Sweep(sweep.car, "braking", shard_size=4)
    run_on_threads(other, tmp_path / "other")
    shutil.copy(next((tmp_path / "other").glob("shard-*")), first)
    with pytest.raises(SweepError, match="belongs to the sweep"):
        run_on_threads(sweep, folder)
    with pytest.raises(SweepError, match="belongs to the sweep"):
        merge(folder)
    table = pq.read_table(second)
    pq.write_table(table.set_column(0, table.schema.field(0), [table["id"].to_pylist()[::-1]]), first)
    with pytest.raises(SweepError, match="other runs"):
        run_on_threads(sweep, folder)


def test_merge_finds_missing_double_and_unknown_runs(sweep, complete, tmp_path):
    folder = copy_of(complete, tmp_path)
    (folder / "sweep.parquet").unlink(missing_ok=True)
    first, second, third, *_ = sorted(folder.glob("shard-*"))
    shutil.copy(second, folder / "shard-copy.parquet")
    first.unlink()
    table = pq.read_table(third)
    pq.write_table(table.set_column(0, table.schema.field(0), [["x", *table["id"].to_pylist()[1:]]]), third)
    with pytest.raises(SweepError) as caught:
        merge(folder)
    missing, double, unknown = caught.value.faults
    assert "5 runs" in missing and "shards 0, 2" in missing and sweep.run(0).id in missing
    assert "4 runs" in double and sweep.run(4).id in double and "1 runs (x)" in unknown
    assert not (folder / "sweep.parquet").exists()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_a_stopped_driver_is_resumed(name, tmp_path):
    sweep, folder = long_sweep(), tmp_path / "out"
    (tmp_path / "manifest.json").write_text(sweep.to_manifest())
    program = [sys.executable, "-m", "skidpad.sweep", tmp_path / "manifest.json", "--out", folder, "--threads", "2"]
    driver = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
    wait_for_shards(folder, 2)
    driver.send_signal(getattr(signal, name))
    _, message = driver.communicate(timeout=PATIENCE_S)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("shard-*.parquet")}
    assert 2 <= len(before) < sweep.shard_count
    if name != "SIGKILL":
        assert driver.returncode == 130 and "stopped" in message
        assert not list(folder.glob("*.partial"))
    report = run_on_threads(sweep, folder)
    assert len(report.kept) == len(before) and len(report.written) == sweep.shard_count - len(before)
    assert not report.torn and all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert len(merge(folder)) == len(sweep)


def test_stale_partial_files_are_removed(sweep, complete, tmp_path):
    folder = copy_of(complete, tmp_path)
    stale, fresh = folder / "shard-000000.1.partial", folder / "shard-000000.2.partial"
    stale_stop_file = folder / "1.stop"
    for file in (stale, stale_stop_file, fresh):
        file.touch()
    for file in (stale, stale_stop_file):
        os.utime(file, (time.time() - 7200,) * 2)
    run_on_threads(sweep, folder)
    assert fresh.exists() and not stale.exists() and not stale_stop_file.exists()


def wait_for_shards(folder, count):
    """Waits until a folder has some complete shards."""
    end = time.monotonic() + PATIENCE_S
    while len(list(folder.glob("shard-*.parquet"))) < count:
        assert time.monotonic() < end, "no shard was written"
        time.sleep(0.002)


@pytest.fixture(scope="module")
def workers():
    """Process numbers of the two workers of a cluster on this machine."""
    import ray

    def identify():
        time.sleep(1.0)  # both workers are busy, so that each gets a task
        return os.getpid()

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    task = ray.remote(identify)
    yield sorted(set(ray.get([task.remote() for _ in range(4)])))
    ray.shutdown()


class TestRay:
    """Executor with Ray."""

    pytestmark = needs_ray

    def test_tasks_give_the_bytes_of_threads(self, sweep, complete, tmp_path):
        assert run_on_ray(sweep, tmp_path).written == tuple(range(5))
        assert contents(tmp_path) == contents(complete)
        import ray

        assert not ray.is_initialized()

    def test_shards_of_a_killed_worker_are_repeated(self, workers, tmp_path):
        sweep, reports = long_sweep(samples=400), []
        thread = threading.Thread(target=lambda: reports.append(run_on_ray(sweep, tmp_path / "ray")))
        thread.start()
        wait_for_shards(tmp_path / "ray", 4)
        os.kill(workers[0], signal.SIGKILL)
        assert len(list((tmp_path / "ray").glob("shard-*.parquet"))) < sweep.shard_count
        thread.join(PATIENCE_S)
        (report,) = reports
        assert sorted((*report.kept, *report.written)) == list(range(sweep.shard_count))
        run_on_threads(sweep, tmp_path / "threads")
        assert contents(tmp_path / "ray") == contents(tmp_path / "threads")

    def test_an_interrupt_leaves_complete_files_only(self, tmp_path):
        sweep, folder = long_sweep(samples=1000), tmp_path / "out"
        (tmp_path / "manifest.json").write_text(sweep.to_manifest())
        program = [sys.executable, "-m", "skidpad.sweep", tmp_path / "manifest.json", "--out", folder, "--ray"]
        # Background jobs of a shell ignore interrupts, and a process started by them does, too.
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        driver = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, handler)
        wait_for_shards(folder, 2)
        driver.send_signal(signal.SIGINT)
        _, message = driver.communicate(timeout=PATIENCE_S)
        assert driver.returncode == 130 and "stopped" in message
        assert not list(folder.glob("*.partial")) and len(list(folder.glob("shard-*"))) < sweep.shard_count
        assert not run_on_threads(sweep, folder).torn

    def test_interrupts_while_tasks_complete_leave_complete_files_only(self, workers, tmp_path):
        sweep = long_sweep(samples=1000)

        def interrupt_after_shards(folder, delay_s):
            wait_for_shards(folder, 2)
            time.sleep(delay_s)
            os.kill(os.getpid(), signal.SIGINT)

        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        for attempt in range(20):
            folder = tmp_path / str(attempt)
            thread = threading.Thread(target=interrupt_after_shards, args=(folder, attempt * 2e-3))
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                run_on_ray(sweep, folder)
            thread.join()
            assert {path.suffix for path in folder.iterdir()} == {".json", ".parquet"}
        signal.signal(signal.SIGINT, handler)
        assert not run_on_threads(sweep, folder).torn

    def test_errors_of_tasks_are_those_of_threads(self, workers, sweep, complete, tmp_path):
        folder = copy_of(complete, tmp_path)
        run_on_threads(Sweep(sweep.car, "braking"), tmp_path / "other")
        shutil.copy(next((tmp_path / "other").glob("shard-*")), min(folder.glob("shard-*")))
        with pytest.raises(SweepError, match="belongs to the sweep"):
            run_on_ray(sweep, folder)
