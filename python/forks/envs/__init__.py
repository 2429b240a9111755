"""Environments for reinforcement learning, by gymnasium's interface (pip install 'forks[gym]').

- forks/Reach-v0: a planar arm with three elastic servos brings its tip to a point.
- forks/Calm-v0: a force on the tip of a swinging cantilever of twelve links brings it to rest.
- forks/Push-v0: a force on the tip of a helical spring pushes a ball over the ground, in contact.

`import forks.envs` registers them; `gymnasium.make` gives one, `gymnasium.make_vec` many that are
stepped together: Reach and Calm as one batch of the library, Push as worlds of their own.
"""

import gymnasium

from forks.envs.calm import Calm, CalmVector
from forks.envs.push import Push, PushVector
from forks.envs.reach import Reach, ReachVector

__all__ = ["Calm", "CalmVector", "Push", "PushVector", "Reach", "ReachVector"]

for _name, _steps in (("Reach", 20), ("Calm", 100), ("Push", 60)):
    gymnasium.register(
        id=f"forks/{_name}-v0",
        entry_point=f"forks.envs:{_name}",
        vector_entry_point=f"forks.envs:{_name}Vector",
        max_episode_steps=_steps,
    )
