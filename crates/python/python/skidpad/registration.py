"""Registration of the environments with Gymnasium, when the package is imported."""

# Identifiers with the tasks of the environments.
TASKS = {
    "skidpad/FollowPath-v0": "follow_path",
    "skidpad/Track-v0": "track",
    "skidpad/DriftCircle-v0": "drift_circle",
    "skidpad/Parking-v0": "parking",
    "skidpad/TrailerParking-v0": "trailer_parking",
}

# Actions after which an episode of a task is truncated by default.
MAX_EPISODE_STEPS = {
    "follow_path": 1000,
    "track": 1500,
    "drift_circle": 500,
    "parking": 400,
    "trailer_parking": 500,
}


def register_environments() -> None:
    """Registers all environments. Does nothing without Gymnasium.

    `gymnasium.make` passes its keyword `max_episode_steps` to a wrapper and never to the environment, and
    `gymnasium.make_vec` passes it to `VectorEnv`. The single environment is therefore registered without a limit of its
    own, so that the keyword can also lengthen its episodes.
    """
    try:
        from gymnasium.envs.registration import register
    except ModuleNotFoundError:
        return
    for identifier, task in TASKS.items():
        register(
            id=identifier,
            entry_point="skidpad.environments:RegisteredEnv",
            vector_entry_point="skidpad.environments:VectorEnv",
            max_episode_steps=MAX_EPISODE_STEPS[task],
            kwargs={"task": task},
        )
