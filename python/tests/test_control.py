"""Control, poses and playback against the Rust program, bit by bit where both do the same."""

import json
import subprocess

import numpy as np
import pytest

import forks
from forks.control import (
    Controller, Group, InverseKinematics, Motion, Mpc, Player, Task, pose, set_point,
)

HALF = "models/half_cheetah/half_cheetah.xml"


def told(program, *words):
    out = subprocess.run([program, *map(str, words), "--json"], capture_output=True, check=False)
    assert out.stdout, out.stderr.decode()
    return json.loads(out.stdout)


@pytest.fixture(scope="module")
def cheetah(fixtures):
    return forks.load(fixtures / HALF)


def links(report):
    numbers = [[*link["position"], *link["quaternion_wxyz"]] for link in report["links"]]
    return [link["name"] for link in report["links"]], np.array(numbers)


def test_commands_are_those_of_the_program(cheetah, fixtures, program):
    path = fixtures / HALF
    theirs = told(
        program, "control", path, "--steps", 20, "--step", 0.002, "--largest", 100,
        "--task", "link bfoot position 0,0,0 rows=x,z level=0 k=400",
        "--task", "joint fthigh 0.3", "--task", "posture level=2 weight=0.5",
    )
    ours = Controller(
        cheetah,
        [Task.position("bfoot", [0, 0, 0], rows=["x", "z"], level=0, k=400.0),
         Task.joint("fthigh", 0.3), Task.posture(level=2, weight=0.5)],
        step=0.002, largest=100.0,
    )
    last = ours.step(20)
    assert ours.positions.tolist() == theirs["qpos"]
    assert last.names == [c["joint"] for c in theirs["commands"]] == ours.commands
    assert last.commands.tolist() == [c["value"] for c in theirs["commands"]]
    assert last.status == theirs["status"]
    assert [r[:3] for r in last.relaxed] == [
        (r["name"], r["row"], r["level"]) for r in theirs["relaxed"]
    ]
    for task in theirs["tasks"]:
        assert last.errors[task["name"]].tolist() == [r["error"] for r in task["rows"]]
        assert last.residuals[task["name"]].tolist() == [r["residual"] for r in task["rows"]]
    assert ours.time == pytest.approx(0.04)
    names, poses = links(theirs)
    assert names == cheetah.links and np.array_equal(ours.link_poses(), poses)


def test_every_kind_of_task_brings_about_what_it_says():
    b = forks.Builder("arm", gravity=[0, 0, 0])
    at = [0, 0, 0, 1, 0, 0, 0]
    for i, axis in enumerate(np.eye(3)[[2, 1, 2, 1, 0, 1, 0]]):
        b.link(f"l{i}", mass=0.5, center=[0.1, 0, 0], inertia=[1e-3, 1e-3, 1e-3])
        b.joint(f"j{i}", "revolute", f"l{i - 1}" if i else "world", f"l{i}", axis=list(axis), at=at)
        at = [0.2, 0, 0, 1, 0, 0, 0]
    b.frame("tip", "l6", [0.2, 0, 0, 1, 0, 0, 0])
    arm = b.build()
    bent = [0.1, 0.3, -0.4, 0.5, 0.2, -0.3, 0.1]
    turned = [np.cos(0.3), 0, np.sin(0.3), 0]
    settled = dict(step=5e-3, start=bent)
    down = dict(level=1, k=0.0, d=5.0)
    for task, error in (
        (Task.position("site:tip", [0.7, 0.2, 0.3]), 1e-3),
        (Task.orientation("l6", turned), 1e-3),
        (Task.pose("site:tip", [0.6, 0.1, 0.2, *turned], axes="world"), 1e-3),
        (Task.direction("l6", [0, 0, 1], axis=[1, 0, 0]), 1e-3),
        (Task.position("l6", [0.3, 0.1, 0.0], within="l0"), 1e-3),
        (Task.joint("j3", -0.2), 1e-3),
        (Task.centre_of_mass([0.4, 0.1, 0.1]), 1e-3),
        (Task.still("l4"), 1e-3),
    ):
        c = Controller(arm, [task, Task.posture(name="rest", **{**down, "level": 2})], **settled)
        last = c.step(400)
        name = c.tasks[0]
        assert np.abs(last.errors[name]).max() < error, name
    c = Controller(arm, [Task.joint("j3", -0.2), Task.posture(level=2)], **settled)
    c.set_target("joint j3", 0.4)
    c.step(400)
    assert c.positions[3] == pytest.approx(0.4, abs=1e-3)
    decided = c.solve()
    assert np.array_equal(decided.commands, c.solve().commands)
    recording = c.run(0.05, every=5)
    assert len(recording) == 3 and recording.bodies == arm.links


