//! Tasks as the command line has them.

use std::str::FromStr;

use forks_direct::{Aspect, Subject, TaskSpec};

/// A task of the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskWords(pub(super) TaskSpec);

/// Words apart by spaces; a word in double quotes may have some.
fn words(s: &str) -> Result<Vec<String>, String> {
    let (mut out, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in s.chars() {
        match c {
            '"' => (quoted, any) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if any {
                    out.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".into());
    }
    if any {
        out.push(word);
    }
    Ok(out)
}

fn number(what: &str, s: &str) -> Result<f64, String> {
    match s.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(x) => Err(format!("{what} is {x}; it has to be finite")),
        Err(_) => Err(format!("{what} is '{s}', which is no number")),
    }
}

/// A number that is above `least`, or not below it where it may be equal.
fn at_least(what: &str, s: &str, strictly: bool) -> Result<f64, String> {
    let x = number(what, s)?;
    match x > 0.0 || (x == 0.0 && !strictly) {
        true => Ok(x),
        false if strictly => Err(format!("{what} is {x}; it has to be above 0")),
        false => Err(format!("{what} is {x}; it must not be below 0")),
    }
}

fn numbers(what: &str, s: &str, expected: usize) -> Result<Vec<f64>, String> {
    let parts: Vec<&str> = s.split(',').collect();
    if parts.len() != expected {
        return Err(format!("{what} has {} numbers, expected {expected}", parts.len()));
    }
    let one = |(i, s): (usize, &&str)| number(&format!("number {} of {what}", i + 1), s);
    parts.iter().enumerate().map(one).collect()
}

impl FromStr for TaskWords {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let words = words(s)?;
        let mut rest = words.iter().map(String::as_str).peekable();
        let (subject, called) = subject(&mut rest)?;
        let mut out = TaskSpec {
            name: called,
            subject,
            target: Vec::new(),
            level: 1,
            weight: 1.0,
            stiffness: 100.0,
            damping: 20.0,
            rows: Vec::new(),
            world_axes: false,
            axis: [0.0, 0.0, 1.0],
            within: None,
        };
        let mut damping = None;
        for word in rest {
            let Some((key, value)) = word.split_once('=') else {
                if !out.target.is_empty() {
                    return Err(format!("'{word}' is a second target"));
                }
                let expected = out.subject.numbers();
                if expected == 0 {
                    return Err(format!("'{word}': {} has no target", out.name));
                }
                out.target = numbers("the target", word, expected)?;
                continue;
            };
            match key {
                "level" => {
                    let level = value.parse().ok().filter(|l| *l <= 100);
                    out.level = level.ok_or(format!("level {value} is none of 0…100"))?;
                }
                "weight" => out.weight = at_least("weight", value, true)?,
                "k" => out.stiffness = at_least("k", value, false)?,
                "d" => damping = Some(at_least("d", value, false)?),
                "rows" => out.rows = value.split(',').map(|r| r.trim().to_owned()).collect(),
                "axes" if value == "world" || value == "own" => out.world_axes = value == "world",
                "axes" => return Err(format!("axes={value}: expected world or own")),
                "axis" => {
                    let axis = numbers("axis", value, 3)?;
                    out.axis = core::array::from_fn(|i| axis[i]);
                }
                "in" => out.within = Some(value.to_owned()),
                "name" => out.name = value.to_owned(),
                _ => {
                    return Err(format!(
                        "'{key}' is none of level, weight, k, d, rows, axes, axis, in, name"
                    ));
                }
            }
        }
        // Critical damping goes with a stiffness that is given alone.
        out.damping = damping.unwrap_or(2.0 * out.stiffness.sqrt());
        out.check()?;
        Ok(Self(out))
    }
}

/// The subject and what a task about it is called.
fn subject<'a>(
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<(Subject, String), String> {
    const EXPECTED: &str = "expected link NAME, joint NAME, com or posture";
    match rest.next() {
        Some("link") => {
            let name = rest.next().ok_or("a name is missing after link")?;
            let aspect = rest.next().ok_or(
                "what of the link? position, orientation, pose, \
                direction or still",
            )?;
            let of = match aspect {
                "position" => Aspect::Position,
                "orientation" => Aspect::Orientation,
                "pose" => Aspect::Pose,
                "direction" => Aspect::Direction,
                "still" => Aspect::Still,
                other => {
                    return Err(format!(
                        "'{other}' is none of position, orientation, pose, direction, still"
                    ));
                }
            };
            Ok((Subject::Link(name.into(), of), format!("{name} {aspect}")))
        }
        Some("joint") => {
            let name = rest.next().ok_or("a name is missing after joint")?;
            rest.next_if_eq(&"position");
            Ok((Subject::Joint(name.into()), format!("joint {name}")))
        }
        Some("com") => {
            rest.next_if_eq(&"position");
            Ok((Subject::CentreOfMass, "com".into()))
        }
        Some("posture") => Ok((Subject::Posture, "posture".into())),
        Some(other) => Err(format!("'{other}': {EXPECTED}")),
        None => Err(EXPECTED.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(s: &str) -> TaskSpec {
        s.parse::<TaskWords>().unwrap().0
    }

    #[test]
    fn tasks_are_read_as_documented() {
        let t = read("link tip position 0.3,0,-0.5");
        assert_eq!(t.subject, Subject::Link("tip".into(), Aspect::Position));
        assert_eq!((t.target.as_slice(), t.level, t.weight), (&[0.3, 0.0, -0.5][..], 1, 1.0));
        assert_eq!((t.stiffness, t.damping, t.name.as_str()), (100.0, 20.0, "tip position"));
        let t = read("link \"left hand\" orientation level=0 k=25 rows=rx,rz axes=world name=up");
        assert_eq!(t.subject, Subject::Link("left hand".into(), Aspect::Orientation));
        assert_eq!((t.level, t.damping, t.world_axes, t.name.as_str()), (0, 10.0, true, "up"));
        assert_eq!(t.mask()[..3], [true, false, true]);
        assert!(t.target.is_empty());
        assert_eq!(read("joint knee position 0.5").target, [0.5]);
        assert!(read("joint knee").target.is_empty());
        assert_eq!(read("com 0,0,1 rows=x,y").mask()[..3], [true, true, false]);
        assert_eq!(read("posture level=2 d=3 k=0").damping, 3.0);
        let t = read("link a pose 0,0,0,1,0,0,0 in=b");
        assert_eq!(t.within.as_deref(), Some("b"));
        assert_eq!(read("link a direction 0,0,1 axis=1,0,0").axis, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_value() {
        let said = |s: &str| s.parse::<TaskWords>().unwrap_err();
        assert_eq!(
            said("link tip position nan,0,0"),
            "number 1 of the target is NaN; it has to be finite"
        );
        assert_eq!(said("link tip position 1,2"), "the target has 2 numbers, expected 3");
        assert_eq!(
            said("link tip position 1,x,3"),
            "number 2 of the target is 'x', which is no \
            number"
        );
        assert_eq!(said("body tip"), "'body': expected link NAME, joint NAME, com or posture");
        assert_eq!(said("joint a 1 2"), "'2' is a second target");
        assert_eq!(said("joint a weight=0"), "weight is 0; it has to be above 0");
        assert_eq!(said("joint a d=-1"), "d is -1; it must not be below 0");
        assert_eq!(said("joint a level=-1"), "level -1 is none of 0…100");
        assert_eq!(said("link a position rows=rx"), "rows=rx: a position has rows x, y, z");
        assert_eq!(said("posture rows=x"), "rows=x: posture has rows none");
        assert_eq!(said("posture 1"), "'1': posture has no target");
        assert_eq!(
            said("joint a speed=1"),
            "'speed' is none of level, weight, k, d, rows, axes, \
            axis, in, name"
        );
        assert!(said("joint a in=b").starts_with("in: only positions"));
        assert_eq!(said("link \"a b"), "a quotation mark is not closed");
    }
}
