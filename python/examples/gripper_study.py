"""A design study: stiffness of a compliant gripper against its grip error, 10,000 variants.

    python examples/gripper_study.py [--address auto|local] [--count N] [--out DIR]

Two fingers of two flexures each close on an object whose place is not known exactly (0.5 mm), and
whose flexures are as exact as they are made (5 %). A soft finger gives way to the misplaced object,
so that its grip force changes little; it also gives way to the object's weight, so that the object
sags. The grip error adds both, each over what is allowed: 10 % of the force, 0.5 mm.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np

import forks

_LENGTH, _GRIP, _WEIGHT = 0.04, 2.0, 0.5
_RANGE = (0.1, 50.0)


def gripper(stiffness: np.ndarray) -> forks.Model:
    """Fingers along z, 30 mm apart; stiffness: (2, 2), N m/rad, finger and flexure. Flexures bend
    about x and y alike."""
    b = forks.Builder("gripper", gravity=[0, 0, 0])
    for f, side in enumerate((-1.0, 1.0)):
        parent, at = "world", [0.015 * side, 0, 0, 1, 0, 0, 0]
        for k in range(2):
            name = f"finger{f}_{k}"
            b.link(name, mass=0.005, center=[0, 0, _LENGTH / 2], inertia=[1e-6, 1e-6, 1e-7])
            b.joint(f"flexure{f}_{k}", "spherical", parent, name, at=at,
                    stiffness=float(stiffness[f, k]))
            parent, at = name, [0, 0, _LENGTH, 1, 0, 0, 0]
        b.frame(f"pad{f}", parent, at)
    return b.build().reduce(["site:pad0", "site:pad1"])


def grip_error(stiffness: float, rng: np.random.Generator) -> dict[str, float]:
    """One gripper of flexures about a stiffness (N m/rad), one object."""
    made = stiffness * (1 + 0.05 * rng.normal(size=(2, 2)))
    place = 0.5e-3 * rng.normal()
    model = gripper(made)
    compliance = model.basis @ np.linalg.solve(model.stiffness, model.basis.T)
    # Pads pressed by an object of the gap's size that is `place` off the middle.
    along = [compliance[6 * f, 6 * f] for f in range(2)]
    force = np.array([_GRIP - place / along[0], _GRIP + place / along[1]])
    mean = force.clip(0).mean()
    wrenches = np.zeros((2, 6))
    wrenches[:, 0] = [-mean, mean]
    closed = model.statics(wrenches)
    wrenches[:, 1] = -_WEIGHT / 2
    loaded = model.statics(wrenches)
    sag = (closed.effector_poses[:, 1] - loaded.effector_poses[:, 1]).mean()
    force_error = np.abs(force - _GRIP).max() / _GRIP
    return {
        "force_error": float(force_error),
        "sag": float(sag),
        "grip_error": float(force_error / 0.1 + sag / 0.5e-3),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    variants = [{"stiffness": float(k)} for k in np.geomspace(*_RANGE, args.count)]
    result = forks.sweep(
        grip_error,
        variants,
        engine="processes",
        address=args.address,
        seed=1,
        output=args.out / "gripper_study.csv",
    )
    k, error = result.column("stiffness"), result.column("grip_error")
    edges = np.geomspace(*_RANGE, 41)
    middle = np.sqrt(edges[1:] * edges[:-1])
    which = np.clip(np.searchsorted(edges, k) - 1, 0, 39)
    median = np.array([np.median(error[which == i]) for i in range(40)])
    best = middle[median.argmin()]
    print(f"{len(result)} variants, {result.computed} computed now, in {result.seconds:.1f} s; "
          f"least median error at {best:.3g} N m/rad: {median.min():.2f}")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.8))
    axes.loglog(k, error, ".", markersize=1, alpha=0.3, label="variants")
    axes.loglog(middle, median, "k-", label="median")
    axes.loglog(k, result.column("sag") / 0.5e-3, ",", alpha=0.5, label="of it, sag")
    axes.set(xlabel="stiffness of a flexure (N m/rad)", ylabel="grip error (1: as allowed)")
    axes.legend()
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(args.out / "gripper_study.png", dpi=110)


if __name__ == "__main__":
    main()