def test_poses_are_those_of_the_program(cheetah, fixtures, program):
    theirs = told(
        program, "pose", fixtures / HALF, "--drag", "bfoot=-0.4,0,0.1", "--pin-point", "ffoot",
        "--pin", "torso",
    )
    drag = {"bfoot": [-0.4, 0.0, 0.1]}
    ours = pose(cheetah, drag, pin=["torso"], pin_point=["ffoot"])
    assert ours.positions.tolist() == theirs["qpos"] and ours.status == theirs["status"]
    assert ours.iterations == theirs["iterations"]
    assert ours.unmet == [(u["name"], u["row"], u["by"]) for u in theirs["unmet"]]
    assert ours.at_limit == [
        (l["joint"], l["coordinate"], l["limit"]) for l in theirs["at_limit"]
    ]
    assert np.array_equal(ours.link_poses, links(theirs)[1])


def test_searches_start_where_they_are_told(cheetah):
    drag = {"bfoot": [-0.4, 0.0, 0.1]}
    alone = pose(cheetah, drag, pin=["torso"], pin_point=["ffoot"])
    again = InverseKinematics(cheetah)
    again.pin("torso")
    again.pin("ffoot", turn=False)
    again.drag("bfoot", [-0.5, 0.0, 0.0])
    first = again.follow()
    again.clear_drags()
    again.drag("bfoot", drag["bfoot"])
    found = again.follow_from(cheetah.start_positions)
    assert np.array_equal(found.positions, alone.positions)
    assert not np.array_equal(first.positions, found.positions)
    assert np.array_equal(again.link_poses(), found.link_poses)
    # Out of its plane nothing goes; what is missing is said by name.
    far = pose(cheetah, {"bfoot": [-0.4, 0.3, 0.1]}, pin=["torso"])
    assert not far.reached and far.status == "drags are not reached"
    name, row, by = max(far.unmet, key=lambda u: abs(u[2]))
    assert (name, row) == ("bfoot", "y") and by == pytest.approx(0.3, abs=1e-9)


KEYS = """times = [0.0, 0.3, 0.6]
[[joint]]
name = "fthigh"
keys = [0.0, 0.4, 0.1]
[[joint]]
name = "bthigh"
method = "monotone"
keys = [0.0, -0.2, 0.3]
"""


def test_playback_is_that_of_the_program(cheetah, fixtures, program, tmp_path):
    (tmp_path / "keys.toml").write_text(KEYS)
    theirs = told(program, "play", fixtures / HALF, tmp_path / "keys.toml", "--step", 0.01)
    by_file = Motion.load(cheetah, tmp_path / "keys.toml")
    motion = Motion(
        cheetah,
        {"fthigh": [0.0, 0.4, 0.1], "bthigh": {"keys": [0.0, -0.2, 0.3], "method": "monotone"}},
        times=[0.0, 0.3, 0.6],
    )
    assert motion.range == by_file.range == (0.0, 0.6) and motion.joints == ["fthigh", "bthigh"]
    for t in np.linspace(0, 0.6, 7):
        assert np.array_equal(motion.positions(t), by_file.positions(t))
    largest: dict[str, float] = {}
    player = Player(cheetah, motion, step=0.01)
    for _ in range(theirs["steps"]):
        for joint, f in player.step().items():
            largest[joint] = max(largest.get(joint, 0.0), abs(f))
    assert player.positions.tolist() == theirs["qpos"]
    assert np.array_equal(player.link_poses(), links(theirs)[1])
    assert largest == {f["joint"]: f["largest"] for f in theirs["forces"]}
    q, v, a = motion.state(0.3)["fthigh"]
    assert q[0] == pytest.approx(0.4, abs=1e-14) and v.shape == a.shape == (1,)
    assert len(Player(cheetah, motion, step=0.01).run(0.1, every=5)) == 3


