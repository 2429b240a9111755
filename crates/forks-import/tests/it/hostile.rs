//! Broken and hostile files in both formats: the right model, or one sentence with file, line,
//! element, attribute and value; never a crash, a hang or a file read that nobody asked for.

use crate::support;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use forks_import::mechanism::{
    Mechanism,
    lie::{
        SplitMix64,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_import::{
    Import, ImportError, ImportOptions, load_model, parse_mjcf, parse_urdf, write::write_mjcf,
};

const UNIT: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;

fn urdf(text: &str) -> Result<Import, ImportError> {
    parse_urdf(text, &ImportOptions::default())
}

fn mjcf(text: &str) -> Result<Import, ImportError> {
    parse_mjcf(text, &ImportOptions::default())
}

/// One line that has all these words.
fn refused(result: Result<Import, ImportError>, words: &[&str]) {
    let message = result.expect_err(words.first().unwrap_or(&"")).to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    for w in words {
        assert!(message.contains(w), "'{w}' is not in: {message}");
    }
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let d = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    std::fs::create_dir_all(&d).unwrap();
    std::fs::write(d.join(name), bytes).unwrap();
    d.join(name)
}

/// Runs on a stack of 2 MB, as the main thread of some systems has it.
fn on_a_small_stack(f: impl FnOnce() + Send) {
    std::thread::scope(|s| {
        let t = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(s, f).unwrap();
        t.join().unwrap();
    });
}

/// Hinges in a row, each body inside the one before.
fn nested_mjcf(n: usize) -> String {
    let mut text = String::from("<mujoco><worldbody>");
    for i in 0..n {
        text += &format!(
            "<body name=\"b{i}\" pos=\"0.1 0 0\"><joint axis=\"0 1 0\"/><inertial pos=\"0.05 0 0\" \
            mass=\"1\" diaginertia=\"1 1 1\"/>\n"
        );
    }
    text + &"</body>".repeat(n) + "</worldbody></mujoco>"
}

fn chain_urdf(n: usize) -> String {
    let mut text = String::from("<robot name=\"r\">");
    for i in 0..=n {
        text += &format!("<link name=\"l{i}\">{UNIT}</link>\n");
    }
    // From the outside inwards: the order of the file is not that of the tree.
    for i in (0..n).rev() {
        text += &format!(
            "<joint name=\"j{i}\" type=\"continuous\"><parent link=\"l{i}\"/><child \
            link=\"l{}\"/><axis xyz=\"0 1 0\"/><origin xyz=\"0.1 0 0\"/></joint>\n",
            i + 1
        );
    }
    text + "</robot>"
}

/// B42: entities are never expanded, files that they name never read; under 1 KB each.
#[test]
fn b42_entities_are_refused() {
    let mut bomb = String::from("<!DOCTYPE r [<!ENTITY a0 \"0 0 0 \">");
    for i in 1..=5 {
        let before = format!("&a{};", i - 1).repeat(10);
        bomb += &format!("<!ENTITY a{i} \"{before}\">");
    }
    bomb += "]>\n";
    let secret = file("secret.txt", b"0.25 0 0");
    let external = format!("\n<!DOCTYPE r [<!ENTITY f SYSTEM \"file://{}\">]>\n", secret.display());
    assert!(bomb.len() < 1024 && external.len() < 1024);
    let robot = |e: &str| {
        format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/><joint name=\"j\" \
            type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/><origin \
            xyz=\"&{e};\"/></joint></robot>"
        )
    };
    let model = |e: &str| format!("<mujoco><worldbody><body pos=\"&{e};\"/></worldbody></mujoco>");
    for (head, entity) in [(&bomb, "a5"), (&external, "f")] {
        let words = ["document type definition", "not allowed"];
        refused(urdf(&(head.clone() + &robot(entity))), &words);
        refused(mjcf(&(head.clone() + &model(entity))), &words);
    }
    let path = file("entity.urdf", (external + &robot("f")).as_bytes());
    refused(
        load_model(&path, &ImportOptions::default()),
        &["entity.urdf:2", "document type definition"],
    );
    // Without a definition an entity is unknown; the five of XML and characters by number are text.
    refused(urdf(&robot("a5")), &["line 1", "not valid XML"]);
    let text = "<robot name=\"a&lt;b&#x41;&amp;\"><link name=\"l\"/></robot>";
    assert_eq!(urdf(text).unwrap().mechanism.name(), "a<bA&");
}

#[test]
fn five_thousand_bodies_on_a_small_stack() {
    on_a_small_stack(|| {
        let n = 5000;
        for m in [mjcf(&nested_mjcf(n)), urdf(&chain_urdf(n))] {
            let m = m.unwrap().mechanism;
            assert_eq!(m.tree_velocity_count(), n);
            let tip = m.link_poses(&m.start_positions()).last().unwrap().translation;
            assert!((tip.x - 0.1 * n as f64).abs() < 1e-9 * n as f64, "{tip}");
            let (text, _) = write_mjcf(&m).unwrap();
            assert_eq!(mjcf(&text).unwrap().mechanism.tree_velocity_count(), n);
        }
    });
}

/// Elements that nest without meaning anything, a hundred thousand deep, closed or not.
#[test]
fn deep_elements_on_a_small_stack() {
    on_a_small_stack(|| {
        let n = 100_000;
        let (open, close) = ("<a>".repeat(n), "</a>".repeat(n));
        // URDF is extended at will: what is unknown is noted.
        let i =
            urdf(&format!("<robot name=\"r\"><link name=\"l\"/>{open}{close}</robot>")).unwrap();
        assert_eq!(i.notes.len(), 1);
        refused(mjcf(&format!("<mujoco>{open}{close}</mujoco>")), &["element 'a' is not known"]);
        refused(urdf(&format!("<robot name=\"r\">{open}")), &["not valid XML"]);
        refused(mjcf(&format!("<mujoco><worldbody>{}", "<body>".repeat(n))), &["not valid XML"]);
        refused(
            mjcf(&format!("<mujoco><default>{}", "<default class=\"c\">".repeat(n))),
            &["not valid XML"],
        );
        let frames = format!(
            "<mujoco><worldbody>{}<body name=\"b\"/>{}</worldbody></mujoco>",
            "<frame pos=\"1 0 0\">".repeat(n),
            "</frame>".repeat(n)
        );
        let m = mjcf(&frames).unwrap().mechanism;
        assert_eq!(m.link_poses(&m.start_positions())[1].translation, DVec3::X * n as f64);
    });
}

/// A file of 100 MB is refused by its size, unread; a stream that does not end is refused when it
/// has gone too far.
#[test]
fn files_of_a_hundred_megabytes() {
    let path = file("large.urdf", b"");
    let large = std::fs::File::options().write(true).open(&path).unwrap();
    // A sparse file: it takes no room on the disk.
    large.set_len(100 << 20).unwrap();
    let started = Instant::now();
    refused(load_model(&path, &ImportOptions::default()), &["large.urdf", "larger than 64 MiB"]);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    std::fs::remove_file(path).unwrap();
    let endless = Path::new("/dev/zero");
    if endless.exists() {
        refused(
            load_model(endless, &ImportOptions::default()),
            &["/dev/zero", "larger than 64 MiB"],
        );
    }
}

/// A file of legal size with more elements than any model has: some gigabytes of them if it were
/// read.
#[test]
fn files_of_millions_of_elements() {
    let text = format!("<mujoco><worldbody>{}</worldbody></mujoco>", "<a/>".repeat(5_000_000));
    refused(mjcf(&text), &["not valid XML", "more than 4000000 elements"]);
}

#[test]
fn bytes_that_are_no_text() {
    let options = ImportOptions::default();
    let bad = file("latin.urdf", b"<robot name=\"caf\xe9\"><link name=\"a\"/></robot>");
    refused(load_model(&bad, &options), &["latin.urdf", "not UTF-8", "byte 16"]);
    refused(load_model(&file("empty.urdf", b""), &options), &["empty.urdf", "not valid XML"]);
    let nul = file("nul.urdf", b"<robot name=\"r\">\n<link name=\"a\0b\"/></robot>");
    refused(load_model(&nul, &options), &["nul.urdf:2", "not valid XML"]);
    let nul = file("nul.xml", b"<mujoco>\n\0<worldbody/></mujoco>");
    refused(load_model(&nul, &options), &["nul.xml:2", "not valid XML"]);
    let after = file("after.urdf", b"<robot name=\"r\"><link name=\"a\"/></robot>\r\n\0\0");
    assert_eq!(load_model(&after, &options).unwrap().mechanism.links().len(), 2);
    let utf16: Vec<u8> = "<robot/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(load_model(&file("wide.urdf", &utf16), &options), &["wide.urdf"]);
    refused(
        load_model(Path::new("no such file.urdf"), &options),
        &["no such file.urdf", "cannot read"],
    );
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    refused(load_model(directory, &options), &["cannot read"]);
}

/// B08, B36: numbers that are none, or cannot be; each named with line, element, attribute and
/// value.
#[test]
fn b08_numbers_in_every_place() {
    const BAD: [&str; 6] = ["nan", "inf", "-inf", "1e400", "1,5", "-1.57."];
    let robot =
        |mass: &str, ixx: &str, xyz: &str, axis: &str, lower: &str, damping: &str, offset: &str| {
            format!(
                "<robot name=\"r\"><link name=\"a\"/>\n<link name=\"b\"><inertial><mass \
            value=\"{mass}\"/><inertia ixx=\"{ixx}\" iyy=\"1\" \
            izz=\"1\"/></inertial></link>\n<link name=\"c\">{UNIT}</link>\n<joint name=\"j\" \
            type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><origin xyz=\"{xyz}\"/><axis \
            xyz=\"{axis}\"/><limit lower=\"{lower}\" upper=\"9\"/><dynamics \
            damping=\"{damping}\"/></joint>\n<joint name=\"k\" type=\"continuous\"><parent \
            link=\"b\"/><child link=\"c\"/><mimic joint=\"j\" offset=\"{offset}\"/></joint></robot>"
            )
        };
    let good = ["1", "1", "0 0 0", "0 0 1", "-1", "0", "0"];
    let with = |i: usize, text: &str| {
        let mut v = good;
        v[i] = text;
        urdf(&robot(v[0], v[1], v[2], v[3], v[4], v[5], v[6]))
    };
    with(0, "1").unwrap();
    let places = [
        ("line 2", "mass", "value"),
        ("line 2", "inertia", "ixx"),
        ("line 4", "origin", "xyz"),
        ("line 4", "axis", "xyz"),
        ("line 4", "limit", "lower"),
        ("line 4", "dynamics", "damping"),
        ("line 5", "mimic", "offset"),
    ];
    for (i, (line, element, attribute)) in places.into_iter().enumerate() {
        for bad in BAD {
            let text = if (2..4).contains(&i) { format!("0 {bad} 1") } else { bad.to_owned() };
            refused(with(i, &text), &[line, element, attribute, bad]);
        }
    }
    refused(with(0, "-3"), &["line 2", "mass", "value=\"-3\"", "negative"]);
    refused(with(1, "-3"), &["line 2", "link 'b'", "-3"]);
    refused(with(5, "-3"), &["line 4", "dynamics", "damping=\"-3\"", "negative"]);

    let model = |joint: &str| {
        mjcf(&format!(
            "<mujoco><worldbody>\n<body name=\"b\"><joint name=\"j\" {joint}/><inertial pos=\"0 0 \
            0\" mass=\"1\" diaginertia=\"1 1 1\"/></body></worldbody></mujoco>"
        ))
    };
    model("stiffness=\"3\"").unwrap();
    for attribute in ["stiffness", "damping", "armature", "springref", "ref"] {
        for bad in BAD {
            refused(
                model(&format!("{attribute}=\"{bad}\"")),
                &["line 2", "joint 'j'", attribute, bad],
            );
        }
    }
    for attribute in ["stiffness", "damping", "armature"] {
        refused(
            model(&format!("{attribute}=\"-3\"")),
            &["line 2", "joint 'j'", attribute, "-3", "negative"],
        );
    }
}

/// Numbers so large that products overflow are refused or stay finite; never NaN in a pose.
#[test]
fn numbers_that_overflow() {
    let at = |x: &str| {
        urdf(&format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/><link name=\"c\"/><joint \
            name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/><origin xyz=\"{x} 0 \
            0\"/></joint><joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child \
            link=\"c\"/><origin xyz=\"{x} 0 0\" rpy=\"0 0 1e308\"/></joint></robot>"
        ))
    };
    for x in ["1e308", "1e-320", "-0"] {
        if let Ok(i) = at(x) {
            let poses = i.mechanism.link_poses(&[]);
            assert!(poses.iter().all(|p| !p.rotation.is_nan()), "{x}");
        }
    }
    let axis = |x: &str| {
        urdf(&format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\">{UNIT}</link><joint name=\"j\" \
            type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 {x} \
            0\"/></joint></robot>"
        ))
    };
    assert_eq!(
        axis("1e-5").unwrap().mechanism.joints()[1].columns(&[0.0]).as_slice()[0].angular,
        DVec3::Y
    );
    for x in ["1e-300", "1e300"] {
        // Squares over- or underflow: no direction can be told.
        refused(axis(x), &["joint 'j'", x, "no direction"]);
    }
}

