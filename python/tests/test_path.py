"""The whole way: a file, what it is, its small model, statics, motion, files."""

import json
import pickle
import subprocess

import numpy as np
import pytest

import forks


def test_inspection_has_the_names_of_the_program(hand, fixtures, program):
    path = fixtures / "models/shadow_hand_right/right_hand.nomesh.xml"
    out = subprocess.run([program, "inspect", str(path), "--json"], capture_output=True, check=True)
    theirs, ours = json.loads(out.stdout), hand.inspect()
    for key in ("dof", "mobility", "constraint_rank", "redundant_rows", "total_mass",
                "bounding_radius", "coordinate_order"):
        assert ours[key] == theirs[key], key
    assert [link["name"] for link in ours["links"]] == [link["name"] for link in theirs["links"]]
    assert [j["type"] for j in ours["joints"]] == [j["type"] for j in theirs["joints"]]
    assert ours["notes"] == [{k: n[k] for k in ours["notes"][0]} for n in theirs["notes"]]


def test_round_trip_through_the_program_keeps_every_bit(finger, fixtures, program, tmp_path):
    path = fixtures / "models/shadow_hand_right/right_hand.nomesh.xml"
    file = tmp_path / "finger.forks"
    command = [program, "reduce", str(path), "--effector", "rh_ffdistal", "-o", str(file)]
    subprocess.run(command, capture_output=True, check=True)
    assert file.read_bytes() == finger.to_bytes()
    finger.save(tmp_path / "again.forks")
    assert (tmp_path / "again.forks").read_bytes() == file.read_bytes()
    assert forks.load_model(file) == finger


def test_steps_have_the_bits_of_the_program(finger, program, tmp_path):
    finger.save(tmp_path / "finger.forks")
    out = subprocess.run(
        [program, "simulate", "--reduced", str(tmp_path / "finger.forks"), "--wrench",
         "0,0,-1,0,0,0", "--time", "0.05", "--step", "0.001", "--json"],
        capture_output=True, check=True,
    )
    theirs = json.loads(out.stdout)
    wrench = np.array([[0, 0, -1.0, 0, 0, 0]])
    simulation, batch = finger.simulation(1e-3), finger.batch(7, 1e-3)
    simulation.step(wrench, count=50)
    batch.step(np.tile(wrench, (7, 1, 1)), count=50)
    assert theirs["eta"] == simulation.coordinates.tolist()
    assert theirs["velocity"] == simulation.velocity.tolist()
    for row in batch.coordinates():
        assert row.tolist() == theirs["eta"]


def test_reduced_statics_agree_with_the_full_solver(hand, finger):
    push = np.array([[0.0, -0.05, 0.0, 0.0, 0.0, 0.0]])
    small = finger.statics(push)
    full = hand.statics("rh_ffdistal", push, gravity=False)
    moved = full.effector_poses[0, :3] - finger.rest_poses[0, :3]
    off = small.effector_poses[0, :3] - full.effector_poses[0, :3]
    assert np.linalg.norm(off) < 0.05 * np.linalg.norm(moved)
    assert full.residual < 1e-9 and full.status == "converged"
    # All links, by name.
    ours = dict(zip(finger.links, small.link_poses))
    theirs = dict(zip(hand.links, full.link_poses))
    off = ours["rh_ffmiddle"] - theirs["rh_ffmiddle"]
    assert np.linalg.norm(off[:3]) < 0.05 * np.linalg.norm(moved)


def test_compliance_is_what_a_small_force_finds(finger):
    compliance = finger.basis @ np.linalg.solve(finger.stiffness, finger.basis.T)
    force = 1e-6
    found = finger.statics([[force, 0, 0, 0, 0, 0]], frame="body")
    x, _, _ = found.effector_poses[0, :3] - finger.rest_poses[0, :3]
    w, *v = finger.rest_poses[0, 3:]
    turn = _rotation(w, *v)
    moved = turn.T @ (found.effector_poses[0, :3] - finger.rest_poses[0, :3])
    assert np.allclose(moved / force, compliance[:3, 0], rtol=1e-4, atol=1e-9)


def _rotation(w, x, y, z):
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_motion_settles_where_statics_say(gripper):
    wrenches = np.zeros((2, 6))
    wrenches[0, 1], wrenches[1, 1] = 0.5, -0.5
    rest = gripper.statics(wrenches)
    simulation = gripper.simulation(1e-2)
    simulation.step(wrenches, count=20_000)
    assert np.allclose(simulation.coordinates, rest.coordinates, atol=1e-9)
    assert np.allclose(simulation.effector_poses(), rest.effector_poses, atol=1e-9)
    assert np.allclose(simulation.link_poses(), rest.link_poses, atol=1e-9)
    assert simulation.time == pytest.approx(200.0)


def test_full_motion_keeps_its_energy():
    arm = forks.Builder("pendulum")
    arm.link("bob", mass=1.0, center=[0.0, 0.0, -1.0], inertia=[1e-3, 1e-3, 1e-3])
    arm.joint("hinge", "revolute", "world", "bob", axis=[0, 1, 0])
    recording = arm.build().simulate(1.0, 1e-3, start=[0.5], integrator="rk4", every=10)
    total = recording.values("kinetic") + recording.values("gravitational")
    assert len(recording) == 101 and recording.bodies == ["bob"]
    assert np.ptp(total) < 1e-9
    assert recording.poses.shape == (101, 1, 7)
    assert np.array_equal(recording.body("bob"), recording.poses[:, 0])


