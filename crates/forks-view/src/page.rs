//! The page: the viewer of recordings with a socket and hands.

use forks_io::{
    IoError,
    animation::Animation,
    html::{self, Extension},
};

const EXTENSION: Extension<'static> = Extension {
    policy: "; connect-src 'self'; img-src data:",
    controls: include_str!("page/controls.html"),
    style: include_str!("page/live.css"),
    script: concat!(include_str!("page/stream.js"), include_str!("page/live.js")),
};

/// The page of what moves; the animation has one frame, the present.
pub(crate) fn live(animation: &Animation) -> Result<String, IoError> {
    html::extended(animation, &EXTENSION)
}

/// A page that says what is wrong, and looks again every second.
pub(crate) fn message(title: &str, problem: &str) -> String {
    let [title, problem] = [title, problem].map(html::escaped);
    html::filled(include_str!("page/message.html"), |name| match name {
        "TITLE" => &title,
        _ => &problem,
    })
}
