"""Registration of the environments with Gymnasium, when the package is imported."""

# Identifiers with the tasks of the environments.
TASKS = {
    "skidpad/FollowPath-v0": "follow_path",
    "skidpad/Track-v0": "track",
    "skidpad/DriftCircle-v0": "drift_circle",
    "skidpad/Parking-v0": "parking",
    "skidpad/TrailerParking-v0": "trailer_parking",
}


def register_environments() -> None:
    """Registers all environments. Does nothing without Gymnasium."""
    try:
        from gymnasium.envs.registration import register
    except ModuleNotFoundError:
        return
    for identifier, task in TASKS.items():
        register(
            id=identifier,
            entry_point="skidpad.environments:Env",
            vector_entry_point="skidpad.environments:VectorEnv",
            kwargs={"task": task},
        )
