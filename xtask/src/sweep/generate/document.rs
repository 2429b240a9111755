//! Model files under construction: elements that can still be changed, and the files that they go
//! to.

use std::{fmt::Display, fs, path::Path};

use forks_testkit::Rng;

/// An element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn new(tag: &str) -> Self {
        Self { tag: tag.into(), attributes: vec![], children: vec![] }
    }

    pub(super) fn with(mut self, name: &str, value: impl Display) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn holding(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn set(&mut self, name: &str, value: impl Display) {
        self.remove(name);
        self.attributes.push((name.into(), value.to_string()));
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.attributes.retain(|(n, _)| n != name);
    }

    pub(super) fn is(&self, tags: &[&str]) -> bool {
        tags.contains(&self.tag.as_str())
    }

    /// Does something to every element of these kinds below this one, outer ones first. Generated
    /// files nest a few dozen elements at most.
    pub(super) fn each(&mut self, tags: &[&str], f: &mut dyn FnMut(&mut Element)) {
        for c in &mut self.children {
            if c.is(tags) {
                f(c);
            }
            c.each(tags, f);
        }
    }

    fn write(&self, depth: usize, out: &mut String) {
        let escaped = |v: &str| v.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let attributes: String =
            self.attributes.iter().map(|(n, v)| format!(" {n}=\"{}\"", escaped(v))).collect();
        let indent = "  ".repeat(depth);
        if self.children.is_empty() {
            *out += &format!("{indent}<{}{attributes}/>\n", self.tag);
            return;
        }
        *out += &format!("{indent}<{}{attributes}>\n", self.tag);
        self.children.iter().for_each(|c| c.write(depth + 1, out));
        *out += &format!("{indent}</{}>\n", self.tag);
    }
}

/// A model: its main file, and others beside it.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) root: Element,
    /// Included files, with paths relative to the main one.
    pub(super) included: Vec<(String, Element)>,
    /// Other files.
    pub(super) assets: Vec<(String, String)>,
}

impl Document {
    /// The first section of a kind, made where there is none.
    pub(super) fn section(&mut self, tag: &str) -> &mut Element {
        let i = self.root.children.iter().position(|e| e.tag == tag).unwrap_or_else(|| {
            self.root.children.push(Element::new(tag));
            self.root.children.len() - 1
        });
        &mut self.root.children[i]
    }

    /// Adds an element to a section.
    pub(super) fn add(&mut self, section: &str, e: Element) {
        self.section(section).children.push(e);
    }

    /// Adds values to the main default class, of which each kind stands there once.
    pub(super) fn add_defaults(&mut self, values: impl IntoIterator<Item = Element>) {
        let main = self.section("default");
        for v in values {
            match main.children.iter_mut().find(|c| c.tag == v.tag && v.tag != "default") {
                Some(there) => v.attributes.into_iter().for_each(|(n, x)| there.set(&n, x)),
                None => main.children.push(v),
            }
        }
    }

    /// A setting of the compiler.
    pub(super) fn compiler(&mut self, name: &str, value: impl Display) {
        self.section("compiler").set(name, value);
    }

    pub(super) fn each(&mut self, tags: &[&str], mut f: impl FnMut(&mut Element)) {
        self.root.each(tags, &mut f);
    }

    /// As [`Self::each`], in the world alone.
    pub(super) fn each_in_world(&mut self, tags: &[&str], mut f: impl FnMut(&mut Element)) {
        for e in self.root.children.iter_mut().filter(|e| e.tag == "worldbody") {
            e.each(tags, &mut f);
        }
    }

    /// Does something to one body.
    pub(super) fn body(&mut self, name: &str, mut f: impl FnMut(&mut Element)) {
        self.each_in_world(&["body"], |b| {
            if b.get("name") == Some(name) {
                f(b);
            }
        });
    }

    /// Names in the world of elements of a kind that `wanted` picks.
    pub(super) fn names(&mut self, tag: &str, wanted: impl Fn(&Element) -> bool) -> Vec<String> {
        let mut out = Vec::new();
        self.each_in_world(&[tag], |e| {
            if wanted(e) {
                out.extend(e.get("name").map(str::to_owned));
            }
        });
        out
    }

    /// Names of hinges and slides.
    pub(super) fn scalar_joints(&mut self) -> Vec<String> {
        self.names("joint", |e| !matches!(e.get("type"), Some("ball" | "free")))
    }

    /// Names of fixed tendons.
    pub(super) fn tendons(&mut self) -> Vec<String> {
        let section = self.section("tendon");
        let fixed = section.children.iter().filter(|e| e.tag == "fixed");
        fixed.filter_map(|e| e.get("name")).map(str::to_owned).collect()
    }

    /// Writes all files to a folder; the main one is `model.xml`.
    pub(super) fn save(&self, folder: &Path) -> std::io::Result<()> {
        let text = |e: &Element| {
            let mut out = String::new();
            e.write(0, &mut out);
            out
        };
        let main = ("model.xml".to_owned(), text(&self.root));
        let included = self.included.iter().map(|(p, e)| (p.clone(), text(e)));
        for (path, text) in included.chain(self.assets.iter().cloned()).chain([main]) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        Ok(())
    }
}

/// A number with few digits.
pub(super) fn number(rng: &mut Rng, low: f64, high: f64) -> String {
    format!("{:.4}", rng.range(low, high))
}

/// Numbers with few digits.
pub(super) fn numbers(rng: &mut Rng, count: usize, low: f64, high: f64) -> String {
    (0..count).map(|_| number(rng, low, high)).collect::<Vec<_>>().join(" ")
}

/// One of several.
pub(super) fn one_of<'a, T>(rng: &mut Rng, list: &'a [T]) -> &'a T {
    &list[rng.index(list.len())]
}

/// Numbers with a length that is not small.
pub(super) fn direction(rng: &mut Rng, count: usize) -> String {
    loop {
        let v: Vec<f64> = (0..count).map(|_| rng.symmetric()).collect();
        if v.iter().map(|x| x * x).sum::<f64>() > 0.3 {
            return v.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(" ");
        }
    }
}
