"""What the way through Python costs, and a batch of hands beside MuJoCo's rollout.

    python bench/overhead.py FIXTURES [--json FILE]

Prints a table; one thread each (RAYON_NUM_THREADS=1). Needs the package mujoco for the last rows.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import time

os.environ.setdefault("RAYON_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import forks  # noqa: E402


def best(work, repeats: int, rounds: int = 15) -> float:
    """Least time of one call over some rounds, s."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(repeats):
            work()
        times.append((time.perf_counter() - begin) / repeats)
    return min(times)


def overhead(step, wrenches, rounds: int = 3000) -> tuple[float, float]:
    """A step and what a call costs beyond it, s: medians.

    Calls of one step and of two are timed in turn, so that what else the machine does falls on
    both: a step is the difference, and the cost of a call is what one step leaves of the first.
    """
    def time_of(count: int) -> float:
        begin = time.perf_counter()
        step(wrenches, count=count)
        return time.perf_counter() - begin

    def time_of_clock() -> float:
        begin = time.perf_counter()
        return time.perf_counter() - begin

    rows = [(time_of(1), time_of(2), time_of_clock()) for _ in range(rounds)]
    one, two, clock = np.array(rows).T
    return float(np.median(two - one)), float(np.median(2 * one - two - clock))


def single(finger: forks.Model) -> dict[str, float]:
    simulation = finger.simulation(1e-3)
    wrench = np.array([[0.0, 0.0, -1e-3, 0.0, 0.0, 0.0]])
    step = simulation.step
    # Steps inside one call have no overhead of Python's.
    bare = best(lambda: step(count=60_000), 1) / 60_000
    loaded = best(lambda: step(wrench, count=60_000), 1) / 60_000
    call, call_loaded = best(step, 20_000), best(lambda: step(wrench), 20_000)
    return {
        "step_ns": 1e9 * bare,
        "call_ns": 1e9 * call,
        "overhead_per_call_ns": 1e9 * (call - bare),
        "step_with_wrench_ns": 1e9 * loaded,
        "call_with_wrench_ns": 1e9 * call_loaded,
        "overhead_per_call_with_wrench_ns": 1e9 * (call_loaded - loaded),
    }


def batch(model: forks.Model, count: int) -> dict[str, float]:
    many = model.batch(count, 1e-3)
    wrenches = np.zeros((count, len(model.effectors), 6))
    wrenches[:, :, 2] = -1e-3
    out: dict[str, float] = {}
    for name, w in (("", None), ("_with_wrenches", wrenches)):
        one, call = overhead(many.step, w)
        out[f"step{name}_us"] = 1e6 * one
        out[f"overhead{name}_us"] = 1e6 * call
        out[f"overhead{name}_percent"] = 100 * call / one
    return out


def hands(path: pathlib.Path, count: int, steps: int) -> dict[str, float]:
    import mujoco
    from mujoco import rollout

    tips = [f"rh_{f}distal" for f in ("ff", "mf", "rf", "lf", "th")]
    model = forks.load(path).reduce(tips)
    many = model.batch(count, 2e-3)
    servos = len(model.servos)
    targets = np.random.default_rng(0).uniform(-0.05, 0.05, (count, servos))
    many.set_servo_targets(targets)
    ours = best(lambda: many.step(count=steps), 1, 5) / steps
    poses = best(lambda: many.link_poses(), 1, 5)

    theirs_model = mujoco.MjModel.from_xml_path(str(path))
    theirs_model.opt.timestep = 2e-3
    theirs_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(theirs_model)
    size = mujoco.mj_stateSize(theirs_model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(theirs_model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    control = np.random.default_rng(0).uniform(-0.05, 0.05, (count, 1, theirs_model.nu))
    control = np.ascontiguousarray(np.repeat(control, steps, axis=1))
    initial = np.tile(state, (count, 1))
    with rollout.Rollout(nthread=0) as r:
        def work():
            r.rollout(theirs_model, [data], initial, control)
        theirs = best(work, 1, 3) / steps
    return {
        "count": count,
        "ours_us_per_step": 1e6 * ours,
        "ours_link_poses_us": 1e6 * poses,
        "mujoco_us_per_step": 1e6 * theirs,
        "times_faster": theirs / ours,
        "times_faster_with_all_link_poses": theirs / (ours + poses),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("fixtures", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    path = args.fixtures / "models/shadow_hand_right/right_hand.nomesh.xml"
    mechanism = forks.load(path)
    finger = mechanism.reduce("rh_ffdistal")
    tips = [f"rh_{f}distal" for f in ("ff", "mf", "rf", "lf", "th")]
    report = {
        "command": "RAYON_NUM_THREADS=1 python bench/overhead.py fixtures",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "forks": forks.__version__,
        "machine": platform.machine(),
        "single, finger": single(finger),
        "batch of 1000, finger": batch(finger, 1000),
        "batch of 1000, hand with five tips": batch(mechanism.reduce(tips), 1000),
    }
    try:
        import mujoco

        report["mujoco"] = mujoco.__version__
        report["batch of hands beside MuJoCo's rollout, no contact"] = hands(path, 4096, 20)
    except ImportError:
        print("no MuJoCo here: pip install mujoco for its row")
    print(json.dumps(report, indent=1))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
