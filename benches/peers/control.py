"""Time of a decision by other controllers: `python control.py TASK.json`, prints JSON.

The task names a URDF file, positions of its hinges, a link, how far its origin shall move (world,
m), the step (s), the seconds that a run should last; perhaps feet that stay on the ground, with
soles, friction and bounds on torques, under a free base. Every rival that is installed decides on
the same thing: TSID on torques (feet, bounds and dynamics as constraints; centre of mass, frame and
posture as weighted tasks, eiquadprog), pink, mink and placo on velocities (feet, centre of mass, a
frame, the posture; their own default solvers). A rival whose link does not move towards its target
is said to, not timed. Two warm-ups, median of seven runs. "rivals" says whom to ask: TSID's wheels
need an older Pinocchio than the others have.
"""

import importlib.util
import json
import sys
import tempfile
import xml.etree.ElementTree as xml
from importlib.metadata import version
from pathlib import Path

import numpy as np

from runs import median_of_seven, one_by_one


def without_root(path, folder):
    """The file without its first link and the joint of its free base, written to a folder."""
    tree = xml.parse(path)
    root = tree.getroot()
    free = next(j for j in root.findall("joint") if j.get("type") == "floating")
    world = free.find("parent").get("link")
    root.remove(free)
    root.remove(next(link for link in root.findall("link") if link.get("name") == world))
    out = str(Path(folder) / "without_root.urdf")
    tree.write(out)
    return out


def standing(task, foot_task, centre_task):
    """Tasks that keep feet and, over a free base, the centre of mass where they are."""
    tasks = [foot_task(foot) for foot in task["feet"]]
    if task["floating"]:
        tasks.append(centre_task())
    return tasks


def pinocchio_model(task, folder):
    """The model and the positions in its own order."""
    import pinocchio as pin

    if task["floating"]:
        path = without_root(task["urdf"], folder)
        model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    else:
        path = task["urdf"]
        model = pin.buildModelFromUrdf(path)
    q = pin.neutral(model)
    if task["floating"]:
        q[2] = task["height"]
    for name, value in zip(task["joints"], task["q"]):
        q[model.joints[model.getJointId(name)].idx_q] = value
    return path, model, q


def tsid_package():
    """TSID; wheels of 1.7.1 have its library one folder above the package that loads it."""
    import tsid

    if tsid.__file__ is not None:
        return tsid
    library = next(Path(tsid.__path__[0]).glob("tsid_pywrap*.so"))
    spec = importlib.util.spec_from_file_location("tsid_pywrap", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tsid_rival(task, folder):
    import pinocchio as pin

    tsid = tsid_package()
    path, model, q = pinocchio_model(task, folder)
    if task["floating"]:
        robot = tsid.RobotWrapper(path, [""], pin.JointModelFreeFlyer(), False)
    else:
        robot = tsid.RobotWrapper(path, [""], False)
    model = robot.model()
    v = np.zeros(model.nv)
    formulation = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    formulation.computeProblemData(0.0, q, v)
    # The formulation keeps addresses of tasks and contacts, not the objects.
    kept = []
    half_x, half_y, forward, below = task["sole"]
    for foot in task["feet"]:
        signs = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0, 0, 0, 0]])
        points = signs * np.array([[half_x], [half_y], [0]]) + np.array([[forward], [0], [below]])
        up = np.array([0.0, 0.0, 1.0])
        contact = tsid.Contact6d(foot, robot, foot, points, up, task["friction"], 0.0, 1e4)
        contact.setKp(100 * np.ones(6))
        contact.setKd(20 * np.ones(6))
        contact.setReference(robot.framePosition(formulation.data(), model.getFrameId(foot)))
        formulation.addRigidContact(contact, 1e-5)
        kept.append(contact)
    frame = tsid.TaskSE3Equality("frame", robot, task["link"])
    frame.setKp(100 * np.ones(6))
    frame.setKd(20 * np.ones(6))
    frame.setMask(np.array([1.0, 1, 1, 0, 0, 0]))
    frame.useLocalFrame(False)
    pose = robot.framePosition(formulation.data(), model.getFrameId(task["link"]))
    target = pin.SE3(pose.rotation, pose.translation + np.array(task["move"]))
    frame.setReference(tsid.TrajectorySE3Constant("to", target).computeNext())
    if task["floating"]:
        balance = tsid.TaskComEquality("balance", robot)
        balance.setKp(100 * np.ones(3))
        balance.setKd(20 * np.ones(3))
        here = robot.com(formulation.data())
        balance.setReference(tsid.TrajectoryEuclidianConstant("here", here).computeNext())
        formulation.addMotionTask(balance, 1.0, 1, 0.0)
        formulation.addMotionTask(frame, 1e-1, 1, 0.0)
        bounds = tsid.TaskActuationBounds("bounds", robot)
        most = task["torque"] * np.ones(robot.na)
        bounds.setBounds(-most, most)
        formulation.addActuationTask(bounds, 1.0, 0, 0.0)
        kept += [balance, bounds]
    else:
        # A masked task is refused among the constraints.
        formulation.addMotionTask(frame, 1.0, 1, 0.0)
    posture = tsid.TaskJointPosture("posture", robot)
    posture.setKp(100 * np.ones(robot.na))
    posture.setKd(20 * np.ones(robot.na))
    stay = tsid.TrajectoryEuclidianConstant("stay", q[-robot.na :]).computeNext()
    posture.setReference(stay)
    formulation.addMotionTask(posture, 1e-3, 1, 0.0)
    kept += [robot, frame, posture]
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(formulation.nVar, formulation.nEq, formulation.nIn)

    def decide(_, kept=kept):
        data = formulation.computeProblemData(0.0, q, v)
        return solver.solve(data)

    found = decide(0)
    if found.status != 0:
        raise ValueError(f"its solver ends with status {found.status}")
    acceleration = formulation.getAccelerations(found)
    jacobian = pin.computeFrameJacobian(
        model, model.createData(), q, model.getFrameId(task["link"]), pin.LOCAL_WORLD_ALIGNED
    )
    name = f"TSID {version('tsid')}, eiquadprog, Pinocchio {version('pin')}"
    return decide, (jacobian @ acceleration)[:3], name