#[test]
fn names_given_twice() {
    refused(
        mjcf("<mujoco><worldbody><body name=\"a\"/>\n<body name=\"a\"/></worldbody></mujoco>"),
        &["line 2", "body", "'a'", "twice"],
    );
    refused(
        urdf("<robot name=\"r\"><link name=\"a\"/>\n<link name=\"a\"/></robot>"),
        &["line 2", "link", "'a'", "twice"],
    );
    // In XML itself: the same attribute twice.
    refused(
        urdf("<robot name=\"r\"><link name=\"a\" name=\"b\"/></robot>"),
        &["not valid XML", "name"],
    );
}

/// Massless moving ends: MJCF refuses as MuJoCo does; URDF files are full of them, so they are
/// noted.
#[test]
fn b20_massless_leaves() {
    refused(
        mjcf("<mujoco><worldbody>\n<body name=\"a\"><joint/></body></worldbody></mujoco>"),
        &["line 2", "body 'a'", "no mass"],
    );
    let i = urdf(
        "<robot name=\"r\"><link name=\"a\"/>\n<link name=\"b\"/><joint name=\"j\" \
        type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>",
    )
    .unwrap();
    let note = i.notes[0].to_string();
    assert!(note.contains("2: link 'b', inertial") && note.contains("no mass"), "{note}");
}

