//! Scenes as MJCF, for other simulators.

use std::fmt::Write as _;

use forks_import::{WriteOptions, write_mjcf_with};
use forks_lie::{Pose, glam::DVec3};
use forks_mechanism::{LinkId, loops};

use super::{
    Scene,
    action::Drives,
    combine::{Combined, START},
    error::{SceneError, invalid},
};
use crate::{Form, Owner, Shape};

/// Friction that creeps less than by default: what is held would slip out of a hand within seconds.
const IMPRATIO: f64 = 10.0;
/// Time constant of loops over the step: they give way hardly more than ours, which do not; MuJoCo allows no less.
const LOOP_TIME: f64 = 2.0;

/// A scene as MJCF, with what MJCF has no place for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedScene {
    /// The MJCF text. It has a keyframe `start`.
    pub text: String,
    /// What is not exactly as in the scene.
    pub notes: Vec<String>,
    /// The actuators in order.
    pub controls: Vec<Control>,
    /// Bodies that move at the start: name, velocity and angular velocity, world axes.
    pub velocities: Vec<(String, DVec3, DVec3)>,
}

/// An actuator: a servo of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Name.
    pub name: String,
    /// Target in the linearisation pose; scenes' targets are relative to it.
    pub rest: f64,
    mechanism: usize,
    servo: usize,
}

impl Scene {
    /// The scene as MJCF. Servos become actuators whose controls [`Scene::controls_at`] gives.
    ///
    /// # Errors
    /// What MJCF cannot express, triangle meshes of the world among it.
    pub fn to_mjcf(&self) -> Result<ExportedScene, SceneError> {
        let c = self.combined()?;
        let (text, notes) = write_mjcf_with(&c.mechanism, &WriteOptions::default())?;
        let mut notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        let text = self.with_contact(&text, &c, &mut notes)?;
        let mut controls = Vec::new();
        for (mechanism, m) in self.mechanisms.iter().enumerate() {
            let start = m.mechanism.start_positions();
            for (servo, s) in m.mechanism.servos().iter().enumerate() {
                let rest = loops::combination_value(&m.mechanism, &s.combination, &start);
                let name = format!("{}/{}", m.name, s.name);
                controls.push(Control { name, rest, mechanism, servo });
            }
        }
        if self.script.actions.iter().any(|a| !matches!(a.drives, Drives::Servos { .. })) {
            notes.push("forces of actions are not part of the file".into());
        }
        let moving = |b: &&super::spec::BodySpec| b.velocity != [0.0; 3] || b.spin != [0.0; 3];
        let velocity = |b: &super::spec::BodySpec| {
            (b.name.clone(), DVec3::from_array(b.velocity), DVec3::from_array(b.spin))
        };
        let velocities = self.spec.bodies.iter().filter(moving).map(velocity).collect();
        Ok(ExportedScene { text, notes, controls, velocities })
    }

    /// Values of an exported scene's controls at a time.
    pub fn controls_at(&self, exported: &ExportedScene, t: f64) -> Vec<f64> {
        let mut targets: Vec<Vec<f64>> =
            self.script.targets.iter().map(|v| vec![0.0; v.len()]).collect();
        self.script.actions.iter().for_each(|a| a.collect(t, &mut targets));
        exported.controls.iter().map(|c| c.rest + targets[c.mechanism][c.servo]).collect()
    }

