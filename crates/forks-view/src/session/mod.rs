//! The thread that steps: commands in, frames out, at its own rate.

mod grip;
mod hand;
mod keys;
mod reduction;
mod status;
mod timeline;
mod work;

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use forks_io::animation::{Animation, AnimationFrame, Colour, Segment, Series};
use forks_mechanism::{Preparation, lie::glam::DVec3};

use crate::{
    ViewError, ViewOptions,
    command::Command,
    frame::{self, Pace},
    hub::Hub,
    page,
    source::{Awaited, MechanismSource, Source},
    subject::{Aim, Full, Scenery, Soft, Subject, look, reduced},
};
use grip::Grip;
use hand::Hand;
use keys::{Keys, keyframes};
use reduction::{Kind, Twin};
use timeline::Timeline;
use work::Work;

/// Time between frames, s.
const FRAME: f64 = 1.0 / 60.0;

/// How often one looks whether there is something to show, where there is not.
const AGAIN: Duration = Duration::from_millis(500);

/// Time from a frame to the next where a hand moves, s.
const SOON: f64 = 0.25 * FRAME;

/// Part of a frame's time that steps may take before pages are served again.
const BUSY: f64 = 0.8;

/// Stiffness of the spring that pulls, N/m, at first.
const STIFFNESS: f64 = 200.0;

/// A pin is as much stiffer than the spring that pulls.
const PIN: f64 = 20.0;

/// How often a step is tried with weaker springs.
const TRIES: u32 = 8;

/// Starts the thread; returns when there is a page to show.
pub(crate) fn start(
    source: Source,
    options: &ViewOptions,
    hub: Arc<Hub>,
    commands: Receiver<Command>,
) -> Result<JoinHandle<()>, ViewError> {
    let (ready, started) = std::sync::mpsc::sync_channel(1);
    let options = *options;
    let handle = thread::spawn(move || {
        let done = run(source, &options, &hub, &commands, &|| {
            let _ = ready.send(Ok(()));
        });
        if let Err(e) = done {
            let _ = ready.send(Err(e));
        }
        hub.close();
    });
    let gone = || Err(ViewError::Model("the session ended before it began".into()));
    started.recv().unwrap_or_else(|_| gone())?;
    Ok(handle)
}

fn run(
    source: Source,
    options: &ViewOptions,
    hub: &Hub,
    commands: &Receiver<Command>,
    ready: &dyn Fn(),
) -> Result<(), ViewError> {
    let model = |e: &dyn std::fmt::Display| ViewError::Model(e.to_string());
    let subject: Box<dyn Subject<'_>> = match source {
        Source::Mechanism(s) => {
            let root = s.mechanism.moving_links().next().map(|(id, _)| id);
            let preparation = Preparation {
                hold_root_of: root.filter(|_| !s.falls),
                servos: true,
                start: Some(s.positions.clone()),
                ..Preparation::default()
            };
            let prepared = preparation.apply(&s.mechanism).map_err(|e| model(&e))?;
            let full = Full::new(&prepared, &s, options.step);
            let mut session = Session::new(vec![Box::new(full.clone())], Some(&s), hub, options)?;
            session.give_keys(keyframes(&full, &s, &preparation));
            session.serve(commands, ready);
            return Ok(());
        }
        Source::Reduced { title, model: m } => {
            let look = look(&title, &m).map_err(|e| model(&e))?;
            reduced(m.model, look, options.step).map_err(|e| model(&e))?
        }
        Source::Scene(direct) => Box::new(Scenery::new(*direct)),
        Source::Tissue(scene) => Box::new(Soft::new(*scene)),
        Source::Awaited(mut awaited) => loop {
            hub.set_page(page::message(&awaited.title, &awaited.problem));
            ready();
            let Some(source) = wait(&mut awaited, hub, commands) else { return Ok(()) };
            match run(source, options, hub, commands, ready) {
                Ok(()) => return Ok(()),
                Err(e) => awaited.problem = e.to_string(),
            }
        },
    };
    let mut session = Session::new(vec![subject], None, hub, options)?;
    session.give_keys([]);
    session.serve(commands, ready);
    Ok(())
}

