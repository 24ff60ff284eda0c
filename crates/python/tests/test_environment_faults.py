"""Environments with unusual or faulty arguments: seeds, lengths of episodes, tracks, ranges, buffers and paths."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
import skidpad
from skidpad.environments import Env, VectorEnv

VEHICLES = Path(__file__).parents[3] / "vehicles"

# Numbers of each task with their smallest and largest value.
COURSE = {
    "max_speed": (0.1, 200.0),
    "max_lateral_acceleration": (0.1, 100.0),
    "max_longitudinal_acceleration": (0.1, 100.0),
}
PARKING = {
    "goal_distance": (0.1, 1000.0),
    "distance_tolerance": (0.001, 100.0),
    "heading_tolerance": (0.001, 3.2),
}
RANGES = {
    "follow_path": {"max_offset": (0.1, 1000.0), **COURSE},
    "track": COURSE,
    "drift_circle": {
        "radius": (2.0, 10_000.0),
        "max_offset": (0.1, 1000.0),
        "target_sideslip": (0.01, 1.5),
        "start_speed": (0.1, 100.0),
    },
    "parking": PARKING,
    "trailer_parking": {"max_articulation": (0.01, 3.2), **PARKING},
}
NUMBERS = [(task, name) for task, numbers in RANGES.items() for name in ("max_steer", *numbers)]


def places(env):
    """Returns the positions of all cars."""
    return [tuple(env.state(car).position) for car in range(env.num_envs)]


def masked(*cars, count=4):
    """Returns options that reset some cars."""
    mask = np.zeros(count, bool)
    mask[list(cars)] = True
    return {"reset_mask": mask}


def test_cars_without_a_seed_have_random_numbers_of_their_own():
    listed, number, first_only = (VectorEnv(4, task="drift_circle") for _ in range(3))
    number.reset(seed=7)
    listed.reset(seed=[7, None, None, None])
    assert len(set(places(listed))) == 4 and places(listed)[0] == places(number)[0]
    assert not set(places(listed)[1:]) & set(places(number)[1:])
    # Cars that had a seed continue their numbers.
    number.reset()
    listed.reset()
    assert len(set(places(listed))) == 4 and places(listed)[0] == places(number)[0]
    # A seed for a part of the cars leaves the others without one.
    first_only.reset(seed=7, options=masked(0))
    first_only.reset()
    assert len(set(places(first_only))) == 4 and places(first_only)[0] == places(number)[0]
    # A new environment without any seed starts elsewhere.
    others = [VectorEnv(4, task="drift_circle") for _ in range(2)]
    for env in others:
        env.reset()
    assert len({place for env in others for place in places(env)}) == 8


def test_a_new_seed_replaces_drawn_ones():
    env, other = VectorEnv(3, task="parking"), VectorEnv(3, task="parking")
    env.reset()
    assert np.array_equal(env.reset(seed=5)[0], other.reset(seed=5)[0])
    for seed, message in (
        ([1, 2], "list of 2 seeds, expected 3"),
        ([1, -2, 3], "the seed of car 1 is -2"),
        (2**64 - 2, "the seed of car 2 is 18446744073709551616"),
    ):
        with pytest.raises(ValueError, match=message):
            env.reset(seed=seed)


def episode_length(env):
    """Returns the number of actions of the first episode that is truncated."""
    env.reset(seed=0)
    actions = np.zeros(env.action_space.shape, np.float32)
    for length in range(1, 1000):
        _, _, terminated, truncated, _ = env.step(actions)
        assert not np.any(terminated)
        if np.any(truncated):
            return length
    return None


@pytest.mark.parametrize(
    ("keywords", "expected"), [({}, 400), ({"max_episode_steps": 450}, 450), ({"max_episode_steps": 30}, 30)]
)
def test_one_keyword_sets_the_length_of_episodes_everywhere(keywords, expected):
    identifier = "skidpad/Parking-v0"
    # A wide area, which a car without demands does not leave.
    settings = {"goal_distance": 1000.0, **keywords}
    environments = [
        gymnasium.make(identifier, **settings),
        gymnasium.make_vec(identifier, num_envs=2, **settings),
        gymnasium.make_vec(identifier, num_envs=2, vectorization_mode="sync", **settings),
        Env(task="parking", **settings),
        VectorEnv(2, task="parking", **settings),
    ]
    assert [episode_length(env) for env in environments] == [expected] * len(environments)


def test_episodes_have_no_limit_on_request():
    settings = {"goal_distance": 1000.0, "max_episode_steps": -1}
    for env in (
        gymnasium.make("skidpad/Parking-v0", **settings),
        gymnasium.make_vec("skidpad/Parking-v0", num_envs=1, **settings),
        Env(task="parking", **settings),
    ):
        assert episode_length(env) is None


def circle(count=100, radius=50.0):
    """Returns points of a circle, counter-clockwise, with widths of 4 m."""
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full((count, 2), 4.0)])


def test_repeated_points_of_a_track_are_left_out(tmp_path):
    points = circle()
    near = points[:1] + [0.003, -0.003, 0.0, 0.0]
    closed, nearly_closed = np.vstack([points, points[:1]]), np.vstack([points, near])
    doubled = np.repeat(points, 2, axis=0)
    plain = skidpad.Track(points)
    assert plain.length == pytest.approx(2.0 * np.pi * 50.0, rel=1e-5)
    assert plain.samples[:, 4] == pytest.approx(1.0 / 50.0, rel=2e-3)
    for array in (closed, doubled, nearly_closed):
        track = skidpad.Track(array)
        assert track == plain and track.length == plain.length
        assert np.array_equal(track.samples, plain.samples) and np.array_equal(track.points, points)
    path = tmp_path / "closed.csv"
    path.write_text("\n".join(",".join(map(repr, row)) for row in closed.tolist()) + "\n")
    assert skidpad.load_track(path) == plain
    with pytest.raises(ValueError, match="1 different points, but must have at least 4"):
        skidpad.Track(np.ones((6, 4)))


def test_points_of_another_shape_are_refused():
    for array in (np.zeros((10, 5)), np.zeros((8, 3))):
        with pytest.raises(ValueError, match=r"points has the shape .*, expected \[n, 4\]"):
            skidpad.Track(array)
    with pytest.raises(TypeError, match="float32"):
        skidpad.Track(circle().astype(np.float32))


def test_masked_resets_start_all_cars():
    env = VectorEnv(4, task="parking")
    actions = np.zeros((4, 2), np.float32)
    env.reset(seed=0, options=masked(0, 1, 3))
    with pytest.raises(RuntimeError, match=r"car 2 was never reset; call reset"):
        env.step(actions)
    env.reset(seed=0, options=masked(2))
    found = env.step(actions)[0]
    other = VectorEnv(4, task="parking")
    other.reset(seed=0)
    assert np.array_equal(found, other.step(actions)[0])


def test_the_error_after_an_episode_names_the_remedy():
    actions = np.zeros((2, 2), np.float32)
    settings = {"task": "parking", "max_episode_steps": 1}
    env, single = VectorEnv(2, autoreset_mode="Disabled", **settings), Env(**settings)
    env.reset(seed=0)
    env.step(actions)
    with pytest.raises(RuntimeError, match="car 0 has ended.*reset_mask"):
        env.step(actions)
    single.reset(seed=0)
    single.step(actions[0])
    with pytest.raises(RuntimeError, match=r"the episode has ended; call reset\(\) before the next step\(\)$"):
        single.step(actions[0])


@pytest.mark.parametrize(("task", "name"), NUMBERS)
def test_numbers_of_tasks_have_ranges(task, name):
    low, high = {"max_steer": (0.01, 1.5), **RANGES[task]}[name]
    for number in (low, high):
        env = VectorEnv(4, task=task, threads=1, **{name: number})
        env.reset(seed=0)
        random = np.random.default_rng(0)
        for _ in range(30):
            observations, rewards, *_ = env.step(random.uniform(-1, 1, (4, 2)).astype(np.float32))
            assert np.isfinite(observations).all() and (np.abs(rewards) < 1e4).all()
    message = f"^{name} is .*, but must be a number from {low:g} to {high:g} "
    for number in (0.99 * low, 1.01 * high, 3e38, 1e-20, 1e300, 0.0, -1.0, float("nan"), float("inf"), "fast"):
        with pytest.raises(ValueError, match=message) as caught:
            VectorEnv(4, task=task, threads=1, **{name: number})
        assert repr(number) in str(caught.value)


def buffers(**changes):
    """Returns arrays for two cars that park, with some changes; None leaves an array out."""
    arrays = {
        "observations": np.zeros((2, 12), np.float32),
        "rewards": np.zeros(2, np.float32),
        "terminals": np.zeros(2, bool),
        "truncations": np.zeros(2, bool),
    } | changes
    return {name: array for name, array in arrays.items() if array is not None}


def read_only():
    """Returns a read-only array of rewards of two cars."""
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    return array


SHARED = np.zeros(2, bool)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rewards": None}, "buf has no array 'rewards'"),
        ({"action": np.zeros((2, 2), np.float32)}, "buf has an unknown array 'action'; known names: .*actions"),
        ({"rewards": [0.0, 0.0]}, "rewards is a list, expected an array of float32"),
        ({"rewards": np.zeros(2)}, "rewards has the type float64, expected float32"),
        ({"terminals": np.zeros(2, np.uint8)}, "terminals has the type uint8, expected bool"),
        ({"observations": np.zeros((2, 12))}, "observations has the type float64, expected float32"),
        ({"observations": np.zeros(24, np.float32)}, r"has the shape \[24\], expected \[2, observations\]"),
        ({"observations": np.zeros((3, 12), np.float32)}, r"observations has the shape \[3, 12\], expected \[2, 12\]"),
        ({"observations": np.zeros((2, 13), np.float32)}, r"observations has the shape \[2, 13\], expected \[2, 12\]"),
        ({"rewards": np.zeros((2, 1), np.float32)}, r"rewards has the shape \[2, 1\], expected \[2\]"),
        ({"actions": np.zeros((2, 3), np.float32)}, r"actions has the shape \[2, 3\], expected \[2, 2\]"),
        ({"observations": np.zeros((12, 2), np.float32).T}, "observations is not C-contiguous"),
        ({"rewards": np.zeros(4, np.float32)[::2]}, "rewards is not C-contiguous"),
        ({"rewards": read_only()}, "rewards is read-only"),
        ({"terminals": SHARED, "truncations": SHARED}, "terminals and truncations share memory"),
    ],
)
def test_faulty_buffers_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        VectorEnv(2, task="parking", buf=buffers(**changes))


def test_actions_of_a_step_are_checked():
    for buf in (None, buffers()):
        env = VectorEnv(2, task="parking", buf=buf)
        env.reset(seed=0)
        with pytest.raises(ValueError, match=r"step\(None\) reads the array `actions` of `buf`, but there is none"):
            env.step(None)
        with pytest.raises(ValueError, match=r"actions has the shape \[4\], expected \[2, 2\]"):
            env.step(np.zeros(4, np.float32))
    single = Env(task="parking")
    single.reset(seed=0)
    with pytest.raises(ValueError, match=r"action has the shape \[3\], expected \[2\]"):
        single.step(np.zeros(3, np.float32))
    # Actions of buf may be read-only, and the masks of PufferLib are ignored.
    actions = np.full((2, 2), 0.5, np.float32)
    actions.flags.writeable = False
    env = VectorEnv(2, task="parking", buf=buffers(actions=actions, masks=np.ones(2, bool)))
    env.reset(seed=0)
    assert np.isfinite(env.step(None)[0]).all()


def test_names_and_paths_are_accepted(tmp_path):
    path = tmp_path / "t.csv"
    rows = skidpad.load_track("short").points.tolist()
    path.write_text("\n".join(",".join(map(repr, row)) for row in rows) + "\n")
    for task, keyword, values in (
        ("follow_path", "track", ("short", path, str(path))),
        ("parking", "car", ("corvette_c5", VEHICLES / "corvette_c5.toml")),
        ("trailer_parking", "trailer", ("caravan", VEHICLES / "trailers/caravan.toml")),
    ):
        for environment in (VectorEnv, Env):
            expected, *found = (environment(task=task, **{keyword: value}).reset(seed=1)[0] for value in values)
            assert all(np.array_equal(observations, expected) for observations in found)


def test_missing_tracks_are_named(tmp_path):
    for call in (skidpad.load_track, lambda name: VectorEnv(1, track=name)):
        with pytest.raises(FileNotFoundError, match="'hils' is .* mean `hills`.* shipped tracks: hills, short"):
            call("hils")
    with pytest.raises(FileNotFoundError, match="shipped tracks") as caught:
        skidpad.load_track(tmp_path / "mine.csv")
    assert "mine.csv" in str(caught.value) and "did you mean" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"mine\.csv: "):
        skidpad.Track.load(tmp_path / "mine.csv")
    path = tmp_path / "latin.csv"
    path.write_bytes(b"# x_m,y_m\n# Stra\xdfe\n0,0,5,5\n")
    with pytest.raises(OSError, match=r"latin\.csv: line 2, column 7 is not UTF-8"):
        skidpad.load_track(path)
    with pytest.raises(OSError, match=f"{tmp_path.name}: this is a folder"):
        skidpad.load_track(tmp_path)


def test_pictures_of_a_second_follow_the_length_of_an_action():
    for keywords, expected in (({}, 25), ({"substeps": 25}, 4), ({"dt": 0.005}, 50), ({"substeps": 3}, 100 / 3)):
        for env in (
            VectorEnv(1, task="parking", **keywords),
            Env(task="parking", **keywords),
            gymnasium.make("skidpad/Parking-v0", **keywords),
        ):
            assert env.metadata["render_fps"] == pytest.approx(expected, abs=1e-5)
    assert VectorEnv.metadata["render_fps"] == Env.metadata["render_fps"] == 25


def test_counts_have_ranges():
    for keywords, message in (
        ({"num_envs": 2**40}, "num_envs is 1099511627776, but must be 1 to 1000000"),
        ({"num_envs": 2**62}, "num_envs is 4611686018427387904, but must be 1 to 1000000"),
        ({"num_envs": 2**64}, "num_envs is 18446744073709551616"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"num_envs": -1}, "num_envs is -1"),
        ({"threads": 1025}, "threads is 1025, but must be 0"),
        ({"threads": -1}, "threads is -1, but must be 0"),
        ({"substeps": -4}, "substeps is -4, but must be 1 to 10000"),
        ({"substeps": 10_001}, "substeps is 10001"),
        ({"max_episode_steps": 0}, "max_episode_steps is 0, but must be 1 to 4294967295"),
        ({"max_episode_steps": 2**32}, "max_episode_steps is 4294967296"),
        ({"dt": 1.5}, "dt is 1.5, but must be a number from 0.0001 to 1 s"),
    ):
        with pytest.raises(ValueError, match=message):
            VectorEnv(**{"num_envs": 1, "task": "parking", **keywords})
