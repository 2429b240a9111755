//! Superelements as JSON, and from matrices of other programs.

use forks_condense::{
    CondenseError, MatrixMarket,
    deform::dynamics::mechanism::SuperelementError,
    reduce::{Problem, ProblemOptions, ReduceError},
    superelement_from_file, superelement_from_json, superelement_from_matrices,
    superelement_to_json,
};

use crate::support::*;

#[test]
fn json_is_read_back() {
    let f = small().build().unwrap();
    let c = at_rest(&f, std::slice::from_ref(&f.pad), 3);
    let text = superelement_to_json(&c.element, &f.mechanism).unwrap();
    let read = superelement_from_json(&text, &f.mechanism).unwrap();
    assert_eq!((&read.name, &read.frames), (&c.element.name, &c.element.frames));
    assert_eq!(read.damping, c.element.damping);
    for (a, b) in read.forces.iter().zip(&c.element.forces) {
        for (a, b) in a.to_array().into_iter().zip(b.to_array()) {
            assert!((a - b).abs() <= 4.0 * f64::EPSILON * b.abs());
        }
    }
    for (a, b) in [
        (&read.stiffness, &c.element.stiffness),
        (&read.output_map, &c.element.output_map),
        (&read.output_compliance, &c.element.output_compliance),
        (&read.mass, &c.element.mass),
    ] {
        // Digits are read to an ulp.
        assert!(difference(a, b) < 4.0 * f64::EPSILON);
    }
    for (a, b) in read.modes.iter().zip(&c.element.modes) {
        assert!((a / b - 1.0).abs() < 4.0 * f64::EPSILON);
    }
}

#[test]
fn json_says_what_is_wrong() {
    let f = small().build().unwrap();
    let c = at_rest(&f, &[], 0);
    let text = superelement_to_json(&c.element, &f.mechanism).unwrap();
    let other = text.replace("bone1", "thumb");
    let found = superelement_from_json(&other, &f.mechanism);
    assert!(matches!(found, Err(CondenseError::UnknownLink { name }) if name == "thumb"));
    let found = superelement_from_json("{\"name\": 3}", &f.mechanism);
    assert!(matches!(found, Err(CondenseError::Json(_))));
    let found = superelement_from_json(
        &text.replacen("\"stiffness\":[[", "\"stiffness\":[[1.0,", 1),
        &f.mechanism,
    );
    assert!(matches!(found, Err(CondenseError::Json(m)) if m.contains("row 1 of stiffness")));
}

/// What is left out is zero; numbers that cannot be are refused where they are used.
#[test]
fn a_spring_by_hand() {
    let f = small().build().unwrap();
    let rows = |k: f64| {
        let row = |i: usize| {
            let x: Vec<String> =
                (0..6).map(|j| if i == j { k.to_string() } else { "0".into() }).collect();
            format!("[{}]", x.join(","))
        };
        (0..6).map(row).collect::<Vec<_>>().join(",")
    };
    let text = format!(
        "{{\"name\": \"post\", \"frames\": [{{\"link\": \"bone2\"}}], \"stiffness\": [{}]}}",
        rows(1.0)
    );
    let e = superelement_from_json(&text, &f.mechanism).unwrap();
    // One frame alone: any stiffness resists rigid motions.
    let options = ProblemOptions::default();
    let found = Problem::with_superelements(&f.mechanism, vec![e], &["bone2"], &options);
    let Err(ReduceError::Superelement(SuperelementError::Rigid { motion: 0, .. })) = found else {
        panic!("{:?}", found.map(|_| ()));
    };
    let zero = superelement_from_json(&text.replace(&rows(1.0), &rows(0.0)), &f.mechanism).unwrap();
    Problem::with_superelements(&f.mechanism, vec![zero], &["bone2"], &options).unwrap();
}

