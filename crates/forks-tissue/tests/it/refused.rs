//! What is wrong with a scene is said in a sentence.

use crate::support::{built, built_in, folder};

const BLOCK: &str = "[[tissue]]\nmesh = { size = [1, 1, 1], cells = [1, 1, 1] }\n";
const LAW: &str = "material = { young = 1e4, poisson = 0.3, density = 100.0 }\n";

fn sentence(text: &str) -> String {
    built(&format!("title = 't'\n{text}")).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn numbers_out_of_range_and_names_that_are_not_there() {
    let block = format!("{BLOCK}{LAW}");
    let worm = "[[mechanism]]\nname = 'w'\nparametric = 'worm'\n";
    let drag = "[[drag]]\npoint = [0, 0, 0]\nstiffness = 1\ntimes = [1, 0]\n\
        way = [[0, 0, 0], [0, 0, 0]]";
    let other = "material = { young = 1, poisson = 0.3, density = 1 }";
    let on = "[[tissue]]\nmesh = { parametric = 'worm' }\n";
    for (text, expected) in [
        (format!("{BLOCK}material = {{ young = 1e4, poisson = 0.5, density = 1.0 }}"), "Poisson"),
        (format!("{BLOCK}material = {{ young = -1.0, poisson = 0.3, density = 1.0 }}"), "Young"),
        (format!("{BLOCK}material = {{ young = 1.0, poisson = 0.3 }}"), "density"),
        (format!("{block}mechanism = 'x'"), "names the mechanism \"x\""),
        (format!("{block}attach = {{ nodes = {{ leg = [1] }} }}"), "names the link \"leg\""),
        (format!("{block}attach = {{ nodes = {{ world = [99] }} }}"), "node 99"),
        (format!("{block}attach = {{ groups = {{ world = 'base' }} }}"), "names the group"),
        (format!("{block}attach = {{ boxes = {{ world = [[5, 5, 5], [6, 6, 6]] }} }}"), "no node"),
        (format!("{block}friction = -1.0"), "friction"),
        (format!("world = {{ step = 0.0 }}\n{block}"), "step"),
        (
            format!("{block}[[ground]]\nform = {{ ellipsoid = {{ radii = [1, 1, 1] }} }}"),
            "touches by",
        ),
        (
            format!(
                "{block}[[body]]\nname = 'b'\nmass = 0.0\nform = {{ sphere = {{ radius = 1 }} }}"
            ),
            "mass",
        ),
        (
            format!("world = {{ stepper = 'backward-euler' }}\n{block}[[ground]]\nform = 'plane'"),
            "contact",
        ),
        (
            format!("{worm}{on}{LAW}[[action]]\njoints = ['knee']\ntimes = [0]\nvalues = [1]"),
            "knee",
        ),
        (
            format!("{worm}{on}{LAW}[[action]]\njoints = ['hinge1']\ntimes = [0]\nvalues = [1]"),
            "without a spring",
        ),
        (format!("{worm}{worm}{on}{LAW}"), "twice"),
        (format!("{worm}{on}{LAW}quadratic = true"), "attach"),
        (format!("{block}{drag}"), "increasing"),
        (format!("{block}{block}damping = {{ external = 1.0 }}"), "other dampers"),
        (format!("{block}{BLOCK}{other}"), "of one kind"),
        (
            "[[tissue]]\nmesh = { lattice = 'nothing.obj', cell = 0.1 }\n".to_owned() + LAW,
            "nothing.obj",
        ),
    ] {
        let found = sentence(&text);
        assert!(found.contains(expected), "{text}\n{found}");
        assert!(!found.contains('\n'), "{found}");
    }
}

#[test]
fn open_surfaces_and_cells_without_number() {
    let at = folder("open");
    std::fs::write(at.join("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n")
        .unwrap();
    let of = |mesh: &str| {
        let text = format!("title = 't'\n[[tissue]]\nmesh = {mesh}\n{LAW}");
        built_in(&text, &at).map(|_| ()).unwrap_err().to_string()
    };
    let open = of("{ lattice = 'open.obj', cell = 0.1 }");
    assert!(open.contains("is open"), "{open}");
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(at.join("closed.obj"), tetrahedron).unwrap();
    let fine = of("{ lattice = 'closed.obj', cell = 1e-4 }");
    assert!(fine.contains("cubes"), "{fine}");
    std::fs::remove_dir_all(at).unwrap();
}
