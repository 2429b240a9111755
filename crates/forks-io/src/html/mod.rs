//! A page with a 3D view of an [`Animation`]: one file that opens from disk.
//!
//! The page holds everything: the viewer with the parts of three.js that it uses (530 kB), its
//! style, and the recording as base 64 of little-endian numbers. It loads nothing, and its content
//! security policy forbids it to. The viewer's source is in `src/html/viewer/`, one file per
//! concern, put into the page as it is; three.js in `src/html/three/`, whose README says how it was
//! bundled.
//!
//! Size: 28 bytes per pose and 6 per corner of a skin, a third more as text: 40 bodies in 10,000
//! frames make 15 MB. Thin the
//! recording to what a screen can show first ([`Animation::thin`], 60 frames per second are
//! plenty).
//!
//! A page opens at a moment and stays there if its address ends in `#t=1.25` (seconds); `#play=0`
//! only stops it, `#view=front`, `side`, `top` choose the direction, `#select=3` a body by its
//! number. Several are joined by `&`.

mod data;
mod skin;

use std::path::Path;

use crate::{IoError, animation::Animation, write_atomically};

/// The page without its contents; `{{NAME}}` is replaced.
const PAGE: &str = include_str!("viewer/page.html");

const STYLE: &str = include_str!("viewer/viewer.css");

/// The viewer, each file using only those before it.
const SCRIPTS: [&str; 12] = [
    include_str!("three/three.js"),
    include_str!("viewer/math.js"),
    include_str!("viewer/recording.js"),
    include_str!("viewer/camera.js"),
    include_str!("viewer/shaders.js"),
    include_str!("viewer/renderer.js"),
    include_str!("viewer/joints.js"),
    include_str!("viewer/scene.js"),
    include_str!("viewer/plot.js"),
    include_str!("viewer/panel.js"),
    include_str!("viewer/sharpness.js"),
    include_str!("viewer/viewer.js"),
];

/// What a page that is not a recording adds to the viewer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension<'a> {
    /// More of the content security policy, such as `connect-src 'self'`.
    pub policy: &'a str,
    /// Mark-up at the top of the panel.
    pub controls: &'a str,
    /// Style after the viewer's.
    pub style: &'a str,
    /// Script after the viewer's that starts it.
    pub script: &'a str,
}

impl Extension<'_> {
    /// A recording.
    const NONE: Self = Self {
        policy: "",
        controls: "",
        style: "",
        script: "const viewer = new Viewer(new Recording(readAnimation()));",
    };
}

/// The page as text.
///
/// # Errors
/// As [`Animation::check`], and [`IoError::TooLarge`] for what single precision cannot hold.
pub fn to_string(animation: &Animation) -> Result<String, IoError> {
    extended(animation, &Extension::NONE)
}

/// The page with something more.
///
/// # Errors
/// As [`to_string`].
pub fn extended(animation: &Animation, extension: &Extension<'_>) -> Result<String, IoError> {
    animation.check()?;
    let data = data::json(animation)?;
    let mut scripts = SCRIPTS.join("\n");
    scripts.push('\n');
    scripts.push_str(extension.script);
    let style = [STYLE, extension.style].concat();
    let title = escaped(&animation.title);
    Ok(filled(PAGE, |name| match name {
        "TITLE" => &title,
        "STYLE" => &style,
        "POLICY" => extension.policy,
        "CONTROLS" => extension.controls,
        "DATA" => &data,
        _ => &scripts,
    }))
}

/// A template whose `{{NAME}}` are replaced. It is walked once, so that nothing in the contents can
/// be taken for a place in it.
pub fn filled<'a>(template: &str, content: impl Fn(&str) -> &'a str) -> String {
    let mut out = String::with_capacity(template.len());
    for (i, piece) in template.split("{{").enumerate() {
        match piece.split_once("}}") {
            Some((name, rest)) if i > 0 => {
                out.push_str(content(name));
                out.push_str(rest);
            }
            _ => out.push_str(piece),
        }
    }
    out
}

/// Writes the page to a file; see [`write_atomically`].
///
/// # Errors
/// As [`to_string`], and [`IoError::Write`].
pub fn save(path: impl AsRef<Path>, animation: &Animation) -> Result<(), IoError> {
    write_atomically(path.as_ref(), to_string(animation)?.as_bytes())
}

/// Text as HTML shows it, in an element or in quotes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
