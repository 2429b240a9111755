//! `forks inspect`: what a model is made of, and how it can move; scenes have their own.

use std::process::ExitCode;

use forks_import::{Note, group_notes};
use forks_mechanism::{
    Coupling, JointId, LinkId, Mechanism,
    kinematics::{Connection, Mobility, RANK_TOLERANCE, connections, loops, mobility},
    lie::Pose,
};
use serde::Serialize;

use crate::{
    args::InspectArgs,
    error::CliError,
    inspect_springs::{SpringEntry, spring_entries},
    joint_names::{JointNames, is_hidden},
    model::Model,
    output, scene,
};

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, CliError> {
    if scene::is_scene(&args.model.path) {
        return scene::inspect(&args.model.path, args.model.json);
    }
    let model = Model::load(&args.model)?;
    output::print(
        &Report::new(&model, args.model.path.display().to_string()),
        args.model.json,
        Report::text,
    )
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) name: String,
    /// Of the tree coordinates: `mujoco`, or `name`: depth first, the joints of a link by name.
    pub(crate) coordinate_order: &'static str,
    pub(crate) links: Vec<LinkEntry>,
    pub(crate) joints: Vec<JointEntry>,
    pub(crate) loop_closures: Vec<ClosureEntry>,
    /// How far the two sides of each closure are apart, m and rad.
    closure_gaps: Vec<[f64; 2]>,
    pub(crate) couplings: Vec<CouplingEntry>,
    /// How far each coupling is from being met, in its own unit.
    coupling_gaps: Vec<f64>,
    pub(crate) springs: Vec<SpringEntry>,
    /// Those that the side file names.
    pub(crate) effectors: Vec<String>,
    pub(crate) dof: usize,
    pub(crate) constraint_rows: usize,
    pub(crate) constraint_rank: usize,
    /// Rows that repeat others.
    pub(crate) redundant_rows: usize,
    pub(crate) mobility: usize,
    pub(crate) total_mass: f64,
    pub(crate) moving_mass: f64,
    pub(crate) bounding_radius: f64,
    pub(crate) notes: Vec<NoteEntry>,
    /// The model's own file.
    #[serde(skip)]
    pub(crate) file: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct LinkEntry {
    pub(crate) name: String,
    pub(crate) mass: f64,
    pub(crate) parent: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct JointEntry {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) parent: String,
    pub(crate) child: String,
    pub(crate) dof: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct ClosureEntry {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) link_a: String,
    pub(crate) link_b: String,
    pub(crate) rows: usize,
    pub(crate) rank: usize,
    /// How far the two sides are apart, m and rad.
    #[serde(skip)]
    pub(crate) gap: [f64; 2],
}

