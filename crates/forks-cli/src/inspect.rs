//! `forks inspect`: what a model is made of, and how it can move.

use std::{fmt::Write as _, process::ExitCode};

use forks_import::Note;
use forks_io::{Align, TextTable};
use forks_mechanism::{
    Connection, Coupling, Joint, JointId, LinkId, Mechanism, Mobility, RANK_TOLERANCE, connections,
    mobility,
};
use serde::Serialize;

use crate::{
    args::InspectArgs,
    error::CliError,
    model::{Model, joint_name},
    output::{self, short},
};

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    output::print(&Report::new(&model), args.model.json, Report::text)
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    links: Vec<LinkEntry>,
    joints: Vec<JointEntry>,
    loop_closures: Vec<ClosureEntry>,
    couplings: Vec<CouplingEntry>,
    dof: usize,
    constraint_rows: usize,
    constraint_rank: usize,
    mobility: usize,
    total_mass: f64,
    moving_mass: f64,
    bounding_radius: f64,
    notes: Vec<NoteEntry>,
}

#[derive(Debug, Serialize)]
struct LinkEntry {
    name: String,
    mass: f64,
    parent: String,
}

#[derive(Debug, Serialize)]
struct JointEntry {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    parent: String,
    child: String,
    dof: usize,
}

#[derive(Debug, Serialize)]
struct ClosureEntry {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    link_a: String,
    link_b: String,
    rows: usize,
    rank: usize,
}

#[derive(Debug, Serialize)]
struct CouplingEntry {
    name: String,
    joints: Vec<String>,
    rows: usize,
    rank: usize,
}

#[derive(Debug, Serialize)]
struct NoteEntry {
    element: String,
    attribute: String,
    effect: &'static str,
    line: Option<u32>,
    file: Option<String>,
    reason: String,
}

impl Report {
    fn new(model: &Model) -> Self {
        let m = &model.mechanism;
        let poses = m.link_poses(&model.positions);
        let counts = mobility(m, &model.positions, &poses, RANK_TOLERANCE);
        let names = JointNames::new(m);
        let ends = joint_ends(m);
        Self {
            name: m.name().to_owned(),
            links: link_entries(m),
            joints: joint_entries(m, &names, &ends),
            loop_closures: closure_entries(m, &counts, &names, &ends),
            couplings: coupling_entries(m, &counts, &names),
            dof: counts.dof,
            constraint_rows: counts.rows,
            constraint_rank: counts.rank,
            mobility: counts.mobility,
            total_mass: m.total_mass(),
            moving_mass: m.moving_mass(),
            bounding_radius: m.bounding_radius(&poses),
            notes: model.notes.iter().map(NoteEntry::new).collect(),
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
        }
    }
}

/// True for joints that the user would not count: welds of bodies without joints.
fn is_hidden(j: &Joint) -> bool {
    j.implicit && j.dof() == 0
}

/// What every joint is called in the answer.
struct JointNames(Vec<String>);

impl JointNames {
    /// Tree joints and loop-closing joints are numbered apart, without the hidden ones.
    fn new(m: &Mechanism) -> Self {
        let mut is_closure = vec![false; m.joints().len()];
        m.forest().closures().iter().for_each(|c| is_closure[c.index()] = true);
        let mut numbers = [0, 0];
        let name = |(i, j): (usize, &Joint)| {
            let number = &mut numbers[usize::from(is_closure[i])];
            let name = joint_name(m, JointId::new(i), *number);
            *number += usize::from(!is_hidden(j));
            name
        };
        Self(m.joints().iter().enumerate().map(name).collect())
    }

    fn of(&self, id: JointId) -> String {
        self.0[id.index()].clone()
    }
}

/// The two real links that every joint stands between; massless frames between the joints of one body
/// are no links in the user's sense.
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
) -> Vec<ClosureEntry> {
    let entry = |c: &forks_mechanism::ClosureMobility| {
        let (a, b) = ends[c.joint.index()];
        ClosureEntry {
            name: names.of(c.joint),
            kind: m.joint(c.joint).kind.name(),
            link_a: m.link(a).name.clone(),
            link_b: m.link(b).name.clone(),
            rows: c.rows,
            rank: c.rank,
        }
    };
    counts.closures.iter().map(entry).collect()
}

fn coupling_entries(m: &Mechanism, counts: &Mobility, names: &JointNames) -> Vec<CouplingEntry> {
    let entry = |(c, n): (&Coupling, &forks_mechanism::CouplingMobility)| {
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
        }
    };
    m.couplings().iter().zip(&counts.couplings).map(entry).collect()
}

impl Report {
    /// The answer for people.
    fn text(&self) -> String {
        let mut out = String::new();
        let title = if self.name.is_empty() { "(no name)" } else { &self.name };
        let mut line = |key: &str, value: String| {
            writeln!(out, "{key:<17}{value}").expect("writing to a string");
        };
        line("model", title.to_owned());
        line("dof", self.dof.to_string());
        let (rows, rank) = (self.constraint_rows, self.constraint_rank);
        line("loop equations", format!("{rows}, {rank} of them independent"));
        line("mobility", self.mobility.to_string());
        line("total mass", format!("{} kg", short(self.total_mass)));
        line("moving mass", format!("{} kg", short(self.moving_mass)));
        line("bounding radius", format!("{} m", short(self.bounding_radius)));
        for (title, table) in self.tables() {
            if table.row_count() > 0 {
                write!(out, "\n{title} ({})\n{table}", table.row_count())
                    .expect("writing to a string");
            }
        }
        out
    }

    fn tables(&self) -> [(&'static str, TextTable); 5] {
        use Align::{Left, Right};
        let mut links =
            TextTable::new().column("name", Left).column("mass (kg)", Right).column("parent", Left);
        for l in &self.links {
            links.push([l.name.clone(), short(l.mass), l.parent.clone()]);
        }
        let mut joints = TextTable::new()
            .column("name", Left)
            .column("type", Left)
            .column("dof", Right)
            .column("parent", Left)
            .column("child", Left);
        for j in &self.joints {
            let dof = j.dof.to_string();
            joints.push([&j.name, j.kind, &dof, &j.parent, &j.child]);
        }
        let mut closures = TextTable::new()
            .column("name", Left)
            .column("type", Left)
            .column("rows", Right)
            .column("rank", Right)
            .column("link a", Left)
            .column("link b", Left);
        for c in &self.loop_closures {
            let [rows, rank] = [c.rows, c.rank].map(|n| n.to_string());
            closures.push([&c.name, c.kind, &rows, &rank, &c.link_a, &c.link_b]);
        }
        let mut couplings =
            TextTable::new().column("name", Left).column("rank", Right).column("joints", Left);
        for c in &self.couplings {
            couplings.push([c.name.clone(), c.rank.to_string(), c.joints.join(", ")]);
        }
        let mut notes = TextTable::new()
            .column("line", Right)
            .column("element", Left)
            .column("attribute", Left)
            .column("effect", Left)
            .column("reason", Left);
        for n in &self.notes {
            let line = n.line.map_or_else(String::new, |l| l.to_string());
            notes.push([&line, &n.element, &n.attribute, n.effect, &n.reason]);
        }
        [
            ("links", links),
            ("joints", joints),
            ("loop closures", closures),
            ("couplings", couplings),
            ("notes", notes),
        ]
    }
}
