"""Commands, poses and motions of mechanisms.

A `Controller` finds the forces of joints that bring `Task`s about, by priority and within limits,
step after step. `pose` and `InverseKinematics` drag and pin links. A `Motion` is curves of joints
through keys; a `Player` follows it while physics moves the rest. `Mpc` and `set_point` choose the
servo targets, or forces on effectors, of reduced and blended models.

Links may be 'site:NAME'. Poses are x, y, z (m), qw, qx, qy, qz.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forks._forks import (
    Controller,
    Decision,
    Group,
    InverseKinematics,
    Mechanism,
    Motion,
    Mpc,
    Player,
    Posed,
    Task,
    set_point,
)

__all__ = [
    "Controller",
    "Decision",
    "Group",
    "InverseKinematics",
    "Motion",
    "Mpc",
    "Player",
    "Posed",
    "Task",
    "pose",
    "set_point",
]


def pose(
    mechanism: Mechanism,
    drag: Mapping[str, Any] | None = None,
    *,
    pin: Iterable[str] = (),
    pin_point: Iterable[str] = (),
    root: str = "free",
    start: Any = None,
) -> Posed:
    """A pose in which links are where they are dragged to, as `forks pose` finds it.

    drag: links to points of the world, (3,), or poses, (7,); all count alike. pin: links that keep
    their poses of the start, before all drags; pin_point: that keep their points and may turn.
    root, start: as in `InverseKinematics`.
    """
    search = InverseKinematics(mechanism, start=start, root=root)
    for names, turn in ((pin, True), (pin_point, False)):
        if isinstance(names, str):
            raise TypeError(f"pins are a list of links' names, not the text '{names}'")
        for name in names:
            search.pin(name, turn=turn)
    for name, target in (drag or {}).items():
        search.drag(name, target)
    return search.follow()
