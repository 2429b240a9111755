//! Two recordings of the same times in one picture.

use forks_io::animation::{Animation, End, Series};
use forks_rom::lie::{Pose, glam::DVec3};

/// The second recording beside the first, moved by `shift` (m), as far as both go; names begin
/// with `names`.
pub fn beside(
    title: &str,
    [first, second]: [&Animation; 2],
    names: [&str; 2],
    shift: DVec3,
) -> Animation {
    let mut out = Animation::new(title);
    let moved = Pose::from_translation(shift);
    let places = [Pose::IDENTITY, moved];
    for ((a, name), place) in [first, second].into_iter().zip(names).zip(places) {
        let bodies = out.bodies.len();
        let end = |e: End| match e.body {
            Some(body) => End { body: Some(body + bodies), ..e },
            None => End { point: place.transform_point(e.point), ..e },
        };
        out.notes.extend(a.notes.iter().map(|n| format!("{name}: {n}")));
        for s in &a.scenery {
            let mut s = s.clone();
            s.body_from_shape = place * s.body_from_shape;
            out.scenery.push(s);
        }
        for s in &a.segments {
            let mut s = *s;
            s.ends = s.ends.map(end);
            out.segments.push(s);
        }
        for s in &a.skins {
            let mut s = s.clone();
            s.body += bodies;
            out.skins.push(s);
        }
        for b in &a.bodies {
            let mut b = b.clone();
            b.name = format!("{name}: {}", b.name);
            out.bodies.push(b);
        }
        let series = |s: &Series| Series::new(format!("{name}: {}", s.name), s.unit.clone());
        out.series.extend(a.series.iter().map(series));
    }
    for (a, b) in first.frames.iter().zip(&second.frames) {
        let mut frame = a.clone();
        frame.world_from_body.extend(b.world_from_body.iter().map(|p| moved * *p));
        frame.values.extend(&b.values);
        frame.contacts.extend(b.contacts.iter().map(|c| {
            let mut c = *c;
            c.position += shift;
            c
        }));
        let skins = b.skins.iter().map(|s| s.iter().map(|x| *x + shift).collect());
        frame.skins.extend(skins);
        out.frames.push(frame);
    }
    out
}
