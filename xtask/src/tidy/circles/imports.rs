//! What a file defines, imports and names.

use std::collections::BTreeSet;

use super::tokens::{Token, tokens};

/// A path as written, `crate::a::b`, and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// One leaf of a `use` item.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Import {
    /// The name it gets here; `*` for all names of a module, `_` for none.
    pub(super) alias: String,
    pub(super) from: Named,
    /// For others: `pub use` and the like.
    pub(super) is_public: bool,
}

/// A file as the rule on circles sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// Names of items at the top of the file and in modules written inside it.
    pub(super) items: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Paths outside `use` items, each with one name at least.
    pub(super) paths: Vec<Named>,
}

/// Words after which the name of an item follows.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

impl Contents {
    pub(super) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let text_at = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
        let mut out = Self::default();
        let (mut at, mut depth, mut inline) = (0, 0_usize, 0_usize);
        while at < tokens.len() {
            let token = &tokens[at];
            match token.text.as_str() {
                "use" if text_at(at + 1) != "<" => {
                    let is_public = at > 0 && matches!(text_at(at - 1), "pub" | ")");
                    let mut reader = Reader { tokens: &tokens, at: at + 1, is_public };
                    reader.tree(&mut Vec::new(), &mut out.imports);
                    at = reader.at;
                    continue;
                }
                "mod" if text_at(at + 2) == "{" => {
                    inline += usize::from(inline == depth);
                    depth += 1;
                    at += 3;
                    continue;
                }
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline = inline.min(depth);
                }
                word if ITEMS.contains(&word) && depth == inline => {
                    let skip = 1 + usize::from(text_at(at + 1) == "!");
                    if tokens.get(at + skip).is_some_and(Token::is_name) {
                        out.items.insert(text_at(at + skip).into());
                    }
                }
                _ if token.is_name() && !matches!(text_at(at.wrapping_sub(1)), "." | "mod") => {
                    let mut path = vec![token.text.clone()];
                    while text_at(at + 1) == "::" && tokens.get(at + 2).is_some_and(Token::is_name)
                    {
                        path.push(text_at(at + 2).into());
                        at += 2;
                    }
                    out.paths.push(Named { path, line: token.line });
                }
                _ => (),
            }
            at += 1;
        }
        out
    }
}

/// Reads the tree of a `use` item.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    is_public: bool,
}

impl Reader<'_> {
    fn tree(&mut self, prefix: &mut Vec<String>, out: &mut Vec<Import>) {
        let length = prefix.len();
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.text.as_str() {
                "::" => continue,
                "{" => {
                    self.list(prefix, out);
                    break;
                }
                "*" => {
                    self.leaf("*", prefix, token.line, out);
                    break;
                }
                _ => prefix.push(token.text.clone()),
            }
            let next = self.tokens.get(self.at).map_or("", |t| t.text.as_str());
            if next != "::" {
                let mut alias = token.text.clone();
                if next == "as" {
                    alias = self.tokens.get(self.at + 1).map_or("_".into(), |t| t.text.clone());
                    self.at += 2;
                }
                if token.text == "self" {
                    prefix.pop();
                    if alias == "self" {
                        alias = prefix.last().cloned().unwrap_or_default();
                    }
                }
                self.leaf(&alias, prefix, token.line, out);
                break;
            }
        }
        prefix.truncate(length);
    }

    fn list(&mut self, prefix: &mut Vec<String>, out: &mut Vec<Import>) {
        while let Some(token) = self.tokens.get(self.at) {
            match token.text.as_str() {
                "}" => {
                    self.at += 1;
                    return;
                }
                "," => self.at += 1,
                _ => self.tree(prefix, out),
            }
        }
    }

    fn leaf(&self, alias: &str, path: &[String], line: usize, out: &mut Vec<Import>) {
        let from = Named { path: path.to_vec(), line };
        out.push(Import { alias: alias.into(), from, is_public: self.is_public });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<String> {
        let all = Contents::of(text).imports;
        all.iter().map(|i| format!("{} = {}", i.alias, i.from.path.join("::"))).collect()
    }

    #[test]
    fn trees_of_imports_become_leaves() {
        assert_eq!(
            imports("use crate::{a, b::{self, C as D, e::*}}; pub(crate) use super::f::g;"),
            [
                "a = crate::a",
                "b = crate::b",
                "D = crate::b::C",
                "* = crate::b::e",
                "g = super::f::g"
            ]
        );
        let contents = Contents::of("use a::b; pub use c::d; fn f() -> impl X + use<'_> {}");
        assert_eq!(contents.imports.iter().map(|i| i.is_public).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn items_are_those_at_the_top_and_in_modules_inside() {
        let text = "pub fn f() { const X: u8 = 1; } mod m { pub struct S { a: u8 } } enum E {} \
                    macro_rules! w { () => {} } impl E { fn g() {} }";
        let items: Vec<_> = Contents::of(text).items.into_iter().collect();
        assert_eq!(items, ["E", "S", "f", "w"]);
    }

    #[test]
    fn paths_are_read_whole() {
        let contents = Contents::of("fn f() { crate::a::g::<u8>(x.b, super::C) }");
        let paths: Vec<_> = contents.paths.iter().map(|p| p.path.join("::")).collect();
        for path in ["crate::a::g", "super::C", "x"] {
            assert!(paths.iter().any(|p| p == path), "{path} in {paths:?}");
        }
        assert!(!paths.iter().any(|p| p == "b"), "fields are no paths");
    }
}