/// Waits until there is something to show; `None` if nobody waits any more.
fn wait(awaited: &mut Awaited, hub: &Hub, commands: &Receiver<Command>) -> Option<Source> {
    loop {
        match commands.recv_timeout(AGAIN) {
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
            // There is nothing to command.
            Ok(_) => continue,
        }
        match (awaited.again)() {
            None => {}
            Some(Ok(source)) => return Some(source),
            Some(Err(problem)) => {
                hub.set_page(page::message(&awaited.title, &problem));
                awaited.problem = problem;
            }
        }
    }
}

/// Sets the target of a servo, where the subject has it: a reduced model may know others than the
/// mechanism has sliders for.
fn set_servo(subject: &mut dyn Subject<'_>, name: &str, target: f64) -> Result<(), String> {
    match subject.servos().iter().position(|s| s.name == name) {
        Some(index) => subject.set_servo(index, target),
        None => Ok(()),
    }
}

/// What moves, and how it is held.
struct Session<'m> {
    /// The mechanism; behind it its models, as `twins` has them.
    all: Vec<Box<dyn Subject<'m> + 'm>>,
    source: Option<&'m MechanismSource>,
    hub: &'m Hub,
    twins: Vec<Twin>,
    /// Models that there were.
    models: u64,
    work: Option<Work>,
    /// How far the work was when pages were told.
    progress: String,
    /// Time of a step of each of all, µs.
    times: Vec<f64>,
    timeline: Timeline<'m>,
    keys: Keys<'m>,
    moving: bool,
    speed: f64,
    stiffness: f64,
    hand: Hand,
    pins: Vec<Grip>,
    picture: u64,
    /// Simulated time that is due and not yet made, s.
    owed: f64,
    /// True if more was due than could be made.
    behind: bool,
    /// Steps to make and then stop.
    single: u32,
    /// Time of a step, s, and pace over the last second.
    step_time: f64,
    pace: f64,
    changed: bool,
}

impl<'m> Session<'m> {
    fn new(
        all: Vec<Box<dyn Subject<'m> + 'm>>,
        source: Option<&'m MechanismSource>,
        hub: &'m Hub,
        options: &ViewOptions,
    ) -> Result<Self, ViewError> {
        let mut out = Self {
            timeline: Timeline::new(&all),
            keys: Keys::default(),
            all,
            source,
            hub,
            twins: Vec::new(),
            models: 0,
            work: None,
            progress: String::new(),
            times: Vec::new(),
            moving: options.playing,
            speed: 1.0,
            stiffness: STIFFNESS,
            hand: Hand::Open,
            pins: Vec::new(),
            picture: 0,
            owed: 0.0,
            behind: false,
            single: 0,
            step_time: 0.0,
            pace: 0.0,
            changed: true,
        };
        out.draw()?;
        Ok(out)
    }

    /// The page anew, after a change of what is drawn.
    fn draw(&mut self) -> Result<(), ViewError> {
        let mut picture = self.picture();
        picture.frames = vec![self.frame()];
        self.picture += 1;
        self.hub.set_page(page::live(&picture)?);
        self.tell();
        Ok(())
    }

