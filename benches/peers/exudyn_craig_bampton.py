"""Craig-Bampton of EXUDYN on the mesh of a soft finger: `python exudyn_craig_bampton.py TASK.json`,
prints JSON.

The task holds nodes (m), their stiffness at rest (N/m, as rows, columns, values) and masses (kg),
which of them every holder has (the ground, then the bones), the bones without tissue (mass,
centre, moments, joint, all from their origin), the stiffness of the ball joints (N m/rad), the
nodes of the pad, forces on it (N, world) and how many modes. Nodes of a holder are tied to its
rigid motions by a stiffness of `TIE` times the largest. Two models, both one
ObjectFFRFreducedOrder with static modes of what holds it (RBE3, which leaves the pad soft) and
modes with that held:

- `within`: bones and joints are part of the matrices, ground and pad hold them: linear.
- `joined`: bones are rigid bodies with joints; ground, bones and pad hold the tissue.

Forces grow in steps; the solver is EXUDYN's nonlinear statics, given `LIMIT` s.
"""

import json
import multiprocessing
import sys
import time

import exudyn as exu
import numpy as np
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
from exudyn.utilities import (
    LoadForceVector,
    MarkerBodyRigid,
    MarkerSuperElementRigid,
    ObjectGround,
    ObjectJointGeneric,
    ObjectConnectorRigidBodySpringDamper,
    RigidBodyInertia,
    SensorMarker,
)
from scipy.sparse import csr_matrix, diags

TIE = 1e3
STEPS = 20
LIMIT = 60.0


def rigid(r):
    """Displacements of points r per unit of translation and turn."""
    out = np.zeros((3 * len(r), 6))
    for i, p in enumerate(r):
        out[3 * i : 3 * i + 3, :3] = np.eye(3)
        out[3 * i : 3 * i + 3, 3:] = np.cross(np.eye(3), p).T
    return out


def coordinates(nodes):
    return np.concatenate([[3 * i, 3 * i + 1, 3 * i + 2] for i in nodes])


def spread(at, block, n):
    rows, columns = np.meshgrid(at, at, indexing="ij")
    return csr_matrix((block.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n))


def ties(x, groups, k):
    """Stiffness that holds the nodes of every group together."""
    n = 3 * len(x)
    out = csr_matrix((n, n))
    for nodes in groups:
        q, _ = np.linalg.qr(rigid(x[nodes] - x[nodes].mean(axis=0)))
        out = out + spread(coordinates(nodes), k * (np.eye(3 * len(nodes)) - q @ q.T), n)
    return out


def skeleton(task, x, k):
    """Stiffness of the joints and mass of the bones over the nodes in them."""
    n = 3 * len(x)
    stiffness, mass = csr_matrix((n, n)), csr_matrix((n, n))
    groups = task["groups"]
    # Twist of a group at the mean of its nodes.
    twists = [np.linalg.pinv(rigid(x[g] - x[g].mean(axis=0))) for g in groups]
    for i, bone in enumerate(task["bones"], start=1):
        joint = np.array(bone["joint"])
        both = groups[i] + groups[i - 1]
        parts = [
            s * (rigid([joint - x[groups[g]].mean(axis=0)]) @ twists[g])
            for s, g in ((1.0, i), (-1.0, i - 1))
        ]
        turns = np.hstack([twists[i][3:], -twists[i - 1][3:]])
        apart = np.hstack(parts)
        block = k * apart.T @ apart + task["joints"] * turns.T @ turns
        stiffness = stiffness + spread(coordinates(both), block, n)
        centre = rigid([joint + bone["centre"] - x[groups[i]].mean(axis=0)])
        of_twist = bone["mass"] * centre.T @ centre
        of_twist[3:, 3:] += np.diag(bone["moments"])
        block = twists[i].T @ of_twist @ twists[i]
        mass = mass + spread(coordinates(groups[i]), block, n)
    return stiffness, mass


def interface(task, joined):
    x = np.array(task["nodes"])
    rows, columns, values = task["stiffness"]
    n = 3 * len(x)
    k = csr_matrix((values, (rows, columns)), shape=(n, n))
    tie = TIE * abs(k).max()
    fem = FEMinterface()
    fem.nodes = {"Position": x}
    fem.massMatrix = diags(np.repeat(task["masses"], 3)).tocsr()
    fem.stiffnessMatrix = (k + ties(x, task["groups"], tie)).tocsr()
    if not joined:
        stiffness, mass = skeleton(task, x, tie)
        fem.stiffnessMatrix = (fem.stiffnessMatrix + stiffness).tocsr()
        fem.massMatrix = (fem.massMatrix + mass).tocsr()
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=(task["groups"] if joined else task["groups"][:1]) + [task["pad"]],
        nEigenModes=task["modes"],
        computationMode=HCBstaticModeSelection.RBE3,
    )
    return fem


def rigid_marker(mbs, body, x, nodes):
    weights = np.full(len(nodes), 1.0 / len(nodes))
    return mbs.AddMarker(
        MarkerSuperElementRigid(bodyNumber=body, meshNodeNumbers=nodes, weightingFactors=weights)
    )


