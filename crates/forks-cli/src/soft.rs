//! `forks reduce TISSUE.toml`: a reduced model with its skin; pages of reduced models.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use forks_io::{IoError, gltf, html, write_atomically};
use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_reduce::ReduceOptions;
use forks_rom::{EffectorLoad, LoadFrame, ReducedModel, System, data::ModelData, file::FileError};
use forks_soft::{
    BlendReport, Film, ForceCone, LoadedModel, Moment, PlaceOptions, Skins, SoftModelError,
    SoftProblem, SoftProblemOptions, SoftReport, SoftScene,
    condense::{SkinKind, skins::SkinError},
    run,
    tissue::{TissueScene, spec::TissueSpec},
};

use crate::{
    args::ReduceArgs,
    blend_args::BlendArgs,
    error::CliError,
    output,
    progress::{Progress, seconds},
    reduce::{Report, options},
    scene::Format,
    simulate_args::SimulateArgs,
    tissue,
};

/// Options of `forks reduce` that tissue knows.
pub(crate) const KNOWN: &[&str] = &[
    "path",
    "json",
    "effector",
    "equilibrium",
    "mass",
    "rayleigh",
    "modal_damping",
    "range",
    "output",
    "links",
    "default_stiffness",
    "no_servos",
];

/// An error of a file.
pub(crate) fn failed(path: &Path, source: SoftModelError) -> CliError {
    match source {
        SoftModelError::Tissue(
            e @ (forks_tissue::TissueError::Read { .. } | forks_tissue::TissueError::Syntax { .. }),
        ) => CliError::TissueFile(Box::new(e)),
        source => CliError::Soft { path: path.into(), source: Box::new(source) },
    }
}

/// Reduces tissue with its skeleton.
pub(crate) fn reduce(args: &ReduceArgs) -> Result<ExitCode, CliError> {
    let path = &args.model.path;
    if args.effector.is_empty() {
        return Err(CliError::NoEffector { problem: "none is given" });
    }
    let reduce_options = options(args);
    let mut soft_options = SoftProblemOptions {
        effectors: args.effector.clone(),
        mass: reduce_options.mass,
        equilibrium: args.equilibrium,
        ..SoftProblemOptions::default()
    };
    soft_options.preparation.default_stiffness = args.springs.default_stiffness;
    soft_options.preparation.servos = !args.springs.no_servos;
    let soft = SoftProblem::load(path, &soft_options).map_err(|e| failed(path, e))?;
    let reduction = soft.reduce(&reduce_options).map_err(|e| match e {
        SoftModelError::Reduce(e) => CliError::reduction(path, &soft.problem, e),
        e => failed(path, e),
    })?;
    if let Some(file) = &args.output {
        let is_json = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let bytes = match is_json {
            true => (reduction.model.to_json() + "\n").into_bytes(),
            false => {
                let skinned = soft.skinned(&reduction, SkinKind::Twist);
                skinned.map_err(|e| failed(path, e))?.to_bytes()
            }
        };
        write_atomically(file, &bytes)?;
    }
    let (mass, reduced) = (&reduction.model.data().mass, reduction.frequencies());
    let mut report = Report::new(args, &soft.problem, &reduction, Some(mass), reduced);
    report.warnings.extend(soft.notes.iter().cloned());
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, |r| r.text(args.links))
}

/// Options of `forks blend` that tissue knows.
pub(crate) const KNOWN_TO_BLEND: &[&str] = &[
    "path",
    "json",
    "effector",
    "cone",
    "angle",
    "until",
    "static_tolerance",
    "samples",
    "mass",
    "gravity",
    "output",
    "default_stiffness",
];

/// Blends tissue with its skeleton over equilibria.
pub(crate) fn blend(args: &BlendArgs) -> Result<ExitCode, CliError> {
    let path = &args.model.path;
    let unusable = |problem| CliError::Unusable { path: path.clone(), problem };
    if args.effector.is_empty() {
        return Err(CliError::NoEffector { problem: "none is given" });
    }
    let [axis] = args.cone[..] else {
        return Err(unusable("one pad is loaded: give --cone once".to_owned()));
    };
    let mut of_problem = SoftProblemOptions {
        effectors: args.effector.clone(),
        equilibrium: args.gravity,
        ..SoftProblemOptions::default()
    };
    of_problem.preparation.default_stiffness = args.springs.default_stiffness;
    of_problem.preparation.servos = false;
    let of_file = |e| failed(path, e);
    let soft = SoftProblem::load(path, &of_problem).map_err(of_file)?;
    let axis = DVec3::from_array(axis);
    let force = soft.force_that_moves(axis, args.until).map_err(of_file)?;
    let cone = ForceCone { axis, half_angle: args.angle.to_radians(), force };
    let reduce = ReduceOptions { mass: args.mass.into(), ..ReduceOptions::default() };
    let tolerance = args.static_tolerance;
    let options = PlaceOptions { samples: args.samples, tolerance, reduce };
    let placed = soft.blend(&cone, &options).map_err(of_file)?;
    let report = BlendReport::new(&placed, &args.effector, force, tolerance, soft.notes.clone());
    if report.worst_error.is_none() {
        let problem = "the blend has no equilibrium at some of the loads that it is for; allow \
                       more --samples, or ask for less: a smaller --until or --angle";
        return Err(unusable(problem.to_owned()));
    }
    if let Some(file) = &args.output {
        let is_json = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let bytes = match is_json {
            true => (placed.model.blend().to_json() + "\n").into_bytes(),
            false => placed.model.to_bytes(),
        };
        write_atomically(file, &bytes)?;
    }
    if !report.reached {
        output::warn("the tolerance does not hold at all loads");
    }
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, BlendReport::text)
}

