//! Scenes as MJCF: read back by the importer and by an XML parser.

use std::path::PathBuf;

use forks_dynamics::Loads;
use forks_import::{Import, ImportOptions, parse_mjcf};
use forks_mechanism::{LinkId, Mechanism};
use forks_reduce::{Problem, ProblemOptions};
use forks_sim::{
    Owner,
    lie::{Pose, glam::DVec3, so3::wxyz_from_quaternion},
    scene::{ExportedOwner, ExportedScene, Fidelity, Scene, spec::SceneSpec},
};
use roxmltree::{Document, Node};

/// Names that XML, text patterns and paths trip over; TOML and XML write them in their own ways.
const ARM: &str = r#"<arm> & "hand's" Größe"#;
const TIP: &str = r#"tip "1" <é> & co"#;
const BODY: &str = "<body name=\"ball\">\n\t5 µm";

/// An arm of two links with a site, a servo and a loop that holds the second link.
const MODEL: &str = r#"<mujoco model="arm">
<compiler angle="radian" inertiafromgeom="false"/>
<worldbody>
  <body name="upper" pos="0 0 0.5">
    <inertial pos="0.1 0 0" mass="0.2" diaginertia="1e-3 1e-3 1e-3"/>
    <joint name="shoulder" axis="0 1 0" stiffness="40" damping="0.1"/>
    <body name="&lt;b &amp; &quot;c&quot;&gt;" pos="0.2 0 0">
      <inertial pos="0.1 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>
      <joint name="elbow" axis="0 1 0" stiffness="30" damping="0.1"/>
      <site name="tip &quot;1&quot; &lt;é&gt; &amp; co" pos="0.2 0 0.01"/>
    </body>
  </body>
</worldbody>
<actuator><position name="&quot;lift&quot;" joint="elbow" kp="5" kv="0.1"/></actuator>
</mujoco>"#;

/// A scene with everything that MJCF has elements for; `more` stands in the mechanism's table.
fn text(more: &str) -> String {
    let quoted = |s: &str| format!("{s:?}");
    let (arm, body) = (quoted(ARM), quoted(BODY).replace("\\'", "'"));
    let tip = quoted(&format!("site:{TIP}"));
    format!(
        r#"title = "odd & <names>"
ignore = [[{body}, "world"]]
[world]
step = 0.002
[[mechanism]]
name = {arm}
file = "arm.xml"
effectors = [{tip}, "upper"]
position = [0, 0.1, 0]
{more}
shape = [{{ on = {tip}, form = {{ hull = {{ points = [[0,0,0],[0.01,0,0],[0,0.02,0],[0,0,0.03]] }} }}, friction = 0.7 }}]
[[body]]
name = {body}
mass = 1
position = [1, 0, 0.5]
rpy_deg = [0, 0, 90]
velocity = [0.5, 0, 0]
spin = [0, 3, 0]
shape = [{{ name = "<s>", form = {{ sphere = {{ radius = 0.1 }} }} }}]
[[body]]
name = "cup"
mass = 1
position = [2, 0, 0.5]
inertia = [1e-3, 1e-3, 1e-3]
shape = [{{ name = "cup&", form = {{ hull = {{ points = [[0,0,0],[0.1,0,0],[0,0.1,0],[0,0,0.1]] }} }} }}]
[[ground]]
name = "hills"
form = {{ heights = {{ size = [4, 2], rows = [[0.1, 0.2, 0.3], [0.5, 0.1, 0.1]] }} }}
friction = 1.0
[[action]]
mechanism = {arm}
servos = ["*"]
times = [0, 1]
values = [0.25, 0.5]
"#
    )
}

fn scene(name: &str, more: &str) -> Scene {
    built(name, SceneSpec::parse(&text(more), "odd").unwrap())
}

fn built(name: &str, spec: SceneSpec) -> Scene {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("forks-export-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("arm.xml"), MODEL).unwrap();
    let scene = Scene::build(spec, &folder, Fidelity::Reduced).unwrap_or_else(|e| panic!("{e}"));
    std::fs::remove_dir_all(&folder).unwrap();
    scene
}

fn read(exported: &ExportedScene) -> Import {
    parse_mjcf(&exported.text, &ImportOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", exported.text))
}

/// Poses of all links at the keyframe `start`.
fn start(m: &Mechanism) -> Vec<Pose> {
    let key = m.keyframes().iter().find(|k| k.name == "start").unwrap();
    m.link_poses(&key.positions)
}

fn elements<'a>(document: &'a Document<'_>, tag: &'static str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|n| n.has_tag_name(tag)).collect()
}

