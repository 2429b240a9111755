//! What a scene's tissue is worth, for people.

use forks_io::{Align, Text, TextTable, short};

use crate::Quality;

impl Quality {
    /// For people.
    pub fn text(&self) -> String {
        let q = self;
        let mut out = Text::new(27);
        out.line("scene", &q.scene);
        let per = q.nodes_per_element;
        out.line("elements", format!("{} of {per} nodes", q.elements));
        out.line("nodes", format!("{}, {} free", q.nodes, q.free_nodes));
        out.line("volume (m³)", short(q.volume));
        let [least, most] = q.node_mass.map(short);
        out.line("mass (kg)", format!("{}, nodes {least} to {most}", short(q.mass)));
        out.line("least filled element", short(q.least_filled));
        out.line("skin", format!("{} triangles, {} vertices", q.skin[0], q.skin[1]));
        out.line("longest explicit step (s)", short(q.explicit_step));
        let frequencies: Vec<String> = q.frequencies.iter().map(|f| short(*f)).collect();
        if !frequencies.is_empty() {
            out.line("frequencies (Hz)", format!("{}, with bones held", frequencies.join(", ")));
        }
        if let Some(locking) = q.locking {
            let than = format!("{} times as stiff as with ten nodes", short(locking));
            out.line("elements lock", than);
        }
        for node in &q.loose {
            out.line("", format!("the part with node {node} is in no bone"));
        }
        for node in &q.hinges {
            out.line("", format!("node {node} is a hinge, or in one place with another"));
        }
        let mut worst =
            TextTable::new().column("element", Align::Right).column("quality", Align::Right);
        for (element, quality) in &q.worst {
            worst.push([element.to_string(), short(*quality)]);
        }
        let mut bones = TextTable::new()
            .column("bone", Align::Left)
            .columns(["nodes", "their mass (kg)"], Align::Right);
        for (name, nodes, mass) in &q.bones {
            bones.push([name.clone(), nodes.to_string(), short(*mass)]);
        }
        out.line("mean quality", short(q.mean_quality));
        out.tables([("worst elements", worst), ("bones with nodes", bones)]);
        if !q.notes.is_empty() {
            out.block(format_args!("notes\n{}\n", q.notes.join("\n")));
        }
        out.finish()
    }
}
