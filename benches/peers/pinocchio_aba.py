"""Time of Pinocchio's articulated-body algorithm: `python pinocchio_aba.py TASK.json`, prints JSON.

The task holds the bodies (one frame per joint, depth first), two states to alternate between,
torques, the accelerations that forks finds in them, and the seconds that a run should last. The
model is built through Pinocchio's API with these very numbers, with its fastest joint type for each
axis; both of its conventions are tried and the faster one counts. Accelerations must agree before
anything is timed. Two warm-ups, median of seven runs, (max - min)/median; `cpu_ns` is the thread's
computing time, without other programs'.

Python's part of a call is measured on a model of one joint. That joint's own time is not taken off,
so `overhead` is too large rather than too small.
"""

import json
import sys

import numpy as np
import pinocchio as pin

from runs import median_of_seven, one_by_one


def joint_model(kind, axis):
    """The most special joint type that fits."""
    if kind == "free":
        return pin.JointModelFreeFlyer()
    letter = "R" if kind == "revolute" else "P"
    for index, name in enumerate("XYZ"):
        if axis == [float(k == index) for k in range(3)]:
            return getattr(pin, f"JointModel{letter}{name}")()
    name = "RevoluteUnaligned" if kind == "revolute" else "PrismaticUnaligned"
    return getattr(pin, f"JointModel{name}")(np.array(axis))


def build(bodies):
    model = pin.Model()
    model.gravity.linear = np.array(bodies["gravity"])
    armature = []
    for index, j in enumerate(bodies["joints"]):
        w, x, y, z = j["quaternion_wxyz"]
        placement = pin.SE3(pin.Quaternion(w, x, y, z).matrix(), np.array(j["position"]))
        joint = joint_model(j["kind"], j["axis"])
        added = model.addJoint(j["parent"] + 1, joint, placement, f"joint{index}")
        assert added == index + 1
        m, cx, cy, cz, xx, yy, zz, xy, xz, yz = j["inertia"]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(m, np.array([cx, cy, cz]), tensor)
        model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
        armature += j["armature"]
    model.armature = np.array(armature)
    return model


def reordered(bodies, values, positions):
    """Numbers of forks' coordinates in Pinocchio's order; quaternions become x, y, z, w."""
    out = []
    for j in bodies["joints"]:
        free = j["kind"] == "free"
        if positions:
            first = j["first_position"]
            if free:
                p = values[first : first + 7]
                out += p[:3] + p[4:] + p[3:4]
            else:
                out.append(values[first] - j["reference"])
        else:
            first = j["first_velocity"]
            out += values[first : first + (6 if free else 1)]
    return np.array(out)


def best(model, states, v, tau, batch):
    """The faster convention: (timing, name)."""
    data = model.createData()
    timings = []
    for name in ("WORLD", "LOCAL"):
        convention = getattr(pin.Convention, name)

        def call(k, convention=convention):
            pin.aba(model, data, states[k & 1], v, tau, convention)

        timings.append((median_of_seven(one_by_one(call), batch), name))
    return min(timings, key=lambda t: t[0]["cpu_ns"])


def main():
    task = json.load(open(sys.argv[1]))
    bodies = task["bodies"]
    model = build(bodies)
    states = [reordered(bodies, q, True) for q in task["q"]]
    v, tau = (reordered(bodies, task[name], False) for name in ("v", "tau"))
    data = model.createData()
    difference = 0.0
    for q, acceleration in zip(states, task["acceleration"]):
        ours = reordered(bodies, acceleration, False)
        theirs = pin.aba(model, data, q, v, tau)
        assert np.isfinite(theirs).all(), "Pinocchio's accelerations are not finite"
        difference = max(difference, float(abs(ours - theirs).max() / abs(theirs).max()))
    if difference > task["tolerance"]:
        sys.exit(f"accelerations differ by {difference:.1e} of the largest")
    timing, convention = best(model, states, v, tau, task["batch"])
    single = pin.Model()
    joint = single.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    single.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    one = np.zeros(1)
    overhead, _ = best(single, [one, one], one, one, task["batch"])
    answer = {
        "timing": timing,
        "overhead": overhead,
        "difference": difference,
        "settings": f"Pinocchio {pin.__version__} through Python, Convention.{convention}, "
        "model built by its API",
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
