//! How searches for an equilibrium ended, in sentences.

use forks_dynamics::{
    Loads,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder, lie::glam::DVec3,
};

fn chain(kinds: &[(&str, JointKind)]) -> Mechanism {
    let mut b = MechanismBuilder::new("chain");
    let mut parent = LinkId::WORLD;
    for (name, kind) in kinds {
        let link = b.add_link(Link::new(format!("on {name}")));
        b.add_joint(Joint::new(*name, kind.clone(), parent, link));
        parent = link;
    }
    b.build().unwrap()
}

#[test]
fn each_status_has_a_sentence_but_convergence() {
    let hinge = JointKind::Revolute { axis: DVec3::Z };
    let m = chain(&[("base", JointKind::Free), ("elbow", hinge.clone())]);
    let loads = Loads::none();
    let mut e = solve_equilibrium(&m, &m.start_positions(), &loads, &EquilibriumOptions::default());
    assert_eq!(e.status, EquilibriumStatus::Singular);
    let text = e.explanation(&m).unwrap();
    let words = [
        "free joint 'base' (link 'on base')",
        "joint 'elbow' (link 'on elbow')",
        "default stiffness",
    ];
    assert!(words.iter().all(|w| text.contains(w)), "{text}");
    e.load_scale = 0.99999;
    for (status, word) in [
        (EquilibriumStatus::Unstable, "slightest push"),
        (EquilibriumStatus::Stalled, "beyond 99.9 % of the way"),
        (EquilibriumStatus::Diverged, "runs away"),
    ] {
        e.status = status;
        let text = e.explanation(&m).unwrap();
        assert!(text.contains(word) && !text.ends_with('.') && text.len() < 250, "{text}");
    }
    e.status = EquilibriumStatus::Converged;
    assert_eq!(e.explanation(&m), None);

    // Many joints: the first ones and a number.
    let many: Vec<(&str, JointKind)> =
        ["a", "b", "c", "d", "e", "f", "g"].map(|n| (n, hinge.clone())).into();
    let m = chain(&many);
    let all: Vec<_> = (0..7).map(forks_mechanism::JointId::new).collect();
    let text = m.describe_unresisted(&all);
    assert!(text.contains("'e' (link 'on e') and 2 more") && !text.contains("'f'"), "{text}");
    let free = chain(&[("base", JointKind::Free)]);
    let text = free.describe_unresisted(&all[..1]);
    assert!(
        text.contains("no default stiffness") && !text.contains("a default stiffness"),
        "{text}"
    );
}
