"""A force on the tip of a helical spring pushes a ball over the ground, in contact."""

from __future__ import annotations

import gymnasium
import numpy as np

import forks
from forks.envs.base import BatchEnv, SingleEnv, Task

_SUBSTEPS = 10
_FORCE = 8.0
"""Largest force along an axis, N."""
_SCENE = """
title = "A helical spring pushes a ball"
[world]
step = 0.002
duration = 10.0
[[mechanism]]
name = "helix"
parametric = "helix20"
effectors = ["link19"]
shape = [{{ form = {{ sphere = {{ radius = 0.02 }} }} }}]
[[body]]
name = "ball"
mass = 0.05
position = [{x}, {y}, {z}]
shape = [{{ form = {{ sphere = {{ radius = 0.03 }} }} }}]
[[ground]]
form = {{ plane = {{}} }}
position = [0, 0, {ground}]
"""


def scene() -> forks.Scene:
    """The spring, and the ball beside its tip."""
    bare = forks.parse_scene(_SCENE.format(x=10, y=10, z=0.03, ground=-10))
    x, y, z = bare.effector_poses("helix")[0, :3]
    return forks.parse_scene(_SCENE.format(x=x + 0.053, y=y, z=z, ground=z - 0.0301))


class PushTask(Task):
    """Observations: tip and ball relative to their starts, the ball's goal; actions: force."""

    episode_steps = 60

    def __init__(self, count: int) -> None:
        self.scenes = [scene() for _ in range(count)]
        first = self.scenes[0] if self.scenes else scene()
        self.ball = first.body_pose("ball")
        self.tip = first.effector_poses("helix")[0]
        self.start = first.state("helix")
        self.goal = np.zeros((count, 2))
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (10,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, which: np.ndarray, rngs: list[np.random.Generator]) -> None:
        for i, rng in zip(which, rngs):
            s = self.scenes[i]
            s.set_mechanism("helix", *self.start)
            s.set_effector_load("helix", 0, np.zeros(6))
            s.set_body("ball", self.ball)
            self.goal[i] = rng.uniform([0.02, -0.02], [0.06, 0.02])

    def act(self, actions: np.ndarray) -> None:
        for s, action in zip(self.scenes, actions):
            s.set_effector_load("helix", 0, [*(_FORCE * action), 0.0, 0.0, 0.0, 0.0])
            s.step(_SUBSTEPS)

    def _moved(self) -> np.ndarray:
        return np.array([s.body_pose("ball")[:2] - self.ball[:2] for s in self.scenes])

    def observe(self) -> np.ndarray:
        rows = []
        for s, goal in zip(self.scenes, self.goal):
            tip = s.effector_poses("helix")[0, :3] - self.tip[:3]
            ball = s.body_pose("ball")[:3] - self.ball[:3]
            rows.append(np.concatenate([tip, ball, goal, s.body_twist("ball")[:2]]))
        return (10.0 * np.array(rows)).astype(np.float32).reshape(-1, 10)

    def reward(self, actions: np.ndarray) -> np.ndarray:
        off = self._moved().reshape(-1, 2) - self.goal
        return -10.0 * np.linalg.norm(off, axis=1)

    def close(self) -> None:
        for s in self.scenes:
            s.close()


class Push(SingleEnv[PushTask]):
    """One world."""

    task_class = PushTask


class PushVector(BatchEnv[PushTask]):
    """Many worlds, one after the other."""

    task_class = PushTask
