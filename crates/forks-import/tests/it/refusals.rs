//! Broken and unsupported input: one clear sentence, never a panic, never a silent loss.

use crate::support;

use forks_import::mechanism::lie::SplitMix64;
use forks_import::{Import, ImportError, ImportOptions, load_mjcf, parse_mjcf};
use support::models;

fn parse(text: &str) -> Result<Import, ImportError> {
    parse_mjcf(text, &ImportOptions::default())
}

/// The message names everything in `parts` and is one sentence on one line.
fn refused(text: &str, parts: &[&str]) -> String {
    let e = parse(text).err().unwrap_or_else(|| panic!("accepted: {text}")).to_string();
    assert!(!e.contains('\n'), "{e}");
    for p in parts {
        assert!(e.contains(p), "'{p}' is not in: {e}");
    }
    e
}

fn world(body: &str) -> String {
    format!("<mujoco>\n<worldbody>\n{body}\n</worldbody>\n</mujoco>")
}

fn joint(attributes: &str) -> String {
    world(&format!(r#"<body name="b"><geom size="1"/><joint name="j" {attributes}/></body>"#))
}

fn beside(section: &str) -> String {
    let body = r#"<body name="b"><geom size="1"/><joint name="j"/><site name="s"/>
        <site name="s2" pos="1 0 0"/></body>"#;
    world(body).replace("</mujoco>", &format!("{section}\n</mujoco>"))
}

#[test]
fn files_that_are_not_there_or_no_text() {
    let missing = load_mjcf(&models().join("no-such-file.xml"), &ImportOptions::default());
    let e = missing.unwrap_err();
    assert!(
        matches!(e, ImportError::Io { .. }) && e.to_string().contains("no-such-file.xml"),
        "{e}"
    );
    let path = std::env::temp_dir().join(format!("forks-latin1-{}.xml", std::process::id()));
    std::fs::write(&path, b"<mujoco model=\"caf\xe9\"/>").unwrap();
    let e = load_mjcf(&path, &ImportOptions::default()).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(e, ImportError::NotText { offset: 18, .. }), "{e}");
}

#[test]
fn text_that_is_no_mjcf() {
    refused("", &["not valid XML"]);
    refused("hello", &["not valid XML"]);
    refused("<mujoco><worldbody></mujoco>", &["line 1", "not valid XML"]);
    refused("<mujoco><!-- never closed", &["not valid XML"]);
    refused("<robot name=\"r\"/>", &["robot", "mujoco"]);
    refused("<mujoco>\n\n<wordbody/></mujoco>", &["line 3", "wordbody"]);
    refused(&world("<body><foo/></body>"), &["line 3", "foo"]);
    refused(&world(r#"<body foo="1"/>"#), &["line 3", "foo=\"1\""]);
    refused(r#"<mujoco><worldbody name="w"/></mujoco>"#, &["name"]);
}

#[test]
fn b42_entities_are_not_expanded() {
    let mut bomb = String::from("<!DOCTYPE m [<!ENTITY a0 \"ha\">");
    for i in 1..5 {
        let ten = format!("&a{};", i - 1).repeat(10);
        bomb.push_str(&format!("<!ENTITY a{i} \"{ten}\">"));
    }
    bomb.push_str("]><mujoco model=\"&a4;\"><worldbody/></mujoco>");
    refused(&bomb, &["document type definition"]);
    refused(
        "<!DOCTYPE m [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><mujoco model=\"&x;\"/>",
        &["document type definition"],
    );
}

#[test]
fn b43_odd_xml_of_real_files_is_read() {
    // As MuJoCo's own parser does.
    for text in [
        "<mujoco><!-- a -- b --><worldbody/></mujoco>",
        "<?xml version=\"0.0\"?><mujoco><worldbody/></mujoco>",
        "\n\n<?xml version=\"1.0\"?>\n<mujoco><worldbody/></mujoco>",
        "<mujoco><worldbody/></mujoco>\n\0",
        "<mujoco><worldbody><geom size=\"1\"type=\"sphere\"/></worldbody></mujoco>",
        "\u{feff}<mujoco><worldbody/></mujoco>",
        "<mujoco/>",
    ] {
        parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    refused("<mujoco><worldbody>\0</worldbody></mujoco>", &["not valid XML"]);
    refused("\0\0\0", &["not valid XML"]);
}

#[test]
fn numbers() {
    for bad in ["nan", "inf", "-inf", "1e400", "1,5", "0x1p3", "1..2", "five", "-1.57."] {
        refused(
            &joint(&format!("stiffness=\"{bad}\"")),
            &["line 3", "joint 'j'", "stiffness", bad],
        );
        refused(&world(&format!(r#"<body pos="0 0 {bad}"/>"#)), &["pos", bad]);
    }
    refused(
        &world(r#"<body name="b" pos="1 2"/>"#),
        &["body 'b'", "pos=\"1 2\"", "2 numbers", "expected 3"],
    );
    refused(&world(r#"<body pos="1 2 3 4"/>"#), &["4 numbers"]);
    refused(&world(r#"<body pos="1, 2, 3"/>"#), &["1,"]);
    // Attributes without numbers say nothing, but not where numbers must stand.
    parse(&world(r#"<body pos="" quat=" " gravcomp=""/>"#)).unwrap();
    let empty = r#"<body><inertial pos="0 0 0" mass=" "/></body>"#;
    refused(&world(empty), &["inertial", "'mass' is missing"]);
    let i = parse(&world("<site name=\"s\" pos=\" 1  2\t+.3e1 \"/>")).unwrap();
    assert_eq!(i.mechanism.frames()[0].link_from_frame.translation.to_array(), [1.0, 2.0, 3.0]);
    refused(&world(r#"<body mocap="1"/>"#), &["mocap", "false, true"]);
    refused(&joint("type=\"screw\""), &["type", "screw", "hinge"]);
}

#[test]
fn quantities_that_cannot_be() {
    refused(&joint("stiffness=\"-3\""), &["stiffness=\"-3\"", "negative"]);
    refused(&joint("damping=\"-3\""), &["damping=\"-3\"", "negative"]);
    refused(&joint("armature=\"-1\""), &["armature", "negative"]);
    refused(&joint("frictionloss=\"-1\""), &["frictionloss", "negative"]);
    refused(&joint("axis=\"0 0 0\""), &["axis=\"0 0 0\"", "direction"]);
    refused(&joint("limited=\"true\""), &["range", "empty"]);
    refused(&joint("limited=\"true\" range=\"10 5\""), &["range=\"10 5\"", "empty"]);
    refused(&joint("type=\"ball\" range=\"10 20\""), &["range", "begin with 0"]);
    let off =
        joint("range=\"0 1\"").replace("<mujoco>", "<mujoco><compiler autolimits=\"false\"/>");
    refused(&off, &["range", "limited"]);
    refused(
        &world(r#"<body><joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/></body>"#),
        &["mass=\"-1\"", "negative"],
    );
    refused(
        &world(r#"<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 -1 1"/></body>"#),
        &["diaginertia", "negative"],
    );
    refused(
        &world(
            r#"<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>"#,
        ),
        &["link 'b'", "A + B >= C"],
    );
    refused(
        &world(
            r#"<body><joint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/></body>"#,
        ),
        &["fullinertia", "positive definite"],
    );
    refused(
        &world(r#"<body><inertial mass="1" diaginertia="1 1 1"/></body>"#),
        &["inertial", "'pos' is missing"],
    );
    refused(
        &world(
            r#"<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/></body>"#,
        ),
        &["fullinertia", "diaginertia"],
    );
    refused(&world(r#"<geom size="1" density="-1"/>"#), &["density", "negative"]);
    refused(&world(r#"<geom size="-1"/>"#), &["size", "not positive"]);
    refused(&world("<geom/>"), &["geom", "size number 1", "missing"]);
    refused(&world(r#"<geom type="capsule" size="1"/>"#), &["size number 2"]);
    refused(&world(r#"<geom size="1" fromto="0 0 0 1 1 1"/>"#), &["fromto", "sphere"]);
    refused(
        &world(r#"<geom type="capsule" size="1" fromto="0 0 1 0 0 1"/>"#),
        &["fromto", "equal points"],
    );
    refused(
        &world(r#"<geom type="capsule" size="1" pos="0 0 1" fromto="0 0 1 0 0 0"/>"#),
        &["both 'pos' and 'fromto'"],
    );
}

#[test]
fn orientations_that_cannot_be() {
    refused(&world(r#"<body quat="0 0 0 0"/>"#), &["quat", "zero quaternion"]);
    refused(&world(r#"<body xyaxes="1 0 0 1 0 0"/>"#), &["xyaxes", "parallel"]);
    refused(&world(r#"<body axisangle="0 0 0 1"/>"#), &["axisangle", "direction"]);
    refused(&world(r#"<body zaxis="0 0 0"/>"#), &["zaxis", "direction"]);
    refused(&world(r#"<body quat="1 0 0 0" euler="0 0 3"/>"#), &["'quat' and 'euler'"]);
    let sequence = world("").replace("<mujoco>", "<mujoco><compiler eulerseq=\"xyw\"/>");
    refused(&sequence, &["eulerseq", "xyw"]);
    let global = world("").replace("<mujoco>", "<mujoco><compiler coordinate=\"global\"/>");
    refused(&global, &["coordinate", "global"]);
}

#[test]
fn names_and_references() {
    refused(&world(r#"<body name="a"/><body name="a"/>"#), &["body name 'a'", "twice"]);
    refused(&world(r#"<body name="world"/>"#), &["body name 'world'"]);
    refused(&world(r#"<site name="a"/><site name="a"/>"#), &["site name 'a'"]);
    refused(&world(r#"<geom name="a" size="1"/><geom name="a" size="1"/>"#), &["geom name 'a'"]);
    refused(
        &world(r#"<body><geom size="1"/><joint name="a"/><joint name="a" axis="1 0 0"/></body>"#),
        &["joint name 'a'"],
    );
    refused(&joint("class=\"none\""), &["joint 'j'", "class=\"none\"", "default class"]);
    refused(&world(r#"<body childclass="none"/>"#), &["childclass=\"none\""]);
    refused(
        &beside(r#"<equality><connect body1="x" anchor="0 0 0"/></equality>"#),
        &["body1=\"x\"", "body"],
    );
    refused(
        &beside(r#"<equality><weld site1="s" site2="x"/></equality>"#),
        &["site2=\"x\"", "site"],
    );
    refused(&beside(r#"<equality><joint joint1="x"/></equality>"#), &["joint1=\"x\"", "joint"]);
    refused(&beside(r#"<equality><tendon tendon1="x"/></equality>"#), &["tendon1=\"x\"", "tendon"]);
    refused(
        &beside(r#"<tendon><fixed name="t"><joint joint="x" coef="1"/></fixed></tendon>"#),
        &["joint=\"x\""],
    );
    refused(
        &beside(r#"<actuator><position name="p" joint="x"/></actuator>"#),
        &["position 'p'", "joint=\"x\""],
    );
    refused(
        &beside(
            r#"<actuator><position name="p" joint="j"/><motor name="p" joint="j"/></actuator>"#,
        ),
        &["actuator name 'p'"],
    );
    refused(
        &beside(r#"<actuator><position name="p"/></actuator>"#),
        &["position 'p'", "drives nothing"],
    );
    refused(
        &beside(r#"<equality><connect body1="b"/></equality>"#),
        &["connect", "'anchor' is missing"],
    );
    refused(
        &beside(r#"<equality><weld body1="b" site1="s" site2="s"/></equality>"#),
        &["both bodies and sites"],
    );
    refused(
        &beside(r#"<equality><connect body1="b" body2="b" anchor="0 0 0"/></equality>"#),
        &["itself"],
    );
    refused(
        &beside(r#"<keyframe><key name="k" qpos="1 2"/></keyframe>"#),
        &["key 'k'", "2 numbers", "1 positions"],
    );
    refused(&beside(r#"<default class="other"/>"#), &["other", "main"]);
    refused(
        &beside(r#"<default><default class="a"/><default class="a"/></default>"#),
        &["default class name 'a'"],
    );
    // Empty names are no names.
    let i = parse(&world(r#"<body name=""/><body name=""/>"#)).unwrap();
    assert_eq!(i.mechanism.links()[2].name, "#2");
}

#[test]
fn bodies_and_joints_that_do_not_go_together() {
    refused(&world(r#"<body name="b"><joint name="j"/></body>"#), &["body 'b'", "no mass"]);
    refused(
        &world(r#"<body><joint/><body><joint/><geom size="1"/></body></body>"#),
        &["body #1", "no mass"],
    );
    let mesh = r#"<body name="b"><joint/><geom name="g" type="mesh" mesh="m"/></body>"#;
    refused(&world(mesh), &["line 3", "geom 'g'", "mesh=\"m\"", "names no mesh"]);
    let asset = "<mujoco><asset><mesh name=\"m\" file=\"m.stl\"/></asset>";
    refused(&world(mesh).replace("<mujoco>", asset), &["line 3", "geom 'g'", "body 'b'", "m.stl"]);
    refused(
        &world(r#"<body><geom size="1"/><freejoint/><joint/></body>"#),
        &["free joint and other joints"],
    );
    refused(
        &world(r#"<body><geom size="1"/><joint/><freejoint/></body>"#),
        &["free joint and other joints"],
    );
    refused(
        &world(r#"<body><geom size="1"/><joint type="ball"/><joint/></body>"#),
        &["ball joint and then another rotation"],
    );
    refused(
        &world(r#"<body><geom size="1"/><body><geom size="1"/><freejoint/></body></body>"#),
        &["children of the world"],
    );
    refused(&world("<joint/>"), &["the world cannot have joints"]);
    refused(&world(r#"<body><geom size="1"/><body mocap="true"/></body>"#), &["mocap"]);
}

#[test]
fn servos_that_push_away() {
    refused(
        &beside(r#"<actuator><position name="p" joint="j" kp="-5"/></actuator>"#),
        &["position 'p'", "negative stiffness"],
    );
    refused(
        &beside(r#"<actuator><position joint="j" kv="-5"/></actuator>"#),
        &["kv=\"-5\"", "negative"],
    );
    refused(
        &beside(r#"<actuator><position joint="j" kv="5" dampratio="1"/></actuator>"#),
        &["'kv' and 'dampratio'"],
    );
}

#[test]
fn what_changes_the_mechanism_and_cannot_be_held_is_refused_by_name() {
    let cable =
        load_mjcf(&models().join("mujoco_cable/cable.xml"), &ImportOptions::default()).unwrap_err();
    assert!(
        cable.to_string().contains("composite") && cable.to_string().contains("not supported"),
        "{cable}"
    );
    for element in ["composite", "flexcomp", "replicate", "attach", "plugin"] {
        refused(
            &world(&format!("<body><{element}/></body>")),
            &["line 3", element, "not supported"],
        );
    }
    refused(&beside("<deformable/>"), &["deformable", "not supported"]);
    refused(&beside(r#"<equality><flex flex="f"/></equality>"#), &["flex", "not supported"]);
    refused(
        &beside(r#"<tendon><spatial name="t" stiffness="5"/></tendon>"#),
        &["spatial 't'", "has no path"],
    );
    refused(
        &beside(
            r#"<tendon><fixed name="t" armature="5"><joint joint="j" coef="1"/></fixed></tendon>"#,
        ),
        &["armature of fixed 't'"],
    );
    refused(
        &beside(
            r#"<tendon><spatial name="t"><site site="s"/><site site="s2"/></spatial></tendon>
            <equality><tendon tendon1="t"/></equality>"#,
        ),
        &["tendon", "spatial"],
    );
}

#[test]
fn includes_that_cannot_be_followed() {
    refused("<mujoco><include file=\"x.xml\"/></mujoco>", &["x.xml", "no file"]);
    let directory = std::env::temp_dir().join(format!("forks-include-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("sub")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    let load = |name: &str| load_mjcf(&directory.join(name), &ImportOptions::default());
    let message = |name: &str| load(name).unwrap_err().to_string();
    write("self.xml", "<mujoco>\n<include file=\"self.xml\"/></mujoco>");
    assert!(message("self.xml").contains("only once"), "{}", message("self.xml"));
    write("a.xml", "<mujoco><include file=\"b.xml\"/></mujoco>");
    write("b.xml", "<mujoco><include file=\"a.xml\"/></mujoco>");
    assert!(message("a.xml").contains("a.xml") && message("a.xml").contains("only once"));
    write("gone.xml", "<mujoco>\n<include file=\"nowhere.xml\"/></mujoco>");
    assert!(
        message("gone.xml").contains("gone.xml:2") && message("gone.xml").contains("nowhere.xml")
    );
    write("empty.xml", "<mujoco/>");
    write("hollow.xml", "<mujoco><include file=\"empty.xml\"/></mujoco>");
    assert!(message("hollow.xml").contains("no element"));
    write("full.xml", "<mujoco><include file=\"empty.xml\"><body/></include></mujoco>");
    assert!(message("full.xml").contains("children"));
    write("nameless.xml", "<mujoco><include/></mujoco>");
    assert!(message("nameless.xml").contains("'file' is missing"));
    // Errors inside an included file name that file; nested paths are relative to the main file.
    write("main.xml", "<mujoco><worldbody><include file=\"sub/list.xml\"/></worldbody></mujoco>");
    write("sub/list.xml", "<any>\n<include file=\"sub/more.xml\"/>\n<body name=\"first\"/></any>");
    write("sub/more.xml", "<any><body name=\"zeroth\"/>\n<body pos=\"x\"/></any>");
    let e = message("main.xml");
    assert!(e.contains("more.xml:2") && e.contains("pos=\"x\""), "{e}");
    write("sub/more.xml", "<any><body name=\"zeroth\"/></any>");
    let m = load("main.xml").unwrap().mechanism;
    assert_eq!(m.links()[1].name, "zeroth");
    assert_eq!(m.links()[2].name, "first");
    // Where the main file has none of that name beside it, the one beside the include counts.
    write("sub/list.xml", "<any><include file=\"more.xml\"/></any>");
    assert_eq!(load("main.xml").unwrap().mechanism.links()[1].name, "zeroth");
    write("more.xml", "<any><body name=\"nearer\"/></any>");
    assert_eq!(load("main.xml").unwrap().mechanism.links()[1].name, "nearer");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn thousands_of_nested_bodies_on_a_small_stack() {
    let n = 5000;
    let mut text = String::from("<mujoco><worldbody>");
    for _ in 0..n {
        text.push_str(r#"<body pos="0 0 .1"><frame pos="0 0 .1"><joint axis="0 1 0"/></frame><geom size=".1"/>"#);
    }
    text.push_str(&"</body>".repeat(n));
    text.push_str("</worldbody></mujoco>");
    let work = move || {
        let i = parse(&text).unwrap();
        assert_eq!(i.mechanism.tree_velocity_count(), n);
        let (written, _) = forks_import::write::write_mjcf(&i.mechanism).unwrap();
        let again = parse(&written).unwrap();
        assert_eq!(again.mechanism.links().len(), n + 1);
        // Unfinished nesting of any element ends in an error as well.
        assert!(parse(&"<default>".repeat(n)).is_err());
        let classes: String = (0..n).map(|i| format!("<default class=\"c{i}\">")).collect();
        let text =
            format!("<mujoco><default>{classes}{}</default></mujoco>", "</default>".repeat(n));
        parse(&text).unwrap();
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

/// Every prefix and many one-character changes of a model end in an answer.
#[test]
fn damaged_text_never_panics() {
    let text = std::fs::read_to_string(models().join("mujoco_small_tests/weld.xml")).unwrap();
    for n in (0..text.len()).step_by(7) {
        let _ = parse(&text[..n]);
    }
    let mut random = SplitMix64::new(1);
    for _ in 0..3000 {
        let at = random.below(text.len());
        let c = b"<>\"'/=- 019aeyz&;#"[random.below(18)];
        let mut bytes = text.clone().into_bytes();
        bytes[at] = c;
        let _ = parse(std::str::from_utf8(&bytes).unwrap());
    }
}