def build(task, cms, joined):
    """System, tissue, the load and the sensor of the pad."""
    x = np.array(task["nodes"])
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground = mbs.AddObject(ObjectGround())
    tissue = cms.AddObjectFFRFreducedOrder(mbs)["oFFRFreducedOrder"]
    bodies = [ground]
    bones = task["bones"] if joined else []
    for bone in bones:
        inertia = RigidBodyInertia(mass=bone["mass"], inertiaTensor=np.diag(bone["moments"]))
        inertia = inertia.Translated(bone["centre"])
        bodies.append(mbs.CreateRigidBody(inertia=inertia, referencePosition=bone["joint"]))
    for body, nodes in zip(bodies, task["groups"]):
        # The mesh's marker is at the mean of its nodes.
        middle = x[nodes].mean(axis=0)
        origin = np.zeros(3) if body == ground else np.array(
            task["bones"][bodies.index(body) - 1]["joint"]
        )
        ours = mbs.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=middle - origin))
        mbs.AddObject(
            ObjectJointGeneric(
                markerNumbers=[ours, rigid_marker(mbs, tissue, x, nodes)],
                constrainedAxes=[1] * 6,
            )
        )
    inner, before = ground, np.zeros(3)
    for body, bone in zip(bodies[1:], bones):
        joint = np.array(bone["joint"])
        pair = [
            mbs.AddMarker(MarkerBodyRigid(bodyNumber=inner, localPosition=joint - before)),
            mbs.AddMarker(MarkerBodyRigid(bodyNumber=body)),
        ]
        mbs.AddObject(
            ObjectJointGeneric(markerNumbers=pair, constrainedAxes=[1, 1, 1, 0, 0, 0])
        )
        stiffness = np.zeros((6, 6))
        stiffness[3:, 3:] = task["joints"] * np.eye(3)
        mbs.AddObject(
            ObjectConnectorRigidBodySpringDamper(
                markerNumbers=pair, stiffness=stiffness, damping=np.zeros((6, 6))
            )
        )
        inner, before = body, joint
    pad = rigid_marker(mbs, tissue, x, task["pad"])
    load = mbs.AddLoad(LoadForceVector(markerNumber=pad, loadVector=[0, 0, 0]))
    sensor = mbs.AddSensor(
        SensorMarker(markerNumber=pad, outputVariableType=exu.OutputVariableType.Position)
    )
    mbs.Assemble()
    return system, mbs, tissue, load, sensor


def statics(task, cms, joined, force):
    _, mbs, tissue, load, sensor = build(task, cms, joined)
    start = np.array(mbs.GetSensorValues(sensor, exu.ConfigurationType.Reference))
    mbs.SetLoadParameter(load, "loadVector", list(force))
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = STEPS
    settings.staticSolver.newton.relativeTolerance = 1e-8
    settings.staticSolver.newton.maxIterations = 50
    settings.staticSolver.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    before, begin = time.thread_time(), time.perf_counter()
    mbs.SolveStatic(settings, updateInitialValues=True)
    ns, cpu_ns = 1e9 * (time.perf_counter() - begin), 1e9 * (time.thread_time() - before)
    pad = np.array(mbs.GetSensorValues(sensor))
    nodes = []
    for n in range(len(task["nodes"])):
        place = mbs.GetObjectOutputSuperElement(
            tissue, exu.OutputVariableType.Position, n, exu.ConfigurationType.Current
        )
        nodes.append([float(c) for c in place])
    return {
        "pad": [float(c) for c in pad - start],
        "nodes": nodes,
        "timing": {"ns": ns, "spread": 0.0, "cpu_ns": cpu_ns},
    }


def in_time(task, cms, joined, force):
    """The same in a process of its own, which ends with its time: None."""
    here, there = multiprocessing.Pipe(duplex=False)
    work = multiprocessing.Process(
        target=lambda: there.send(statics(task, cms, joined, force)), daemon=True
    )
    work.start()
    found = None
    if here.poll(LIMIT):
        found = here.recv()
    work.kill()
    work.join()
    return found


def model(task, joined):
    fem = interface(task, joined)
    cms = ObjectFFRFreducedOrderInterface(fem)
    system, mbs, *_ = build(task, cms, joined)
    squares, _ = mbs.ComputeODE2Eigenvalues()
    del system
    return {
        "settings": f"EXUDYN {exu.__version__}, one floating frame, "
        f"{fem.modeBasis['matrix'].shape[1]} modes (RBE3), {STEPS} load steps",
        "frequencies": [float(w) for w in np.sqrt(np.sort(np.abs(squares)))[:6]],
        "statics": [in_time(task, cms, joined, f) for f in task["forces"]],
    }


def main():
    task = json.load(open(sys.argv[1]))
    multiprocessing.set_start_method("fork")
    exu.config.printToConsole = False
    json.dump({"within": model(task, False), "joined": model(task, True)}, sys.stdout)


if __name__ == "__main__":
    main()