fn list(node: &Node<'_, '_>, attribute: &str) -> Vec<f64> {
    let text = node.attribute(attribute).unwrap_or_else(|| panic!("no {attribute}: {node:?}"));
    text.split(' ').map(|x| x.parse().unwrap()).collect()
}

#[test]
fn owners_of_shapes_are_found_where_they_start() {
    let scene = scene("owners", "");
    let exported = scene.to_mjcf().unwrap();
    let m = read(&exported).mechanism;
    let poses = start(&m);
    let mut kinds = [0, 0];
    for (owner, _) in scene.shapes() {
        let found = match scene.exported_owner(owner) {
            ExportedOwner::World => continue,
            ExportedOwner::Body(name) => {
                kinds[0] += 1;
                poses[m.find_link(&name).unwrap_or_else(|| panic!("{name}")).index()]
            }
            ExportedOwner::Site(name) => {
                kinds[1] += 1;
                let frame = &m.frames()[m.find_frame(&name).unwrap().index()];
                poses[frame.link.index()] * frame.link_from_frame
            }
        };
        let gap = scene.owner_pose(owner).inverse() * found;
        // The equilibrium's tolerance: 1e-9 of what the springs carry, on an arm of 1 m.
        assert!(gap.translation.length() < 1e-8, "{}: {gap:?}", scene.owner_name(owner));
        assert!(gap.rotation.xyz().length() < 1e-8, "{}: {gap:?}", scene.owner_name(owner));
    }
    assert_eq!(kinds, [2, 1]);
    assert!(m.find_link(BODY).is_some() && m.find_link(&format!("{ARM}/<b & \"c\">")).is_some());
    assert_eq!(m.servos()[0].name, format!("{ARM}/\"lift\""));
    assert_eq!(exported.controls[0].name, m.servos()[0].name);
}

#[test]
fn mechanisms_without_gravity_have_none_in_the_file() {
    for (more, compensated) in [("gravity = false", 1.0), ("", 0.0)] {
        let name = format!("gravity{compensated}");
        let m = read(&scene(&name, more).to_mjcf().unwrap()).mechanism;
        for (_, link) in m.moving_links() {
            let own = if link.name.starts_with(ARM) { compensated } else { 0.0 };
            assert_eq!(link.gravity_compensation, own, "{}", link.name);
        }
        let mut alone = SceneSpec::parse(&text(more), "odd").unwrap();
        (alone.bodies, alone.ignore) = (vec![], vec![]);
        let m = read(&built(&name, alone).to_mjcf().unwrap()).mechanism;
        // The arm stays at the start of the file under the file's gravity, as it does in the scene.
        let tip = format!("site:{ARM}/{TIP}");
        let problem = Problem::new(&m, &[&tip], &ProblemOptions::default()).unwrap();
        let still = problem.equilibrium(&Loads::gravity(), &Default::default());
        assert!(still.status.is_equilibrium());
        let at_rest = problem.mechanism().link_poses(&still.q);
        let starts = start(&m);
        for (id, link) in m.moving_links().filter(|(_, l)| l.name.starts_with(ARM)) {
            let k = problem.mechanism().find_link(&link.name).unwrap();
            let gap = at_rest[k.index()].translation.distance(starts[id.index()].translation);
            assert!(gap < 1e-8, "{}: {gap}", link.name);
        }
    }
}

#[test]
fn what_is_no_mechanism_stands_in_its_elements() {
    let scene = scene("elements", "");
    let exported = scene.to_mjcf().unwrap();
    let document = Document::parse(&exported.text).unwrap();
    let option = elements(&document, "option")[0];
    assert_eq!(list(&option, "timestep"), [0.002]);
    assert_eq!(
        (option.attribute("cone"), option.attribute("impratio")),
        (Some("elliptic"), Some("10"))
    );

    let meshes = elements(&document, "mesh");
    assert_eq!(meshes.len(), 2);
    assert_eq!(list(&meshes[0], "vertex")[3..6], [0.01, 0.0, 0.0]);
    let field = elements(&document, "hfield")[0];
    assert_eq!([list(&field, "nrow"), list(&field, "ncol")], [[2.0], [3.0]]);
    assert_eq!(list(&field, "elevation"), [0.5, 0.1, 0.1, 0.1, 0.2, 0.3]);
    assert_eq!(list(&field, "size")[..3], [2.0, 1.0, 0.4]);
    for geom in elements(&document, "geom") {
        for kind in ["mesh", "hfield"] {
            let Some(asset) = geom.attribute(kind) else { continue };
            assert_eq!(geom.attribute("type"), Some(kind));
            let named = |n: &Node<'_, '_>| n.attribute("name") == Some(asset);
            assert_eq!(elements(&document, kind).iter().filter(|n| named(n)).count(), 1);
        }
    }
    let by_asset = |tag, start: &str| {
        let geoms = elements(&document, "geom");
        *geoms.iter().find(|g| g.attribute(tag).is_some_and(|a| a.starts_with(start))).unwrap()
    };
    let hull = by_asset("mesh", &format!("site:{TIP}"));
    assert_eq!(list(&hull, "friction"), [0.7]);
    assert_eq!(hull.parent().unwrap().attribute("name"), Some(&*format!("{ARM}/<b & \"c\">")));
    assert_eq!(list(&hull, "pos"), [0.2, 0.0, 0.01]);
    let ground = by_asset("hfield", "hills");
    assert!(
        ground.parent().unwrap().has_tag_name("worldbody")
            && ground.attribute("friction").is_none()
    );
    assert_eq!(list(&ground, "pos"), [0.0, 0.0, 0.1]);
    assert_eq!(by_asset("mesh", "cup&").parent().unwrap().attribute("name"), Some("cup"));

    let exclude = elements(&document, "exclude");
    let pair: Vec<_> =
        ["body1", "body2"].iter().map(|k| exclude[0].attribute(*k).unwrap()).collect();
    assert!(exclude.len() == 1 && pair.contains(&BODY) && pair.contains(&"world"), "{pair:?}");
}

