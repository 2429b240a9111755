//! Forgiveness for XML that real files contain and MuJoCo's parser accepts: `--` inside comments,
//! an XML declaration of any version or after blank lines, NUL characters after the root,
//! attributes without a blank between them, prefixes that are not declared. Line breaks stay where
//! they are, so that line numbers are those of the file.

use std::borrow::Cow;

/// The text with these oddities taken out.
pub(crate) fn tolerant(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\0', ' ', '\n', '\r', '\t']);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = if let Some(comment) = rest.strip_prefix("<!--") {
            let n = comment.find("-->").map_or(rest.len(), |i| i + 7);
            blank(&rest[..n], &mut out);
            n
        } else if rest.starts_with("<?xml") {
            let n = rest.find("?>").map_or(rest.len(), |i| i + 2);
            blank(&rest[..n], &mut out);
            n
        } else if rest.starts_with("<![CDATA[") {
            let n = rest.find("]]>").map_or(rest.len(), |i| i + 3);
            out.push_str(&rest[..n]);
            n
        } else if rest.starts_with("<!") || rest.starts_with("<?") {
            out.push('<');
            1
        } else {
            let n = tag_length(rest);
            out.push_str(&spaced(&rest[..n]));
            n
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The text with a namespace prefix declared at the root, for files that use prefixes of other
/// programs without declaring them. `None` where there is no root.
pub(crate) fn with_prefix(text: &str, prefix: &str) -> Option<String> {
    let starts_name = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let open = text.match_indices('<').map(|(i, _)| i + 1).find(|&i| starts_name(&text[i..]))?;
    let rest = &text[open..];
    let end = open + rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
    Some(format!("{} xmlns:{prefix}=\"{prefix}\"{}", &text[..end], &text[end..]))
}

/// Keeps the line breaks only.
fn blank(s: &str, out: &mut String) {
    out.extend(s.chars().filter(|&c| c == '\n'));
}

/// Length of the tag at the start of `s`, quoted `>` skipped.
fn tag_length(s: &str) -> usize {
    let mut quote = None;
    for (i, c) in s.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => return i + 1,
            None => {}
        }
    }
    s.len()
}

/// The tag with a blank after each closing quote that has none.
fn spaced(tag: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut quote = None;
    let mut closed = false;
    for (i, c) in tag.char_indices() {
        if closed && (c.is_alphabetic() || c == '_') {
            out.get_or_insert_with(|| tag[..i].to_owned()).push(' ');
        }
        closed = false;
        match quote {
            Some(q) if c == q => {
                quote = None;
                closed = true;
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        if let Some(o) = &mut out {
            o.push(c);
        }
    }
    out.map_or(Cow::Borrowed(tag), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{tolerant, with_prefix};

    #[test]
    fn oddities_go_and_lines_stay() {
        let t = tolerant("\n<?xml version=\"0.0\"?>\n<!-- a -- \n b --><m a=\"1\"b='>'>\n</m>\n\0");
        assert_eq!(t, "\n\n\n<m a=\"1\" b='>'>\n</m>");
    }

    #[test]
    fn prefixes_are_declared_at_the_root() {
        let t = with_prefix("\n<robot\nname='r'><a:b/></robot>", "a").unwrap();
        assert_eq!(t, "\n<robot xmlns:a=\"a\"\nname='r'><a:b/></robot>");
        assert_eq!(with_prefix("<m/>", "x").unwrap(), "<m xmlns:x=\"x\"/>");
        assert_eq!(with_prefix("<m", "x"), None);
    }

    #[test]
    fn quotes_and_unfinished_tags_are_left_to_the_parser() {
        for s in [
            "<m a=\"<x\">",
            "<m a=\"1",
            "<!-- never closed",
            "<!DOCTYPE m [<!ENTITY a \"b\">]><m/>",
            "a<",
        ] {
            let t = tolerant(s);
            assert!(t.len() <= s.len() + 1, "{t}");
        }
    }
}