/// Quaternions evenly over all rotations, by a fixed generator.
fn rotations() -> impl Iterator<Item = DQuat> {
    let mut random = SplitMix64::new(0);
    let mut next = move || random.range(-1.0, 1.0);
    std::iter::from_fn(move || {
        loop {
            let q = DQuat::from_xyzw(next(), next(), next(), next());
            if (0.01..1.0).contains(&q.length_squared()) {
                return Some(q.normalize());
            }
        }
    })
}

/// B23: flat plates, where A + B = C up to rounding, in 200 random frames, thin and square, with
/// all their digits and with nine; a tensor that misses by more is refused, and balanced when that
/// is asked for.
#[test]
fn b23_flat_plates_load_in_any_frame() {
    for (n, q) in rotations().take(200).enumerate() {
        let (a, b) = (1e-3 * (1 + n % 7) as f64, 2.5e-4 * (1 + n % 3) as f64);
        let r = DMat3::from_quat(q);
        let t = r * DMat3::from_diagonal(DVec3::new(a, b, a + b)) * r.transpose();
        let e = [t.x_axis.x, t.y_axis.y, t.z_axis.z, t.y_axis.x, t.z_axis.x, t.z_axis.y];
        for digits in [16, 8] {
            let w = e.map(|x| format!("{x:.digits$e}"));
            let robot = format!(
                "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"0.5\"/><inertia \
                ixx=\"{}\" iyy=\"{}\" izz=\"{}\" ixy=\"{}\" ixz=\"{}\" \
                iyz=\"{}\"/></inertial></link></robot>",
                w[0], w[1], w[2], w[3], w[4], w[5]
            );
            let model = format!(
                "<mujoco><worldbody><body><joint/><inertial pos=\"0 0 0\" mass=\"0.5\" \
                fullinertia=\"{}\"/></body></worldbody></mujoco>",
                w.join(" ")
            );
            for i in [urdf(&robot), mjcf(&model)] {
                let i = i.unwrap_or_else(|e| panic!("{n} {digits}: {e}"));
                let read = i.mechanism.links()[1].inertia;
                assert!(i.notes.is_empty(), "{:?}", i.notes);
                assert!(read.inertia.abs_diff_eq(t, 1e-8 * (a + b)), "{n}");
            }
        }
    }
    let bad = "<robot name=\"r\">\n<link name=\"a\"><inertial><mass value=\"1\"/><inertia \
        ixx=\"1\" iyy=\"1\" izz=\"2.00001\"/></inertial></link><link name=\"base\"/><joint \
        name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"a\"/></joint></robot>";
    refused(urdf(bad), &["line 2", "link 'a'", "2.00001", "A + B >= C"]);
    let balanced = ImportOptions { balance_inertia: true, ..Default::default() };
    let i = parse_urdf(bad, &balanced).unwrap();
    let mean = (2.0 + 2.00001) / 3.0;
    assert!(
        i.mechanism.links()[2]
            .inertia
            .inertia
            .abs_diff_eq(DMat3::from_diagonal(DVec3::splat(mean)), 1e-15)
    );
}

