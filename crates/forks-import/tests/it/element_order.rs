//! The order of elements in a body means nothing but among joints, among geoms and among bodies.
//! The cause of the fault that these tests keep away: joints were numbered as the text has them,
//! and these numbers were used in the list of the tree's joints, so that springs, servos and
//! couplings sat on the wrong joints where a body's joint stands behind a body that it carries.

use crate::support;

use forks_import::mechanism::{Combination, Mechanism};
use forks_import::{ImportOptions, load_mjcf, parse_mjcf, write::write_mjcf};
use forks_testkit::Rng;
use support::{UNIT, models};

/// All that a mechanism holds, as text.
fn written(m: &Mechanism) -> String {
    write_mjcf(m).unwrap().0
}

fn joint_of(m: &Mechanism, c: &Combination) -> String {
    m.joint(c.terms[0].0.joint).name.clone()
}

#[test]
fn a_joint_behind_a_nested_body_is_meant_by_its_name() {
    let load = |name: &str| {
        let path = models().join("joint_after_child").join(name);
        load_mjcf(&path, &ImportOptions::default()).unwrap().mechanism
    };
    let (before, after) = (load("before.xml"), load("after.xml"));
    assert_eq!(joint_of(&after, &after.servos()[0].combination), "shoulder");
    assert_eq!(joint_of(&after, &after.combination_springs()[0].combination), "shoulder");
    assert_eq!(after.keyframes()[0].positions, [0.1, 0.2]);
    assert_eq!(written(&before), written(&after));
}

/// Children of an element by kind, in the order in which a body is usually written.
#[derive(Default)]
struct Body {
    attributes: String,
    own: Vec<Vec<String>>,
    nested: Vec<Body>,
}

