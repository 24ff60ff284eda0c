"""Registration of the environments with Gymnasium, which calls `register` through the entry point `gymnasium.envs`."""

# Identifier without the namespace `skidpad/`: keywords of the environments.
ENVIRONMENTS = {
    "FollowPath-v0": {"task": "follow_path"},
    "Track-v0": {"task": "track"},
    "DriftCircle-v0": {"task": "drift_circle"},
    "Parking-v0": {"task": "parking"},
}


def register() -> None:
    """Registers all environments. Gymnasium adds the namespace `skidpad/`."""
    # Gymnasium is not fully imported when it calls this function.
    from gymnasium.envs.registration import register as register_environment

    for identifier, keywords in ENVIRONMENTS.items():
        register_environment(
            id=identifier,
            entry_point="skidpad.environments:Env",
            vector_entry_point="skidpad.environments:VectorEnv",
            kwargs=keywords,
        )
