//! `<actuator>`: servos are actuators with an affine bias b₀ + b₁ l + b₂ l̇ on one hinge or slide
//! or on a tendon; with gear g they act as stiffness −b₁ g² and damping −b₂ g². All others
//! exert forces only when driven.

use forks_mechanism::{Combination, Servo, Transmission, lie::Digits};

use super::{
    Attributes, Reader,
    assemble::{Model, PendingServo},
    attributes::{Values, merge, own},
};
use crate::{ImportError, note::Effect, xml::Element};

const ACTUATORS: [&str; 13] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "orientation",
    "pid",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "plugin",
];
/// Attributes that belong to one kind of actuator and are not inherited by another.
const OWN: [&str; 9] =
    ["biastype", "gaintype", "biasprm", "gainprm", "kp", "kv", "dampratio", "bias", "input"];

/// True for elements of `<actuator>`.
pub(crate) fn is_actuator(tag: &str) -> bool {
    ACTUATORS.contains(&tag)
}

/// Gain and bias of an actuator; a positive bias[2] of a position-like one is a damping ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Law {
    affine: bool,
    gain: Option<f64>,
    bias: [f64; 3],
}

/// What one default class says about actuators of one kind, or about all of them by `general`.
#[derive(Clone, Debug)]
pub(crate) struct ActuatorDefaults<'a> {
    kind: &'a str,
    own: Values<'a>,
    /// What was said by another kind before: `general` starts from any kind, all kinds start from
    /// `general`.
    base: Law,
}

impl ActuatorDefaults<'_> {
    /// Elements of that kind start from this.
    pub(crate) fn concerns(&self, kind: &str) -> bool {
        kind == "general" || self.kind == "general" || self.kind == kind
    }
}

/// The attributes of an element that belong to its kind, and those that all kinds share.
pub(crate) fn split(e: &Element) -> (Values<'_>, Values<'_>) {
    own(e).into_iter().partition(|(n, _)| OWN.contains(n))
}