def test_curves_have_what_was_asked_for(cheetah):
    rates = {"velocity": 0.5, "acceleration": 0.0}
    motion = Motion(
        cheetah,
        {"fthigh": {"keys": [0.0, 0.4], "times": [0.0, 1.0], "start": rates, "end": {}},
         "bthigh": {"keys": [[0.1], [0.2], [0.1]], "times": [0.0, 0.5, 1.0], "ends": "periodic"}},
        degree=5,
    )
    _, v, a = motion.state(0.0)["fthigh"]
    assert v[0] == pytest.approx(0.5, abs=1e-12) and a[0] == pytest.approx(0.0, abs=1e-10)
    start, end = (motion.state(t)["bthigh"] for t in (0.0, 1.0))
    assert np.allclose(start, end, atol=1e-12)
    warped = Motion(cheetah, {"fthigh": [0.0, 0.4, 0.1]}, times=[0, 1, 2], warp=([0, 2], [0, 2]))
    plain = Motion(cheetah, {"fthigh": [0.0, 0.4, 0.1]}, times=[0, 1, 2])
    assert np.allclose(warped.positions(0.7), plain.positions(0.7), atol=1e-12)
    over = Motion(cheetah, {"fthigh": [0.0, 0.69, 0.69, 0.0]}, times=[0, 1, 2, 3])
    assert all(beyond[0] == "fthigh" and beyond[3] > beyond[4] for beyond in over.beyond_limits())
    assert over.beyond_limits()


def test_modes_are_switched_and_copies_go_their_own_way(cheetah):
    motion = Motion(cheetah, {"fthigh": [0.0, 0.4]}, times=[0.0, 0.5])
    player = Player(cheetah, motion, step=0.01)
    player.step(10)
    other = player.copy()
    assert player.step(5) == other.step(5) and np.array_equal(player.positions, other.positions)
    before = player.positions
    player.switch([Group.servo(motion, 50.0, 2.0), Group.compliant(["bthigh"], 30.0, 1.0),
                   Group.torque(["bshin"], [0.5])])
    assert np.array_equal(player.positions, before)
    forces = player.step()
    assert forces["bshin"] == pytest.approx(0.5, abs=1e-9) and len(forces) == 3
    assert not np.array_equal(player.positions, other.positions)


def test_predictions_and_set_points_of_a_finger(finger):
    """At rest under the commands of a set point the tip is where it shall be, and a prediction that
    holds it there asks for the same commands."""
    wanted = np.full(len(finger.servos), 0.0)
    wanted[0] = 0.02
    at = finger.statics(servo_targets=wanted)
    found = set_point(finger, {"rh_ffdistal": at.effector_poses[0]}, bounds=(-0.1, 0.1))
    assert found["settled"] and np.abs(found["errors"]).max() < 1e-6
    there = finger.statics(servo_targets=found["commands"]).effector_poses
    assert np.allclose(there, at.effector_poses, atol=1e-6)
    assert np.allclose(found["coordinates"], at.coordinates, atol=1e-6)
    mpc = Mpc(finger, 1e-3, 20, {0: (1.0, 0.1)}, bounds=(-0.1, 0.1))
    simulation = finger.simulation(1e-3)
    for _ in range(1500):
        commands, report = mpc.solve(
            simulation.coordinates, simulation.velocity, at.effector_poses
        )
        assert report["status"] == "solved"
        simulation.servo_targets = commands
        simulation.step()
    off = simulation.effector_poses()[0, :3] - at.effector_poses[0, :3]
    moved = at.effector_poses[0, :3] - finger.rest_poses[0, :3]
    assert np.linalg.norm(off) < 0.02 * np.linalg.norm(moved)
    assert mpc.plan.shape == (20, len(finger.servos)) and np.array_equal(mpc.plan[0], commands)
    by_force = Mpc(finger, 1e-3, 5, {"rh_ffdistal": 1.0}, commands=["rh_ffdistal"])
    commands, _ = by_force.solve(*[np.zeros(finger.dof)] * 2, np.tile(at.effector_poses, (5, 1, 1)))
    assert commands.shape == (3,)


NAN = float("nan")


