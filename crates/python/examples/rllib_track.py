"""Learns to drive a track with PPO of RLlib. One actor for each runner steps its cars as one fleet.

Usage: `python rllib_track.py [--runners 2] [--cars 256] [--iterations 50]`. Needs `pip install "skidpad[rllib]"`, which
installs PyTorch (about 3 GB) and Gymnasium 1.2.2.
"""

import argparse
from typing import Any

from skidpad.environments import VectorEnv

# Name under which RLlib knows the environment.
ENVIRONMENT = "skidpad-track"

# Actions of all cars of a runner between two updates of the policy, for each car.
ROLLOUT_LENGTH = 64


def make_environment(settings: dict[str, Any]) -> VectorEnv:
    """Returns the fleet of a runner with `settings["num_envs"]` cars. RLlib calls this function in each actor."""
    return VectorEnv(settings["num_envs"], task="track", threads=1)


def main() -> None:
    """Learns and prints the mean return after each iteration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runners", type=int, default=2)
    parser.add_argument("--cars", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=50)
    arguments = parser.parse_args()
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env

    register_env(ENVIRONMENT, make_environment)
    config = (
        PPOConfig()
        .environment(ENVIRONMENT)
        .env_runners(
            num_env_runners=arguments.runners,
            num_envs_per_env_runner=arguments.cars,
            rollout_fragment_length=ROLLOUT_LENGTH,
            # The environment is a vector of cars itself.
            gym_env_vectorize_mode="vector_entry_point",
        )
        .training(
            train_batch_size_per_learner=arguments.runners * arguments.cars * ROLLOUT_LENGTH, lr=7e-4, num_epochs=4
        )
    )
    algorithm = config.build_algo()
    for iteration in range(arguments.iterations):
        result = algorithm.train()
        print(iteration, result["env_runners"].get("episode_return_mean"), flush=True)
    algorithm.stop()


if __name__ == "__main__":
    main()