impl<'a> Reader<'a> {
    /// What an element says over what the classes say about its kind.
    pub(crate) fn actuator_defaults(
        &mut self,
        inherited: Option<ActuatorDefaults<'a>>,
        e: &'a Element,
    ) -> Result<ActuatorDefaults<'a>, ImportError> {
        let a = self.attributes("actuator", e)?;
        let (mut own, _) = split(e);
        let has = |own: &Values<'a>, n: &str| own.iter().any(|(o, _)| *o == n);
        if has(&own, "kv") && has(&own, "dampratio") {
            return Err(a.error("both 'kv' and 'dampratio' are given"));
        }
        let mut base = Law::default();
        if let Some(mut d) = inherited {
            if d.kind == e.tag {
                // Damping and damping ratio replace each other.
                d.own.retain(|(n, _)| {
                    !(*n == "dampratio" && has(&own, "kv") || *n == "kv" && has(&own, "dampratio"))
                });
                own = merge(&d.own, own);
                base = d.base;
            } else {
                base = law(&d, &a)?;
            }
        }
        let out = ActuatorDefaults { kind: &e.tag, own, base };
        law(&out, &a)?;
        Ok(out)
    }

    pub(crate) fn read_actuators(
        &mut self,
        section: &'a Element,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        for e in self.tree.children(section) {
            if !is_actuator(&e.tag) {
                self.unknown_element(e, "actuator")?;
                continue;
            }
            let class = self.class_of("actuator", e, None)?;
            let inherited = self.defaults.actuator(class, &e.tag).cloned();
            let said = self.actuator_defaults(inherited, e)?;
            let own = Attributes::new("actuator", self.tree, e, &[]);
            let shared = merge(self.defaults.shared_actuator(class), split(e).1);
            let a = Attributes::from_values(&own, shared);
            model.actuator_names.insert(&a, ())?;
            self.add_actuator(&a, law(&said, &own)?, model)?;
        }
        Ok(())
    }

    fn add_actuator(
        &mut self,
        a: &Attributes<'a>,
        law: Law,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        let gear = a.numbers("gear", 1, 6)?.map_or(1.0, |g| g[0]);
        let Some((transmission, combination)) = self.transmission(a, model)? else {
            if law.affine {
                let reason = "servos are kept on hinges, slides and tendons only";
                self.notes.add(a.label(), "", Effect::Ignored, reason, &a.at);
            } else {
                self.note_driven(a);
            }
            return Ok(());
        };
        self.add_passive(a, gear, transmission, &combination, model)?;
        if !law.affine {
            self.note_driven(a);
            return Ok(());
        }
        if law.bias[0] != 0.0 {
            let reason = "the constant part of the bias is left out";
            self.notes.add(a.label(), "biasprm", Effect::Approximated, reason, &a.at);
        }
        // A positive b₂ of a position-like actuator is a damping ratio.
        let position_like = law.gain == Some(-law.bias[1]);
        let ratio = (position_like && law.bias[2] > 0.0).then_some(law.bias[2]);
        let damping = if ratio.is_some() { 0.0 } else { -law.bias[2] * gear * gear };
        let stiffness = -law.bias[1] * gear * gear;
        for (what, value) in [("stiffness", stiffness), ("damping", damping)] {
            if value < 0.0 {
                let reason = format!("its feedback is the negative {what} {}", Digits(value));
                return self.refuse(a.label(), "", &reason, &a.at);
            }
        }
        model.servos.push(PendingServo {
            servo: Servo {
                name: a.name().unwrap_or("").to_owned(),
                transmission,
                combination,
                stiffness: stiffness + 0.0,
                damping: damping + 0.0,
            },
            damping_ratio: ratio,
            gear,
            at: a.at.clone(),
            label: a.label(),
        });
        Ok(())
    }

    fn note_driven(&mut self, a: &Attributes<'a>) {
        let reason = "exerts no force unless driven";
        self.notes.once(a.tag(), "", Effect::Ignored, reason, &a.at);
    }

    /// What a scalar actuator drives; `None` for other transmissions. Of several that are given
    /// MuJoCo takes the last of its own list.
    fn transmission(
        &mut self,
        a: &Attributes<'a>,
        model: &Model,
    ) -> Result<Option<(Transmission, Combination)>, ImportError> {
        const WAYS: [&str; 7] =
            ["joint", "jointinparent", "tendon", "slidersite", "cranksite", "site", "body"];
        let given: Vec<&str> = WAYS.into_iter().filter(|n| a.has(n)).collect();
        let Some((&way, before)) = given.split_last() else {
            if a.tag() == "plugin" {
                return Ok(None);
            }
            return Err(a.error(
                "it drives nothing: 'joint', 'jointinparent', 'tendon', 'site' or \
                'body' is missing",
            ));
        };
        if let Some(other) = before.iter().find(|n| **n != "slidersite") {
            let reason = format!("'{way}' is given as well and counts");
            self.notes.add(a.label(), other, Effect::Ignored, &reason, &a.at);
        }
        match way {
            "joint" | "jointinparent" => {
                let j = model.joint(model.joint_names.required(a, way)?);
                let scalar = j.raw.kind.is_scalar();
                Ok(scalar.then(|| (Transmission::Joint, Combination::of(j.id))))
            }
            "tendon" => {
                let tendon = model.tendon(model.tendon_names.required(a, way)?);
                let along = |id| {
                    let nothing = Combination { terms: vec![], offset: 0.0 };
                    (Transmission::Cable(id), nothing)
                };
                let fixed = tendon.combination.clone().map(|c| (Transmission::Tendon, c));
                Ok(fixed.or(tendon.cable.map(along)))
            }
            "body" => model.body_names.required(a, way).map(|_| None),
            _ => model.site_names.required(a, way).map(|_| None),
        }
    }

    /// Rotor inertia and viscous damping that the actuator adds to what it drives, times gear².
    fn add_passive(
        &mut self,
        a: &Attributes<'a>,
        gear: f64,
        transmission: Transmission,
        combination: &Combination,
        model: &mut Model,
    ) -> Result<(), ImportError> {
        let armature = a.not_negative("armature")?.unwrap_or(0.0) * gear * gear;
        let (damping, more) = self.passive(a, "damping")?;
        if more {
            let reason = "only the linear part is kept";
            self.notes.add(a.label(), "damping", Effect::Approximated, reason, &a.at);
        }
        let damping = if self.compiler.no_dampers { 0.0 } else { damping * gear * gear };
        if transmission == Transmission::Joint {
            let joint = &mut model.builder.joints_mut()[combination.terms[0].0.joint.index()];
            joint.armature[0] += armature;
            let sum = joint.damping.get(0, 0) + damping;
            joint.damping.set(0, 0, sum);
            return Ok(());
        }
        if let Transmission::Cable(id) = transmission {
            model.builder.cables_mut()[id.index()].damping += damping;
        }
        if armature > 0.0 {
            let reason = "no inertia along combinations of coordinates or paths";
            self.refuse(a.label(), "armature", reason, &a.at)?;
        }
        if damping > 0.0 && transmission == Transmission::Tendon {
            model.builder.add_combination_spring(forks_mechanism::CombinationSpring {
                name: a.name().unwrap_or("").to_owned(),
                combination: combination.clone(),
                stiffness: 0.0,
                damping,
                rest: 0.0,
            });
        }
        Ok(())
    }
}