/// Runs a scene whose tissue is reduced to its pads.
pub(crate) fn scene(args: &SimulateArgs, path: &Path) -> Result<ExitCode, CliError> {
    let of_file = |e: SoftModelError| failed(path, e);
    let of_name = |path: &PathBuf| match Format::of(path) {
        Some(format) => Ok((format, path.clone())),
        None => Err(CliError::OutputName { path: path.clone() }),
    };
    let outputs = args.output.iter().map(of_name).collect::<Result<Vec<_>, _>>()?;
    let mut spec = TissueSpec::read(path).map_err(|e| of_file(e.into()))?;
    spec.world.duration = args.time.unwrap_or(spec.world.duration);
    spec.world.step = args.step.or(spec.world.step);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut whole = match args.scene.full {
        true => Some(TissueScene::build(spec.clone(), folder).map_err(|e| of_file(e.into()))?),
        false => None,
    };
    let mut scene = SoftScene::build(spec, folder).map_err(of_file)?;
    let (mut progress, end) = (Progress::new(), scene.spec.world.duration);
    let show = |t| progress.show(|| seconds(t, end));
    let (report, picture) =
        run(&mut scene, whole.as_mut(), !outputs.is_empty(), show).map_err(of_file)?;
    for (format, file) in &outputs {
        picture.iter().try_for_each(|p| tissue::save(p, *format, file))?;
    }
    let code = output::print(&report, args.json, SoftReport::text)?;
    match report.problem() {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: path.into(), problem }),
    }
}

/// A model of a file of any kind.
pub(crate) fn load(file: &Path) -> Result<LoadedModel, CliError> {
    LoadedModel::load(file).map_err(|e| unread(file, e))
}

/// Why the file is refused, and what may have been meant.
pub(crate) fn refused(file: &Path, problem: FileError) -> CliError {
    let hint = match &problem {
        FileError::Read { .. } => return CliError::Unreadable(problem),
        FileError::NotAReducedModel { found } => match found.trim_ascii_start().first() {
            // A byte order mark may stand before the mark-up.
            Some(b'<' | 0xEF) => {
                "; an MJCF or URDF model is reduced by `forks reduce MODEL --effector LINK -o FILE`"
            }
            Some(b'{') => {
                "; the JSON of `forks reduce` is for other programs: give -o a name without .json"
            }
            _ => "",
        },
        _ => "",
    };
    CliError::ReducedFile { path: file.into(), problem: Box::new(problem), hint }
}

/// Why a file is no model.
pub(crate) fn unread(file: &Path, problem: SoftModelError) -> CliError {
    match problem {
        SoftModelError::Skin(SkinError::File(e)) => refused(file, e),
        e => failed(file, e),
    }
}

/// True for names of pages and glTF.
pub(crate) fn is_picture(path: &Path) -> bool {
    matches!(Format::of(path), Some(Format::Html | Format::Glb))
}

/// The recording of a model's motion, and the file that it is of.
#[derive(Debug)]
pub(crate) struct Filmed {
    film: Film,
    file: PathBuf,
}

impl Filmed {
    /// With skins; `model` is that of one linearisation.
    pub(crate) fn new(
        file: &Path,
        data: &ModelData,
        shown: &[usize],
        model: Option<&ReducedModel>,
        skins: Skins,
    ) -> Result<Self, CliError> {
        let title = file.file_stem().map_or("reduced model".into(), |n| n.to_string_lossy());
        let film = Film::new(title, data, shown);
        let film = match (skins, model) {
            (Skins::One(skins), Some(model)) => {
                film.with_skins(model, skins).map_err(|e| failed(file, e))?
            }
            (Skins::Blend(blend), _) => film.with_blend(*blend),
            _ => film,
        };
        Ok(Self { film, file: file.into() })
    }

    /// Adds what a system shows at a time, with these energies and poses of its links.
    pub(crate) fn record<S: System>(
        &mut self,
        system: &S,
        state: &S::State,
        loads: &[EffectorLoad],
        (time, energies, poses): (f64, [f64; 3], &[Pose]),
    ) -> Result<(), CliError> {
        let mut coordinates = vec![0.0; system.coordinate_count()];
        system.coordinates(state, &mut coordinates);
        let force = |l: &EffectorLoad| {
            let (pose, force) = (system.effector_pose(l.effector, state), l.wrench.force);
            let turned = pose.rotation * force;
            (pose.translation, if l.frame == LoadFrame::Body { turned } else { force })
        };
        let forces: Vec<(DVec3, DVec3)> = loads.iter().map(force).collect();
        let (targets, coordinates) = (system.servo_targets(state), &coordinates[..]);
        let moment = Moment { time, poses, coordinates, targets, energies, forces: &forces };
        self.film.push(&moment).map_err(|e| failed(&self.file, e))
    }

    /// Writes a page or glTF.
    pub(crate) fn save(&self, path: &Path) -> Result<(), IoError> {
        match Format::of(path) {
            Some(Format::Glb) => gltf::save(path, self.film.animation()),
            _ => html::save(path, self.film.animation()),
        }
    }
}
