"""Learns to drive with proximal policy optimisation (PPO, J. Schulman et al., arXiv:1707.06347) in JAX.

Usage: `python ppo_track.py [--task FollowPath-v0] [--seeds 3] [--updates 100] [--out curves.png]`. Needs
`pip install "skidpad[learn]"`. Prints the mean return of the episodes and the processor time after each tenth update, and
draws the learning curves of all seeds.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import flax.linen as nn
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import optax
import skidpad  # noqa: F401, registers the environments
from flax.training.train_state import TrainState

NUM_ENVS = 512
# Actions of each car between two updates of the policy.
ROLLOUT_LENGTH = 64
EPOCHS = 4
MINIBATCHES = 8
DISCOUNT = 0.99
# Weight of later steps in the advantages (GAE).
ADVANTAGE_DECAY = 0.95
CLIP_RANGE = 0.2
VALUE_WEIGHT = 0.5
ENTROPY_WEIGHT = 1e-3
LEARNING_RATE = 7e-4
MAX_GRADIENT_NORM = 0.5
# Logarithm of the standard deviation of the first actions.
FIRST_LOG_STD = -0.7


class ActorCritic(nn.Module):
    """Means and logarithms of the standard deviations of the actions, and the value of an observation."""

    action_count: int

    @nn.compact
    def __call__(self, observations):
        def layers(name, outputs, scale):
            hidden = observations
            for number in range(2):
                dense = nn.Dense(64, kernel_init=nn.initializers.orthogonal(2**0.5), name=f"{name}_{number}")
                hidden = nn.tanh(dense(hidden))
            return nn.Dense(outputs, kernel_init=nn.initializers.orthogonal(scale), name=f"{name}_out")(hidden)

        log_std = self.param("log_std", nn.initializers.constant(FIRST_LOG_STD), (self.action_count,))
        return layers("actor", self.action_count, 0.01), log_std, layers("critic", 1, 1.0)[..., 0]


class Samples(NamedTuple):
    """Steps of a rollout, each an array of shape [samples, ...]."""

    observations: jax.Array
    actions: jax.Array
    log_probabilities: jax.Array
    advantages: jax.Array
    returns: jax.Array


def log_probability(actions, mean, log_std):
    """Returns the logarithm of the density of actions, summed over their numbers."""
    deviation = (actions - mean) * jnp.exp(-log_std)
    return jnp.sum(-0.5 * deviation**2 - log_std - 0.5 * jnp.log(2 * jnp.pi), axis=-1)


class RewardScaler:
    """Divides rewards by the standard deviation of all discounted returns so far. The values of every task then have
    order 1, which the critic reaches in its first updates."""

    def __init__(self, cars):
        # Discounted sum of the rewards of each car since the start of its episode.
        self.returns = np.zeros(cars)
        # Count, sum and sum of squares of these returns over all steps.
        self.count, self.sum, self.sum_of_squares = 0, 0.0, 0.0

    def scale(self, rewards, ended):
        """Returns scaled rewards, shape [steps, cars]."""
        for reward, end in zip(rewards, ended, strict=True):
            self.returns = DISCOUNT * self.returns + reward
            self.count += len(reward)
            self.sum += self.returns.sum()
            self.sum_of_squares += (self.returns**2).sum()
            self.returns[end] = 0.0
        variance = self.sum_of_squares / self.count - (self.sum / self.count) ** 2
        return rewards / np.sqrt(variance + 1e-8)


@jax.jit
def act(state, observations, key):
    """Draws actions. Returns them with their log-probabilities and the values of the observations."""
    mean, log_std, value = state.apply_fn(state.params, observations)
    actions = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    return actions, log_probability(actions, mean, log_std), value


@jax.jit
def values(state, observations):
    """Returns the values of observations."""
    return state.apply_fn(state.params, observations)[2]


def loss(params, apply_fn, batch):
    """Returns the loss of PPO for a minibatch."""
    mean, log_std, value = apply_fn(params, batch.observations)
    ratio = jnp.exp(log_probability(batch.actions, mean, log_std) - batch.log_probabilities)
    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - CLIP_RANGE, 1 + CLIP_RANGE)
    policy_loss = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
    value_loss = ((value - batch.returns) ** 2).mean()
    return policy_loss + VALUE_WEIGHT * value_loss - ENTROPY_WEIGHT * log_std.sum()


@partial(jax.jit, donate_argnums=0)
def update(state, samples, key):
    """Improves the policy on the samples of a rollout, in random minibatches."""
    count = samples.advantages.shape[0]

    def train_minibatch(state, indices):
        batch = jax.tree.map(lambda array: array[indices], samples)
        gradients = jax.grad(loss)(state.params, state.apply_fn, batch)
        return state.apply_gradients(grads=gradients), None

    def train_epoch(state, key):
        indices = jax.random.permutation(key, count).reshape(MINIBATCHES, -1)
        return jax.lax.scan(train_minibatch, state, indices)[0], None

    return jax.lax.scan(train_epoch, state, jax.random.split(key, EPOCHS))[0]


def advantages_of(rewards, values_, next_values, ended):
    """Returns the generalised advantages, shape [steps, cars]. `next_values` are 0 after terminations and the values of
    the last observations after truncations."""
    errors = rewards + DISCOUNT * next_values - values_
    advantages, advantage = np.empty_like(errors), np.zeros(errors.shape[1], np.float32)
    for step in reversed(range(len(errors))):
        advantage = errors[step] + DISCOUNT * ADVANTAGE_DECAY * advantage * ~ended[step]
        advantages[step] = advantage
    return advantages


def rollout(env, state, scaler, observations, key):
    """Drives all cars. Returns the samples, the last observations, and the returns of the episodes that ended."""
    steps, episode_returns = [], []
    for step_key in jax.random.split(key, ROLLOUT_LENGTH):
        actions, log_probabilities, value = (np.asarray(array) for array in act(state, observations, step_key))
        following, rewards, terminated, truncated, infos = env.step(actions)
        next_value = np.asarray(values(state, following))
        ended = terminated | truncated
        if ended.any():
            final_value = np.asarray(values(state, infos["final_obs"]))
            next_value = np.where(terminated, 0.0, np.where(truncated, final_value, next_value))
            episode_returns.extend(env.unwrapped.last_episodes()[0][ended])
        steps.append((observations, actions, log_probabilities, rewards, value, next_value, ended))
        observations = following
    arrays = [np.stack(array) for array in zip(*steps, strict=True)]
    observed, actions, log_probabilities, rewards, value, next_value, ended = arrays
    advantages = advantages_of(scaler.scale(rewards, ended), value, next_value, ended)
    parts = (observed, actions, log_probabilities, advantages, advantages + value)
    samples = Samples(*(jnp.asarray(array.reshape(-1, *array.shape[2:]), jnp.float32) for array in parts))
    return samples, observations, episode_returns


def learn(task, seed, updates):
    """Learns with one seed. Returns the mean return of the episodes of each update; NaN if none ended."""
    env = gymnasium.make_vec(f"skidpad/{task}", num_envs=NUM_ENVS, autoreset_mode="SameStep")
    key, network_key = jax.random.split(jax.random.key(seed))
    observations, _ = env.reset(seed=1_000_000 * seed)
    network = ActorCritic(env.single_action_space.shape[0])
    steps = updates * EPOCHS * MINIBATCHES
    optimiser = optax.chain(
        optax.clip_by_global_norm(MAX_GRADIENT_NORM), optax.adam(optax.linear_schedule(LEARNING_RATE, 0.0, steps))
    )
    params = network.init(network_key, observations)
    state = TrainState.create(apply_fn=network.apply, params=params, tx=optimiser)
    scaler = RewardScaler(NUM_ENVS)
    curve, start, start_cpu = [], time.perf_counter(), time.process_time()
    for number in range(updates):
        key, rollout_key, update_key = jax.random.split(key, 3)
        samples, observations, episode_returns = rollout(env, state, scaler, observations, rollout_key)
        state = update(state, samples, update_key)
        curve.append(np.mean(episode_returns) if episode_returns else np.nan)
        if number % 10 == 9:
            action_count = (number + 1) * NUM_ENVS * ROLLOUT_LENGTH
            elapsed, processor = time.perf_counter() - start, time.process_time() - start_cpu
            times = f"{elapsed:5.1f} s ({processor:5.1f} s of processor time)"
            print(f"seed {seed}: {action_count:>9,} actions, {times}, return {np.nanmean(curve[-10:]):6.1f}", flush=True)
    return curve


def draw(curves, task, path):
    """Draws the learning curves of all seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for seed, curve in enumerate(curves):
        axes.plot(np.arange(1, len(curve) + 1) * NUM_ENVS * ROLLOUT_LENGTH / 1e6, curve, label=f"seed {seed}")
    axes.set(xlabel="actions of all cars, millions", ylabel="mean return of the ended episodes")
    axes.set_title(f"PPO on skidpad/{task}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="FollowPath-v0")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("ppo_curves.png"))
    arguments = parser.parse_args()
    curves = [learn(arguments.task, seed, arguments.updates) for seed in range(arguments.seeds)]
    draw(curves, arguments.task, arguments.out)


if __name__ == "__main__":
    main()