/// Gain and bias of what is said, as MuJoCo's shortcuts define them.
fn law(d: &ActuatorDefaults<'_>, at: &Attributes<'_>) -> Result<Law, ImportError> {
    let a = &Attributes::from_values(at, d.own.clone());
    let base = &d.base;
    let servo = |kp: f64, inherited: f64| {
        let (kv, ratio) = (a.not_negative("kv")?, a.not_negative("dampratio")?);
        let damping = ratio.or(kv.map(|kv| -kv)).unwrap_or(inherited);
        Ok(Law { affine: true, gain: Some(kp), bias: [0.0, -kp, damping] })
    };
    Ok(match d.kind {
        "position" | "intvelocity" => {
            servo(a.number("kp")?.or(base.gain).unwrap_or(1.0), base.bias[2])?
        }
        "pid" => servo(a.number("kp")?.unwrap_or(1.0), 0.0)?,
        "velocity" => {
            let kv = a.not_negative("kv")?.or(base.gain).unwrap_or(1.0);
            Law { affine: true, gain: Some(kv), bias: [0.0, 0.0, -kv] }
        }
        "cylinder" => Law { affine: true, gain: None, bias: a.array("bias")?.unwrap_or(base.bias) },
        "general" => general(a, base)?,
        _ => Law::default(),
    })
}

fn general(a: &Attributes<'_>, base: &Law) -> Result<Law, ImportError> {
    let biastype =
        a.keyword("biastype", &["none", "affine", "muscle", "user", "dcmotor", "so3"])?;
    let affine = biastype.map_or(base.affine, |b| b == "affine");
    let gaintype =
        a.keyword("gaintype", &["fixed", "affine", "muscle", "user", "dcmotor", "so3", "pid"])?;
    let gain = a.numbers("gainprm", 0, usize::MAX)?.and_then(|g| g.first().copied());
    let mut bias = base.bias;
    let given = a.numbers("biasprm", 0, usize::MAX)?.unwrap_or_default();
    for (b, g) in bias.iter_mut().zip(&given) {
        *b = *g;
    }
    let fixed = gaintype.is_none_or(|g| g == "fixed");
    let gain = gain.or(base.gain).unwrap_or(1.0);
    Ok(Law { affine, gain: fixed.then_some(gain), bias })
}
