//! The picture that plots and drawings share: frame, ticks, labels, lines, legend.

use std::fmt::{self, Write as _};

use super::{Axis, Stroke, axis::Range};

/// Size of the plot area in pixels; margins and legend come on top.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
const RIGHT: f64 = 24.0;
const FONT: f64 = 13.0;
/// Mean width of a letter relative to the font size, for the width of the legend.
const LETTER: f64 = 0.6;
const LEGEND_SAMPLE: f64 = 28.0;

/// One line of the legend with everything drawn in its colour.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) colour: &'a str,
    pub(super) stroke: Stroke,
    pub(super) marks: bool,
    pub(super) width: f64,
    /// Polylines in the units of the axes.
    pub(super) lines: Vec<Vec<[f64; 2]>>,
}

/// Everything that is drawn.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    pub(super) x: (&'a Axis, Range),
    pub(super) y: (&'a Axis, Range),
    pub(super) groups: Vec<Group<'a>>,
}

/// Ranges widened so that a unit is as long to the right as upwards.
pub(super) fn equal_scales(x: Range, y: Range) -> (Range, Range) {
    let units_per_pixel = (x.span() / WIDTH).max(y.span() / HEIGHT);
    (x.widened(units_per_pixel * WIDTH), y.widened(units_per_pixel * HEIGHT))
}

impl Chart<'_> {
    /// The picture as SVG text.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).expect("writing to a string");
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let (w, h) = (LEFT + WIDTH + RIGHT + self.legend_width(), TOP + HEIGHT + BOTTOM);
        writeln!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0}" height="{h:.0}" viewBox="0 0 {w:.0} {h:.0}" font-family="sans-serif" font-size="{FONT}" fill="#222">"##
        )?;
        writeln!(out, "<title>{}</title>", escaped(self.title))?;
        writeln!(out, r##"<rect width="100%" height="100%" fill="#fff"/>"##)?;
        writeln!(
            out,
            r#"<text x="{:.2}" y="{:.2}" font-size="16" text-anchor="middle">{}</text>"#,
            LEFT + 0.5 * WIDTH,
            TOP - 16.0,
            escaped(self.title)
        )?;
        self.write_x_axis(out)?;
        self.write_y_axis(out)?;
        writeln!(
            out,
            r##"<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#222"/>"##
        )?;
        for g in &self.groups {
            self.write_group(out, g)?;
        }
        self.write_legend(out)?;
        writeln!(out, "</svg>")
    }

    fn write_x_axis(&self, out: &mut String) -> fmt::Result {
        let base = TOP + HEIGHT;
        for t in self.x.1.ticks(8) {
            let x = LEFT + t.at * WIDTH;
            let length = if t.text.is_some() { 6.0 } else { 3.0 };
            if let Some(text) = t.text {
                writeln!(
                    out,
                    r##"<path d="M{x:.2} {TOP}V{base}" stroke="#e4e4e4"/><text x="{x:.2}" y="{:.2}" text-anchor="middle">{text}</text>"##,
                    base + 20.0
                )?;
            }
            writeln!(out, r##"<path d="M{x:.2} {base}v{length}" stroke="#222"/>"##)?;
        }
        writeln!(
            out,
            r#"<text x="{:.2}" y="{:.2}" text-anchor="middle">{}</text>"#,
            LEFT + 0.5 * WIDTH,
            base + 42.0,
            escaped(&self.x.0.label())
        )
    }

    fn write_y_axis(&self, out: &mut String) -> fmt::Result {
        for t in self.y.1.ticks(6) {
            let y = TOP + (1.0 - t.at) * HEIGHT;
            let length = if t.text.is_some() { 6.0 } else { 3.0 };
            if let Some(text) = t.text {
                writeln!(
                    out,
                    r##"<path d="M{LEFT} {y:.2}h{WIDTH}" stroke="#e4e4e4"/><text x="{:.2}" y="{:.2}" text-anchor="end">{text}</text>"##,
                    LEFT - 9.0,
                    y + 0.35 * FONT
                )?;
            }
            writeln!(out, r##"<path d="M{LEFT} {y:.2}h-{length}" stroke="#222"/>"##)?;
        }
        let (x, y) = (18.0, TOP + 0.5 * HEIGHT);
        writeln!(
            out,
            r#"<text x="{x:.2}" y="{y:.2}" text-anchor="middle" transform="rotate(-90 {x:.2} {y:.2})">{}</text>"#,
            escaped(&self.y.0.label())
        )
    }

    /// Pixel of a point in the units of the axes.
    fn pixel(&self, p: [f64; 2]) -> [f64; 2] {
        [LEFT + self.x.1.place(p[0]) * WIDTH, TOP + (1.0 - self.y.1.place(p[1])) * HEIGHT]
    }

    fn write_group(&self, out: &mut String, g: &Group<'_>) -> fmt::Result {
        writeln!(out, r#"<g stroke="{}" stroke-width="{}" fill="none">"#, g.colour, g.width)?;
        for line in &g.lines {
            let pixels: Vec<[f64; 2]> = line.iter().map(|&p| self.pixel(p)).collect();
            if g.stroke != Stroke::None && pixels.len() > 1 {
                write!(out, r#"<polyline{} points=""#, dashes(g.stroke))?;
                for (i, [x, y]) in pixels.iter().enumerate() {
                    let blank = if i == 0 { "" } else { " " };
                    write!(out, "{blank}{x:.2},{y:.2}")?;
                }
                writeln!(out, r#""/>"#)?;
            }
            // A lone point would be invisible as a line.
            if g.marks || pixels.len() == 1 {
                for [x, y] in pixels {
                    writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="3"/>"#)?;
                }
            }
        }
        writeln!(out, "</g>")
    }

    fn named_groups(&self) -> impl Iterator<Item = &Group<'_>> {
        self.groups.iter().filter(|g| !g.name.is_empty())
    }

    /// Width of the column to the right of the plot area that holds the legend.
    fn legend_width(&self) -> f64 {
        let letters = self.named_groups().map(|g| g.name.chars().count()).max();
        letters.map_or(0.0, |n| LEGEND_SAMPLE + 12.0 + LETTER * FONT * n as f64)
    }

    fn write_legend(&self, out: &mut String) -> fmt::Result {
        let x = LEFT + WIDTH + 16.0;
        for (i, g) in self.named_groups().enumerate() {
            let y = TOP + 12.0 + 20.0 * i as f64;
            let open =
                format!(r#"<g stroke="{}" stroke-width="{}" fill="none">"#, g.colour, g.width);
            let middle = x + 0.5 * LEGEND_SAMPLE;
            let line = if g.stroke == Stroke::None {
                String::new()
            } else {
                format!(r#"<path{} d="M{x:.2} {y:.2}h{LEGEND_SAMPLE}"/>"#, dashes(g.stroke))
            };
            let mark = if g.marks {
                format!(r#"<circle cx="{middle:.2}" cy="{y:.2}" r="3"/>"#)
            } else {
                String::new()
            };
            writeln!(
                out,
                r#"{open}{line}{mark}</g><text x="{:.2}" y="{:.2}">{}</text>"#,
                x + LEGEND_SAMPLE + 8.0,
                y + 0.35 * FONT,
                escaped(g.name)
            )?;
        }
        Ok(())
    }
}

fn dashes(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Dashed => r#" stroke-dasharray="7 4""#,
        Stroke::Dotted => r#" stroke-dasharray="2 3""#,
        Stroke::Solid | Stroke::None => "",
    }
}

/// Text as XML character data; control characters, which XML forbids, become blanks.
fn escaped(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
