"""What MuJoCo and Pinocchio make of many model files: `python sweep.py`, one process for all of
them.

Each line of the input is JSON, {"path", "format": "mjcf" or "urdf", "seed"}; each line of the
output answers one, in order: {"rivals": {"mujoco": ANSWER, "pinocchio": ANSWER}}, an ANSWER being
{"error": text} or the facts that `sweep_mujoco.py` and `sweep_pinocchio.py` describe. A rival that
cannot read a format is not in the answer.
"""

import json
import os
import sys

import sweep_mujoco
import sweep_pinocchio


def answer_of(rival, task):
    try:
        return rival(task)
    except Exception as problem:  # whatever a file makes a rival do, the next file has its turn
        text = " ".join(str(problem).split()) or type(problem).__name__
        return {"error": text[:600]}


def main():
    # The rivals' libraries write to the standard output; the answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        rivals = {"mujoco": answer_of(sweep_mujoco.facts, task)}
        if task["format"] == "urdf":
            rivals["pinocchio"] = answer_of(sweep_pinocchio.facts, task)
        print(json.dumps({"rivals": rivals}), file=answers, flush=True)


if __name__ == "__main__":
    main()
