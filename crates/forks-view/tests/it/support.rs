//! A server with a pendulum, and a browser's side of its socket.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use forks_mechanism::{
    Joint, JointKind, Keyframe, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_view::{MechanismSource, Server, Source, ViewOptions};
use serde_json::Value;
use tungstenite::{ClientRequestBuilder, Message, WebSocket, http::Uri};

/// How long an answer may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Two links on sprung hinges, under gravity; a servo in the first.
pub(crate) fn pendulum() -> Mechanism {
    let mut b = MechanismBuilder::new("pendulum");
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    let mut parent = LinkId::WORLD;
    for k in 0..2 {
        let centre = DVec3::new(0.15, 0.0, 0.0);
        let inertia = SpatialInertia::new(0.2, centre, DMat3::from_diagonal(DVec3::splat(1e-3)));
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let kind = JointKind::Revolute { axis: DVec3::Y };
        let at = Pose::from_translation(DVec3::X * if k == 0 { 0.0 } else { 0.3 });
        let joint = Joint::new(format!("joint{k}"), kind, parent, link).at(at);
        b.add_joint(joint.with_stiffness(3.0).with_damping(0.05));
        parent = link;
    }
    for (name, first) in [("bent", 0.3), ("", -0.2)] {
        b.add_keyframe(Keyframe { name: name.into(), positions: vec![first, 0.0] });
    }
    let m = b.build().expect("a pendulum");
    m.with_servos(&[("joint0", 2.0, 0.02)]).expect("a servo")
}

/// Three links of 0.2 m on hinges in a plane, which fall if nothing drives them.
pub(crate) fn arm() -> Mechanism {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    let mut parent = LinkId::WORLD;
    for k in 0..3 {
        let centre = DVec3::new(0.1, 0.0, 0.0);
        let inertia = SpatialInertia::new(0.5, centre, DMat3::from_diagonal(DVec3::splat(2e-3)));
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let kind = JointKind::Revolute { axis: DVec3::Y };
        let at = Pose::from_translation(DVec3::X * if k == 0 { 0.0 } else { 0.2 });
        let joint = Joint::new(format!("joint{k}"), kind, parent, link).at(at);
        b.add_joint(joint.with_damping(0.02));
        parent = link;
    }
    b.build().expect("an arm")
}

pub(crate) fn server() -> Server {
    serve(pendulum())
}

pub(crate) fn serve(mechanism: Mechanism) -> Server {
    let source = Source::Mechanism(Box::new(source(mechanism)));
    Server::start(source, &ViewOptions::default()).expect("a server")
}

pub(crate) fn source(mechanism: Mechanism) -> MechanismSource {
    MechanismSource {
        positions: mechanism.start_positions(),
        velocities: vec![0.0; mechanism.tree_velocity_count()],
        mechanism: Arc::new(mechanism),
        falls: false,
        notes: Vec::new(),
    }
}

/// Where a body is.
pub(crate) fn pose(f: &Frame, body: usize) -> Pose {
    let p = f.poses[body].map(f64::from);
    let turn = DQuat::from_xyzw(p[4], p[5], p[6], p[3]);
    Pose::new(turn, DVec3::new(p[0], p[1], p[2]))
}

pub(crate) fn token(server: &Server) -> String {
    server.url().split_once("token=").expect("a token").1.to_owned()
}

/// What the server answers to a request, all of it.
pub(crate) fn ask(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    // The server may refuse before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// A page's socket.
pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
}

/// A frame, as far as tests look at it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) time: f64,
    pub(crate) moving: bool,
    pub(crate) poses: Vec<[f32; 7]>,
    pub(crate) values: Vec<f32>,
}

impl Page {
    /// Once there is room: pages that have gone count for some seconds.
    pub(crate) fn open(server: &Server) -> Self {
        let (begin, origin) = (Instant::now(), format!("http://{}", server.address()));
        loop {
            match Self::from(server, &origin, &token(server)) {
                Ok(page) => return page,
                Err(e) if begin.elapsed() > PATIENCE => panic!("no room for a page: {e}"),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    pub(crate) fn from(
        server: &Server,
        origin: &str,
        token: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let stream = TcpStream::connect(server.address())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let uri: Uri = format!("ws://{}/socket?token={token}", server.address()).parse()?;
        let request = ClientRequestBuilder::new(uri).with_header("Origin", origin);
        let (socket, _) = tungstenite::client(request, stream).map_err(|e| e.to_string())?;
        Ok(Self { socket })
    }

    pub(crate) fn send(&mut self, command: &str) {
        self.socket.send(Message::Text(command.into())).expect("sent");
    }

    /// The next message of a type.
    pub(crate) fn hear(&mut self, kind: &str) -> Value {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Message::Text(text) = self.socket.read().expect("a message") {
                let value: Value = serde_json::from_str(&text).expect("JSON");
                if value["type"] == kind {
                    return value;
                }
            }
        }
        panic!("no {kind} came");
    }

    pub(crate) fn frame(&mut self) -> Frame {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Message::Binary(bytes) = self.socket.read().expect("a message") {
                return Frame::read(&bytes);
            }
        }
        panic!("no frame came");
    }

    /// Frames that have come, without waiting for more.
    pub(crate) fn frames(&mut self) -> Vec<Frame> {
        let soon = Some(Duration::from_millis(1));
        self.socket.get_ref().set_read_timeout(soon).expect("a time-out");
        let mut frames = Vec::new();
        loop {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => frames.push(Frame::read(&bytes)),
                Ok(_) => {}
                Err(tungstenite::Error::Io(e))
                    if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    break;
                }
                Err(e) => panic!("{e}"),
            }
        }
        self.socket.get_ref().set_read_timeout(Some(PATIENCE)).expect("a time-out");
        frames
    }

    /// The frame at a time, after which nothing moves.
    pub(crate) fn frame_at(&mut self, time: f64) -> Frame {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let frame = self.frame();
            if (frame.time - time).abs() < 1e-9 {
                return frame;
            }
        }
        panic!("no frame at {time}");
    }
}

impl Frame {
    fn read(bytes: &[u8]) -> Self {
        let number = |i: usize| {
            let at = 16 + 4 * i;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four")) as usize
        };
        assert_eq!(number(4), 0, "skins");
        let single: Vec<f32> = bytes[36..]
            .chunks_exact(4)
            .map(|c| f32::from_le_bytes(c.try_into().expect("four")))
            .collect();
        let (bodies, series) = (number(1), number(2));
        assert_eq!(single.len(), 7 * bodies + series + 6 * number(3));
        let poses = single[..7 * bodies].chunks_exact(7);
        Self {
            time: f64::from_le_bytes(bytes[..8].try_into().expect("eight")),
            moving: number(0) == 1,
            poses: poses.map(|p| p.try_into().expect("seven")).collect(),
            values: single[7 * bodies..7 * bodies + series].to_vec(),
        }
    }
}