    /// Bodies and series of all that moves; the models' pale.
    fn picture(&self) -> Animation {
        let mut out = self.all[0].picture().clone();
        for (twin, at) in self.twins.iter().zip(&self.all[1..]) {
            let (first, name) = (out.bodies.len(), twin.kind.name());
            let ghost = match twin.kind {
                Kind::Reduced => Colour::rgb(0xd5, 0x5e, 0x00),
                Kind::Blended => Colour::rgb(0x00, 0x9e, 0x73),
            }
            .with_alpha(150);
            for body in &at.picture().bodies {
                let mut body = body.clone();
                body.name = format!("{name}/{}", body.name);
                body.shapes.iter_mut().for_each(|s| s.colour = Some(ghost));
                out.bodies.push(body);
            }
            for s in &at.picture().segments {
                let mut ends = s.ends;
                ends.iter_mut().for_each(|e| e.body = e.body.map(|b| b + first));
                out.segments.push(Segment { ends, colour: Some(ghost), ..*s });
            }
            out.series.push(Series::new(format!("{name} off by"), "mm"));
        }
        if !self.twins.is_empty() {
            let names = std::iter::once("full").chain(self.twins.iter().map(|t| t.kind.name()));
            out.series.extend(names.map(|n| Series::new(n, "µs per step")));
        }
        out
    }

    fn frame(&mut self) -> AnimationFrame {
        let mut frame = self.all[0].frame();
        for (twin, at) in self.twins.iter().zip(&self.all[1..]) {
            let off = twin
                .effectors
                .iter()
                .map(|b| at.pose(*b).translation.distance(self.all[0].pose(*b).translation));
            frame.values.push(1e3 * off.fold(0.0, f64::max));
            frame.world_from_body.extend((0..at.picture().bodies.len()).map(|b| at.pose(b)));
        }
        if !self.twins.is_empty() {
            self.times.resize(self.all.len(), 0.0);
            frame.values.extend(&self.times);
        }
        frame
    }

