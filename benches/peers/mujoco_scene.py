"""Time of a MuJoCo step of a scene with contacts: `python mujoco_scene.py TASK.json`, prints JSON.

The task holds an MJCF file with a keyframe `start`, a row of controls per step, the number of steps
before anything is timed, and whose positions at the end are wanted: pairs of `body` or `site` and a
name. A run is one call of `rollout` in this thread, which takes the controls of every step, so that
Python's part hardly counts.

Integrator `discrete`, contacts and gravity on, everything else as the file says or MuJoCo's
default, except that the fastest of the solvers that end in finite numbers counts, with and without
the search for islands. Every run starts from the same state. Two warm-ups, median of seven runs,
(max - min)/median; `cpu_ns` is the thread's computing time.
"""

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout


class Simulation:
    """A scene after the steps that do not count."""

    def __init__(self, task, solver, islands):
        disable = mujoco.mjtDisableBit
        self.task = task
        self.model = mujoco.MjModel.from_xml_path(task["model"])
        option = self.model.opt
        option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        option.solver = solver
        option.disableflags |= disable.mjDSBL_AUTORESET
        if not islands:
            option.disableflags |= disable.mjDSBL_ISLAND
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key("start").id)
        mujoco.mj_forward(self.model, self.data)
        self.controls = np.array(task["controls"]).reshape(len(task["controls"]), self.model.nu)
        for row in self.controls[: task["before"]]:
            self.step(row)
        self.controls = self.controls[task["before"] :]
        self.start = np.empty(mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(self.model, self.data, self.start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.warm = self.data.qacc_warmstart.copy()
        self.states = np.empty((1, self.steps(), self.start.size))
        self.sensors = np.empty((1, self.steps(), self.model.nsensordata))
        self.player = rollout.Rollout(nthread=0)

    def step(self, row):
        self.data.ctrl[:] = row
        mujoco.mj_step(self.model, self.data)

    def run(self):
        begin = time.perf_counter()
        self.player.rollout(
            self.model,
            self.data,
            self.start,
            self.controls[None],
            initial_warmstart=self.warm,
            state=self.states,
            sensordata=self.sensors,
        )
        return 1e9 * (time.perf_counter() - begin) / self.steps()

    def steps(self):
        return len(self.controls)

    def timing(self):
        self.run()
        self.run()
        before = time.thread_time()
        runs = sorted(self.run() for _ in range(7))
        computing = 1e9 * (time.thread_time() - before) / (7 * self.steps())
        return {"ns": runs[3], "spread": (runs[6] - runs[0]) / runs[3], "cpu_ns": computing}

    def contacts(self):
        """Mean number of contact points, from the same state once more."""
        mujoco.mj_setState(self.model, self.data, self.start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.data.qacc_warmstart[:] = self.warm
        counts = []
        for row in self.controls:
            self.step(row)
            counts.append(self.data.ncon)
        return float(np.mean(counts))

    def position(self, kind, name):
        found = {"body": self.data.body, "site": self.data.site}[kind](name)
        return found.xpos.tolist()

    def finite(self):
        bad = mujoco.mjtWarning
        warned = [bad.mjWARN_BADQPOS, bad.mjWARN_BADQVEL, bad.mjWARN_BADQACC]
        state = np.concatenate([self.data.qpos, self.data.qvel, self.data.xpos.ravel()])
        return bool(np.isfinite(state).all()) and not any(
            self.data.warning[int(w)].number for w in warned
        )


def measure(task):
    solvers = mujoco.mjtSolver
    best = None
    for solver in (solvers.mjSOL_NEWTON, solvers.mjSOL_CG):
        for islands in (True, False):
            simulation = Simulation(task, solver, islands)
            if not simulation.finite():
                continue
            timing = simulation.timing()
            if simulation.finite() and (best is None or timing["cpu_ns"] < best[0]["cpu_ns"]):
                name = "Newton" if solver == solvers.mjSOL_NEWTON else "CG"
                best = (timing, simulation, f"solver {name}, islands {'on' if islands else 'off'}")
    if best is None:
        return None
    timing, simulation, choice = best
    contacts = simulation.contacts()
    mujoco.mj_kinematics(simulation.model, simulation.data)
    return {
        "timing": timing,
        "contacts": contacts,
        "positions": [simulation.position(kind, name) for kind, name in task["watched"]],
        "settings": f"MuJoCo {mujoco.__version__}, integrator discrete, elliptic cones, "
        f"contacts on, {choice}, "
        "controls every step, rollout in one thread; poses of all bodies are part of it",
    }


def main():
    print(json.dumps(measure(json.load(open(sys.argv[1])))))


if __name__ == "__main__":
    main()