#[test]
fn the_start_moves_and_is_driven_as_the_scene_is() {
    let scene = scene("start", "");
    let exported = scene.to_mjcf().unwrap();
    let document = Document::parse(&exported.text).unwrap();
    let key = elements(&document, "key")[0];
    let m = read(&exported).mechanism;
    // Two hinges, then MuJoCo's free joints: world velocity, angular velocity in body axes.
    let position = |l: LinkId| {
        let j = m.forest().carrying_edge(l).unwrap().joint;
        m.velocity_range(j).start
    };
    let first = position(m.find_link(BODY).unwrap());
    let qvel = list(&key, "qvel");
    assert_eq!(qvel.len(), 2 + 6 + 6);
    let body = scene.owner_pose(Owner::Body(scene.body(BODY).unwrap()));
    let spin = body.rotation.conjugate() * DVec3::new(0.0, 3.0, 0.0);
    let wanted = [DVec3::new(0.5, 0.0, 0.0), spin];
    for (k, w) in wanted.iter().enumerate() {
        let found = DVec3::from_slice(&qvel[first + 3 * k..]);
        // A few products of unit size.
        assert!(found.distance(*w) < 16.0 * f64::EPSILON, "{found} {w}");
    }
    assert_eq!(qvel.iter().filter(|v| v.abs() > 1e-12).count(), 2, "{qvel:?}");
    let q = list(&key, "qpos");
    assert_eq!(q.len(), 2 + 7 + 7);
    let r = wxyz_from_quaternion(body.rotation);
    assert!(q.windows(4).any(|w| w.iter().zip(&r).all(|(a, b)| (a - b).abs() < 1e-15)), "{q:?}");
    assert_eq!(list(&key, "ctrl"), scene.controls_at(&exported, 0.0));
    assert_eq!(list(&key, "ctrl"), [0.25]);
}

#[test]
fn loops_and_names_without_a_character_in_xml() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    let scene = Scene::load(&folder.join("firefighters.toml"), Fidelity::Reduced).unwrap();
    let exported = scene.to_mjcf().unwrap();
    let document = Document::parse(&exported.text).unwrap();
    let equalities: Vec<Node<'_, '_>> =
        elements(&document, "equality")[0].children().filter(Node::is_element).collect();
    assert!(!equalities.is_empty());
    assert!(equalities.iter().all(|e| list(e, "solref") == [2.0 * scene.spec.world.step, 1.0]));
    assert!(exported.notes.iter().any(|n| n.contains("loops")), "{:?}", exported.notes);

    let spec = text("").replace("\"cup\"", "\"cup\\u0001\"");
    let spec = SceneSpec::parse(&spec.replace("file = \"arm.xml\"", "parametric = \"y\""), "x");
    let mut spec = spec.unwrap();
    (spec.mechanisms, spec.actions) = (vec![], vec![]);
    let scene = Scene::build(spec, &folder, Fidelity::Reduced).unwrap();
    let message = scene.to_mjcf().unwrap_err().to_string();
    assert!(message.contains("cup\\u{1}"), "{message}");
}

#[test]
fn the_repository_s_scenes_start_where_their_files_have_them() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    for file in std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()) {
        if file.extension().is_some_and(|e| e == "toml") {
            let exported = Scene::load(&file, Fidelity::Reduced).unwrap().to_mjcf().unwrap();
            assert!(!exported.notes.iter().any(|n| n.contains(" starts ")), "{:?}", exported.notes);
            read(&exported);
        }
    }
}
