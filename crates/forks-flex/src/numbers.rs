//! Numbers in attributes.

use std::str::FromStr;

use roxmltree::Node;

use crate::error::FlexError;

/// A flexible body that cannot be tissue.
pub(crate) fn wrong(name: &str, problem: impl Into<String>) -> FlexError {
    FlexError::Flex { name: name.into(), problem: problem.into() }
}

/// All numbers of an attribute, none where it is not there.
pub(crate) fn list<T: FromStr>(
    node: Node<'_, '_>,
    attribute: &str,
    name: &str,
) -> Result<Vec<T>, FlexError> {
    let words = node.attribute(attribute).unwrap_or_default().split_whitespace();
    let number = |w: &str| {
        w.parse().map_err(|_| wrong(name, format!("has '{w}' in {attribute}, which is no number")))
    };
    words.map(number).collect()
}

/// So many numbers of an attribute, or others where it is not there.
pub(crate) fn exactly<const N: usize, T: FromStr + Copy>(
    node: Node<'_, '_>,
    attribute: &str,
    name: &str,
    default: [T; N],
) -> Result<[T; N], FlexError> {
    if node.attribute(attribute).is_none() {
        return Ok(default);
    }
    let all = list(node, attribute, name)?;
    let count = all.len();
    all.try_into()
        .map_err(|_| wrong(name, format!("has {count} numbers in {attribute} instead of {N}")))
}
