//! Arguments that say how a model is read: side file, springs and closures, what is let pass.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::{Args, ValueEnum};
use forks_import::{
    Import, ImportError, ImportOptions, SideFile, SideSource, UrdfOrder, load_model,
};

use crate::parse::coefficient;

/// How to read the model.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading the model")]
pub(crate) struct ReadOptions {
    /// Side file with springs, closed loops and end effectors, instead of MODEL.forks.toml beside
    /// the model
    #[arg(long, value_name = "FILE", conflicts_with = "no_side")]
    pub(crate) side: Option<PathBuf>,

    /// Read no side file
    #[arg(long)]
    pub(crate) no_side: bool,

    /// Give every coordinate of a joint this stiffness, at rest in the start pose; repeatable
    #[arg(long, value_name = "JOINT=K", value_parser = per_joint)]
    pub(crate) stiffness: Vec<(String, f64)>,

    /// Give every coordinate of a joint this damping; repeatable
    #[arg(long, value_name = "JOINT=D", value_parser = per_joint)]
    pub(crate) damping: Vec<(String, f64)>,

    /// Close a loop between the frames of two links (or site:NAME); KIND is weld, hinge, ball,
    /// slide, cylindrical or planar, hinges turn about the frames' z axes; repeatable
    #[arg(long, value_name = "KIND:A,B")]
    pub(crate) close: Vec<Closure>,

    /// Order of a URDF file's joints, and so of its coordinates, which go depth first: `name` sorts
    /// the joints of a link by name (default), `mujoco` leaves them as in the file, as MuJoCo does.
    /// MJCF is always in MuJoCo's order
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderChoice>,

    /// Leave out what cannot be represented and note it, instead of refusing the file
    #[arg(long)]
    pub(crate) lenient: bool,

    /// Replace principal moments of inertia that no body has by their mean, instead of refusing the
    /// file
    #[arg(long)]
    pub(crate) balance_inertia: bool,
}

/// Order of the joints of one link of a URDF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderChoice {
    /// By name
    Name,
    /// As in the file
    Mujoco,
}

/// A closure given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closure {
    kind: String,
    a: String,
    b: String,
}

impl FromStr for Closure {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let parts = s.split_once(':').and_then(|(kind, ends)| Some((kind, ends.split_once(',')?)));
        let Some((kind, (a, b))) = parts else {
            return Err("expected KIND:A,B, as in weld:rod,crank".into());
        };
        let [kind, a, b] = [kind, a, b].map(|w| w.trim().to_owned());
        Ok(Self { kind, a, b })
    }
}

fn per_joint(s: &str) -> Result<(String, f64), String> {
    let (name, value) = s.rsplit_once('=').ok_or("expected JOINT=NUMBER")?;
    Ok((name.into(), coefficient(value)?))
}

impl ReadOptions {
    /// Reads the model with its side file and what the arguments add.
    pub(crate) fn load(&self, path: &Path) -> Result<Import, ImportError> {
        let side = match &self.side {
            Some(path) => SideSource::File(path.clone()),
            None if self.no_side => SideSource::None,
            None => SideSource::Beside,
        };
        let urdf_order = self.order.map(|o| match o {
            OrderChoice::Name => UrdfOrder::Name,
            OrderChoice::Mujoco => UrdfOrder::Mujoco,
        });
        let import_options = ImportOptions {
            lenient: self.lenient,
            balance_inertia: self.balance_inertia,
            side,
            urdf_order,
            ..ImportOptions::default()
        };
        let import = load_model(path, &import_options)?;
        if self.stiffness.is_empty() && self.damping.is_empty() && self.close.is_empty() {
            return Ok(import);
        }
        let mut side = SideFile::default();
        for (joint, k) in &self.stiffness {
            side.set_stiffness(joint, *k, "--stiffness");
        }
        for (joint, d) in &self.damping {
            side.set_damping(joint, *d, "--damping");
        }
        for c in &self.close {
            side.add_loop(&c.kind, &c.a, &c.b, "--close")?;
        }
        side.apply(import)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_joints_and_closures_are_read_as_documented() {
        assert_eq!(per_joint("a=b=2"), Ok(("a=b".into(), 2.0)));
        for bad in ["a", "a=", "a=-1", "a=nan", "a=1,5"] {
            assert!(per_joint(bad).is_err(), "{bad}");
        }
        let c = Closure { kind: "ball".into(), a: "site:s".into(), b: "x".into() };
        assert_eq!("ball:site:s, x".parse(), Ok(c));
        for bad in ["ball", "ball:a", "a,b"] {
            assert!(bad.parse::<Closure>().is_err(), "{bad}");
        }
    }
}
