"""What environments on a batch share: one class for one instance, one for many."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space


class Task:
    """Many instances of a task; rows of arrays are instances."""

    observation_space: gymnasium.spaces.Box
    action_space: gymnasium.spaces.Box
    episode_steps: int

    def __init__(self, count: int) -> None:
        raise NotImplementedError

    def reset(self, which: np.ndarray, rngs: list[np.random.Generator]) -> None:
        """Starts some instances anew, each with random numbers of its own."""
        raise NotImplementedError

    def act(self, actions: np.ndarray) -> None:
        """Moves all instances under actions, (count, actions), within the action space."""
        raise NotImplementedError

    def observe(self) -> np.ndarray:
        """(count, observations) of float32."""
        raise NotImplementedError

    def reward(self, actions: np.ndarray) -> np.ndarray:
        """(count,)."""
        raise NotImplementedError

    def close(self) -> None:
        """Gives memory back."""


T = TypeVar("T", bound=Task)


def checked(space: gymnasium.spaces.Box, actions: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Finite actions within the space, as float64."""
    x = np.asarray(actions)
    if x.shape != shape or x.dtype.kind not in "fiu":
        raise ValueError(f"actions have shape {x.shape} of {x.dtype}, expected numbers of {shape}")
    x = x.astype(np.float64)
    if not np.isfinite(x).all():
        raise ValueError("actions must be finite")
    return np.clip(x, space.low, space.high)


class SingleEnv(gymnasium.Env, Generic[T]):
    """One instance of a task."""

    metadata = {"render_modes": []}
    task_class: type[Task]

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.task = self.task_class(1)
        self.observation_space = self.task.observation_space
        self.action_space = self.task.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.task.reset(np.array([0]), [self.np_random])
        return self.task.observe()[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        actions = checked(self.action_space, action, self.action_space.shape)[None]
        self.task.act(actions)
        return self.task.observe()[0], float(self.task.reward(actions)[0]), False, False, {}

    def close(self) -> None:
        self.task.close()


class BatchEnv(gymnasium.vector.VectorEnv, Generic[T]):
    """Many instances of a task; one that ended starts anew in the next step."""

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
    task_class: type[Task]

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.task = self.task_class(num_envs)
        self.episode_steps = max_episode_steps or self.task.episode_steps
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._rngs = [np.random.default_rng(s) for s in np.random.SeedSequence().spawn(num_envs)]

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        seeds = [None] * self.num_envs
        if isinstance(seed, int):
            seeds = [seed + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        for i, s in enumerate(seeds):
            if s is not None:
                self._rngs[i], _ = gymnasium.utils.seeding.np_random(s)
        self.task.reset(np.arange(self.num_envs), self._rngs)
        self._steps[:] = 0
        return self.task.observe(), {}

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        x = checked(self.action_space, actions, self.action_space.shape)
        ended = self._steps >= self.episode_steps
        self.task.act(x)
        reward = self.task.reward(x)
        self._steps += 1
        if ended.any():
            which = np.flatnonzero(ended)
            self.task.reset(which, [self._rngs[i] for i in which])
            self._steps[which] = 0
            reward[which] = 0.0
        truncated = self._steps >= self.episode_steps
        return self.task.observe(), reward, np.zeros(self.num_envs, dtype=bool), truncated, {}

    def close_extras(self, **kwargs: Any) -> None:
        self.task.close()
