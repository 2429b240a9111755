//! A tree of elements in one array: no borrowed text, no recursion.

use crate::{ImportError, Location, xml::text};

/// An element; children are indices into [`Tree::elements`].
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<usize>,
    /// What stands in an element without children, if it is short: a number of another program's
    /// settings.
    pub(crate) text: Option<Box<str>>,
    pub(crate) file: Option<usize>,
    pub(crate) line: u32,
}

impl Element {
    /// The text of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// All elements of a file and the files that it includes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) elements: Vec<Element>,
    pub(crate) files: Vec<String>,
    pub(crate) root: usize,
}

impl Tree {
    /// Where an element is written.
    pub(crate) fn location(&self, e: &Element) -> Location {
        Location { file: e.file.map(|f| self.files[f].clone()), line: e.line }
    }

    /// Children of an element.
    pub(crate) fn children(&self, e: &Element) -> impl Iterator<Item = &Element> {
        e.children.iter().map(|&i| &self.elements[i])
    }

    /// Appends the elements of a document and returns its root.
    pub(crate) fn append(
        &mut self,
        source: &str,
        file: Option<usize>,
    ) -> Result<usize, ImportError> {
        let name = file.map(|f| self.files[f].clone());
        let source = with_declared_prefixes(text::tolerant(source));
        let document = parse(&source).map_err(|e| ImportError::Xml {
            at: Box::new(Location { file: name.clone(), line: line_of(&e, &source) }),
            problem: problem(&e),
        })?;
        let lines = LineStarts::new(&source);
        let home = document.root_element().tag_name().namespace();
        let mut stack = vec![(document.root_element(), None::<usize>)];
        let root = self.elements.len();
        while let Some((node, parent)) = stack.pop() {
            let id = self.elements.len();
            self.elements.push(Element {
                tag: tag(node, home),
                attributes: node
                    .attributes()
                    .map(|a| (qualified(node, a.namespace(), home, a.name()), a.value().into()))
                    .collect(),
                children: Vec::new(),
                text: short_text(node),
                file,
                line: lines.line(node.range().start),
            });
            if let Some(p) = parent {
                self.elements[p].children.push(id);
            }
            let first = stack.len();
            stack.extend(node.children().filter(|n| n.is_element()).map(|n| (n, Some(id))));
            stack[first..].reverse();
        }
        Ok(root)
    }
}

/// Longest text of an element that is kept.
const LONGEST_TEXT: usize = 64;

fn short_text(node: roxmltree::Node<'_, '_>) -> Option<Box<str>> {
    let text = node.text()?.trim();
    (!text.is_empty() && text.len() <= LONGEST_TEXT).then(|| text.into())
}

/// Elements and pieces of text that a file may have; more take gigabytes of memory. Ten thousand
/// bodies have 50,000.
const MOST_NODES: u32 = 4_000_000;

fn parse(source: &str) -> Result<roxmltree::Document<'_>, roxmltree::Error> {
    let options = roxmltree::ParsingOptions { nodes_limit: MOST_NODES, ..Default::default() };
    roxmltree::Document::parse_with_options(source, options)
}

/// Prefixes that a file may use without declaring them; real ones have one or two.
const MOST_PREFIXES: usize = 16;

/// Declares the prefixes of other programs (`drake:`) that a file uses as if namespaces did not
/// exist.
fn with_declared_prefixes(mut source: String) -> String {
    for _ in 0..MOST_PREFIXES {
        let Err(roxmltree::Error::UnknownNamespace(prefix, _)) = parse(&source) else { break };
        match text::with_prefix(&source, &prefix) {
            Some(declared) => source = declared,
            None => break,
        }
    }
    source
}

/// The element's name: with its prefix where its namespace is not the root's, for it is then not of
/// this format.
fn tag(node: roxmltree::Node<'_, '_>, home: Option<&str>) -> String {
    let name = node.tag_name();
    if name.namespace().is_some_and(|uri| uri.ends_with("xacro")) {
        return format!("{XACRO}{}", name.name());
    }
    qualified(node, name.namespace(), home, name.name())
}

/// A name, behind the prefix of its namespace if that is another one than the root's.
fn qualified(
    node: roxmltree::Node<'_, '_>,
    namespace: Option<&str>,
    home: Option<&str>,
    name: &str,
) -> String {
    let foreign = namespace.filter(|_| namespace != home);
    match foreign.and_then(|uri| node.lookup_prefix(uri)) {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name.to_owned(),
    }
}

/// What the tags of xacro macros begin with.
pub(crate) const XACRO: &str = "xacro:";

/// The line of an error; that of a document type definition is not reported by the parser.
fn line_of(e: &roxmltree::Error, source: &str) -> u32 {
    let definition = matches!(e, roxmltree::Error::DtdDetected).then(|| source.find("<!DOCTYPE"));
    match definition.flatten() {
        Some(start) => LineStarts::new(source).line(start),
        None => e.pos().row,
    }
}

/// The parser's message without its position, which stands in front of the sentence.
fn problem(e: &roxmltree::Error) -> String {
    if matches!(e, roxmltree::Error::DtdDetected) {
        return "a document type definition (entities) is not allowed".into();
    }
    if matches!(e, roxmltree::Error::NodesLimitReached) {
        return format!("it has more than {MOST_NODES} elements, the limit for model files");
    }
    let message = e.to_string();
    match message.rfind(" at ") {
        Some(i) => message[..i].to_owned(),
        None => message,
    }
}

/// Line numbers of byte offsets.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(s: &str) -> Self {
        Self(s.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect())
    }

    fn line(&self, offset: usize) -> u32 {
        self.0.partition_point(|&i| i < offset) as u32 + 1
    }
}
