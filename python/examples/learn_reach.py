"""A policy gradient in numpy learns to reach: mean distance to the target over updates.

    python examples/learn_reach.py [--updates N] [--png FILE] [--csv FILE]

REINFORCE with a baseline and reward to go on 256 arms that are stepped as one batch; the policy is
one hidden layer with Gaussian actions. Takes a few minutes at most on two cores.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np

import forks.envs  # noqa: F401, registers the environments


class Policy:
    """Actions ~ N(tanh layer of the observation, s²); Adam on all its numbers."""

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        hidden = 32
        self.p = {
            "a": rng.normal(0, 1 / np.sqrt(inputs), (inputs, hidden)),
            "b": np.zeros(hidden),
            "c": rng.normal(0, 0.1 / np.sqrt(hidden), (hidden, outputs)),
            "d": np.zeros(outputs),
            "s": np.full(outputs, -0.7),
        }
        self.m = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.v = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.updates = 0

    def mean(self, x: np.ndarray) -> np.ndarray:
        return np.tanh(x @ self.p["a"] + self.p["b"]) @ self.p["c"] + self.p["d"]

    def climb(self, x: np.ndarray, actions: np.ndarray, advantage: np.ndarray, rate: float) -> None:
        """One step of Adam along the gradient of the mean of advantage · log probability."""
        h = np.tanh(x @ self.p["a"] + self.p["b"])
        sigma = np.exp(self.p["s"])
        off = (actions - (h @ self.p["c"] + self.p["d"])) / sigma
        up = off / sigma * advantage[:, None] / len(x)
        back = (up @ self.p["c"].T) * (1 - h**2)
        gradient = {
            "a": x.T @ back,
            "b": back.sum(axis=0),
            "c": h.T @ up,
            "d": up.sum(axis=0),
            "s": ((off**2 - 1) * advantage[:, None]).mean(axis=0),
        }
        self.updates += 1
        for k, g in gradient.items():
            self.m[k] += 0.1 * (g - self.m[k])
            self.v[k] += 0.001 * (g**2 - self.v[k])
            m = self.m[k] / (1 - 0.9**self.updates)
            v = self.v[k] / (1 - 0.999**self.updates)
            self.p[k] += rate * m / (np.sqrt(v) + 1e-8)
        self.p["s"] = np.clip(self.p["s"], -3.0, 0.0)


def learn(updates: int, seed: int = 0) -> np.ndarray:
    """Rows: update, mean distance (m) over the episodes, distance at their ends."""
    rng = np.random.default_rng(seed)
    many = gymnasium.make_vec("forks/Reach-v0", num_envs=256)
    task = many.unwrapped.task
    steps = task.episode_steps
    policy = Policy(many.single_observation_space.shape[0], many.single_action_space.shape[0], rng)
    scale = np.ones(many.single_observation_space.shape[0])
    scale[4 + (scale.size - 4) // 2 :] = 0.1
    curve = []
    for update in range(updates):
        seen, _ = many.reset(seed=int(rng.integers(1 << 31)))
        xs, actions, rewards = [], [], []
        for _ in range(steps):
            x = seen.astype(np.float64) * scale
            mean = policy.mean(x)
            action = mean + np.exp(policy.p["s"]) * rng.normal(size=mean.shape)
            seen, reward, _, _, _ = many.step(action)
            xs.append(x), actions.append(action), rewards.append(reward)
        r = np.array(rewards)
        # Reward to come, discounted; the baseline is its mean over the arms.
        to_come = np.zeros_like(r)
        total = np.zeros(r.shape[1])
        for t in reversed(range(steps)):
            total = r[t] + 0.8 * total
            to_come[t] = total
        advantage = to_come - to_come.mean(axis=1, keepdims=True)
        advantage /= advantage.std() + 1e-8
        rate = 0.01 * (1 - update / updates) + 1e-4
        policy.climb(np.concatenate(xs), np.concatenate(actions), advantage.ravel(), rate)
        curve.append((update, -task.reach * r.mean(), -task.reach * r[-1].mean()))
    many.close()
    return np.array(curve)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=600)
    parser.add_argument("--png")
    parser.add_argument("--csv")
    args = parser.parse_args()
    begin = time.perf_counter()
    curve = learn(args.updates)
    seconds = time.perf_counter() - begin
    first, last = curve[:10, 2].mean(), curve[-10:, 2].mean()
    print(f"{args.updates} updates in {seconds:.0f} s: the tip ends {1e3 * first:.1f} mm off the "
          f"target at first, {1e3 * last:.1f} mm at last")
    if args.csv:
        np.savetxt(args.csv, curve, delimiter=",", fmt=["%d", "%.6f", "%.6f"],
                   header="update,mean distance (m),distance at the end (m)", comments="")
    if args.png:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6.4, 3.6))
        axes.plot(curve[:, 0], 1e3 * curve[:, 1], label="mean over the episode")
        axes.plot(curve[:, 0], 1e3 * curve[:, 2], label="at its end")
        axes.set(xlabel="update (256 episodes each)", ylabel="distance to the target (mm)")
        axes.set_ylim(bottom=0)
        axes.legend()
        axes.grid(alpha=0.3)
        figure.tight_layout()
        figure.savefig(args.png, dpi=110)


if __name__ == "__main__":
    main()
