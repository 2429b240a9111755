"""Time of a MuJoCo step with the `discrete` integrator: `python mujoco_discrete.py TASK.json`,
prints JSON.

The task holds an MJCF file, time steps, a body with the force that acts at its frame's origin
(world components), the number of steps before anything is timed, and the seconds that a run should
last. A step is `mj_step`, which computes the poses of all bodies on its way; many of them are one
call, so that Python's part does not count.

`discrete` solves constraints and the velocity update together in the metric M + hD + h²K. Gravity
and contacts are off, everything else is MuJoCo's default, except that of a mechanism with equality
constraints the fastest of the solvers that reach the default tolerance counts, with and without the
search for islands. The force's moment about the centre of mass is computed once: the body may turn.
Automatic resets are off, so that a simulation that fails ends in numbers that are not finite. Two
warm-ups, median of seven runs, (max - min)/median; `cpu_ns` is the thread's computing time.
"""

import json
import sys

import mujoco
import numpy as np

from runs import median_of_seven


class Simulation:
    """A model under the force, after the steps that do not count."""

    def __init__(self, task, dt, solver, islands):
        disable = mujoco.mjtDisableBit
        self.model = mujoco.MjModel.from_xml_path(task["model"])
        option = self.model.opt
        option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        option.timestep = dt
        option.solver = solver
        for flag in (disable.mjDSBL_CONTACT, disable.mjDSBL_GRAVITY, disable.mjDSBL_AUTORESET):
            option.disableflags |= flag
        if not islands:
            option.disableflags |= disable.mjDSBL_ISLAND
        self.data = mujoco.MjData(self.model)
        self.body = self.model.body(task["body"]).id
        mujoco.mj_forward(self.model, self.data)
        force = np.array(task["force"])
        arm = self.data.xpos[self.body] - self.data.xipos[self.body]
        self.data.xfrc_applied[self.body] = np.concatenate([force, np.cross(arm, force)])
        rest = self.data.xpos[self.body].copy()
        mujoco.mj_step(self.model, self.data, task["steps"])
        mujoco.mj_kinematics(self.model, self.data)
        self.displacement = self.data.xpos[self.body] - rest

    def finite(self):
        bad = mujoco.mjtWarning
        warned = [bad.mjWARN_BADQPOS, bad.mjWARN_BADQVEL, bad.mjWARN_BADQACC]
        state = np.concatenate([self.data.qpos, self.data.qvel, self.data.xpos.ravel()])
        return bool(np.isfinite(state).all()) and not any(
            self.data.warning[int(w)].number for w in warned
        )

    def timing(self, batch):
        return median_of_seven(lambda n: mujoco.mj_step(self.model, self.data, n), batch)


def measure(task, dt):
    solvers = mujoco.mjtSolver
    variants = [(solvers.mjSOL_NEWTON, True)]
    model = mujoco.MjModel.from_xml_path(task["model"])
    if model.neq > 0:
        variants += [
            (solvers.mjSOL_NEWTON, False),
            (solvers.mjSOL_CG, True),
            (solvers.mjSOL_CG, False),
        ]
    best = None
    for solver, islands in variants:
        simulation = Simulation(task, dt, solver, islands)
        if not simulation.finite():
            continue
        timing = simulation.timing(task["batch"])
        if simulation.finite() and (best is None or timing["cpu_ns"] < best[0]["cpu_ns"]):
            name = "Newton" if solver == solvers.mjSOL_NEWTON else "CG"
            best = (timing, simulation, f"solver {name}, islands {'on' if islands else 'off'}")
    if best is None:
        return None
    timing, simulation, choice = best
    return {
        "timing": timing,
        "displacement": simulation.displacement.tolist(),
        "settings": f"MuJoCo {mujoco.__version__}, integrator discrete, gravity and contacts off, "
        f"{choice}, mj_step(nstep)",
    }


def main():
    task = json.load(open(sys.argv[1]))
    print(json.dumps([measure(task, dt) for dt in task["dt"]]))


if __name__ == "__main__":
    main()
