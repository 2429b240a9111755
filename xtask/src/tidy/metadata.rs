//! What `cargo metadata` says about packages and their dependencies.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

/// The packages of the dependency graph, for the platform that runs this.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    workspace_members: Vec<String>,
}

/// A package.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) rust_version: Option<String>,
    pub(super) manifest_path: PathBuf,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) targets: Vec<Target>,
    /// Feature → what it turns on.
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// `Some([])` means `publish = false`.
    pub(super) publish: Option<Vec<String>>,
}

/// An entry under `[dependencies]`, `[dev-dependencies]` or `[build-dependencies]`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// `None` for a normal one, `dev` or `build`.
    pub(super) kind: Option<String>,
    /// Behind a feature.
    #[serde(default)]
    pub(super) optional: bool,
}

/// A library, program, test, …
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Target {
    pub(super) kind: Vec<String>,
}

impl Metadata {
    /// Asks cargo. The lock file is taken as it is; dependencies that only other platforms build
    /// are left out, since their packages need not be on this machine.
    pub(crate) fn of(root: &Path) -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["metadata", "--locked", "--format-version", "1", "--filter-platform"];
        let output = Command::new(cargo)
            .args(arguments)
            .arg(host()?)
            .current_dir(root)
            .output()
            .map_err(|e| format!("cannot start cargo: {e}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
    }

    /// The packages of this repository.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| self.workspace_members.contains(&p.id))
    }

    /// The packages from elsewhere.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| !self.workspace_members.contains(&p.id))
    }
}

impl Package {
    /// True if the package has a library.
    pub(super) fn has_library(&self) -> bool {
        self.targets.iter().any(|t| t.kind.iter().any(|k| k == "lib"))
    }

    /// False for `publish = false`.
    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// The directory of the package.
    pub(crate) fn directory(&self) -> &Path {
        self.manifest_path.parent().expect("a manifest lies in a directory")
    }
}

/// The platform that runs this, as the compiler calls it.
fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|e| format!("cannot start the compiler: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|l| l.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "the compiler does not name its host".into())
}

/// Made-up packages for the tests of the rules.
#[cfg(test)]
pub(crate) fn sample(members: &[(&str, &[&str])], foreign: &[(&str, &str, &str)]) -> Metadata {
    let package = |name: &str| Package {
        id: name.into(),
        name: name.into(),
        version: "1.0.0".into(),
        license: Some("MIT".into()),
        rust_version: Some("1.70".into()),
        manifest_path: "/nowhere/Cargo.toml".into(),
        dependencies: vec![],
        targets: vec![Target { kind: vec!["lib".into()] }],
        features: BTreeMap::new(),
        publish: None,
    };
    let mut packages = Vec::new();
    for (name, dependencies) in members {
        let mut p = package(name);
        for d in *dependencies {
            let (kind, d) = d.split_once(':').map_or((None, *d), |(k, d)| (Some(k.to_owned()), d));
            let optional = kind.as_deref() == Some("optional");
            let kind = kind.filter(|_| !optional);
            p.dependencies.push(Dependency { name: d.into(), kind, optional });
        }
        packages.push(p);
    }
    for (name, license, rust_version) in foreign {
        let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
        packages.push(Package {
            license: some(license),
            rust_version: some(rust_version),
            ..package(name)
        });
    }
    Metadata { packages, workspace_members: members.iter().map(|m| m.0.into()).collect() }
}