def pink_rival(task, folder):
    import pink
    import pinocchio as pin
    from pink.tasks import ComTask, FrameTask, PostureTask

    _, model, q = pinocchio_model(task, folder)
    configuration = pink.Configuration(model, model.createData(), q)
    frame = FrameTask(task["link"], position_cost=1.0, orientation_cost=0.0)
    posture = PostureTask(cost=1e-3)
    pose = configuration.get_transform_frame_to_world(task["link"])
    frame.set_target(pin.SE3(pose.rotation, pose.translation + np.array(task["move"])))
    posture.set_target_from_configuration(configuration)
    still = standing(
        task,
        lambda foot: FrameTask(foot, position_cost=100.0, orientation_cost=100.0),
        lambda: ComTask(cost=10.0),
    )
    for stays in still:
        stays.set_target_from_configuration(configuration)
    tasks = [frame, posture, *still]

    def decide(_):
        return pink.solve_ik(configuration, tasks, task["dt"], solver="daqp")

    jacobian = configuration.get_frame_jacobian(task["link"])
    turned = pose.rotation @ (jacobian @ decide(0))[:3]
    return decide, turned, f"pink {version('pin-pink')}, daqp, limits of the model"


def mink_rival(task, _):
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_path(task["urdf"])
    data = mujoco.MjData(model)
    if task["floating"]:
        data.qpos[2] = task["height"]
    for name, value in zip(task["joints"], task["q"]):
        data.qpos[model.joint(name).qposadr[0]] = value
    configuration = mink.Configuration(model, q=data.qpos.copy())
    frame = mink.FrameTask(task["link"], "body", position_cost=1.0, orientation_cost=0.0)
    posture = mink.PostureTask(model, cost=1e-3)
    pose = configuration.get_transform_frame_to_world(task["link"], "body")
    move = mink.SE3.from_translation(np.array(task["move"]))
    frame.set_target(move @ pose)
    posture.set_target_from_configuration(configuration)
    still = standing(
        task,
        lambda foot: mink.FrameTask(foot, "body", position_cost=100.0, orientation_cost=100.0),
        lambda: mink.ComTask(cost=10.0),
    )
    for stays in still:
        stays.set_target_from_configuration(configuration)
    tasks = [frame, posture, *still]

    def decide(_):
        return mink.solve_ik(configuration, tasks, task["dt"], "daqp")

    jacobian = configuration.get_frame_jacobian(task["link"], "body")
    turned = pose.rotation().apply((jacobian @ decide(0))[:3])
    return decide, turned, f"mink {version('mink')}, daqp, limits of the model"


def placo_rival(task, folder):
    import placo

    path = without_root(task["urdf"], folder) if task["floating"] else task["urdf"]
    robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
    for name, value in zip(task["joints"], task["q"]):
        robot.set_joint(name, value)
    robot.update_kinematics()
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(not task["floating"])
    solver.dt = task["dt"]
    for foot in task["feet"]:
        stays = solver.add_frame_task(foot, robot.get_T_world_frame(foot))
        stays.configure(foot, "hard", 1.0, 1.0)
    if task["floating"]:
        solver.add_com_task(robot.com_world()).configure("balance", "soft", 10.0)
    start = robot.get_T_world_frame(task["link"])[:3, 3]
    solver.add_position_task(task["link"], start + np.array(task["move"]))
    posture = solver.add_joints_task()
    posture.set_joints(dict(zip(task["joints"], task["q"])))
    posture.configure("posture", "soft", 1e-3)

    # The solver keeps the robot's address, not the robot.
    def decide(_, robot=robot):
        return solver.solve(False)

    moved = robot.frame_jacobian(task["link"], "local_world_aligned") @ decide(0)
    return decide, moved[:3], f"placo {version('placo')}, eiquadprog"


def main():
    task = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(answers(task, folder)))


def answers(task, folder):
    """Of each rival the time and its settings, or why there are none."""
    found = {}
    rivals = {"tsid": tsid_rival, "pink": pink_rival, "mink": mink_rival, "placo": placo_rival}
    for name in task["rivals"]:
        rival = rivals[name]
        try:
            decide, moved, settings = rival(task, folder)
            towards = float(np.dot(moved, task["move"]))
            if not towards > 0:
                raise ValueError(f"the link moves by {moved}, not towards {task['move']}")
            timing = median_of_seven(one_by_one(decide), task["batch"])
            found[name] = {"timing": timing, "settings": settings, "why": None}
        except Exception as error:  # a rival that is not installed, or refuses the file
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            found[name] = {"timing": None, "settings": None, "why": why}
    return found


if __name__ == "__main__":
    main()
