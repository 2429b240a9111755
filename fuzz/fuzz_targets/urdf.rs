//! The URDF reader: any text becomes a mechanism or an error, which goes on as MJCF.
#![no_main]

use forks_import::{ImportOptions, parse_urdf, write::write_mjcf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for balance_inertia in [false, true] {
        let options = ImportOptions { balance_inertia, ..ImportOptions::default() };
        match parse_urdf(text, &options) {
            Err(e) => assert!(!e.to_string().is_empty()),
            Ok(import) => {
                let m = import.mechanism;
                let _ = m.link_poses(&m.start_positions());
                let _ = write_mjcf(&m);
            }
        }
    }
});
