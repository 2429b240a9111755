"""A planar arm with three elastic servos brings its tip to a point."""

from __future__ import annotations

import gymnasium
import numpy as np

import forks
from forks.envs.base import BatchEnv, SingleEnv, Task

_ARM = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="upper"><joint name="shoulder" axis="0 0 1" damping="0.02"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.3"/>
      <body name="lower" pos="0.3 0 0"><joint name="elbow" axis="0 0 1" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.018" mass="0.2"/>
        <body name="hand" pos="0.25 0 0"><joint name="wrist" axis="0 0 1" damping="0.02"/>
          <geom type="capsule" fromto="0 0 0 0.15 0 0" size="0.015" mass="0.1"/>
          <site name="tip" pos="0.15 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="shoulder" kp="8" kv="0.6"/>
    <position joint="elbow" kp="5" kv="0.3"/>
    <position joint="wrist" kp="3" kv="0.1"/>
  </actuator>
  <keyframe><key name="bent" qpos="-0.7 1.4 -0.7"/></keyframe>
</mujoco>
"""
_STEP, _SUBSTEPS = 2e-3, 10
_SWING = 0.3
"""Largest servo target, rad."""


def model() -> forks.Model:
    """The arm about a bent pose, reduced to its tip."""
    return forks.parse(_ARM).reduce("site:tip", start="bent")


class ReachTask(Task):
    """Observations: tip minus target (m), target, coordinates, velocities; actions: servos."""

    episode_steps = 20

    def __init__(self, count: int) -> None:
        arm = model()
        self.batch = arm.batch(count, _STEP)
        self.rest = arm.rest_poses[0, :2]
        self.servos = len(arm.servos)
        self.reach = 0.1
        self.target = np.tile(self.rest, (count, 1))
        size = 4 + 2 * arm.dof
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.servos,), np.float32)

    def reset(self, which: np.ndarray, rngs: list[np.random.Generator]) -> None:
        self.batch.reset(which.tolist())
        offsets = np.array([rng.uniform(-self.reach, self.reach, 2) for rng in rngs])
        self.target[which] = self.rest + offsets.reshape(-1, 2)

    def act(self, actions: np.ndarray) -> None:
        self.batch.set_servo_targets(np.ascontiguousarray(_SWING * actions))
        self.batch.step(count=_SUBSTEPS)

    def _off(self) -> np.ndarray:
        return self.batch.effector_poses()[:, 0, :2] - self.target

    def observe(self) -> np.ndarray:
        parts = (
            self._off() / self.reach,
            (self.target - self.rest) / self.reach,
            self.batch.coordinates(),
            self.batch.velocity(),
        )
        return np.concatenate(parts, axis=1).astype(np.float32)

    def reward(self, actions: np.ndarray) -> np.ndarray:
        return -np.linalg.norm(self._off(), axis=1) / self.reach

    def close(self) -> None:
        self.batch.close()


class Reach(SingleEnv[ReachTask]):
    """One arm."""

    task_class = ReachTask


class ReachVector(BatchEnv[ReachTask]):
    """Many arms in one batch."""

    task_class = ReachTask