/// The finger's stiffness, mass and interface as another program would write them.
fn matrix_files(f: &forks_condense::finger::BuiltFinger) -> [String; 3] {
    let x = f.body.mesh().nodes();
    let k = stiffness(&f.body, x);
    let n = k.rows();
    let entries: Vec<String> = (0..n)
        .flat_map(|j| (j..n).map(move |i| (i, j)))
        .filter(|(i, j)| k[(*i, *j)] != 0.0)
        .map(|(i, j)| format!("{} {} {:?}", i + 1, j + 1, k[(i, j)]))
        .collect();
    let header = "%%MatrixMarket matrix coordinate real";
    let stiffness = format!(
        "{header} symmetric\n% a finger\n{n} {n} {}\n{}\n",
        entries.len(),
        entries.join("\n")
    );
    let mass: Vec<String> = (0..n)
        .filter(|i| f.body.holder(i / 3).is_none())
        .map(|i| format!("{} {} {:?}", i + 1, i + 1, f.body.masses()[i / 3]))
        .collect();
    let mass = format!("{header} general\n{n} {n} {}\n{}\n", mass.len(), mass.join("\n"));
    let list: Vec<String> = (0..x.len())
        .filter_map(|i| {
            let link = f.body.holder(i)?;
            let name = &f.mechanism.link(link).name;
            Some(format!("{name} {} {:?} {:?} {:?}", 3 * i + 1, x[i].x, x[i].y, x[i].z))
        })
        .collect();
    [stiffness, mass, format!("# link dof x y z\n{}\n", list.join("\n"))]
}

/// The finger's own matrices through Matrix Market: the same superelement, from files too.
#[test]
fn matrices_of_another_program() {
    let f = small().build().unwrap();
    let c = at_rest(&f, &[], 4);
    let [k, m, list] = matrix_files(&f);
    let (stiffness, mass) = (MatrixMarket::parse(&k).unwrap(), MatrixMarket::parse(&m).unwrap());
    let e =
        superelement_from_matrices("finger", &f.mechanism, &stiffness, &mass, &list, 4).unwrap();
    assert_eq!(e.frames, c.element.frames);
    assert!(difference(&e.stiffness, &c.element.stiffness) < 1e-11);
    assert!(difference(&e.mass.block(0, 0, 24, 24), &c.element.mass.block(0, 0, 24, 24)) < 1e-11);
    for k in 0..4 {
        let square = |e: &forks_condense::deform::dynamics::mechanism::Superelement| {
            e.modes[k] / e.mass[(24 + k, 24 + k)]
        };
        assert!((square(&e) / square(&c.element) - 1.0).abs() < 1e-8, "{k}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("K.mtx"), &k).unwrap();
    std::fs::write(file("M.mtx"), &m).unwrap();
    std::fs::write(file("nodes.txt"), &list).unwrap();
    let names = "name = 'finger'\nstiffness = 'K.mtx'\nmass = 'M.mtx'\ninterface = 'nodes.txt'\n";
    std::fs::write(file("finger.toml"), format!("{names}modes = 4\n")).unwrap();
    assert_eq!(superelement_from_file(&file("finger.toml"), &f.mechanism).unwrap(), e);
    let json = superelement_to_json(&e, &f.mechanism).unwrap();
    std::fs::write(file("finger.json"), json).unwrap();
    let read = superelement_from_file(&file("finger.json"), &f.mechanism).unwrap();
    assert_eq!(read.stiffness, e.stiffness);
    // What is wrong is said with the file that it is in.
    let said = |at: &str| match superelement_from_file(&file(at), &f.mechanism) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("{at} was taken"),
    };
    std::fs::write(file("M.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 x\n")
        .unwrap();
    let mass = said("finger.toml");
    assert!(mass.contains("M.mtx: line 3: 'x'"), "{mass}");
    std::fs::write(file("M.mtx"), &m).unwrap();
    std::fs::write(file("nodes.txt"), "bone9 1 0 0 0\n").unwrap();
    let link = said("finger.toml");
    assert!(link.contains("nodes.txt: there is no link named 'bone9'"), "{link}");
    std::fs::write(file("finger.toml"), "name = 'finger'\n").unwrap();
    assert!(said("finger.toml").contains("stiffness"));
    assert!(said("missing.json").contains("missing.json"));
}

#[test]
fn matrix_market_says_the_line() {
    let line = |text: &str| match MatrixMarket::parse(text) {
        Err(CondenseError::Syntax { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(""), 1);
    assert_eq!(line("1 2 3"), 1);
    assert_eq!(line("%%MatrixMarket matrix coordinate complex general\n1 1 0"), 1);
    assert_eq!(line("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0"), 3);
    assert_eq!(line("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan"), 3);
    assert_eq!(line("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0"), 2);
    let array = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    let read = MatrixMarket::parse(array).unwrap();
    assert_eq!(read.entries, [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 3.0)]);
}
