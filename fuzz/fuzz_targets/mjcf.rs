//! The MJCF reader: any text becomes a mechanism or an error of one line, and what is written of a
//! mechanism can be read again.
#![no_main]

use forks_import::{ImportOptions, parse_mjcf, write::write_mjcf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for lenient in [false, true] {
        let options = ImportOptions { lenient, ..ImportOptions::default() };
        match parse_mjcf(text, &options) {
            Err(e) => assert!(!e.to_string().is_empty()),
            Ok(import) => {
                let m = import.mechanism;
                let _ = m.link_poses(&m.start_positions());
                if let Ok((again, _)) = write_mjcf(&m) {
                    if let Err(e) = parse_mjcf(&again, &options) {
                        panic!("{e}\n{again}");
                    }
                }
            }
        }
    }
});
