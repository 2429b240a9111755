//! Tables, JSON and files: what is written can be read back, what must not be written is refused.

use std::{collections::BTreeMap, fs, path::PathBuf};

use forks_io::{Align, Cell, CsvTable, IoError, TextTable, json, write_atomically};
use serde::Serialize;

#[test]
fn csv_numbers_read_back_bit_for_bit() {
    let numbers = [0.1 + 0.2, -0.0, 5e-324, f64::MAX, 1e21, 123_456_789.125, f64::MIN_POSITIVE];
    let mut t = CsvTable::new(["x"]);
    for x in numbers {
        t.push([x]).unwrap();
    }
    let read: Vec<u64> =
        t.as_str().lines().skip(1).map(|l| l.parse::<f64>().unwrap().to_bits()).collect();
    assert_eq!(read, numbers.map(f64::to_bits));
    assert_eq!(t.row_count(), numbers.len());
}

#[test]
fn csv_quotes_what_would_break_a_row() {
    let mut t = CsvTable::new(["a, b", "plain"]);
    t.push([Cell::from("say \"hi\""), Cell::Empty]).unwrap();
    t.push([Cell::from("two\nlines"), Cell::from(3usize)]).unwrap();
    t.push([Cell::from(" blank"), Cell::from(Some(0.5))]).unwrap();
    assert_eq!(t.as_str(), "\"a, b\",plain\n\"say \"\"hi\"\"\",\n\"two\nlines\",3\n blank,0.5\n");
}

#[test]
fn csv_refuses_bad_rows_and_stays_as_it_was() {
    let mut t = CsvTable::new(["t (s)", "x (m)"]);
    t.push([0.0, 1.0]).unwrap();
    let before = t.clone();
    let e = t.push([1.0, f64::NAN]).unwrap_err();
    assert_eq!(e.to_string(), "column 'x (m)', row 1 is NaN, not a finite number");
    let e = t.push([1.0]).unwrap_err();
    assert_eq!(e.to_string(), "row 1 has 1 cells, the table has 2 columns");
    assert_eq!(t, before);
}

#[derive(Serialize)]
struct Report {
    name: &'static str,
    line: Option<usize>,
    matrix: Vec<[f64; 2]>,
    by_name: BTreeMap<String, Part>,
}

#[derive(Serialize)]
enum Part {
    Unit,
    Named { single: f32 },
    Wrapped(f64),
    Pair(f64, f64),
}

fn report() -> Report {
    Report {
        name: "r",
        line: None,
        matrix: vec![[0.0, 0.1], [1e-300, -2.0]],
        by_name: BTreeMap::new(),
    }
}

#[test]
fn json_is_plain_json() {
    let mut r = report();
    r.by_name.insert("a".into(), Part::Unit);
    let text = json::to_string(&r).unwrap();
    assert_eq!(
        text,
        r#"{"name":"r","line":null,"matrix":[[0.0,0.1],[1e-300,-2.0]],"by_name":{"a":"Unit"}}"#
    );
    let pretty: serde_json::Value =
        serde_json::from_str(&json::to_string_pretty(&r).unwrap()).unwrap();
    assert_eq!(pretty, serde_json::from_str::<serde_json::Value>(&text).unwrap());
}

#[test]
fn json_names_the_field_that_is_not_finite() {
    let place = |r: &Report| match json::to_string(r).unwrap_err() {
        IoError::NotFinite { place, .. } => place,
        other => panic!("{other}"),
    };
    let mut r = report();
    r.matrix[1][0] = f64::INFINITY;
    assert_eq!(place(&r), "matrix[1][0]");
    for (part, expected) in [
        (Part::Named { single: f32::NAN }, "by_name.k.Named.single"),
        (Part::Wrapped(f64::NAN), "by_name.k.Wrapped"),
        (Part::Pair(0.0, f64::NEG_INFINITY), "by_name.k.Pair[1]"),
    ] {
        let mut r = report();
        r.by_name.insert("k".into(), part);
        // Enum variants are part of the JSON as `{"Variant": …}`, so they are part of the path.
        assert_eq!(place(&r), expected);
    }
    assert!(matches!(
        json::to_string(&f64::NAN).unwrap_err(),
        IoError::NotFinite { place, .. } if place == "the value"
    ));
}

#[test]
fn json_refuses_maps_without_names() {
    let map: BTreeMap<[u8; 2], u8> = [([1, 2], 3)].into();
    assert!(matches!(json::to_string(&map), Err(IoError::Json { .. })));
}

#[test]
fn text_tables_align_by_characters_and_escape_control() {
    let mut t = TextTable::new().column("größe", Align::Left).column("n", Align::Right);
    t.push(["a\tb", "10"]).push(["äöü"]).push(["x", "1", "too much"]);
    assert_eq!(t.to_string(), "größe   n\n-----  --\na\\tb   10\näöü\nx       1\n");
    assert_eq!(t.row_count(), 3);
}

/// A directory of this test's own.
fn scratch(name: &str) -> PathBuf {
    let d = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&d);
    d
}

#[test]
fn files_are_replaced_whole_and_leave_no_rest() {
    let d = scratch("replaced");
    let file = d.join("deep/er.csv");
    write_atomically(&file, b"first, and longer").unwrap();
    let mut t = CsvTable::new(["x"]);
    t.push([1.5]).unwrap();
    t.save(&file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n1.5\n");
    json::save(&file, &[1, 2]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "[1,2]\n");
    assert_eq!(fs::read_dir(d.join("deep")).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn a_failed_write_names_the_file_and_leaves_no_rest() {
    let d = scratch("failed");
    fs::create_dir_all(d.join("taken")).unwrap();
    let e = write_atomically(&d.join("taken"), b"x").unwrap_err();
    assert!(e.to_string().contains("taken"), "{e}");
    assert_eq!(fs::read_dir(&d).unwrap().count(), 1, "no temporary file stays");
    fs::write(d.join("file"), "x").unwrap();
    assert!(write_atomically(&d.join("file/below"), b"x").is_err());
    assert!(write_atomically("..".as_ref(), b"x").is_err());
}
