//! What stands beside the mechanism in files for simulators with contact.

use forks_import::mechanism::{
    Geometry, Joint, JointKind, Keyframe, Link, LinkId, Mechanism, MechanismBuilder, Shape,
    lie::{
        Pose, SpatialInertia, Twist,
        glam::{DMat3, DQuat, DVec2, DVec3},
    },
};
use forks_import::{
    ImportOptions, parse_mjcf,
    write::{MjcfScene, write_mjcf, write_mjcf_scene},
};
use roxmltree::Document;

const HINGED: LinkId = LinkId::new(1);
const FREE: LinkId = LinkId::new(2);

/// A hinged link with a servo, and a free body that starts turned.
fn mechanism() -> Mechanism {
    let inertia = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(0.1)));
    let mut b = MechanismBuilder::new("two");
    let hinged = b.add_link(Link::new("#1").with_inertia(inertia));
    let free = b.add_link(Link::new("free").with_inertia(inertia));
    let axis = DVec3::Y;
    b.add_joint(Joint::new("hinge", JointKind::Revolute { axis }, LinkId::WORLD, hinged));
    let mut joint = Joint::new("free", JointKind::Free, LinkId::WORLD, free);
    let turned = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    joint.start = joint.closest_positions(&Pose::new(turned, DVec3::new(0.0, 3.0, 0.0)));
    b.add_joint(joint);
    b.add_shape(Shape {
        name: "form".into(),
        link: free,
        link_from_shape: Pose::IDENTITY,
        geometry: Geometry::Sphere { radius: 0.1 },
        friction: 1.0,
        mask: forks_mechanism::ContactMask::default(),
    });
    let m = b.build().unwrap().with_servos(&[("hinge", 10.0, 1.0)]).unwrap();
    let positions = m.start_positions();
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.add_keyframe(Keyframe { name: "start".into(), positions });
    b.build().unwrap()
}

fn hull(name: &str, link: LinkId) -> Shape {
    let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    Shape {
        name: name.into(),
        link,
        link_from_shape: Pose::IDENTITY,
        geometry: Geometry::Hull { points },
        friction: 1.0,
        mask: forks_mechanism::ContactMask::default(),
    }
}

fn field(link: LinkId, columns: usize, heights: Vec<f64>) -> Shape {
    let geometry = Geometry::HeightField { size: DVec2::ONE, columns, heights };
    Shape { geometry, ..hull("field", link) }
}

#[test]
fn a_scene_of_nothing_is_the_mechanism_with_all_names() {
    let m = mechanism();
    let (plain, _) = write_mjcf(&m).unwrap();
    let (text, _) = write_mjcf_scene(&m, &MjcfScene::default()).unwrap();
    assert!(!plain.contains("name=\"#1\""));
    assert_eq!(text.replace(" name=\"#1\"", ""), plain);
    assert!(text.contains("<body name=\"#1\""));
}

#[test]
fn names_are_unique_and_the_mechanism_reads_back() {
    let m = mechanism();
    let forms = vec![hull("form", FREE), hull("form", HINGED), hull("", HINGED)];
    let scene = MjcfScene { forms, excluded: vec![[HINGED, FREE]], ..Default::default() };
    let (text, notes) = write_mjcf_scene(&m, &scene).unwrap();
    // Two shapes are called as one that was there.
    assert_eq!(notes.iter().filter(|n| n.element == "shape 'form'").count(), 2, "{notes:?}");
    let document = Document::parse(&text).unwrap();
    for tag in ["geom", "mesh"] {
        let names = document.descendants().filter(|n| n.has_tag_name(tag));
        let mut names: Vec<&str> = names.filter_map(|n| n.attribute("name")).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), count), (3, 3), "{tag}");
    }
    let read = parse_mjcf(&text, &ImportOptions::default()).unwrap().mechanism;
    // Bodies come in their order, and their shapes with them: the free one's is the last to be
    // named.
    let renamed = Shape { name: "form'".into(), ..m.shapes()[0].clone() };
    assert_eq!((read.links(), read.shapes()), (m.links(), &[renamed][..]));
}

#[test]
fn velocities_are_in_mujocos_axes() {
    let m = mechanism();
    let twist = Twist::new(DVec3::X, DVec3::new(0.0, 2.0, 0.0));
    let scene =
        MjcfScene { velocities: vec![(FREE, twist)], controls: vec![0.5], ..Default::default() };
    let (text, _) = write_mjcf_scene(&m, &scene).unwrap();
    let document = Document::parse(&text).unwrap();
    let key = document.descendants().find(|n| n.has_tag_name("key")).unwrap();
    let numbers = |a| -> Vec<f64> {
        key.attribute(a).unwrap().split(' ').map(|x| x.parse().unwrap()).collect()
    };
    // Linear along the world's y where the body's x points, angular as in the body.
    let wanted = [0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0];
    for (a, b) in numbers("qvel").iter().zip(wanted) {
        assert!((a - b).abs() < 4.0 * f64::EPSILON, "{a} {b}");
    }
    assert_eq!(numbers("ctrl"), [0.5]);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let m = mechanism();
    let refuses = |scene: MjcfScene, word: &str| {
        let message = write_mjcf_scene(&m, &scene).unwrap_err().to_string();
        assert!(message.contains(word), "{word} in: {message}");
    };
    let none = MjcfScene::default;
    let of = |form| MjcfScene { forms: vec![form], ..none() };
    refuses(of(hull("lost", LinkId::new(7))), "link 7");
    refuses(of(field(LinkId::WORLD, 2, vec![0.0; 5])), "'field'");
    refuses(of(field(LinkId::WORLD, 2, vec![0.0, 0.0, f64::NAN, 0.0])), "'field'");
    let flat = Geometry::Hull { points: vec![DVec3::ZERO; 3] };
    refuses(of(Shape { geometry: flat, ..hull("flat", FREE) }), "'flat'");
    refuses(MjcfScene { step: Some(0.0), ..none() }, "step 0");
    refuses(MjcfScene { velocities: vec![(HINGED, Twist::ZERO)], ..none() }, "'#1'");
    refuses(MjcfScene { controls: vec![0.0; 3], ..none() }, "3 controls");
    refuses(MjcfScene { excluded: vec![[FREE, LinkId::new(9)]], ..none() }, "link 9");

    // Fields on bodies that move are left out, as planes are.
    let (text, notes) = write_mjcf_scene(&m, &of(field(FREE, 2, vec![0.0; 4]))).unwrap();
    assert!(
        !text.contains("type=\"hfield\"") && notes.iter().any(|n| n.element == "shape 'field'")
    );
}

#[test]
fn names_that_xml_cannot_write_are_refused() {
    let named = |name: &str| {
        let b = MechanismBuilder::new(name);
        write_mjcf(&b.build().unwrap()).map(|(text, _)| text)
    };
    let odd = "tab\t, return\r\n, \"quotes\" & <é>";
    let text = named(odd).unwrap();
    assert_eq!(Document::parse(&text).unwrap().root_element().attribute("model"), Some(odd));
    let message = named("a \u{2} b").unwrap_err().to_string();
    assert!(message.contains("a \\u{2} b"), "{message}");
}
