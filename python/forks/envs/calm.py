"""A force on the tip of a swinging cantilever of twelve links brings it to rest."""

from __future__ import annotations

import gymnasium
import numpy as np

import forks
from forks.envs.base import BatchEnv, SingleEnv, Task

_LINKS, _LENGTH, _STEP, _SUBSTEPS = 12, 0.05, 1e-3, 5
_FORCE = 2.0
"""Largest force along an axis, N."""


def model() -> forks.Model:
    """The cantilever, reduced to its tip with four modes beside the static shapes."""
    b = forks.Builder("cantilever", gravity=[0, 0, 0])
    for i in range(_LINKS):
        b.link(f"link{i}", mass=0.02, center=[_LENGTH / 2, 0, 0], inertia=[2e-6, 6e-6, 6e-6])
        parent, x = (f"link{i - 1}", _LENGTH) if i else ("world", 0.0)
        b.joint(
            f"joint{i}",
            "spherical",
            parent,
            f"link{i}",
            at=[x, 0, 0, 1, 0, 0, 0],
            stiffness=12.0,
            damping=2e-3,
        )
    b.frame("tip", f"link{_LINKS - 1}", [_LENGTH, 0, 0, 1, 0, 0, 0])
    return b.build().reduce("site:tip", mass="craig-bampton:4")


def _squares(x: np.ndarray, m: np.ndarray) -> np.ndarray:
    """xᵀ m x of every row, with bits that do not depend on how many there are."""
    return (x[:, :, None] * m * x[:, None, :]).reshape(len(x), -1).sum(axis=1)


class CalmTask(Task):
    """Observations: coordinates over m or rad, velocities; actions: force on the tip."""

    episode_steps = 100

    def __init__(self, count: int) -> None:
        beam = model()
        self.batch = beam.batch(count, _STEP)
        self.mass, self.stiffness, self.basis = beam.mass, beam.stiffness, beam.basis
        self.scale = 0.05 / beam.radius
        self.wrenches = np.zeros((count, 1, 6))
        space = gymnasium.spaces.Box(-np.inf, np.inf, (2 * beam.dof,), np.float32)
        self.observation_space = space
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(self, which: np.ndarray, rngs: list[np.random.Generator]) -> None:
        forces = np.zeros((which.size, 6))
        for row, rng in zip(forces, rngs):
            row[1:3] = rng.uniform(-1.0, 1.0, 2)
        # The rest under a force at the tip, which then lets go.
        # One by one: the last bits of a product depend on how many rows it has.
        rest = [np.linalg.solve(self.stiffness, self.basis.T @ f) for f in forces]
        coordinates = np.array(rest).reshape(which.size, -1)
        self.batch.set(coordinates, np.zeros(coordinates.shape), indices=which.tolist())

    def act(self, actions: np.ndarray) -> None:
        self.wrenches[:, 0, :3] = _FORCE * actions
        self.batch.step(self.wrenches, count=_SUBSTEPS)

    def observe(self) -> np.ndarray:
        x, v = self.batch.coordinates() / self.scale, self.batch.velocity()
        return np.concatenate([x, v], axis=1).astype(np.float32)

    def energy(self) -> np.ndarray:
        """Elastic and kinetic energy, (count,), J."""
        x, v = self.batch.coordinates(), self.batch.velocity()
        return 0.5 * (_squares(x, self.stiffness) + _squares(v, self.mass))

    def reward(self, actions: np.ndarray) -> np.ndarray:
        return -100.0 * self.energy() - 0.01 * (actions**2).sum(axis=1)

    def close(self) -> None:
        self.batch.close()


class Calm(SingleEnv[CalmTask]):
    """One cantilever."""

    task_class = CalmTask


class CalmVector(BatchEnv[CalmTask]):
    """Many cantilevers in one batch."""

    task_class = CalmTask
