"""A Ray cluster of two workers: what scheduling costs, and a worker that is killed in the middle.

    python bench/cluster.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import tempfile
import time

import numpy as np
import ray

import forks


def timed(x: int) -> float:
    """50 ms."""
    time.sleep(0.05)
    return float(x)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    args.json = args.json and args.json.resolve()
    # Workers look for modules in this folder first, and beside it are the sources of the package.
    os.chdir(pathlib.Path(__file__).parent)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    folder = tempfile.mkdtemp()

    def deadly(x: int, rng: np.random.Generator) -> dict[str, float]:
        time.sleep(0.05)
        with open(os.path.join(folder, str(os.getpid())), "a") as file:
            file.write(f"{x}\n")
        marker = os.path.join(folder, "died")
        if x == 200 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"y": float(x + rng.normal())}

    def calm(x: int, rng: np.random.Generator) -> dict[str, float]:
        return {"y": float(x + rng.normal())}

    forks.sweep(timed, {"x": list(range(8))}, engine="ray")  # workers start
    count = 400
    ideal = 0.05 * count / 2
    seconds = [
        forks.sweep(timed, {"x": list(range(count))}, engine="ray").seconds for _ in range(3)
    ]
    # The same tasks on two threads: how exact 50 ms are on this machine at this time.
    threads = forks.sweep(
        timed, {"x": list(range(count))}, engine="threads", workers=2
    ).seconds
    killed = forks.sweep(deadly, {"x": list(range(count))}, engine="ray", seed=3)
    alone = forks.sweep(calm, {"x": list(range(count))}, engine="serial", seed=3)
    report = {
        "command": "python bench/cluster.py",
        "date": time.strftime("%Y-%m-%d"),
        "ray": ray.__version__,
        "forks": forks.__version__,
        "tasks_of_50_ms": count,
        "workers": 2,
        "ideal_s": ideal,
        "measured_s": seconds,
        "two_threads_s": threads,
        "overhead_over_two_threads_percent": 100 * (min(seconds) / threads - 1),
        "overhead_percent": 100 * (min(seconds) / ideal - 1),
        "worst_overhead_percent": 100 * (max(seconds) / ideal - 1),
        "killed_in_the_middle": os.path.exists(os.path.join(folder, "died")),
        "variants_delivered": len(killed),
        "retried": killed.retried,
        "each_once": killed.column("index").tolist() == list(range(count)),
        "equal_to_one_process": killed.rows == alone.rows,
    }
    print(json.dumps(report, indent=1))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
