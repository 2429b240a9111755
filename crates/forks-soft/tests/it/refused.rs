//! What is refused, and its sentence.

use forks_soft::{SoftModelError, SoftProblem, tissue::spec::PadNodes};

use crate::{Result, built, coarse, finger, folder, options};

/// The sentence of a refusal of the finger with a change.
fn sentence(
    change: impl FnOnce(&mut forks_soft::tissue::spec::TissueSpec),
    effectors: &[&str],
) -> Result<String> {
    let mut spec = coarse()?;
    change(&mut spec);
    match SoftProblem::build(spec, &folder(), &options(effectors)) {
        Ok(_) => Err("nothing was refused".into()),
        Err(e) => Ok(e.to_string()),
    }
}

#[test]
fn errors_name_element_and_value() -> Result {
    let unknown = sentence(|_| {}, &["pat"])?;
    assert_eq!(
        unknown,
        "there is no pad or link 'pat'; pads: pad; links: finger/bone0, finger/bone1, finger/bone2"
    );
    let bend = |s: &mut forks_soft::tissue::spec::TissueSpec| {
        s.mechanisms[0].pose.insert("ball1".into(), 0.2);
    };
    let posed = sentence(bend, &["pad"])?;
    assert!(posed.starts_with("mechanism 'finger' starts with 'ball1' at 0.2"), "{posed}");
    let few = sentence(|s| s.pads[0].on = PadNodes::Nodes(vec![1, 2]), &["pad"])?;
    assert_eq!(few, "pad \"pad\" has 2 different node(s), it needs three");
    let far = sentence(|s| s.pads[0].on = PadNodes::Nodes(vec![1, 2, 90]), &["pad"])?;
    assert_eq!(far, "pad \"pad\" has node 90, its tissue has 90");
    let group = sentence(|s| s.pads[0].on = PadNodes::Group("tip".into()), &["pad"])?;
    assert!(group.starts_with("pad \"pad\" names the group \"tip\""), "{group}");
    let third = sentence(|s| s.pads[0].tissue = Some(3), &["pad"])?;
    assert_eq!(third, "pad \"pad\" is on tissue 3 of 1");
    let line = sentence(|s| s.pads[0].on = PadNodes::Nodes(vec![0, 1, 2]), &["pad"])?;
    assert!(line.starts_with("tissue 'finger': patch 'pad' has 3 node(s)"), "{line}");
    let twice = sentence(|s| s.pads.push(s.pads[0].clone()), &["pad"])?;
    assert_eq!(twice, "pad \"pad\" has no name of its own");
    Ok(())
}

#[test]
fn what_is_left_out_is_said() -> Result {
    let mut spec = coarse()?;
    spec.ground.push(toml_ground());
    let soft = built(spec, &["pad"])?;
    assert_eq!(soft.notes, ["left out of the reduced model: 1 shape of the ground"]);
    assert!(built(finger()?, &["pad"])?.notes.is_empty());
    Ok(())
}

fn toml_ground() -> forks_soft::tissue::spec::ShapeSpec {
    forks_soft::tissue::spec::ShapeSpec {
        form: forks_mechanism::Geometry::Plane,
        place: Default::default(),
        friction: None,
    }
}

#[test]
fn a_file_that_is_none_is_refused_with_its_name() {
    let found = SoftProblem::load("missing.toml".as_ref(), &options(&["pad"]));
    assert!(matches!(found, Err(SoftModelError::Tissue(_))));
    assert!(found.err().is_some_and(|e| e.to_string().starts_with("missing.toml: ")));
}
