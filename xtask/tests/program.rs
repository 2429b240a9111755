//! The program starts. CI runs its commands by the file that is built for this test.

use std::process::Command;

#[test]
fn help_names_the_commands_and_what_is_none_is_refused() {
    let xtask =
        |argument: &str| Command::new(env!("CARGO_BIN_EXE_xtask")).arg(argument).output().unwrap();
    let help = xtask("--help");
    assert!(help.status.success());
    let text = String::from_utf8(help.stdout).unwrap();
    for command in ["tidy", "validate", "bench", "sweep", "features", "ci"] {
        assert!(text.lines().any(|l| l.trim_start().starts_with(command)), "{command}: {text}");
    }
    assert_eq!(xtask("benhc").status.code(), Some(2));
}