def test_bad_input(cheetah, finger):
    task = Task.joint("fthigh")
    held = Controller(cheetah, [task])
    motion = Motion(cheetah, {"fthigh": [0.0, 0.1]}, times=[0, 1])
    zero = np.zeros(finger.dof)
    mpc = Mpc(finger, 1e-3, 5, {0: 1.0})
    ik = InverseKinematics(cheetah)
    target = np.zeros(6)
    for call, kind, text in (
        (lambda: Task.position("tip", [0, 0]), ValueError, r"target of 'tip position' has shape"),
        (lambda: Task.position("tip", [0, NAN, 0]), ValueError, r"position'\[1\] is NaN"),
        (lambda: Task.position("tip", np.zeros(3, np.float32)), TypeError, "dtype float32"),
        (lambda: Task.position("tip", target[::2]), ValueError, "is not C-contiguous"),
        (lambda: Task.pose("tip", np.zeros(7)), ValueError, "quaternion of length zero"),
        (lambda: Task.joint("a", NAN), ValueError, "target of 'joint a' is NaN"),
        (lambda: Task.joint("a", "x"), TypeError, "holds a str"),
        (lambda: Task.joint("a", speed=1.0), TypeError, "'speed' of 'joint a' is none of level"),
        (lambda: Task.joint("a", level=-1), TypeError, "level of 'joint a' is no number from 0"),
        (lambda: Task.joint("a", level=1000), ValueError, "level 1000 is none of 0…100"),
        (lambda: Task.joint("a", weight=0.0), ValueError, "weight is 0; it has to be finite and ab"),
        (lambda: Task.joint("a", k=NAN), ValueError, "k is NaN"),
        (lambda: Task.joint("a", axes="world"), ValueError, "it has no axes"),
        (lambda: Task.position("a", axes="moon"), ValueError, "axes is 'moon'"),
        (lambda: Task.position("a", rows=["rx"]), ValueError, "no row 'rx'; there are: x, y, z"),
        (lambda: Task.still("a", within="b"), ValueError, "only positions, orientations and poses"),
        (lambda: Controller(cheetah, [Task.position("tip")]), ValueError,
         "task 'tip position': no link 'tip'; there are: torso"),
        (lambda: Controller(cheetah, [Task.joint("knee")]), ValueError, "no joint 'knee'; there"),
        (lambda: Controller(cheetah, [task, task]), ValueError, "two tasks are called 'joint fth"),
        (lambda: Controller(cheetah, [task], step=0.0), ValueError, "0"),
        (lambda: Controller(cheetah, [task], step=NAN), ValueError, "NaN"),
        (lambda: Controller(cheetah, [task], minimise="pain"), ValueError, "minimise is 'pain'"),
        (lambda: Controller(cheetah, [task], actuate=["x"]), ValueError, "no joint 'x'"),
        (lambda: Controller(cheetah, [task], actuate=["fthigh"] * 2), ValueError, "is there twice"),
        (lambda: Controller(cheetah, [task], limits={"x": 1.0}), ValueError, "no joint 'x'"),
        (lambda: Controller(cheetah, [task], limits={"fthigh": -1.0}), ValueError, "is -1; it must"),
        (lambda: Controller(cheetah, [task], largest=NAN), ValueError, "largest is NaN"),
        (lambda: Controller(cheetah, [task], start=[0.0]), ValueError, r"start has shape \(1,\)"),
        (lambda: Controller(cheetah, [task], velocities=[0.0]), ValueError, "velocities has shape"),
        (lambda: Controller(cheetah, ["task"]), TypeError, "Task"),
        (lambda: held.set_target("hip", 0.0), ValueError, "no task 'hip'; there are: joint fthigh"),
        (lambda: held.set_target("joint fthigh", NAN), ValueError, "is NaN"),
        (lambda: held.run(-1.0), ValueError, "time is -1"),
        (lambda: ik.drag("tip", [0, 0, 0]), ValueError, "no link 'tip'; there are:"),
        (lambda: ik.drag("bfoot", [0, 0]), ValueError, r"shape \(2,\), expected \(7,\)"),
        (lambda: ik.drag("bfoot", [0, 0, NAN]), ValueError, r"'bfoot'\[2\] is NaN"),
        (lambda: ik.drag("bfoot", [0.0] * 7), ValueError, "quaternion of length zero"),
        (lambda: ik.drag("bfoot", [0, 0, 0], weight=NAN), ValueError, "bfoot: the weight is NaN"),
        (lambda: ik.drag("bfoot", [0, 0, 0], level=10**9), ValueError, "is none of 0…100"),
        (lambda: ik.follow_from([0.0]), ValueError, r"start has shape \(1,\)"),
        (lambda: InverseKinematics(cheetah, root="glued"), ValueError, "root is 'glued'"),
        (lambda: pose(cheetah, root="balanced"), ValueError, "balance takes a pin"),
        (lambda: pose(cheetah, pin="rfoot"), TypeError, "not the text 'rfoot'"),
        (lambda: Motion(cheetah, {}), ValueError, "there are no keys"),
        (lambda: Motion(cheetah, {"knee": [0.0, 1.0]}, times=[0, 1]), ValueError, "knee"),
        (lambda: Motion(cheetah, {"fthigh": [0.0, 1.0]}), ValueError, "fthigh has no times"),
        (lambda: Motion(cheetah, {"fthigh": {"times": [0, 1]}}), ValueError, "has no keys"),
        (lambda: Motion(cheetah, {"fthigh": {"key": []}}), ValueError, "'key' of joint fthigh"),
        (lambda: Motion(cheetah, {"fthigh": [0, NAN]}, times=[0, 1]), ValueError, "NaN"),
        (lambda: Motion(cheetah, {"fthigh": [0, 9.0]}, times=[0, 1]), ValueError, "its limits are"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[1, 0]), ValueError, "fthigh"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[0, 1, 2]), ValueError, "fthigh"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[0, 1], ends="x"), ValueError, "ends"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[0, 1], degree=4), ValueError, "4"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[0, 1], warp=3), TypeError, "warp is"),
        (lambda: Motion(cheetah, {"fthigh": [0, 0.1]}, times=[0, 1], warp=(1.0, 0.1)), ValueError,
         "warp"),
        (lambda: Motion.parse(cheetah, "x"), forks.ReadError, "x"),
        (lambda: Motion.load(cheetah, "none.toml"), forks.ReadError, "none.toml"),
        (lambda: motion.positions(NAN), ValueError, "time is NaN"),
        (lambda: Player(cheetah, motion, integrator="x"), ValueError, "integrator is 'x'"),
        (lambda: Player(cheetah, motion, step=-1.0), ValueError, "-1"),
        (lambda: Player(cheetah).switch([Group.torque(["x"], [1.0])]), ValueError, "no joint 'x'"),
        (lambda: Player(cheetah).switch([Group.torque(["bshin"], [1.0, 2.0])]), ValueError,
         "2 forces for 1 coordinates"),
        (lambda: Player(cheetah).switch([Group.compliant(["bshin"], NAN, 0.0)]), ValueError, "NaN"),
        (lambda: Mpc(finger, 1e-3, 0, {0: 1.0}), ValueError, "the horizon is 0"),
        (lambda: Mpc(finger, 1e-3, 5, {}), ValueError, "no goal has a weight"),
        (lambda: Mpc(finger, 1e-3, 5, {3: 1.0}), ValueError, "effector 3 of 1"),
        (lambda: Mpc(finger, 1e-3, 5, {"tip": 1.0}), ValueError, "no effector 'tip'; there are"),
        (lambda: Mpc(finger, 1e-3, 5, {0: "x"}), TypeError, "weight of 0 is no number"),
        (lambda: Mpc(finger, 1e-3, 5, {0: 1.0}, bounds=(1.0, 0.0)), ValueError, "bounds of command"),
        (lambda: Mpc(finger, 1e-3, 5, {0: 1.0}, bounds=np.zeros((9, 2))), ValueError, "bounds has"),
        (lambda: Mpc(finger, 1e-3, 5, {0: 1.0}, budget=-1.0), ValueError, "budget is -1"),
        (lambda: mpc.solve(zero[1:], zero, finger.rest_poses), ValueError, "coordinates has shape"),
        (lambda: mpc.solve(zero, zero, np.zeros((2, 7))), ValueError, r"expected \(5, 1, 7\)"),
        (lambda: mpc.solve(zero, zero, np.zeros((1, 7))), ValueError, "quaternion of length zero"),
        (lambda: mpc.solve(zero, np.full(finger.dof, NAN), finger.rest_poses), ValueError, "NaN"),
        (lambda: set_point(finger, {0: [0, 0]}), ValueError, r"shape \(2,\), expected \(7,\)"),
        (lambda: set_point(finger, {0: [0, 0, NAN]}), ValueError, "NaN"),
        (lambda: set_point(finger, {0: [0, 0, 0]}, start=[0.0]), ValueError, "start has shape"),
    ):
        with pytest.raises(kind, match=text):
            call()


