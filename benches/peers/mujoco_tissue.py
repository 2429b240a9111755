"""MuJoCo's step of tissue with its bones, and where it rests: `python mujoco_tissue.py TASK.json`,
prints JSON.

The task holds a file of MJCF (`<flex>` on a skeleton, as forks-flex writes it), the name of the
flex, the places of the pad as lists of node and weight, forces on the pad (N, world, the same part
at every place), the time step (s), and the seconds that a run should last. The integrator is
`discrete`, which alone has elasticity implicitly; of the solvers the faster one that says nothing
about a solve that did not converge, if there is one.

Rest: steps of `RELAX` s whose velocities are dropped, until none moves the pad by more than `STILL`
of its way; `residual` is what is left of the forces over the load. Two warm-ups, median of seven
runs, (max - min)/median; `cpu_ns` is the thread's computing time.
"""

import json
import sys
import time

import mujoco
import numpy as np

from runs import median_of_seven

RELAX = [0.02, 0.005, 0.001]
STILL = 1e-7
LIMIT = 4000
SECONDS = 40.0


def load(task, solver):
    model = mujoco.MjModel.from_xml_path(task["model"])
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    model.opt.gravity[:] = 0.0
    model.opt.timestep = task["dt"]
    model.opt.solver = solver
    return model, mujoco.MjData(model)


class Pad:
    def __init__(self, task, model):
        name = task["flex"]
        self.points = []
        for point in task["pad"]:
            body = mujoco.mjtObj.mjOBJ_BODY
            ids = [mujoco.mj_name2id(model, body, f"{name}_{n}") for n, _ in point]
            assert min(ids) > 0, "a node of the pad is in a bone"
            self.points.append([(b, w) for b, (_, w) in zip(ids, point)])
        self.model = model

    def push(self, data, force):
        data.qfrc_applied[:] = 0.0
        for point in self.points:
            for body, weight in point:
                first = self.model.body_dofadr[body]
                data.qfrc_applied[first : first + 3] += weight / len(self.points) * np.array(force)

    def place(self, data):
        total = sum(w * data.xpos[b] for point in self.points for b, w in point)
        return total / len(self.points)


def rest(task, solver, force):
    model, data = load(task, solver)
    mujoco.mj_forward(model, data)
    pad = Pad(task, model)
    start = pad.place(data).copy()
    before, steps, begin = start, 0, time.perf_counter()
    for relax in RELAX:
        mujoco.mj_resetData(model, data)
        model.opt.timestep = relax
        still = False
        for steps in range(LIMIT):
            data.qvel[:] = 0.0
            pad.push(data, np.array(force) * min(1.0, (steps + 1) / 10))
            mujoco.mj_step(model, data)
            mujoco.mj_kinematics(model, data)
            now = pad.place(data).copy()
            moved, way = np.linalg.norm(now - before), np.linalg.norm(now - start)
            before = now
            still = steps > 20 and moved < STILL * way
            if still or not np.isfinite(way) or time.perf_counter() - begin > SECONDS:
                break
        if still:
            break
    data.qvel[:] = 0.0
    pad.push(data, force)
    mujoco.mj_forward(model, data)
    left = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied
    return {
        "pad": [float(c) for c in before - start],
        "residual": float(np.linalg.norm(left) / np.linalg.norm(data.qfrc_applied)),
        "steps": steps + 1,
        "still": bool(still),
    }


def timed(task, solver, force):
    model, data = load(task, solver)
    mujoco.mj_forward(model, data)
    Pad(task, model).push(data, force)
    mujoco.mj_step(model, data, 10)

    timing = median_of_seven(lambda steps: mujoco.mj_step(model, data, steps), task["batch"])
    warned = any(w.number for w in data.warning)
    name = {int(s): s.name[6:] for s in (mujoco.mjtSolver.mjSOL_CG, mujoco.mjtSolver.mjSOL_NEWTON)}
    settings = f"MuJoCo {mujoco.__version__}, {model.nv} dofs, integrator discrete, "
    settings += f"solver {name[int(solver)].lower()}" + (
        ", with warnings (a solve that did not converge)" if warned else ""
    )
    return warned or not np.isfinite(data.qpos).all(), timing, settings, int(model.nv)


def main():
    task = json.load(open(sys.argv[1]))
    solvers = [mujoco.mjtSolver.mjSOL_CG, mujoco.mjtSolver.mjSOL_NEWTON]
    runs = [(timed(task, s, task["forces"][0]), s) for s in solvers]
    (_, timing, settings, dofs), solver = min(runs, key=lambda r: (r[0][0], r[0][1]["ns"]))
    rests = [rest(task, solver, f) for f in task["forces"]]
    print(json.dumps({"timing": timing, "settings": settings, "dofs": dofs, "rests": rests}))


if __name__ == "__main__":
    main()