    /// Step, friction cones, forms that need assets, pairs that pass through each other.
    fn with_contact(
        &self,
        text: &str,
        c: &Combined,
        notes: &mut Vec<String>,
    ) -> Result<String, SceneError> {
        let mut assets = String::new();
        let mut geoms: Vec<(LinkId, String)> = Vec::new();
        for &k in &c.others {
            let (owner, shape) = &self.shapes[k];
            let (link, link_from_owner) = c.carriers[k];
            let place = link_from_owner * shape.owner_from_shape;
            let geom = other_form(*owner, shape, k, &place, &mut assets)?;
            geoms.push((link, geom));
        }
        let (mut out, mut looped) = (String::new(), false);
        for line in text.lines() {
            let trimmed = line.trim_start();
            if trimmed.starts_with("<option") {
                let h = self.spec.world.step;
                let with = line.replacen(
                    "<option",
                    &format!("<option timestep=\"{h}\" cone=\"elliptic\" impratio=\"{IMPRATIO}\""),
                    1,
                );
                let _ = writeln!(out, "{with}");
                if !assets.is_empty() {
                    let _ = writeln!(out, "  <asset>\n{assets}  </asset>");
                }
                continue;
            }
            let held = ["<connect ", "<weld "].into_iter().find(|e| trimmed.starts_with(e));
            let _ = match held {
                Some(e) => {
                    looped = true;
                    let time = LOOP_TIME * self.spec.world.step;
                    writeln!(out, "{}", line.replacen(e, &format!("{e}solref=\"{time} 1\" "), 1))
                }
                None => writeln!(out, "{line}"),
            };
            for (link, geom) in &geoms {
                let name = &c.mechanism.link(*link).name;
                let opened = match *link {
                    LinkId::WORLD => trimmed == "<worldbody>",
                    _ => trimmed.starts_with(&format!("<body name=\"{name}\"")),
                };
                if opened {
                    let _ = writeln!(out, "      {geom}");
                }
            }
        }
        let excluded = self.excluded_bodies(c, notes);
        if !excluded.is_empty() {
            let end = out.rfind("</mujoco>").unwrap_or(out.len());
            out.insert_str(end, &format!("  <contact>\n{excluded}  </contact>\n"));
        }
        if looped {
            notes.push("loops are as stiff as the step allows, not exact".into());
        }
        if !self.shapes.iter().all(|(_, s)| s.material.restitution == 0.0) {
            notes.push("restitution is not part of the file".into());
        }
        if self.shapes.iter().any(|(_, s)| s.material.compliance != 0.0) {
            notes.push("compliance of surfaces is not part of the file".into());
        }
        debug_assert!(out.contains(START));
        Ok(out)
    }

    /// Pairs of bodies none of whose shapes touch each other.
    fn excluded_bodies(&self, c: &Combined, notes: &mut Vec<String>) -> String {
        let mut out = String::new();
        let mut seen: Vec<[LinkId; 2]> = Vec::new();
        for pair in &self.world.excluded {
            let [a, b] = pair.map(|k| c.carriers[k].0);
            if a == b || seen.contains(&[a, b]) || seen.contains(&[b, a]) {
                continue;
            }
            seen.push([a, b]);
            let of = |l: LinkId| (0..self.shapes.len()).filter(move |k| c.carriers[*k].0 == l);
            let whole = of(a).all(|i| {
                of(b).all(|j| self.world.excluded.binary_search(&[i.min(j), i.max(j)]).is_ok())
            });
            let [a, b] = [a, b].map(|l| c.mechanism.link(l).name.clone());
            if whole {
                let _ = writeln!(out, "    <exclude body1=\"{a}\" body2=\"{b}\"/>");
            } else {
                notes.push(format!("some shapes of {a} and {b} touch that the scene lets pass"));
            }
        }
        out
    }
}

/// The geom of a hull or height field, and its asset.
fn other_form(
    owner: Owner,
    shape: &Shape,
    number: usize,
    pose: &Pose,
    assets: &mut String,
) -> Result<String, SceneError> {
    let name = format!("{}#{number}", shape.name);
    let numbers = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let kind = match &shape.form {
        Form::Hull { points } => {
            let flat: Vec<f64> = points.iter().flat_map(|p| p.to_array()).collect();
            let _ = writeln!(assets, "    <mesh name=\"{name}\" vertex=\"{}\"/>", numbers(&flat));
            "mesh"
        }
        Form::HeightField { size, columns, heights } if owner == Owner::World => {
            let (low, high) =
                heights.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
            let rows = heights.len() / columns;
            // MJCF lists rows from the far side on, and rescales heights to 0…1.
            let order: Vec<f64> =
                heights.chunks(*columns).rev().flat_map(|r| r.iter().copied()).collect();
            let _ = writeln!(
                assets,
                "    <hfield name=\"{name}\" nrow=\"{rows}\" ncol=\"{columns}\" \
                 size=\"{}\" elevation=\"{}\"/>",
                numbers(&[size.x / 2.0, size.y / 2.0, (high - low).max(1e-9), 0.1]),
                numbers(&order),
            );
            let raised = *pose * Pose::from_translation(DVec3::new(0.0, 0.0, low));
            return Ok(geom("hfield", &name, &raised, shape));
        }
        _ => {
            return Err(invalid(
                format!("shape {:?}", shape.name),
                "cannot be written as MJCF, which has no triangle meshes that are not convex",
            ));
        }
    };
    Ok(geom(kind, &name, pose, shape))
}

fn geom(kind: &str, asset: &str, pose: &Pose, shape: &Shape) -> String {
    let (p, q) = (pose.translation, pose.rotation);
    format!(
        "<geom type=\"{kind}\" {kind}=\"{asset}\" pos=\"{} {} {}\" quat=\"{} {} {} {}\" friction=\"{}\"/>",
        p.x, p.y, p.z, q.w, q.x, q.y, q.z, shape.material.friction
    )
}
