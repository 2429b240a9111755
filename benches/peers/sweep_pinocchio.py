"""The facts of a URDF as Pinocchio has it, for `sweep.py`; the same as `sweep_mujoco.py` says, in
Pinocchio's order.

Links behind fixed joints are part of the body that carries them, so that there is one mass for all
links, `total_mass`, those welded to the ground included. Mimicking joints are coordinates of their
own, tied by couplings.
"""

import xml.etree.ElementTree as xml

import numpy as np
import pinocchio as pin

import sweep_xml

KINDS = {
    "continuous": "hinge",
    "revolute": "hinge",
    "prismatic": "slide",
    "floating": "free",
    "planar": "planar",
}


def facts(task):
    root = sweep_xml.root(task["path"])
    model = pin.buildModelFromXML(xml.tostring(root, encoding="unicode"))
    types = {j.get("name"): j.get("type") for j in root.findall("joint")}
    joints = []
    for i in range(1, model.njoints):
        kind = KINDS.get(types.get(model.names[i]), "other")
        v = model.joints[i].idx_v
        joints.append(
            {
                "name": model.names[i],
                "type": kind,
                "link": "",
                "first": model.joints[i].idx_q,
                "positions": v,
                "velocities": v,
                "stiffness": 0.0,
                "damping": float(model.damping[v]),
                "armature": 0.0,
                "rest": 0.0,
                # A joint without limits is a point on the unit circle.
                "circle": model.joints[i].nq == 2 and model.joints[i].nv == 1,
            }
        )
    mass = sum(float(model.inertias[i].mass) for i in range(1, model.njoints))
    return {
        "links": None,
        "joints": [{k: j[k] for k in j if k not in ("circle", "first")} for j in joints],
        "moving_mass": mass,
        "servos": [],
        "tendons": [],
        "equalities": None,
        "keyframes": [],
        "states": states(model, joints, mimics(root, model), np.random.default_rng(task["seed"])),
        "adapted": [],
    }


def mimics(root, model):
    """(follower, leader, multiplier, offset) by velocity index."""
    index = {model.names[i]: model.joints[i].idx_v for i in range(1, model.njoints)}
    out = []
    for joint in root.findall("joint"):
        m = joint.find("mimic")
        if m is None or joint.get("name") not in index or m.get("joint") not in index:
            continue
        multiplier, offset = float(m.get("multiplier") or 1.0), float(m.get("offset") or 0.0)
        out.append((index[joint.get("name")], index[m.get("joint")], multiplier, offset))
    return out


def states(model, joints, couplings, rng):
    n = model.nv
    if any(j["type"] not in ("hinge", "slide") for j in joints):
        return []
    rows = np.zeros((len(couplings), n))
    for row, (follower, leader, multiplier, _) in zip(rows, couplings):
        row[follower] += 1.0
        row[leader] -= multiplier
    constant = np.array([offset for *_, offset in couplings])
    inverse = np.linalg.pinv(rows)
    out = []
    for label, angles in (
        ("start", np.zeros(n)),
        ("random", rng.uniform(-1, 1, n)),
        ("closed", rng.uniform(-1, 1, n)),
    ):
        if label == "closed":
            if not couplings:
                continue
            angles = angles - inverse @ (rows @ angles - constant)
        velocities = rng.uniform(-1, 1, n)
        gaps = rows @ angles - constant
        is_closed = np.abs(gaps).max(initial=0.0) < 1e-9
        if is_closed:
            velocities = velocities - inverse @ (rows @ velocities)
        out.append(state(model, joints, label, angles, velocities, rows, gaps, is_closed))
    return out


def state(model, joints, label, angles, velocities, rows, gaps, is_closed):
    data = model.createData()
    q = np.zeros(model.nq)
    for j in joints:
        at, angle = j["first"], angles[j["velocities"]]
        if j["circle"]:
            q[at : at + 2] = np.cos(angle), np.sin(angle)
        else:
            q[at] = angle
    mass = np.array(pin.crba(model, data, q))
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = np.array(pin.nonLinearEffects(model, data, q, velocities))
    damper = -np.array(model.damping) * velocities
    values = np.linalg.svd(rows, compute_uv=False) if len(rows) else np.zeros(0)
    acceleration = None
    if len(mass) and is_closed:
        acceleration = constrained(mass, damper - bias, rows)
    return {
        "label": label,
        # One number per joint, in the order of the velocities.
        "positions": angles.tolist(),
        "velocities": velocities.tolist(),
        "mass_matrix": mass.ravel().tolist(),
        "bias": bias.tolist(),
        "spring": [0.0] * len(bias),
        "damper": damper.tolist(),
        "gaps": None,
        "rank": int((values > 1e-8 * values[0]).sum()) if len(values) else 0,
        "singular_values": values.tolist(),
        "acceleration": None if acceleration is None else acceleration.tolist(),
        "force_size": (
            float(np.sqrt(max(0.0, acceleration @ mass @ acceleration)))
            if acceleration is not None
            else 0.0
        ),
    }


def constrained(mass, force, rows):
    """Accelerations on the motions that the couplings leave; None where no mass resists one."""
    if len(rows):
        _, s, vt = np.linalg.svd(rows)
        basis = vt[int((s > 1e-8 * s[0]).sum()) :].T
    else:
        basis = np.eye(len(mass))
    reduced = basis.T @ mass @ basis
    try:
        np.linalg.cholesky(reduced)
    except np.linalg.LinAlgError:
        return None
    return basis @ np.linalg.solve(reduced, basis.T @ force)
