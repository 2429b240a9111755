//! Skins against vertices one by one, their files, their allocations.

use forks_models::{HelixJoints, helix};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_skin::{
    Following, Skin, SkinBuffer, SkinError, SkinnedModel,
    rom::{
        Isa, ReducedModel, State,
        lie::{SplitMix64, glam::DVec3},
        linalg::Matrix,
    },
};

fn model() -> ReducedModel {
    let helix = helix(12, HelixJoints::Hinge3);
    let problem = Problem::new(&helix.mechanism, &["link11"], &ProblemOptions::default()).unwrap();
    problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model
}

fn random(rng: &mut SplitMix64, rows: usize, columns: usize, most: f64) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| rng.range(-most, most))
}

fn places(rng: &mut SplitMix64, count: usize) -> Vec<DVec3> {
    (0..count).map(|_| DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)))).collect()
}

fn by_twist(model: &ReducedModel, count: usize, most: f64) -> Skin {
    let mut rng = SplitMix64::new(7);
    let rest = places(&mut rng, count);
    let map = random(&mut rng, 6 * count, 6, most);
    Skin::new("s", model, rest, vec![[0, 1, 2]], Following::Twist, map).unwrap()
}

fn in_links(model: &ReducedModel, count: usize) -> Skin {
    let mut rng = SplitMix64::new(9);
    let rest = places(&mut rng, count);
    // The ground too.
    let parents = (0..count).map(|v| v % model.data().links.len()).collect();
    let map = random(&mut rng, 3 * count, 6, 0.3);
    Skin::new("s", model, rest, vec![[0, 1, 2]], Following::Link(parents), map).unwrap()
}

fn state(model: &ReducedModel, scale: f64) -> State {
    let mut state = State::new(model);
    let eta = [0.3, -0.2, 0.5, 0.1, -0.4, 0.25].map(|x| x * scale);
    state.set(&eta, &[0.0; 6]).unwrap();
    state
}

/// Four at once against one by one: rounding of lengths up to 2 m, turns up to forty times round.
#[test]
fn twists_are_exponentials() {
    let model = model();
    for (most, scale) in [(0.5, 1e-9), (0.5, 1.0), (3.0, 1.0), (20.0, 1.0), (300.0, 1.0)] {
        let skin = by_twist(&model, 23, most);
        let state = state(&model, scale);
        let mut buffer = SkinBuffer::new(&skin, &model);
        skin.place(&model, &state, &mut buffer);
        for v in 0..skin.len() {
            let one = skin.position(&model, v, state.coordinates(), &[]);
            let off = buffer.get(v).distance(one);
            assert!(off < 1e-13 * (1.0 + most * most * scale), "{most} {scale} {v}: {off:e}");
        }
    }
}

#[test]
fn displacements_within_links_turn_with_them() {
    let model = model();
    let skin = in_links(&model, 30);
    let state = state(&model, 1.0);
    let mut buffer = SkinBuffer::new(&skin, &model);
    skin.place(&model, &state, &mut buffer);
    for v in 0..skin.len() {
        let one = skin.position(&model, v, state.coordinates(), &[]);
        assert!(buffer.get(v).distance(one) < 1e-13, "{v}");
    }
    assert_eq!(buffer.iter().len(), 30);
}

/// A vertex has the same bits whatever stands beside it, on every instruction set.
#[test]
fn neighbours_do_not_matter() {
    let model = model();
    for isa in [Isa::Portable, Isa::detect()] {
        let model = model.clone().with_isa(isa);
        let all = by_twist(&model, 11, 1.0);
        let state = state(&model, 1.0);
        let mut whole = SkinBuffer::new(&all, &model);
        all.place(&model, &state, &mut whole);
        for v in 0..all.len() {
            let map = all.map().block(6 * v, 0, 6, 6);
            let alone =
                Skin::new("a", &model, vec![all.rest()[v]], vec![], Following::Twist, map).unwrap();
            let mut one = SkinBuffer::new(&alone, &model);
            alone.place(&model, &state, &mut one);
            assert_eq!(one.get(0), whole.get(v));
        }
    }
}

