//! Generated frames and commands: a session outlives them all, and its numbers stay numbers.

use std::io::Write;

use forks_mechanism::lie::SplitMix64;

use super::support::{Page, arm, pendulum, serve, server};

/// Bytes that follow no protocol, and headers of frames with lengths that nobody sends.
#[test]
fn frames_that_are_none_end_their_socket_alone() {
    let server = server();
    let mut random = SplitMix64::new(21);
    for k in 0..100 {
        let mut page = Page::open(&server);
        let length = 1 + (random.next_u64() % 600) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        if k % 3 == 0 {
            // A text or binary frame, masked, whose length takes eight bytes.
            bytes.splice(..0, [0x81 + (k % 2) as u8, 0xff]);
        }
        let stream = page.socket.get_mut();
        // The server may hang up first.
        let _ = stream.write_all(&bytes).and_then(|()| stream.flush());
    }
    let mut page = Page::open(&server);
    page.send(r#"{"type":"step","count":2}"#);
    assert_eq!(page.frame_at(0.004).poses.len(), 2);
}

/// Commands that can be read, in any order, with any numbers.
#[test]
fn any_commands_leave_a_session_that_works() {
    for (seed, mechanism) in [(1, pendulum()), (2, arm()), (3, pendulum())] {
        let server = serve(mechanism);
        let mut page = Page::open(&server);
        let mut random = SplitMix64::new(seed);
        for _ in 0..600 {
            page.send(&command(&mut random));
            for frame in page.frames() {
                assert!(frame.poses.iter().flatten().all(|x| x.is_finite()), "{seed} {frame:?}");
            }
        }
        // Times go on from a keyframe that was recalled; those of the file are at 0.
        for after in ["cancel\"", "release\"", "pause\"", "recall\",\"id\":0", "step\",\"count\":1"]
        {
            page.send(&format!("{{\"type\":\"{after}}}"));
        }
        let frame = page.frame_at(0.002);
        assert!(!frame.moving && frame.poses.iter().flatten().all(|x| x.is_finite()));
    }
}

fn command(random: &mut SplitMix64) -> String {
    let mut pick = |count: u64| random.next_u64() % count;
    let kind = pick(20);
    let body = [0, 1, 2, 3, 1u64 << 40][pick(5) as usize];
    let mut number = || {
        let size = [0.0, 1e-300, 1e-6, 0.1, 1.0, 50.0, 1e6, 1e12, 1e13, 1e308][pick(10) as usize];
        if pick(2) == 0 { size } else { -size }
    };
    let (a, b, c) = (number(), number(), number());
    let text = match kind {
        0 | 1 => r#""play""#.into(),
        2 => r#""pause""#.into(),
        3 => format!(r#""step","count":{}"#, pick(40)),
        4 => format!(r#""speed","factor":{a:e}"#),
        5..=8 => {
            let by = ["spring", "commands", "pose"][pick(3) as usize];
            format!(
                r#""pull","body":{body},"point":[{a:e},0,0],"target":[{b:e},0,{c:e}],"by":"{by}""#
            )
        }
        9 => r#""release""#.into(),
        10 => format!(r#""stiffness","value":{a:e}"#),
        11 => format!(r#""pin","body":{body}"#),
        12 => format!(r#""servo","index":{body},"target":{a:e}"#),
        13 => format!(r#""rewind","time":{a:e}"#),
        14 => r#""reset""#.into(),
        15 => r#""keep""#.into(),
        16 => format!(r#""recall","id":{}"#, pick(8)),
        17 => format!(r#""reduce","bodies":[{body}],"modes":{}"#, pick(4)),
        18 => format!(r#""place","bodies":[{body},{body}],"range":{a:e},"samples":{}"#, pick(4)),
        _ => [r#""extend""#, r#""unreduce""#, r#""cancel""#, r#""forget","id":1"#]
            [pick(4) as usize]
            .into(),
    };
    format!(r#"{{"type":{text}}}"#)
}
