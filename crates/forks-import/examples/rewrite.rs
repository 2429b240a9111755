//! Reads an MJCF file with all its includes and writes one file with the same mechanism:
//! `cargo run -p forks-import --example rewrite -- model.xml out.xml`. Notes go to standard error.

use std::path::Path;

use forks_import::{ImportOptions, load_mjcf, write::save_mjcf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("two file names are needed: the model to read and the file to write".into());
    };
    let import = load_mjcf(Path::new(&from), &ImportOptions::default())?;
    let written = save_mjcf(&import.mechanism, Path::new(&to))?;
    for note in import.notes.iter().chain(&written) {
        eprintln!("{note}");
    }
    Ok(())
}