def test_closed_handles(cheetah, finger):
    motion = Motion(cheetah, {"fthigh": [0.0, 0.1]}, times=[0, 1])
    zero = np.zeros(finger.dof)
    for handle, use in (
        (Controller(cheetah, [Task.joint("fthigh")]), lambda h: h.step()),
        (Player(cheetah, motion), lambda h: h.step()),
        (InverseKinematics(cheetah), lambda h: h.follow()),
        (Mpc(finger, 1e-3, 5, {0: 1.0}), lambda h: h.solve(zero, zero, finger.rest_poses)),
    ):
        use(handle)
        handle.close()
        with pytest.raises(forks.HandleError, match="is closed"):
            use(handle)
        assert "closed" in repr(handle)


def test_two_threads_on_one_controller(cheetah):
    import threading
    import time

    controller = Controller(cheetah, [Task.joint("fthigh", 0.3)], step=1e-4)
    began, seen = threading.Event(), []

    def work():
        began.set()
        try:
            controller.step(20_000)
        except forks.HandleError:
            seen.append("worker")

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    end = time.monotonic() + 60
    while thread.is_alive() and not seen and time.monotonic() < end:
        try:
            controller.solve()
        except forks.HandleError as e:
            seen.append(str(e))
    controller_was_shared = bool(seen)
    thread.join()
    assert controller_was_shared
