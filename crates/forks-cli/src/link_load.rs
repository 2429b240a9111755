//! Wrenches on links, as the command line has them.

use std::str::FromStr;

use forks_dynamics::{AppliedWrench, WrenchFrame};
use forks_mechanism::{Mechanism, lie::Wrench};
use forks_reduce::{Effector, ReduceError};

use crate::parse::wrench;

/// A wrench on a link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkLoad {
    /// The link, or `site:NAME`.
    pub(crate) link: String,
    /// Force and torque.
    pub(crate) wrench: [f64; 6],
}

impl LinkLoad {
    /// The wrench on its link of a mechanism.
    pub(crate) fn applied(
        &self,
        m: &Mechanism,
        frame: WrenchFrame,
    ) -> Result<AppliedWrench, ReduceError> {
        let effector = Effector::find(m, &self.link)?;
        Ok(effector.applied(Wrench::from_array(self.wrench), frame))
    }
}

impl FromStr for LinkLoad {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (link, numbers) = s.rsplit_once('=').ok_or("expected LINK=fx,fy,fz[,tx,ty,tz]")?;
        let wrench = match numbers.split(',').count() {
            3 => wrench(&format!("{numbers},0,0,0"))?,
            _ => wrench(numbers)?,
        };
        Ok(Self { link: link.to_owned(), wrench })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_a_link_and_three_or_six_numbers() {
        let of = |s: &str| s.parse::<LinkLoad>().unwrap();
        assert_eq!(
            of("a=1,-2,3"),
            LinkLoad { link: "a".into(), wrench: [1., -2., 3., 0., 0., 0.] }
        );
        let full = LinkLoad { link: "site:a=b".into(), wrench: [0., 0., 1., 2., 0., 0.] };
        assert_eq!(of("site:a=b=0,0,1,2,0,0"), full);
        for bad in ["", "a", "a=", "a=1,2", "a=1,2,3,4", "a=1,2,x", "a=1,2,inf"] {
            assert!(bad.parse::<LinkLoad>().is_err(), "{bad}");
        }
    }
}
