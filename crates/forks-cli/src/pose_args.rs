//! Arguments of `forks pose`.

use std::{path::PathBuf, str::FromStr};

use clap::{ArgGroup, Args, ValueEnum};
use forks_control::ik::Root;

use crate::args::ModelOptions;

/// Arguments of `forks pose`.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("handle").required(true).multiple(true)))]
pub(crate) struct PoseArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// Where the origin of a link, or of the frame of a site (site:NAME), shall be in the world, m;
    /// with the quaternion that its axes shall have, if given. Repeatable: all count alike
    #[arg(
        long,
        value_name = "LINK=x,y,z[,qw,qx,qy,qz]",
        allow_hyphen_values = true,
        group = "handle"
    )]
    pub(crate) drag: Vec<Drag>,

    /// Hold a link (or site:NAME) at its pose of the start state, before all drags; repeatable
    #[arg(long, value_name = "LINK", group = "handle")]
    pub(crate) pin: Vec<String>,

    /// The same for its origin alone: it may turn; repeatable
    #[arg(long, value_name = "LINK", group = "handle")]
    pub(crate) pin_point: Vec<String>,

    /// What a free joint on the ground does: move, stay, or move such that the centre of mass is
    /// above the hull of the pins
    #[arg(long, value_enum, default_value_t = RootChoice::Free)]
    pub(crate) root: RootChoice,

    /// Write the pose as a state file for --state: {"qpos": [...]}
    #[arg(short, long, value_name = "FILE.json")]
    pub(crate) output: Option<PathBuf>,
}

/// What the base does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootChoice {
    /// Move
    Free,
    /// Stay
    Pinned,
    /// Keep the centre of mass above the pins
    Balanced,
}

impl From<RootChoice> for Root {
    fn from(r: RootChoice) -> Self {
        match r {
            RootChoice::Free => Self::Free,
            RootChoice::Pinned => Self::Pinned,
            RootChoice::Balanced => Self::Balanced,
        }
    }
}

/// Where a link shall be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drag {
    /// The link, or `site:NAME`.
    pub(crate) link: String,
    /// Position, m.
    pub(crate) position: [f64; 3],
    /// Quaternion w, x, y, z of any length.
    pub(crate) quaternion: Option<[f64; 4]>,
}

impl FromStr for Drag {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (link, numbers) = s.rsplit_once('=').ok_or("expected LINK=x,y,z[,qw,qx,qy,qz]")?;
        let mut values = Vec::new();
        for part in numbers.split(',') {
            let x: f64 = part.trim().parse().map_err(|e| format!("'{part}': {e}"))?;
            if !x.is_finite() {
                return Err(format!("'{part}' is not a finite number"));
            }
            values.push(x);
        }
        let (position, quaternion) = match values[..] {
            [x, y, z] => ([x, y, z], None),
            [x, y, z, qw, qx, qy, qz] => ([x, y, z], Some([qw, qx, qy, qz])),
            _ => return Err(format!("{} numbers; a pose has three or seven", values.len())),
        };
        if quaternion.is_some_and(|q: [f64; 4]| q.iter().all(|x| x.abs() < 1e-6)) {
            return Err("the quaternion has no length".into());
        }
        Ok(Self { link: link.to_owned(), position, quaternion })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drags_are_a_link_and_three_or_seven_numbers() {
        let of = |s: &str| s.parse::<Drag>().unwrap();
        let link = "tip".to_string();
        let plain = Drag { link, position: [0.3, 0.0, -0.5], quaternion: None };
        assert_eq!(of("tip=0.3,0,-0.5"), plain);
        let turned = of("site:a=b=1,2,3,1,0,0,0");
        assert_eq!((turned.link.as_str(), turned.quaternion), ("site:a=b", Some([1., 0., 0., 0.])));
        for bad in ["", "a", "a=", "a=1,2", "a=1,2,3,4", "a=1,2,x", "a=1,2,inf", "a=1,2,3,0,0,0,0"]
        {
            assert!(bad.parse::<Drag>().is_err(), "{bad}");
        }
    }
}