    fn serve(&mut self, commands: &Receiver<Command>, ready: &dyn Fn()) {
        ready();
        let mut last = Instant::now();
        loop {
            let idle = !self.moving && self.single == 0;
            let first = match idle && !self.changed {
                true => match commands.recv_timeout(Duration::from_millis(100)) {
                    Ok(command) => Some(command),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
                false => None,
            };
            if let Some(command) = first {
                self.obey(command);
            }
            loop {
                match commands.try_recv() {
                    Ok(command) => self.obey(command),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            if self.look_after_work() {
                self.tell();
            }
            self.pose();
            let now = Instant::now();
            let passed = now.duration_since(last).as_secs_f64().min(0.1);
            last = now;
            let made = self.advance(passed, now);
            if made || self.changed {
                self.changed = false;
                let step = 1e6 * self.step_time;
                let pace = Pace { step, factor: self.pace, moving: self.moving };
                let frame = self.frame();
                self.hub.show(frame::encode(&frame, pace));
            }
            if !idle && !self.behind {
                self.rest(now, commands);
            }
        }
    }

    /// Waits until a frame is due; a hand that moves is answered sooner.
    fn rest(&mut self, begin: Instant, commands: &Receiver<Command>) {
        let mut due = FRAME;
        loop {
            let left = due - begin.elapsed().as_secs_f64();
            if left <= 0.0 {
                return;
            }
            match commands.recv_timeout(Duration::from_secs_f64(left)) {
                Ok(command) => {
                    if matches!(command, Command::Pull { .. }) {
                        due = SOON;
                    }
                    self.obey(command);
                }
                Err(_) => return,
            }
        }
    }

    /// Steps for what has passed on the clock; what cannot be kept up with is let go.
    fn advance(&mut self, passed: f64, begin: Instant) -> bool {
        let h = self.all[0].step_length();
        if self.moving {
            self.owed += passed * self.speed;
        }
        let (mut made, start) = (0u32, self.all[0].time());
        self.behind = false;
        while self.single > 0 || self.moving && self.owed >= h {
            let before = Instant::now();
            if let Err(text) = self.step() {
                self.moving = false;
                self.single = 0;
                self.hub.complain(&text);
                self.tell();
                break;
            }
            made += 1;
            self.owed -= h;
            self.single = self.single.saturating_sub(1);
            let took = before.elapsed().as_secs_f64();
            self.step_time += 0.05 * (took - self.step_time);
            self.behind = begin.elapsed().as_secs_f64() > BUSY * FRAME;
            if self.behind {
                self.owed = 0.0;
                break;
            }
        }
        if !self.moving {
            self.owed = 0.0;
        }
        if made > 0 {
            self.timeline.keep(&self.all);
            let pace = (self.all[0].time() - start) / passed.max(1e-4);
            self.pace += 0.05 * (pace - self.pace);
        }
        made > 0
    }

    fn step(&mut self) -> Result<(), String> {
        for k in 0..self.all.len() {
            let mut tries = TRIES;
            loop {
                let pushes = self.pushes(k);
                let subject = &mut self.all[k];
                subject.push(&pushes)?;
                if k == 0 {
                    subject.command(self.hand.commanded())?;
                }
                let begin = Instant::now();
                let done = subject.step();
                self.times.resize(self.times.len().max(k + 1), 0.0);
                let took = 1e6 * begin.elapsed().as_secs_f64();
                self.times[k] +=
                    if self.times[k] == 0.0 { took } else { 0.05 * (took - self.times[k]) };
                tries -= 1;
                if done.is_ok() || pushes.is_empty() || tries == 0 {
                    done?;
                    break;
                }
                self.grips().for_each(Grip::weaken);
            }
        }
        Ok(())
    }

    fn obey(&mut self, command: Command) {
        if let Err(text) = self.try_to(command) {
            self.hub.complain(&text);
        }
    }

    fn try_to(&mut self, command: Command) -> Result<(), String> {
        let pulls = matches!(command, Command::Pull { .. });
        if !(pulls && self.is_pulling()) {
            self.timeline.mark(&self.all);
        }
        match command {
            Command::Play {} => self.moving = true,
            Command::Pause {} => self.moving = false,
            Command::Step { count } => {
                self.moving = false;
                self.single = count;
            }
            Command::Speed { factor } => self.speed = factor,
            Command::Stiffness { value } => {
                self.stiffness = value;
                self.hand.spring().into_iter().for_each(|p| p.stiffness = value);
            }
            Command::Pull { body, point, target, by } => {
                let [point, target] = [point, target].map(DVec3::from_array);
                return self.pull(Aim { body, point, target }, by);
            }
            Command::Release {} => {
                self.release();
                return Ok(());
            }
            Command::Pin { body } => self.pin(body)?,
            Command::Servo { index, target } => {
                if index >= self.all[0].servos().len() {
                    let count = self.all[0].servos().len();
                    return Err(format!("there is no servo {index}, but {count} from 0 on"));
                }
                let name = self.all[0].servos()[index].name.clone();
                for subject in &mut self.all {
                    set_servo(&mut **subject, &name, target)?;
                }
            }
            Command::Rewind { time } => self.rewind(time.min(self.all[0].time()))?,
            Command::Reset {} => self.go_to_start()?,
            Command::Keep {} => self.keep_key(),
            Command::Recall { id } => self.go_to_key(id)?,
            Command::Forget { id } => self.drop_key(id)?,
            Command::Reduce { bodies, modes } => self.reduce(&bodies, modes as usize)?,
            Command::Place { bodies, range, samples } => {
                self.place(&bodies, range, samples as usize)?;
            }
            Command::Extend { bodies } => self.extend(&bodies)?,
            Command::Cancel {} => self.work = None,
            Command::Unreduce {} => self.unreduce()?,
        }
        self.tell();
        Ok(())
    }

    /// Back to the last moment that is kept before a time, and on to that time. Where no hand acted
    /// in between, which is a moment of its own, it is the same in every bit.
    fn rewind(&mut self, time: f64) -> Result<(), String> {
        let h = self.all[0].step_length();
        // Sums of steps end a little beside the times that they stand for.
        self.all = self.timeline.rewind(time + 0.5 * h);
        self.moving = false;
        self.single = 0;
        self.release();
        while self.all[0].time() + 0.5 * h < time {
            self.step()?;
        }
        Ok(())
    }
}
