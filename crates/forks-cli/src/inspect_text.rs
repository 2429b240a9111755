//! The text that `forks inspect` shows to people.

use forks_io::{Align, TextTable};

use crate::{
    inspect::{LinkEntry, NoteEntry, Report},
    output::{Text, short},
};

/// Levels of branches that are drawn; deeper ones are cut off on the left.
const LEVELS: usize = 24;

impl Report {
    /// The answer for people.
    pub(crate) fn text(&self) -> String {
        let mut out = Text::new(17);
        let title = if self.name.is_empty() { "(no name)" } else { &self.name };
        out.line("model", title);
        out.line("dof", self.dof);
        if self.coordinate_order == "name" && self.dof > 1 {
            out.line("order", "depth first, the joints of a link by name");
        }
        let (rows, rank) = (self.constraint_rows, self.constraint_rank);
        out.line("loop equations", format!("{rows}, {rank} of them independent"));
        if self.redundant_rows > 0 {
            out.line("redundant", self.redundant_rows);
        }
        out.line("mobility", self.mobility);
        out.line("total mass", format!("{} kg", short(self.total_mass)));
        out.line("moving mass", format!("{} kg", short(self.moving_mass)));
        out.line("bounding radius", format!("{} m", short(self.bounding_radius)));
        if !self.effectors.is_empty() {
            out.line("end effectors", self.effectors.join(", "));
        }
        out.tables(self.tables());
        out.finish()
    }

