//! Where mesh files are looked for, and what happens where they are missing or broken.

use crate::support;

use forks_import::mechanism::lie::SplitMix64;
use forks_import::{Effect, ImportOptions, load_mjcf, parse_mjcf};
use support::mesh::{Files, LEGACY, faces, msh, obj, stl};
use support::{about, noted};

#[test]
fn files_are_found_as_the_compiler_says() {
    let files = Files::new("paths");
    files.write("parts/l.obj", &obj(&faces()));
    std::fs::remove_file(files.0.join("l.obj")).unwrap();
    for (compiler, file) in [
        (r#"meshdir="parts""#, "l.obj"),
        (r#"assetdir="parts""#, "l.obj"),
        (r#"assetdir="elsewhere" meshdir="parts""#, "l.obj"),
        (r#"meshdir="parts" strippath="true""#, "some/where/l.obj"),
        ("", "parts/l.obj"),
    ] {
        let mesh = format!(r#"file="{file}""#);
        let around = format!("<compiler {compiler}/>");
        let i = files.load(&mesh, r#"type="mesh" contype="0" conaffinity="0""#, &around).unwrap();
        about(i.mechanism.total_mass(), LEGACY[0], 1e-5);
        assert!(i.notes.is_empty(), "{compiler}: {:?}", i.notes);
    }
    // Without a name a mesh is called as its file.
    let text = r#"<mujoco><asset><mesh file="parts/l.obj"/></asset><worldbody>
        <body><freejoint/><geom type="mesh" mesh="l"/></body></worldbody></mujoco>"#;
    files.write("model.xml", text.as_bytes());
    load_mjcf(&files.0.join("model.xml"), &ImportOptions::default()).unwrap();
}

#[test]
fn missing_files_are_notes_unless_a_moving_body_needs_them() {
    let files = Files::new("missing");
    let e = files.load(r#"file="gone.stl""#, r#"type="mesh""#, "").unwrap_err().to_string();
    for part in ["model.xml:2", "geom 'g'", "body 'b'", "gone.stl", "inertial"] {
        assert!(e.contains(part), "'{part}' is not in {e}");
    }
    for geom in [r#"type="mesh" mass="0""#, r#"type="mesh" group="3""#] {
        let text = format!(
            r#"<mujoco><compiler inertiagrouprange="0 2"/><asset><mesh name="m" file="gone.obj"/>
            <hfield name="h" file="gone.png" size="1 1 1 1"/><texture name="t" file="gone.png"/></asset><worldbody>
            <geom type="hfield" hfield="h"/><geom type="mesh" mesh="m"/>
            <body><freejoint/><geom size=".1"/><geom mesh="m" {geom}/></body></worldbody></mujoco>"#
        );
        files.write("model.xml", text.as_bytes());
        let i = load_mjcf(&files.0.join("model.xml"), &ImportOptions::default()).unwrap();
        for (element, attribute) in [
            ("mesh 'm'", "file"),
            ("hfield 'h'", "file"),
            ("texture 't'", "file"),
            ("geom", "mesh"),
        ] {
            assert_eq!(noted(&i, element, attribute).effect, Effect::Ignored);
        }
        assert!(noted(&i, "mesh 'm'", "file").reason.contains("gone.obj"));
        about(i.mechanism.total_mass(), 4.1887902, 1e-7);
    }
    // Where leaving out is asked for, the mass is a note too.
    files.load(r#"file="gone.stl""#, r#"type="mesh""#, "").unwrap_err();
    let lenient = ImportOptions { lenient: true, ..Default::default() };
    let text = std::fs::read_to_string(files.0.join("model.xml")).unwrap();
    let i = parse_mjcf(&text, &lenient).unwrap();
    assert_eq!(noted(&i, "geom 'g'", "mass").effect, Effect::Ignored);
}

#[test]
fn broken_files_are_named() {
    let files = Files::new("broken");
    files.write("short.stl", &stl()[..300]);
    files.write("short.msh", &msh()[..100]);
    files.write("bad.obj", b"v 0 0 zero\n");
    files.write("nan.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n");
    files.write("index.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 30\n");
    files.write("l.fbx", b"?");
    for (file, part) in [
        ("short.stl", "length"),
        ("short.msh", "length"),
        ("bad.obj", "line 1"),
        ("nan.obj", "vertex 0 is not finite"),
        ("index.obj", "face 0"),
        ("l.fbx", "formats"),
    ] {
        let e = files.load(&format!(r#"file="{file}""#), r#"type="mesh""#, "").unwrap_err();
        let e = e.to_string();
        assert!(e.contains(file) && e.contains(part) && !e.contains('\n'), "{e}");
    }
}

/// Damaged files end in an answer.
#[test]
fn damaged_files_never_panic() {
    let files = Files::new("damaged");
    let mut random = SplitMix64::new(1);
    let mut next = |n: usize| random.below(n);
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in [("d.stl", stl()), ("d.obj", obj(&faces())), ("d.msh", msh())] {
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + next(3) {
                let at = next(damaged.len());
                damaged[at] = next(256) as u8;
            }
            damaged.truncate(if next(8) == 0 { next(bytes.len()) } else { bytes.len() });
            files.write(name, &damaged);
            for rule in ["convex", "legacy"] {
                let mesh = format!(r#"file="{name}" inertia="{rule}""#);
                match files.load(&mesh, r#"type="mesh""#, "") {
                    Ok(i) => {
                        assert!(i.mechanism.total_mass().is_finite());
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(read > 25 && refused > 25, "{read} read, {refused} refused");
}

#[test]
fn assets_that_do_not_fit() {
    let files = Files::new("assets");
    for (mesh, around, part) in [
        (r#"file="l.obj" scale="1 2""#, "", "scale"),
        (r#"file="l.obj" refquat="0 0 0 0""#, "", "refquat"),
        (r#"file="l.obj" inertia="guess""#, "", "guess"),
        ("", "", "'file' is missing"),
        (r#"builtin="sphere" params="2""#, "", "builtin"),
        (r#"file="l.obj""#, r#"<asset><mesh name="m" file="l.stl"/></asset>"#, "mesh name 'm'"),
        (r#"file="l.obj" colour="1""#, "", "colour"),
    ] {
        let e = files.load(mesh, r#"type="mesh""#, around).unwrap_err().to_string();
        assert!(e.contains(part), "{mesh}: {e}");
    }
    let e = files.load(r#"file="l.obj""#, r#"type="mesh" mesh="none""#, "").err();
    assert!(e.is_some());
    let hull = r#"file="l.obj" inertia="convex" maxhullvert="5""#;
    let i = files.load(hull, r#"type="mesh""#, "").unwrap();
    assert_eq!(noted(&i, "mesh 'm'", "maxhullvert").effect, Effect::Approximated);
}