impl Body {
    /// A body with joints, geoms, sites, a frame and others that it carries; `names` are those of
    /// its joints.
    fn new(rng: &mut Rng, depth: usize, names: &mut Vec<String>) -> Self {
        let number = names.len();
        let x = |rng: &mut Rng| format!("{:.3}", rng.range(0.1, 2.0));
        let mut joints = Vec::new();
        for k in 0..1 + rng.index(2) {
            let name = format!("j{number}_{k}");
            let kind = ["hinge", "slide"][rng.index(2)];
            let joint = format!(
                r#"<joint name="{name}" type="{kind}" axis="{} {} 1" stiffness="{}" ref="{}"/>"#,
                x(rng),
                x(rng),
                x(rng),
                x(rng)
            );
            let framed = rng.chance(0.3);
            joints.push(if framed {
                format!(r#"<frame euler="10 20 {}">{joint}</frame>"#, x(rng))
            } else {
                joint
            });
            names.push(name);
        }
        let mass = x(rng);
        let inertial =
            format!(r#"<inertial pos="0 {} 0" mass="{mass}" diaginertia="1 1 1"/>"#, x(rng));
        let mut geom = || format!(r#"<geom size="{}" mass="{}"/>"#, x(rng), x(rng));
        let geoms = vec![geom(), geom()];
        let inertia = if rng.chance(0.5) { vec![inertial] } else { vec![] };
        let site = format!(r#"<site name="s{number}" pos="{} 0 0"/>"#, x(rng));
        let own = vec![joints, inertia, geoms, vec![site]];
        let attributes = format!(r#"name="b{number}" pos="{} 0 {}""#, x(rng), x(rng));
        let count = if depth == 0 { 0 } else { rng.index(3) };
        let nested = (0..count).map(|_| Body::new(rng, depth - 1, names)).collect();
        Self { attributes, own, nested }
    }

    /// The body's text; `order` mixes the kinds, each of which keeps its own order.
    fn text(&self, order: &mut dyn FnMut(&mut Vec<usize>)) -> String {
        let nested: Vec<String> = self.nested.iter().map(|b| b.text(order)).collect();
        let kinds: Vec<&Vec<String>> = self.own.iter().chain([&nested]).collect();
        let mut turn: Vec<usize> =
            kinds.iter().enumerate().flat_map(|(k, list)| vec![k; list.len()]).collect();
        order(&mut turn);
        let mut next = vec![0; kinds.len()];
        let mut out = format!("<body {}>", self.attributes);
        for k in turn {
            out += &kinds[k][next[k]];
            next[k] += 1;
        }
        out + "</body>\n"
    }
}

/// What refers to joints, bodies and sites by their names.
fn references(rng: &mut Rng, names: &[String]) -> (String, String) {
    let mut a = (String::new(), String::new());
    let name = |rng: &mut Rng| names[rng.index(names.len())].clone();
    for (i, n) in names.iter().enumerate() {
        let (k, d) = (rng.range(1.0, 9.0), rng.range(0.1, 0.9));
        let tendon =
            format!(r#"<fixed name="t{i}" stiffness="{k}"><joint joint="{n}" coef="{d}"/>"#);
        a.0 += &format!("<tendon>{tendon}</fixed></tendon>");
        a.1 += &format!(r#"<actuator><position joint="{n}" kp="{k}"/></actuator>"#);
        a.0 +=
            &format!(r#"<actuator><position tendon="t{i}" kp="{d}" dampratio=".3"/></actuator>"#);
        let (y, x) = (name(rng), name(rng));
        if y != x {
            a.1 += &format!(
                r#"<equality><joint joint1="{y}" joint2="{x}" polycoef="0 {d}"/></equality>"#
            );
        }
    }
    let body = |rng: &mut Rng| name(rng).replace('j', "b").split('_').next().unwrap().to_owned();
    let (b, c) = (body(rng), body(rng));
    if b != c {
        a.0 +=
            &format!(r#"<equality><connect body1="{b}" body2="{c}" anchor="1 2 3"/></equality>"#);
    }
    let values = (0..names.len()).map(|i| format!("{}", i as f64 + 0.5)).collect::<Vec<_>>();
    a.1 += &format!(r#"<keyframe><key qpos="{}"/></keyframe>"#, values.join(" "));
    a
}

#[test]
fn any_order_of_elements_and_sections_is_the_same_mechanism() {
    let mut rng = Rng::new(1);
    let mut moved = 0;
    for _ in 0..60 {
        let mut names = Vec::new();
        let trees: Vec<_> = (0..2).map(|_| Body::new(&mut rng, 3, &mut names)).collect();
        let (first, last) = references(&mut rng, &names);
        let mut file = |shuffled: bool| {
            let mut order = |turn: &mut Vec<usize>| {
                if shuffled {
                    rng.shuffle(turn);
                }
            };
            let bodies: Vec<String> = trees
                .iter()
                .map(|t| format!("<worldbody>{}</worldbody>", t.text(&mut order)))
                .collect();
            if shuffled {
                format!("<mujoco>{first}{}{last}{}</mujoco>", bodies[0], bodies[1])
            } else {
                format!("<mujoco>{}{first}{last}</mujoco>", bodies.concat())
            }
        };
        let texts = [file(false), file(true)];
        let read = |t: &str| {
            parse_mjcf(t, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}\n{t}"))
        };
        let [before, after] = texts.each_ref().map(|t| read(t).mechanism);
        assert_eq!(written(&before), written(&after), "{}", texts[1]);
        moved += usize::from(texts[0] != texts[1]);
    }
    assert!(moved > 50);
}

/// A body moves with the joint of the body around it, wherever that stands: what it weighs must be
/// known.
#[test]
fn a_moving_body_needs_its_mesh_though_the_joint_stands_behind_it() {
    let mesh = r#"<body name="inner"><geom type="mesh" mesh="m"/></body>"#;
    let joint = r#"<joint/>"#;
    for body in [format!("{joint}{mesh}"), format!("{mesh}{joint}")] {
        let text = format!(
            r#"<mujoco><asset><mesh name="m" file="nowhere.stl"/></asset>
               <worldbody><body>{UNIT}{body}</body></worldbody></mujoco>"#
        );
        let e = parse_mjcf(&text, &ImportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("the moving body 'inner' takes its inertia from this geom"), "{e}");
    }
}

/// A joint inside a frame is a joint of the body all the same.
#[test]
fn mocap_bodies_have_no_joints_in_frames_either() {
    for inside in ["<joint/>", "<frame><joint/></frame>"] {
        let text = format!(
            r#"<mujoco><worldbody><body mocap="true">{UNIT}{inside}</body></worldbody></mujoco>"#
        );
        let e = parse_mjcf(&text, &ImportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("must be a child of the world without joints"), "{e}");
    }
}