    fn tables(&self) -> [(&'static str, TextTable); 6] {
        use Align::{Left, Right};
        let mut links =
            TextTable::new().column("name", Left).column("mass (kg)", Right).column("parent", Left);
        for (prefix, l) in tree(&self.links) {
            links.push([prefix + &l.name, short(l.mass), l.parent.clone()]);
        }
        let mut joints = TextTable::new()
            .columns(["name", "type"], Left)
            .column("dof", Right)
            .columns(["parent", "child"], Left);
        for j in &self.joints {
            let dof = j.dof.to_string();
            joints.push([&j.name, j.kind, &dof, &j.parent, &j.child]);
        }
        let mut closures = TextTable::new()
            .columns(["name", "type"], Left)
            .columns(["rows", "rank"], Right)
            .columns(["link a", "link b"], Left)
            .columns(["gap (m)", "gap (rad)"], Right);
        for c in &self.loop_closures {
            let [rows, rank] = [c.rows, c.rank].map(|n| n.to_string());
            let [m, rad] = c.gap.map(rounded);
            closures.push([&c.name, c.kind, &rows, &rank, &c.link_a, &c.link_b, &m, &rad]);
        }
        let mut couplings = TextTable::new()
            .column("name", Left)
            .columns(["rank", "gap"], Right)
            .column("joints", Left);
        for c in &self.couplings {
            let joints = c.joints.join(", ");
            couplings.push([c.name.clone(), c.rank.to_string(), rounded(c.gap), joints]);
        }
        let mut springs = TextTable::new()
            .columns(["name", "on"], Left)
            .columns(["stiffness", "damping", "rest"], Right);
        for s in &self.springs {
            let list = |x: &[f64]| x.iter().map(|x| short(*x)).collect::<Vec<_>>().join(" ");
            let (k, d) = (s.shown(&s.stiffness), s.shown(&s.damping));
            springs.push([&s.name, s.kind, &k, &d, &list(&s.rest)]);
        }
        // The file, where a note is about another one than the model's own.
        let several = self.notes.iter().any(|n| n.file.as_ref().is_some_and(|f| *f != self.file));
        let place = if several { ("place", Left) } else { ("line", Right) };
        let mut notes = TextTable::new()
            .column(place.0, place.1)
            .column("element", Left)
            .column("attribute", Left)
            .column("effect", Left)
            .column("reason", Left);
        for n in &self.notes {
            let mut place = n.line.map_or_else(String::new, |l| l.to_string());
            if let Some(file) = n.file.as_deref().filter(|_| several) {
                place = if place.is_empty() { file.into() } else { format!("{file}:{place}") };
            }
            notes.push([&place, &n.elements(), &n.attribute, n.effect, &n.reason]);
        }
        [
            ("links", links),
            ("joints", joints),
            ("loop closures", closures),
            ("couplings", couplings),
            ("springs", springs),
            ("notes", notes),
        ]
    }
}

impl NoteEntry {
    /// What it is about: one element, or how many of which kind, with the first names.
    fn elements(&self) -> String {
        let tag = self.element.split(' ').next().unwrap_or("");
        match &self.names[..] {
            _ if self.count < 2 => self.element.clone(),
            [] => format!("{} {tag}", self.count),
            names => {
                let rest = if self.count > names.len() { ", …" } else { "" };
                format!("{} {tag}: '{}'{rest}", self.count, names.join("', '"))
            }
        }
    }
}

/// A gap for people: what is below rounding is 0.
fn rounded(x: f64) -> String {
    if x < 1e-14 { "0".into() } else { format!("{x:.1e}") }
}

/// Every link with the lines of the tree in front of it, depth first. A link without a mark hangs
/// on the one above it; where a link carries several, each of them begins a branch.
fn tree(links: &[LinkEntry]) -> Vec<(String, &LinkEntry)> {
    let mut children: std::collections::HashMap<&str, Vec<usize>> = Default::default();
    for (i, l) in links.iter().enumerate() {
        children.entry(l.parent.as_str()).or_default().push(i);
    }
    let below = |name: &str| children.get(name).map_or(&[][..], Vec::as_slice);
    let mut out = Vec::with_capacity(links.len());
    // The lines under a link, whether it begins a branch, and whether that is the last one.
    let mut open: Vec<(usize, Vec<bool>, bool)> = Vec::new();
    let push = |open: &mut Vec<(usize, Vec<bool>, bool)>, name: &str, lines: &[bool]| {
        let (found, several) = (below(name), below(name).len() > 1);
        for (n, &i) in found.iter().enumerate().rev() {
            let mut lines = lines.to_vec();
            if several {
                // True where the branch goes on below.
                lines.push(n + 1 < found.len());
                let deep = lines.len().saturating_sub(LEVELS);
                lines.drain(..deep);
            }
            open.push((i, lines, several));
        }
    };
    push(&mut open, "world", &[]);
    while let Some((i, lines, branch)) = open.pop() {
        let mut prefix = String::new();
        for (n, &goes_on) in lines.iter().enumerate() {
            prefix += match (branch && n + 1 == lines.len(), goes_on) {
                (true, true) => "├─ ",
                (true, false) => "└─ ",
                (false, true) => "│  ",
                (false, false) => "   ",
            };
        }
        out.push((prefix, &links[i]));
        push(&mut open, &links[i].name, &lines);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(links: &[(&str, &str)]) -> Vec<String> {
        let entry = |(name, parent): &(&str, &str)| LinkEntry {
            name: (*name).into(),
            mass: 0.0,
            parent: (*parent).into(),
        };
        let links: Vec<LinkEntry> = links.iter().map(entry).collect();
        tree(&links).into_iter().map(|(prefix, l)| prefix + &l.name).collect()
    }

    #[test]
    fn branches_have_marks_and_chains_go_on() {
        let links = [("a", "world"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "b"), ("f", "e")];
        assert_eq!(shown(&links), ["a", "b", "├─ c", "│  d", "└─ e", "   f"]);
        assert_eq!(shown(&[("a", "world"), ("b", "world")]), ["├─ a", "└─ b"]);
    }

    #[test]
    fn deep_combs_stay_narrow() {
        let names: Vec<String> = (0..4000).map(|i| format!("l{i}")).collect();
        let mut links = Vec::new();
        for i in 0..names.len() / 2 {
            let parent = if i == 0 { "world" } else { names[2 * i - 2].as_str() };
            links.push((names[2 * i].as_str(), parent));
            links.push((names[2 * i + 1].as_str(), parent));
        }
        let lines = shown(&links);
        assert_eq!(lines.len(), 4000);
        assert!(lines.iter().all(|l| l.chars().count() <= 3 * LEVELS + 5));
    }
}