/// B26: 654 t beside 1 mg: masses and inertias stay what they are, to the last digit.
#[test]
fn b26_extreme_mass_ratios() {
    let link = |n: &str, m: &str, i: &str| {
        format!(
            "<link name=\"{n}\"><inertial><mass value=\"{m}\"/><inertia ixx=\"{i}\" iyy=\"{i}\" \
            izz=\"{i}\"/></inertial></link>"
        )
    };
    let text = format!(
        "<robot name=\"r\">{}{}{}<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child \
        link=\"b\"/><axis xyz=\"0 1 0\"/></joint><joint name=\"k\" type=\"continuous\"><parent \
        link=\"b\"/><child link=\"c\"/><axis xyz=\"0 1 0\"/><origin xyz=\"1 0 \
        0\"/></joint></robot>",
        link("a", "1", "1"),
        link("b", "1e-6", "1e-12"),
        link("c", "654498", "1e6")
    );
    let i = urdf(&text).unwrap();
    let masses: Vec<f64> = i.mechanism.links()[1..].iter().map(|l| l.inertia.mass).collect();
    assert_eq!(masses, [1.0, 1e-6, 654498.0]);
    let m: &Mechanism = &i.mechanism;
    let mass = support::mass_matrix(m, &[0.0, 0.0]);
    // M₁₁ = I_b + I_c + m_c l², M₁₂ = M₂₂ = I_c.
    assert_eq!((mass[(0, 1)], mass[(1, 1)]), (1e6, 1e6));
    assert!((mass[(0, 0)] - 1_654_498.0).abs() < 1e-9);
}
