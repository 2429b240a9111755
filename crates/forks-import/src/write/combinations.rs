//! Fixed tendons: springs on combinations of coordinates, and servos.

use forks_mechanism::{Combination, CombinationSpring, Coordinate, Transmission};

use super::{
    WriteError, Writer,
    xml::{Xml, number, numbers},
};

impl Writer<'_> {
    /// Writes a fixed tendon of tree coordinates; its length is the combination without its offset.
    /// `false` where it could not be written.
    pub(crate) fn tendon(
        &mut self,
        owner: &str,
        c: &Combination,
        attributes: &[(&str, String)],
    ) -> Result<bool, WriteError> {
        let terms = summed(c);
        if terms.is_empty() {
            self.refuse(owner, "", "a combination without coordinates is no tendon")?;
            return Ok(false);
        }
        self.tendons.open("fixed", attributes);
        for (coordinate, a) in terms {
            let joint = self.coordinate_name(coordinate).expect("closures were replaced");
            self.tendons.empty("joint", &[("joint", joint), ("coef", number(a))]);
        }
        self.tendons.close("fixed");
        Ok(true)
    }

    /// The combination on tree coordinates; refused where there is none.
    pub(crate) fn required_on_tree(
        &mut self,
        owner: &str,
        c: &Combination,
    ) -> Result<Option<Combination>, WriteError> {
        let out = self.on_tree(c);
        if out.is_none() {
            self.refuse(owner, "", "it uses a coordinate of a loop-closing joint")?;
        }
        Ok(out)
    }

    pub(crate) fn springs(&mut self) -> Result<(), WriteError> {
        for s in self.m.combination_springs() {
            self.spring(s)?;
        }
        Ok(())
    }

    /// Writes a spring as a fixed tendon.
    pub(crate) fn spring(&mut self, s: &CombinationSpring) -> Result<(), WriteError> {
        let owner = format!("spring '{}'", s.name);
        let Some(combination) = self.required_on_tree(&owner, &s.combination)? else {
            return Ok(());
        };
        let name = self.spring_name(&s.name);
        let mut attributes = Vec::new();
        if !name.is_empty() {
            attributes.push(("name", name));
        }
        if s.stiffness != 0.0 {
            let mut rest = s.rest - combination.offset;
            if rest == -1.0 {
                // −1 alone would mean "as long as in the spring reference pose".
                rest = rest.next_up();
            }
            attributes.push(("stiffness", number(s.stiffness)));
            attributes.push(("springlength", number(rest)));
        }
        if s.damping != 0.0 {
            attributes.push(("damping", number(s.damping)));
        }
        self.tendon(&owner, &combination, &attributes)?;
        Ok(())
    }

    pub(crate) fn servos(&mut self) -> Result<Xml, WriteError> {
        let mut x = Xml::new(2);
        for (k, s) in self.m.servos().iter().enumerate() {
            let owner = format!("servo '{}'", s.name);
            let mut attributes = Vec::new();
            let name = self.actuator_name(&s.name);
            if !name.is_empty() {
                attributes.push(("name", name));
            }
            if let Transmission::Cable(id) = s.transmission {
                let Some(tendon) = self.cable_names[id.index()].clone() else {
                    self.refuse(&owner, "", "its cable is not written")?;
                    continue;
                };
                attributes.push(("tendon", tendon));
                self.servo(k, attributes, &mut x);
                continue;
            }
            let Some(combination) = self.required_on_tree(&owner, &s.combination)? else {
                continue;
            };
            let terms = summed(&combination);
            if let (Transmission::Joint, [(coordinate, a)]) = (s.transmission, terms.as_slice()) {
                let joint = self.coordinate_name(*coordinate).expect("closures were replaced");
                attributes.push(("joint", joint));
                if *a != 1.0 {
                    attributes.push(("gear", number(*a)));
                }
            } else {
                let tendon = self.tendon_name(&s.name);
                if !self.tendon(&owner, &combination, &[("name", tendon.clone())])? {
                    continue;
                }
                attributes.push(("tendon", tendon));
            }
            self.servo(k, attributes, &mut x);
        }
        Ok(x)
    }

    /// Writes a servo with what it drives and its name.
    fn servo(&mut self, k: usize, mut attributes: Vec<(&'static str, String)>, x: &mut Xml) {
        let s = &self.m.servos()[k];
        attributes.push(("biastype", "affine".into()));
        attributes.push(("gainprm", number(s.stiffness)));
        attributes.push(("biasprm", numbers(&[0.0, -s.stiffness, -s.damping])));
        x.empty("general", &attributes);
        self.actuators.push(k);
    }
}

/// Terms with one coefficient per coordinate.
pub(crate) fn summed(c: &Combination) -> Vec<(Coordinate, f64)> {
    let mut out: Vec<(Coordinate, f64)> = Vec::new();
    for &(coordinate, a) in &c.terms {
        match out.iter_mut().find(|(o, _)| *o == coordinate) {
            Some((_, sum)) => *sum += a,
            None => out.push((coordinate, a)),
        }
    }
    out
}