#[derive(Debug, Serialize)]
pub(crate) struct CouplingEntry {
    pub(crate) name: String,
    pub(crate) joints: Vec<String>,
    pub(crate) rows: usize,
    pub(crate) rank: usize,
    /// How far it is from being met, in its own unit.
    #[serde(skip)]
    pub(crate) gap: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct NoteEntry {
    pub(crate) element: String,
    pub(crate) attribute: String,
    pub(crate) effect: &'static str,
    pub(crate) line: Option<u32>,
    pub(crate) file: Option<String>,
    pub(crate) reason: String,
    /// How many elements of this kind it is about; place and reason are those of the first.
    pub(crate) count: usize,
    /// Names of the first ones where there are several.
    pub(crate) names: Vec<String>,
}

impl Report {
    fn new(model: &Model, file: String) -> Self {
        let m = &model.mechanism;
        let poses = m.link_poses(&model.positions);
        let counts = mobility(m, &model.positions, &poses, RANK_TOLERANCE);
        let gaps = loops::closure_gaps(m, &model.positions, &poses);
        let names = JointNames::new(m);
        let couplings = coupling_entries(m, &counts, &names, &model.positions, &poses);
        let ends = joint_ends(m);
        Self {
            name: m.name().to_owned(),
            coordinate_order: model.order.name(),
            links: link_entries(m),
            joints: joint_entries(m, &names, &ends),
            loop_closures: closure_entries(m, &counts, &names, &ends, &gaps),
            coupling_gaps: couplings.iter().map(|c| c.gap).collect(),
            couplings,
            closure_gaps: gaps.iter().map(|g| [g.position, g.angle]).collect(),
            springs: spring_entries(m, &names),
            effectors: model.effectors.clone(),
            dof: counts.dof,
            constraint_rows: counts.rows,
            constraint_rank: counts.rank,
            redundant_rows: counts.redundant_rows,
            mobility: counts.mobility,
            total_mass: m.total_mass(),
            moving_mass: m.moving_mass(),
            bounding_radius: m.bounding_radius(&poses),
            file,
            notes: group_notes(&model.notes).iter().map(NoteEntry::new).collect(),
        }
    }
}

impl NoteEntry {
    fn new(n: &Note) -> Self {
        Self {
            element: n.element.clone(),
            attribute: n.attribute.clone(),
            effect: n.effect.name(),
            line: n.line,
            file: n.file.clone(),
            reason: n.reason.clone(),
            count: n.count,
            names: n.names.clone(),
        }
    }
}

/// The two real links that every joint stands between; massless frames between the joints of one
/// body are no links in the user's sense.
fn joint_ends(m: &Mechanism) -> Vec<(LinkId, LinkId)> {
    let mut ends: Vec<_> = m.joints().iter().map(|j| (j.parent, j.child)).collect();
    for Connection { from, to, joints } in connections(m) {
        for (id, backwards) in joints {
            ends[id.index()] = if backwards { (to, from) } else { (from, to) };
        }
    }
    ends
}

fn link_entries(m: &Mechanism) -> Vec<LinkEntry> {
    let parent = |link: LinkId| {
        let inner = m.forest().path_to_ground(link).map(|e| e.inner);
        inner.into_iter().find(|&l| !m.link(l).auxiliary).unwrap_or(LinkId::WORLD)
    };
    m.moving_links()
        .filter(|(_, l)| !l.auxiliary)
        .map(|(id, l)| LinkEntry {
            name: l.name.clone(),
            mass: l.inertia.mass,
            parent: m.link(parent(id)).name.clone(),
        })
        .collect()
}

fn joint_entries(m: &Mechanism, names: &JointNames, ends: &[(LinkId, LinkId)]) -> Vec<JointEntry> {
    let closures = m.forest().closures();
    let listed = (0..m.joints().len()).map(JointId::new).filter(|id| {
        // Closures are in joint order.
        closures.binary_search(id).is_err() && !is_hidden(m.joint(*id))
    });
    listed
        .map(|id| {
            let (parent, child) = ends[id.index()];
            JointEntry {
                name: names.of(id),
                kind: m.joint(id).kind.name(),
                parent: m.link(parent).name.clone(),
                child: m.link(child).name.clone(),
                dof: m.joint(id).dof(),
            }
        })
        .collect()
}

fn closure_entries(
    m: &Mechanism,
    counts: &Mobility,
    names: &JointNames,
    ends: &[(LinkId, LinkId)],
    gaps: &[loops::ClosureGap],
) -> Vec<ClosureEntry> {
    let entry = |(c, gap): (&forks_mechanism::kinematics::ClosureMobility, &loops::ClosureGap)| {
        let (a, b) = ends[c.joint.index()];
        ClosureEntry {
            name: names.of(c.joint),
            kind: m.joint(c.joint).kind.name(),
            link_a: m.link(a).name.clone(),
            link_b: m.link(b).name.clone(),
            rows: c.rows,
            rank: c.rank,
            gap: [gap.position, gap.angle],
        }
    };
    counts.closures.iter().zip(gaps).map(entry).collect()
}

fn coupling_entries(
    m: &Mechanism,
    counts: &Mobility,
    names: &JointNames,
    q: &[f64],
    poses: &[Pose],
) -> Vec<CouplingEntry> {
    let residuals = loops::constraint_residual(m, q, poses);
    // Those of couplings come last.
    let first = residuals.len() - m.couplings().len();
    let entry =
        |((c, n), gap): ((&Coupling, &forks_mechanism::kinematics::CouplingMobility), &f64)| {
            let terms = c.terms.iter().flat_map(|t| &t.combination.terms);
            let mut joints: Vec<JointId> = terms.map(|(c, _)| c.joint).collect();
            joints.sort_unstable();
            joints.dedup();
            let name =
                if c.name.is_empty() { format!("#{}", n.coupling.index()) } else { c.name.clone() };
            CouplingEntry {
                name,
                joints: joints.into_iter().map(|j| names.of(j)).collect(),
                rows: n.rows,
                rank: n.rank,
                gap: gap.abs(),
            }
        };
    let couplings = m.couplings().iter().zip(&counts.couplings);
    couplings.zip(&residuals[first..]).map(entry).collect()
}
