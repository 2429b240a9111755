"""Craig-Bampton of EXUDYN on the mesh of a soft finger: `python exudyn_craig_bampton.py TASK.json`,
prints JSON.

The task holds nodes (m), their stiffness at rest (N/m, as rows, columns, values) and masses (kg),
which of them every holder has (the ground, then the bones), the bones without tissue (mass,
centre, moments, joint, all at their origin), the stiffness of the ball joints (N m/rad), the nodes
of the pad, forces on it (N, world) and how many modes. The tissue is one ObjectFFRFreducedOrder:
static modes of ground, bones and pad (RBE3, which leaves the pad soft) and modes with them held.
Nodes of a holder are tied to its rigid motions by a stiffness of `TIE` times the largest, so that
bones are as rigid as ours. Forces grow in steps; the solver is EXUDYN's nonlinear statics.
"""

import json
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


def ties(x, groups, k):
    """Stiffness that holds the nodes of every group together."""
    n = 3 * len(x)
    out = csr_matrix((n, n))
    for nodes in groups:
        r = x[nodes] - x[nodes].mean(axis=0)
        rigid = np.zeros((3 * len(nodes), 6))
        for i, p in enumerate(r):
            rigid[3 * i : 3 * i + 3, :3] = np.eye(3)
            rigid[3 * i : 3 * i + 3, 3:] = np.cross(np.eye(3), p).T
        q, _ = np.linalg.qr(rigid)
        free = k * (np.eye(3 * len(nodes)) - q @ q.T)
        at = np.concatenate([[3 * i, 3 * i + 1, 3 * i + 2] for i in nodes])
        rows, columns = np.meshgrid(at, at, indexing="ij")
        out = out + csr_matrix((free.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n))
    return out


def interface(task):
    x = np.array(task["nodes"])
    rows, columns, values = task["stiffness"]
    n = 3 * len(x)
    k = csr_matrix((values, (rows, columns)), shape=(n, n))
    fem = FEMinterface()
    fem.nodes = {"Position": x}
    fem.massMatrix = diags(np.repeat(task["masses"], 3)).tocsr()
    fem.stiffnessMatrix = (k + ties(x, task["groups"], TIE * abs(k).max())).tocsr()
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=task["groups"] + [task["pad"]],
        nEigenModes=task["modes"],
        computationMode=HCBstaticModeSelection.RBE3,
    )
    return fem


def rigid_marker(mbs, body, x, nodes):
    weights = np.full(len(nodes), 1.0 / len(nodes))
    return mbs.AddMarker(
        MarkerSuperElementRigid(bodyNumber=body, meshNodeNumbers=nodes, weightingFactors=weights)
    )


def build(task, cms):
    """System, its solver's settings, the sensor of the pad, the load."""
    x = np.array(task["nodes"])
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground = mbs.AddObject(ObjectGround())
    tissue = cms.AddObjectFFRFreducedOrder(mbs)["oFFRFreducedOrder"]
    bodies = [ground]
    for bone in task["bones"]:
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
    for body, bone in zip(bodies[1:], task["bones"]):
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


def statics(task, cms, force):
    system, mbs, tissue, load, sensor = build(task, cms)
    start = np.array(mbs.GetSensorValues(sensor, exu.ConfigurationType.Reference))
    mbs.SetLoadParameter(load, "loadVector", list(force))
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = STEPS
    settings.staticSolver.newton.relativeTolerance = 1e-8
    settings.staticSolver.newton.maxIterations = 50
    settings.staticSolver.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    before, begin = time.thread_time(), time.perf_counter()
    mbs.SolveStatic(settings, updateInitialValues=True)
    ns, cpu_ns = (1e9 * (t - s) for t, s in [(time.perf_counter(), begin), (time.thread_time(), before)])
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


def main():
    task = json.load(open(sys.argv[1]))
    exu.config.printToConsole = False
    fem = interface(task)
    cms = ObjectFFRFreducedOrderInterface(fem)
    _, mbs, *_ = build(task, cms)
    squares, _ = mbs.ComputeODE2Eigenvalues()
    frequencies = np.sqrt(np.sort(np.abs(squares)))
    answer = {
        "settings": f"EXUDYN {exu.GetVersionString()}, one floating frame, "
        f"{fem.modeBasis['matrix'].shape[1]} modes (RBE3), {STEPS} load steps",
        "frequencies": [float(w) for w in frequencies[:6]],
        "statics": [statics(task, cms, f) for f in task["forces"]],
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