/// FNV-1a over the bits of all places, computed once on x86-64: the same wherever it runs.
#[test]
fn portable_bits_are_the_same_everywhere() {
    let model = model().with_isa(Isa::Portable);
    let mut rng = SplitMix64::new(21);
    let rest = places(&mut rng, 40);
    let map = random(&mut rng, 240, 6, 2.0);
    let skin = Skin::new("s", &model, rest, vec![], Following::Twist, map).unwrap();
    let mut buffer = SkinBuffer::new(&skin, &model);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for k in 0..50 {
        skin.place(&model, &state(&model, 0.1 * f64::from(k)), &mut buffer);
        for x in buffer.iter().flat_map(|p| p.to_array()) {
            for byte in x.to_bits().to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    assert_eq!(format!("{hash:016x}"), PORTABLE);
}

const PORTABLE: &str = "f7d57771f7a2040f";

#[test]
fn placing_allocates_nothing() {
    let model = model();
    for skin in [by_twist(&model, 100, 1.0), in_links(&model, 100)] {
        let state = state(&model, 1.0);
        let mut buffer = SkinBuffer::new(&skin, &model);
        skin.place(&model, &state, &mut buffer);
        let counted = allocation_counter::measure(|| skin.place(&model, &state, &mut buffer));
        assert_eq!(counted.count_total, 0);
    }
}

#[test]
fn files_keep_every_bit() {
    let model = model();
    let skins = vec![by_twist(&model, 9, 1.0), in_links(&model, 5)];
    let whole = SkinnedModel::new(model, skins).unwrap();
    let bytes = whole.to_bytes();
    assert!(SkinnedModel::is_file(&bytes) && !SkinnedModel::is_file(&whole.model.to_bytes()));
    assert_eq!(SkinnedModel::from_bytes(&bytes).unwrap(), whole);
    assert_eq!(SkinnedModel::from_bytes(&bytes).unwrap().to_bytes(), bytes);
}

/// Every altered byte, every cut: an error, never a panic, never another model.
#[test]
fn damage_is_found() {
    let model = model();
    let skin = in_links(&model, 3);
    let bytes = SkinnedModel::new(model, vec![skin]).unwrap().to_bytes();
    for i in (0..bytes.len()).step_by(7).chain(0..64) {
        let mut bad = bytes.clone();
        bad[i] ^= 0x10;
        assert!(SkinnedModel::from_bytes(&bad).is_err(), "byte {i}");
    }
    for n in (0..bytes.len()).step_by(13) {
        assert!(SkinnedModel::from_bytes(&bytes[..n]).is_err(), "{n} bytes");
    }
    assert!(matches!(SkinnedModel::from_bytes(b"text"), Err(SkinError::NotSkinned)));
}

#[test]
fn numbers_that_are_no_skin_are_refused() {
    let model = model();
    let make = |faces: Vec<[u32; 3]>, following, map: Matrix| {
        Skin::new("s", &model, vec![DVec3::ZERO; 3], faces, following, map).unwrap_err()
    };
    let twist = || Following::Twist;
    assert!(matches!(
        make(vec![], twist(), Matrix::zeros(17, 6)),
        SkinError::Size { found: 17, expected: 18, .. }
    ));
    assert!(matches!(
        make(vec![], twist(), Matrix::zeros(18, 5)),
        SkinError::Size { quantity: "columns of the map", .. }
    ));
    assert!(matches!(
        make(vec![[0, 1, 3]], twist(), Matrix::zeros(18, 6)),
        SkinError::Index { quantity: "vertex", found: 3, count: 3, .. }
    ));
    let nan = Matrix::from_fn(18, 6, |i, _| if i == 8 { f64::NAN } else { 0.0 });
    assert!(matches!(make(vec![], twist(), nan), SkinError::NotFinite { vertex: 1, .. }));
    assert!(matches!(
        make(vec![], Following::Link(vec![0, 1]), Matrix::zeros(9, 6)),
        SkinError::Size { quantity: "the list of links", .. }
    ));
    assert!(matches!(
        make(vec![], Following::Link(vec![0, 1, 99]), Matrix::zeros(9, 6)),
        SkinError::Index { quantity: "link", found: 99, .. }
    ));
}
