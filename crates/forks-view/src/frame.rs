//! A frame on the wire: little-endian numbers.
//!
//! ```text
//! f64  time, s
//! f32  time of a step, µs;  simulated time over time on the clock
//! u32  flags: 1 moving;  u32 bodies, series, contacts, skins
//! f32  7 per body (x, y, z, w, x, y, z);  1 per series;  6 per contact (position, force)
//! per skin, six bytes per corner:
//!   f32  lowest corner of a box, what a step is along each side
//!   u16  3 per corner: steps from the lowest corner; one more where these are odd in number
//! ```

use forks_io::animation::{AnimationFrame, PackedCorners};

/// What is said beside the frame itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Time of a step, µs.
    pub(crate) step: f64,
    /// Simulated time over time on the clock.
    pub(crate) factor: f64,
    pub(crate) moving: bool,
}

pub(crate) fn encode(frame: &AnimationFrame, pace: Pace) -> Vec<u8> {
    let (bodies, series, contacts) =
        (frame.world_from_body.len(), frame.values.len(), frame.contacts.len());
    let corners: usize = frame.skins.iter().map(Vec::len).sum();
    let numbers = 7 * bodies + series + 6 * contacts + 7 * frame.skins.len();
    let mut out = Vec::with_capacity(36 + 4 * numbers + 6 * corners);
    out.extend(frame.time.to_le_bytes());
    let mut single = |x: f64| out.extend((x as f32).to_le_bytes());
    single(pace.step);
    single(pace.factor);
    for count in [usize::from(pace.moving), bodies, series, contacts, frame.skins.len()] {
        out.extend((count as u32).to_le_bytes());
    }
    let mut single = |x: f64| out.extend((x as f32).to_le_bytes());
    frame.world_from_body.iter().flat_map(|p| p.to_array()).for_each(&mut single);
    frame.values.iter().copied().for_each(&mut single);
    for c in &frame.contacts {
        c.position.to_array().into_iter().chain(c.force.to_array()).for_each(&mut single);
    }
    for corners in &frame.skins {
        let packed = PackedCorners::new(corners);
        packed.bounds.iter().for_each(|x| out.extend(x.to_le_bytes()));
        packed.places.iter().for_each(|x| out.extend(x.to_le_bytes()));
        if packed.places.len() % 2 == 1 {
            out.extend([0, 0]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_mechanism::lie::{Pose, glam::DVec3};

    #[test]
    fn a_frame_has_the_size_that_its_counts_say() {
        let frame = AnimationFrame::new(1.5, [Pose::IDENTITY; 2]).values([1.0, 2.0, 3.0]);
        let bytes = encode(&frame, Pace { step: 2.0, factor: 1.0, moving: true });
        assert_eq!(bytes.len(), 36 + 4 * (14 + 3));
        assert_eq!(bytes[..8], 1.5f64.to_le_bytes());
        assert_eq!(bytes[16..20], 1u32.to_le_bytes());
        assert_eq!(bytes[20..24], 2u32.to_le_bytes());
        // Three corners of a skin, padded to four bytes; the middle one is halfway along x.
        let corners = [DVec3::ZERO, DVec3::X, DVec3::new(2.0, 0.0, -1.0)];
        let more = encode(&frame.skins([corners.to_vec()]), Pace::default());
        assert_eq!(more.len(), bytes.len() + 24 + 20);
        let places = &more[bytes.len() + 24..];
        assert_eq!(u16::from_le_bytes([places[6], places[7]]), 32768);
        // The identity's w.
        assert_eq!(bytes[36 + 12..36 + 16], 1f32.to_le_bytes());
    }
}