def test_loops_are_closed_by_joints():
    b = forks.Builder("parallelogram", gravity=[0, 0, 0])
    for name in ("left", "right", "coupler"):
        b.link(name)
    place = lambda x, y: [x, y, 0, 1, 0, 0, 0]  # noqa: E731
    hinge = dict(axis=[0, 0, 1], stiffness=1000.0)
    b.joint("a", "revolute", "world", "left", at=place(0, 0), **hinge)
    b.joint("b", "revolute", "world", "right", at=place(1, 0), **hinge)
    b.joint("c", "revolute", "left", "coupler", at=place(0, -1), **hinge)
    b.joint("d", "revolute", "right", "coupler", at=place(0, -1), child_at=place(1, 0), **hinge)
    report = (mechanism := b.build()).inspect()
    assert [report[k] for k in ("dof", "constraint_rank", "mobility")] == [3, 2, 1]
    # Sideways by F: four springs of k turn by F/4k.
    force = 1e-3
    x = mechanism.reduce("coupler").statics([[force, 0, 0, 0, 0, 0]]).effector_poses[0, 0]
    assert x == pytest.approx(force / 4000.0, rel=1e-5)


def test_models_are_pickled_and_compared(finger, blend):
    for model in (finger, blend.model):
        again = pickle.loads(pickle.dumps(model))
        assert again == model and again.kind == model.kind
        assert forks.Model.from_bytes(model.to_bytes()) == model
    assert finger != blend.model
    assert json.loads(finger.to_json())["radius"] == finger.radius


def test_notebooks_show_pages_that_need_nothing_else(hand, finger):
    recording = finger.simulation(1e-3).run(0.02, [[0, 0, -1, 0, 0, 0]], every=5)
    for shown in (hand, finger, recording):
        page = shown._repr_html_()
        assert "<iframe srcdoc=" in page
        assert "src=&quot;http" not in page and "href=&quot;http" not in page
    plot = forks.Plot(recording.times, {"kinetic": recording.values("kinetic")}, y_label="J")
    assert plot._repr_html_().startswith("<svg") and "kinetic" in plot.to_svg()
    for name in ("a.html", "a.glb", "a.csv", "a.json"):
        recording.save(name)


def test_a_function_of_time_drives_a_run(finger):
    times = []

    def wrench(t):
        times.append(t)
        return None if t < 0.005 else np.array([[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]])

    recording = finger.simulation(1e-3).run(0.01, wrench)
    assert len(times) == 10 and times[0] == 0.0
    still = recording.values("kinetic")[:6]
    assert np.all(still == 0) and recording.values("kinetic")[-1] > 0


def test_servo_targets_move_the_finger(finger):
    simulation = finger.simulation(1e-3)
    targets = np.full(len(finger.servos), 0.01)
    simulation.servo_targets = targets
    assert np.array_equal(simulation.servo_targets, targets)
    simulation.step(count=2000)
    rest = finger.statics(servo_targets=targets)
    assert np.allclose(simulation.coordinates, rest.coordinates, atol=1e-6)
    simulation.reset()
    assert simulation.time == 0 and not simulation.coordinates.any()


def test_blends_are_placed_with_progress(hand, blend):
    assert blend.model.kind == "blended" and blend.model.samples >= 1
    assert 0 < blend.constraint_error < 1 and blend.rounds
    found = blend.model.statics([[0, -0.2, 0, 0, 0, 0]])
    simulation = blend.model.simulation(1e-3)
    simulation.step([[0, -0.2, 0, 0, 0, 0]], count=100)
    assert simulation.weights().sum() == pytest.approx(1.0)
    assert np.isfinite(found.effector_poses).all()
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hand.blend("rh_ffdistal", cone=[0, -1, 0], progress=stop)
    assert len(seen) == 3 and seen[0]["stage"] == "training loads"


def test_floating_bases_fall():
    b = forks.Builder("body")
    b.link("base", mass=1.0, inertia=[0.01, 0.01, 0.01])
    b.link("arm", mass=0.1, center=[0.1, 0, 0], inertia=[1e-4, 1e-3, 1e-3])
    b.joint("hinge", "revolute", "base", "arm", axis=[0, 1, 0], stiffness=5.0, damping=0.01)
    model = b.build().reduce("arm", floating=True)
    assert model.kind == "floating" and model.dof == 7
    simulation = model.simulation(1e-3)
    # In free fall nothing bends.
    simulation.step(count=100)
    z = simulation.coordinates[2]
    assert z == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=0.02)


def test_scenes_step_and_are_recorded(fixtures):
    scene = forks.load_scene(fixtures / "scenes/hand-ball.toml")
    assert scene.bodies == ["ball"]
    start = scene.body_pose("ball")
    recording = scene.run(0.05)
    assert scene.time == pytest.approx(0.05) and len(recording) > 1
    assert scene.contacts().shape[1] == 6
    name, effectors = next(iter(scene.mechanisms.items()))
    assert scene.effector_poses(name).shape == (len(effectors), 7)
    assert scene.link_poses(name).shape == (len(scene.links(name)), 7)
    scene.set_body("ball", start)
    assert np.allclose(scene.body_pose("ball"), start)
    assert scene.step(3) >= 0
    with pytest.raises(KeyError, match="no body 'cube'; there are: ball"):
        scene.body_pose("cube")
