//! `control/…`: a decision on the commands of the next step, against other controllers through
//! Python on the same robot file and task.

use std::{collections::BTreeMap, sync::Arc};

use forks_control::{
    controller::{Controller, Touch},
    plant::{Command, Kinematics as _, Plant as _, Response, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_deform::{
    Material, SoftError, SoftOptions, SoftSimulation,
    creatures::{self, Base},
};
use forks_import::{ImportOptions, load_model};
use forks_mechanism::{
    JointId, LinkId, Mechanism,
    lie::{Pose, glam::DVec3},
    linalg::Matrix,
};
use forks_mpc::{Commands, Goal as PredictedGoal, Mpc, MpcSettings};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{Stepper, System as _};
use forks_tissue::TissuePlant;
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    measure::{Timing, time},
    peers::Peers,
};
use crate::words::said;

const STEP: f64 = 1e-3;
/// Rivals that go together, and what they need; placo wants an older Pinocchio than other cases.
const RIVALS: [&str; 3] = ["pink", "mink", "placo"];
const PACKAGES: [&str; 5] = ["pin-pink", "mink", "placo", "qpsolvers[daqp]", "numpy"];
/// Later versions of TSID have no wheel of their library, and compile for an hour.
const TSID: [&str; 5] =
    ["tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom==4.0.1", "cmeel-tinyxml2==10.0.0", "numpy"];
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// What the script gets.
#[derive(Serialize)]
struct Asked {
    rivals: Vec<&'static str>,
    urdf: String,
    /// The base moves freely: the first joint of the file is left out for programs that have a
    /// free base of their own.
    floating: bool,
    joints: Vec<String>,
    q: Vec<f64>,
    /// Height of a free base, m.
    height: f64,
    link: &'static str,
    r#move: [f64; 3],
    /// Links that stay on the ground, and half the size of their soles with their place, m.
    feet: Vec<&'static str>,
    sole: [f64; 4],
    friction: f64,
    /// The largest; none for no bounds.
    torque: Option<f64>,
    dt: f64,
    batch: f64,
}

/// What it says about a rival: its time, or why there is none.
#[derive(Deserialize)]
struct Answer {
    timing: Option<Timing>,
    settings: Option<String>,
    why: Option<String>,
}

/// `control/solo12`: a quadruped that is held at its base moves a foot and keeps its posture.
pub(super) fn solo12(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let file = context.root.join("fixtures/models/solo12/solo12.nomesh.urdf");
    let m = Arc::new(load_model(&file, &ImportOptions::default()).map_err(said)?.mechanism);
    // Bent knees: nothing is stretched.
    let bent = |name: &str| match name.as_bytes() {
        [b'F', .., b'H', b'F', b'E'] => 0.8,
        [b'F', .., b'K', b'F', b'E'] => -1.6,
        [b'H', .., b'H', b'F', b'E'] => -0.8,
        [b'H', .., b'K', b'F', b'E'] => 1.6,
        _ => 0.0,
    };
    let asked = Asked {
        rivals: vec![],
        urdf: file.display().to_string(),
        floating: false,
        joints: vec![],
        q: vec![],
        height: 0.0,
        link: "FL_LOWER_LEG",
        r#move: [0.01, 0.0, 0.005],
        feet: vec![],
        sole: [0.0; 4],
        friction: 0.0,
        torque: None,
        dt: STEP,
        batch: context.batch,
    };
    case(name, context, &m, bent, asked)
}

/// `control/humanoid`: 29 hinges and a free base on two feet, eight points in their cones of
/// friction, bounds on all torques; the centre of mass before a hand before the posture.
pub(super) fn humanoid(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let file = context.root.join("benches/peers/humanoid29.urdf");
    let m = Arc::new(load_model(&file, &ImportOptions::default()).map_err(said)?.mechanism);
    let bent = |name: &str| match name {
        n if n.ends_with("hip_pitch") => -0.3,
        n if n.ends_with("knee") => 0.6,
        n if n.ends_with("ankle_pitch") => -0.3,
        n if n.ends_with("elbow") => -0.8,
        _ => 0.0,
    };
    let asked = Asked {
        rivals: vec![],
        urdf: file.display().to_string(),
        floating: true,
        joints: vec![],
        q: vec![],
        height: 0.0,
        link: "right_wrist_yaw_link",
        r#move: [0.01, 0.0, 0.02],
        feet: vec!["left_ankle_roll_link", "right_ankle_roll_link"],
        sole: [0.1, 0.035, 0.03, -0.05],
        friction: 0.6,
        torque: Some(140.0),
        dt: STEP,
        batch: context.batch,
    };
    case(name, context, &m, bent, asked)
}

fn case(
    name: &str,
    context: &Context<'_>,
    m: &Arc<Mechanism>,
    bent: impl Fn(&str) -> f64,
    mut asked: Asked,
) -> Result<Vec<Case>, String> {
    let n = m.tree_velocity_count();
    let edges = m.forest().edges().iter().map(|e| e.joint);
    let joints: Vec<JointId> = edges.filter(|j| m.velocity_range(*j).len() == 1).collect();
    let mut q = m.start_positions();
    joints.iter().for_each(|j| q[m.position_range(*j).start] = bent(&m.joint(*j).name));
    let driven = joints.iter().map(|j| Command::Force(m.velocity_range(*j).start));
    let driven: Vec<Command> = driven.collect();
    let mut plant =
        TreePlant::new(Arc::clone(m), &q, &vec![0.0; n], &driven, STEP).map_err(said)?;
    let mut twists = Matrix::zeros(6, n);
    let find = |name: &str| m.find_link(name).ok_or_else(|| format!("no link {name}"));
    let hand = Frame::of(find(asked.link)?);
    let to = plant.frame(&hand, &mut twists).translation + DVec3::from_array(asked.r#move);
    let mut touches = Vec::new();
    let [x, y, forward, below] = asked.sole;
    for foot in &asked.feet {
        for (i, j) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let at = DVec3::new(forward + i * x, j * y, below);
            let (link, link_from_frame) = (find(foot)?, Pose::from_translation(at));
            let frame = Frame { link, link_from_frame };
            touches.push(Touch { frame, friction: asked.friction, gap: 0.0 });
        }
    }
    let posture = joints.iter().map(|j| (*j, q[m.position_range(*j).start])).collect();
    let mut tasks = vec![Task::new("link", Goal::Position(hand, to)).in_axes(Axes::World)];
    if asked.floating {
        let mut rows = Matrix::zeros(3, n);
        let centre = plant.centre_of_mass(&mut rows).ok_or("no mass")?;
        tasks[0] = tasks[0].clone().on_level(1);
        tasks.insert(0, Task::new("balance", Goal::CentreOfMass(centre)));
    }
    tasks.push(Task::new("posture", Goal::Posture(posture)).on_level(tasks.len()));
    let limit = asked.torque.map_or(FREE, |most| (-most, most));
    let mut controller = Controller::new(vec![limit; driven.len()]);
    let found = controller.solve_touching(&mut plant, &tasks, &touches).map_err(said)?;
    let before = if asked.floating { 6 } else { 3 };
    let missed = found.residuals[..before].iter().fold(0.0f64, |a, r| a.max(r.by.abs()));
    let rounds = found.rounds;
    // A target that moves: the last decision is not the next one.
    let (drawn, mut turn) = (usize::from(asked.floating), 0u32);
    let timing = time(context.batch, || {
        turn += 1;
        let way = DVec3::new(2e-3 * (0.01 * f64::from(turn)).sin(), 0.0, 0.0);
        tasks[drawn].goal = Goal::Position(hand, to + way);
        let _ = controller.solve_touching(&mut plant, &tasks, &touches);
    });
    let mut response = Response::default();
    let dynamics = time(context.batch, || {
        let _ = plant.respond(&mut response);
    });
    let settings = "forces of all joints by levels, bounds at each, dynamics and map of the step \
                    included, a target that moves";
    let mut case = Case::new(name, m.links().len() - 1, 1, timing, settings);
    case.dt = Some(STEP);
    case.figure("residual of tasks before the posture, m/s", missed);
    case.figure("solutions with closer cones", rounds as f64);
    case.figure("dynamics and map of the step alone, us", 1e-3 * dynamics.ns);
    match &context.peers {
        None => return Ok(vec![case]),
        Some(Err(e)) => {
            case.notes.push(format!("rivals left out: {e}"));
            return Ok(vec![case]);
        }
        Some(Ok(_)) => {}
    }
    asked.joints = joints.iter().map(|j| m.joint(*j).name.clone()).collect();
    asked.q = joints.iter().map(|j| q[m.position_range(*j).start]).collect();
    if let Some((base, _)) = m.moving_links().next().filter(|_| asked.floating) {
        asked.height = plant.frame(&Frame::of(base), &mut twists).translation.z;
    }
    let all = [
        ("peers-control", &PACKAGES[..], "import pink, mink, placo, daqp", &RIVALS[..]),
        ("peers-tsid", &TSID, "import pinocchio, tsid", &["tsid"]),
    ];
    for (name, packages, probe, rivals) in all {
        let peers = match Peers::with(context.root, name, packages, probe) {
            Ok(peers) => peers,
            Err(e) => {
                case.notes.push(format!("{} left out: {e}", rivals.join(", ")));
                continue;
            }
        };
        for rival in rivals {
            asked.rivals = vec![rival];
            ask(&peers, &asked, &mut case);
        }
    }
    Ok(vec![case])
}

/// Times of rivals, or why there are none.
fn ask(peers: &Peers, asked: &Asked, case: &mut Case) {
    let name = case.case.clone();
    let answers = match peers.ask::<BTreeMap<String, Answer>>("control.py", &name, asked) {
        Ok(answers) => answers,
        Err(e) => {
            let rivals = asked.rivals.join(", ");
            case.notes.push(format!("{rivals} left out: {e}"));
            return;
        }
    };
    for (rival, a) in answers {
        match (a.timing, a.settings) {
            (Some(t), Some(settings)) => {
                // The other three decide on velocities, without dynamics.
                let job = if rival == "tsid" { "torques" } else { "velocities alone" };
                case.rival(&rival, t, &format!("{settings}, {job}"));
            }
            _ => {
                let why = a.why.unwrap_or_default();
                case.notes.push(format!("{rival} left out: {why}"));
            }
        }
    }
}

/// `control/worm`: six hinges on a base in the plane, the head turned before the tail is drawn.
pub(super) fn worm(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let stuff = Material::stvk(5e4, 0.3, 1000.0).map_err(said)?;
    let m = Arc::new(creatures::worm(Base::Planar, stuff).map_err(said)?.mechanism);
    let n = m.tree_velocity_count();
    let driven: Vec<Command> = (n - 6..n).map(Command::Force).collect();
    let (q, still) = (m.start_positions(), vec![0.0; n]);
    let mut plant = TreePlant::new(Arc::clone(&m), &q, &still, &driven, STEP).map_err(said)?;
    let mut twists = Matrix::zeros(6, n);
    let links: Vec<LinkId> = m.moving_links().map(|(l, _)| l).collect();
    let [Some(tail), Some(head)] = [links.first(), links.last()] else {
        return Err("a worm without bones".into());
    };
    let (tail, head) = (Frame::of(*tail), Frame::of(*head));
    let at = plant.frame(&tail, &mut twists).translation + DVec3::new(0.01, 0.0, 0.01);
    let turned = plant.frame(&head, &mut twists).rotation;
    let tasks = [
        Task::new("head", Goal::Orientation(head, turned))
            .masked([false, true, false, false, false, false]),
        Task::new("tail", Goal::Position(tail, at))
            .in_axes(Axes::World)
            .masked([true, false, true, false, false, false])
            .on_level(1),
    ];
    let mut controller = Controller::new(vec![FREE; 6]);
    controller.solve(&mut plant, &tasks).map_err(said)?;
    let timing = time(context.batch, || {
        let _ = controller.solve(&mut plant, &tasks);
    });
    let mut response = Response::default();
    let dynamics = time(context.batch, || {
        let _ = plant.respond(&mut response);
    });
    let settings = "six forces by two levels and the least of them";
    let mut case = Case::new(name, m.links().len() - 1, 1, timing, settings);
    case.dt = Some(STEP);
    case.figure("dynamics and map of the step alone, us", 1e-3 * dynamics.ns);
    case.figure("beyond the dynamics, us", 1e-3 * (timing.ns - dynamics.ns));
    Ok(vec![case])
}

/// `control/tissue-…`: the bodies of \[K08\] Table 2, the last bone dragged by tasks, over the same
/// steps with forces that are given.
pub(super) fn tissue(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let stuff = Material::stvk(5e4, 0.3, 1000.0).map_err(said)?;
    let all = [
        ("worm", creatures::worm(Base::Planar, stuff), DVec3::Z),
        ("fish", creatures::fish(Base::Free, stuff), DVec3::Y),
        ("finger", creatures::finger(Base::Fixed, stuff), DVec3::Z),
    ];
    let dragged = |(creature, made, way): (&str, Result<creatures::Creature, SoftError>, DVec3)| {
        let creatures::Creature { mechanism, body } = made.map_err(said)?;
        let options = SoftOptions { gravity: false, ..SoftOptions::default() };
        let simulation = SoftSimulation::new(&mechanism, body, options).map_err(said)?;
        let n = simulation.state().v.len();
        // The base of worm and fish is passive.
        let hinge = |k: &usize| mechanism.joint(mechanism.velocity_owner(*k).joint).dof() == 1;
        let hinges: Vec<usize> = (0..n).filter(hinge).collect();
        let mut plant = TissuePlant::new(simulation, &hinges, STEP).map_err(said)?;
        let head = Frame::of(LinkId::new(mechanism.links().len() - 1));
        let mut twists = Matrix::zeros(6, n);
        let to = plant.frame(&head, &mut twists).translation + 2e-3 * way;
        let across = [0, 1, 2, 3, 4, 5].map(|i| i < 3 && way[i] != 0.0);
        let held = hinges.iter().map(|k| (mechanism.velocity_owner(*k).joint, 0.0)).collect();
        let tasks = [
            // Along a straight chain hinges move nothing.
            Task::new("head", Goal::Position(head, to)).in_axes(Axes::World).masked(across),
            Task::new("posture", Goal::Posture(held)).on_level(1),
        ];
        let mut controller = Controller::new(vec![FREE; hinges.len()]);
        let mut failed = None;
        let given = vec![0.0; hinges.len()];
        let mut joint = plant.clone();
        let alone = time(context.batch, || {
            if let Err(e) = joint.step(&given) {
                failed = Some(format!("{creature}: {e}"));
            }
        });
        let timing = time(context.batch, || {
            let found = controller.solve(&mut plant, &tasks).map_err(|e| e.to_string());
            let stepped = found.and_then(|f| plant.step(&f.commands).map_err(|e| e.to_string()));
            if let Err(e) = stepped {
                failed = Some(format!("{creature} by tasks: {e}"));
            }
        });
        if let Some(e) = failed {
            return Err(e);
        }
        let settings = "the last bone by tasks, every step a linearly implicit one of the tissue";
        let links = mechanism.links().len() - 1;
        let mut case = Case::new(&format!("{name}-{creature}"), links, 1, timing, settings);
        case.dt = Some(STEP);
        case.figure("step with given forces, us", 1e-3 * alone.ns);
        case.figure("with tasks over given forces", timing.ns / alone.ns);
        Ok(case)
    };
    all.into_iter().map(dragged).collect()
}

/// `control/prediction`: servo targets of a hand over 20 steps, bounds active, warm; with three and
/// with four of its fingertips, and these with the knuckle of the little finger or with its tip.
pub(super) fn prediction(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let tips = ["rh_ffdistal", "rh_mfdistal", "rh_thdistal", "rh_rfdistal"];
    let with = |last| [&tips[..], &[last]].concat();
    [tips[..3].to_vec(), tips.to_vec(), with("rh_lfknuckle"), with("rh_lfdistal")]
        .iter()
        .map(|effectors| predicted(name, context, effectors))
        .collect()
}

fn predicted(name: &str, context: &Context<'_>, tips: &[&str]) -> Result<Case, String> {
    const HORIZON: usize = 20;
    let file = context.root.join("fixtures/models/shadow_hand_right/right_hand.nomesh.xml");
    let m = load_model(&file, &ImportOptions::default()).map_err(said)?.mechanism;
    let problem = Problem::new(&m, tips, &ProblemOptions::default()).map_err(said)?;
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default()).map_err(said)?.model;
    let system = Stepper::new(Arc::new(model), 5e-3).map_err(said)?;
    let settings = MpcSettings {
        horizon: HORIZON,
        bounds: vec![(-0.03, 0.03); Commands::Servos.count(&system)],
        commands: Commands::Servos,
        goals: (0..tips.len()).map(PredictedGoal::position).collect(),
        effort: 1e-6,
        change: 1e-5,
        pivots: 200,
        budget: None,
    };
    let (n, count) = (system.dof(), Commands::Servos.count(&system));
    let links = system.data().links.len() - 1;
    let starts: Vec<Pose> = system.data().effectors.iter().map(|e| e.rest).collect();
    let mut mpc = Mpc::new(system, settings).map_err(said)?;
    let still = vec![0.0; n];
    let (mut turn, mut bounded, mut solves) = (0usize, 0usize, 0usize);
    let mut failed = None;
    let timing = time(context.batch, || {
        turn += 1;
        let target = |step: usize, goal: usize| {
            let s = (0.02 * (turn + step) as f64 + goal as f64).sin();
            let way = 2e-3 * DVec3::new(s, 0.5 * s, -s);
            Pose { translation: starts[goal].translation + way, ..starts[goal] }
        };
        match mpc.solve((&still, &still), &[], target) {
            Ok(r) => {
                solves += 1;
                bounded += usize::from(r.at_bounds > 0);
            }
            Err(e) => failed = Some(e.to_string()),
        }
    });
    if let Some(e) = failed {
        return Err(e);
    }
    let settings = "servo targets over 20 steps, targets that move";
    let name = format!("{name}-{n}");
    let mut case = Case::new(&name, links, 1, timing, settings);
    case.dt = Some(5e-3);
    case.figure("coordinates", n as f64);
    case.figure("commands", count as f64);
    case.figure("share of decisions with bounds that are active", bounded as f64 / solves as f64);
    Ok(case)
}
