//! Assembly trees: every joint once, bounded handles, logarithmic depth.

use forks_dynamics::dca::{AssemblyKind, AssemblyTree};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{SplitMix64, glam::DVec3},
};

/// Links `1..=parents.len()`, each on a hinge on the link given (0 is the ground).
fn tree_of(parents: &[usize]) -> Mechanism {
    let mut b = MechanismBuilder::new("tree");
    for (i, &p) in parents.iter().enumerate() {
        let link = b.add_link(Link::new(format!("l{i}")));
        let kind = JointKind::Revolute { axis: DVec3::Z };
        b.add_joint(Joint::new("", kind, LinkId::new(p), link));
    }
    b.build().unwrap()
}

/// Structure, checked without the code that builds it: joints and links occur once, a node's joint
/// ties a link of its inner part to one of its outer part, handles are the joints that cross its
/// border.
fn check_structure(m: &Mechanism, t: &AssemblyTree) {
    let mut links_of: Vec<Vec<usize>> = Vec::new();
    let mut joints = vec![0; m.joints().len()];
    let mut degree = vec![0; m.links().len()];
    for e in m.forest().edges() {
        degree[e.inner.index()] += 1;
        degree[e.outer.index()] += 1;
    }
    for (i, n) in t.nodes().iter().enumerate() {
        let links = match n.kind {
            AssemblyKind::Leaf { link } => vec![link.index()],
            AssemblyKind::Joined { joint, inner, outer } => {
                assert!(inner < i && outer < i);
                assert_eq!(t.nodes()[inner].parent, Some(i));
                assert_eq!(t.nodes()[outer].parent, Some(i));
                assert_eq!(t.nodes()[inner].depth, n.depth + 1);
                joints[joint.index()] += 1;
                let e = m.forest().edges().iter().find(|e| e.joint == joint).unwrap();
                assert!(links_of[inner].contains(&e.inner.index()));
                assert!(links_of[outer].contains(&e.outer.index()));
                [&links_of[inner][..], &links_of[outer][..]].concat()
            }
            AssemblyKind::Welded { .. } => panic!("links are whole"),
        };
        let inside = |l: LinkId| links.contains(&l.index());
        let crossing = |e: &&forks_mechanism::TreeEdge| {
            if e.inner == LinkId::WORLD {
                // The ground's copies belong to one joint each.
                let own = links.contains(&0) && links.len() == 1 || inside(e.outer);
                return own && !(links.contains(&0) && inside(e.outer));
            }
            inside(e.inner) != inside(e.outer)
        };
        if links != [0] {
            assert_eq!(n.handles, m.forest().edges().iter().filter(crossing).count());
        } else {
            assert_eq!(n.handles, 1);
        }
        if let AssemblyKind::Joined { .. } = n.kind {
            let widest = links.iter().filter(|&&l| l != 0).map(|&l| degree[l]).max().unwrap();
            assert!(n.handles <= 2.max(widest - 1));
        }
        links_of.push(links);
    }
    for e in m.forest().edges() {
        assert_eq!(joints[e.joint.index()], 1);
    }
    for (id, _) in m.moving_links() {
        let leaf = t.leaf_of_link(id).unwrap();
        assert_eq!(t.nodes()[leaf].kind, AssemblyKind::Leaf { link: id });
    }
    assert!(t.roots().iter().all(|&r| t.nodes()[r].handles == 0 && t.nodes()[r].depth == 0));
}

#[test]
fn structure_on_random_forests() {
    let mut random = SplitMix64::new(11);
    for n in 1..60 {
        // About one link in ten stands on the ground.
        let parents: Vec<usize> =
            (0..n).map(|i| if random.below(10) == 0 { 0 } else { random.below(i + 1) }).collect();
        let m = tree_of(&parents);
        let t = AssemblyTree::new(m.forest());
        check_structure(&m, &t);
        assert_eq!(t.roots().len(), parents.iter().filter(|&&p| p == 0).count());
        assert_eq!(t, AssemblyTree::new(m.forest()));
    }
}

#[test]
fn structure_with_loops_and_reversed_joints() {
    for p in
        [forks_models::ladder(4), forks_models::octahedral_truss(), forks_models::bicycle_chain(12)]
    {
        check_structure(&p.mechanism, &AssemblyTree::new(p.mechanism.forest()));
    }
}

/// Depth, mean leaf depth and handles at 50,000 joints. The chain's are exact; for the others the
/// reference values belong to other random trees of the same kinds (27 / 21 / 17 deep), hence a
/// margin.
#[test]
fn depths_of_large_trees() {
    let measure = |m: &Mechanism| {
        let t = AssemblyTree::new(m.forest());
        let leaves = t.nodes().iter().filter(|n| matches!(n.kind, AssemblyKind::Leaf { .. }));
        let (sum, count) = leaves.fold((0, 0), |(s, c), n| (s + n.depth, c + 1));
        (t.depth(), sum as f64 / f64::from(count), t.max_handles())
    };
    let (depth, mean, handles) = measure(&forks_models::molecules::chain(50_000, 1).mechanism);
    assert_eq!((depth, handles), (16, 2));
    assert!((mean - 15.7).abs() < 0.05, "{mean}");
    let (depth, mean, handles) = measure(&forks_models::molecules::polymer(50_000, 1).mechanism);
    assert!(depth <= 22 && mean < 17.0 && handles == 2, "{depth} {mean} {handles}");
    let (depth, mean, handles) = measure(&forks_models::molecules::bushy(50_000, 1).mechanism);
    assert!(depth <= 29 && mean < 19.0 && handles <= 3, "{depth} {mean} {handles}");
    let (depth, mean, handles) = measure(&forks_models::millipede(1000, 1).mechanism);
    assert!(depth <= 18 && mean < 15.5 && handles == 2, "{depth} {mean} {handles}");
}

#[test]
fn a_star_has_a_handle_per_joint_and_nothing_worse() {
    let parents: Vec<usize> = (0..200).map(|i| usize::from(i > 0)).collect();
    let m = tree_of(&parents);
    let t = AssemblyTree::new(m.forest());
    check_structure(&m, &t);
    assert_eq!(t.max_handles(), 199);
}

#[test]
fn closing_nodes() {
    let m = forks_models::bicycle_chain(12).mechanism;
    let t = AssemblyTree::new(m.forest());
    let closure = m.joint(m.forest().closures()[0]);
    let node = t.closing_node(closure.parent, closure.child).unwrap();
    assert_eq!(t.closing_node(closure.child, closure.parent), Some(node));
    let first = LinkId::new(1);
    assert_eq!(t.closing_node(first, first), t.leaf_of_link(first));
    assert_eq!(t.closing_node(LinkId::WORLD, first), t.leaf_of_link(first));
    let two_trees = tree_of(&[0, 1, 0]);
    let t = AssemblyTree::new(two_trees.forest());
    assert_eq!(t.closing_node(LinkId::new(1), LinkId::new(3)), None);
    assert_eq!(
        t.closing_node(LinkId::new(1), LinkId::new(2)).map(|n| t.nodes()[n].handles),
        Some(1)
    );
}

#[test]
fn nested_links_on_a_small_stack() {
    let run = || {
        let parents: Vec<usize> = (0..10_000).collect();
        AssemblyTree::new(tree_of(&parents).forest()).depth()
    };
    let depth = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(depth, 14);
}

/// Splitting: pieces of a link form a row, every leaf has at most three handles (further ones
/// counted), every internal node at most two joints or welds, every joint and weld ties the pieces
/// it should.
#[test]
fn split_links_bound_the_handles() {
    let mut random = SplitMix64::new(12);
    for n in [1, 2, 5, 40, 300] {
        // Few inner links: high degrees.
        let parents: Vec<usize> = (0..n).map(|i| random.below(1 + i.min(6))).collect();
        let m = tree_of(&parents);
        let further: Vec<usize> = (0..=n).map(|_| random.below(4)).collect();
        let t = AssemblyTree::split(n + 1, m.forest().edges(), &further);
        let mut degree = further.clone();
        for e in m.forest().edges() {
            degree[e.inner.index()] += 1;
            degree[e.outer.index()] += 1;
        }
        let mut handles = vec![0; t.nodes().len()];
        let mut pieces = vec![0; n + 1];
        for (i, node) in t.nodes().iter().enumerate() {
            match node.kind {
                AssemblyKind::Leaf { link } => pieces[link.index()] += 1,
                _ => {
                    assert!(node.handles <= 2);
                    let tied = t.tied_leaves(i).unwrap();
                    tied.iter().for_each(|&leaf| handles[leaf] += 1);
                    let links = tied.map(|leaf| match t.nodes()[leaf].kind {
                        AssemblyKind::Leaf { link } => link,
                        _ => panic!("node {leaf} is no leaf"),
                    });
                    match node.kind {
                        AssemblyKind::Welded { link, .. } => assert_eq!(links, [link; 2]),
                        AssemblyKind::Joined { joint, .. } => {
                            let j = m.joint(joint);
                            assert_eq!(links, [j.parent, j.child]);
                        }
                        AssemblyKind::Leaf { .. } => unreachable!(),
                    }
                }
            }
        }
        for l in 1..=n {
            assert_eq!(pieces[l], degree[l].saturating_sub(2).max(1), "link {l} of {}", degree[l]);
            for k in 0..further[l] {
                handles[t.leaf_of_handle(LinkId::new(l), k).unwrap()] += 1;
            }
        }
        assert!(handles.iter().all(|&h| h <= 3));
    }
}

#[test]
fn a_split_star_is_shallow() {
    let parents: Vec<usize> = (0..2001).map(|i| usize::from(i > 0)).collect();
    let m = tree_of(&parents);
    let t = AssemblyTree::split(2002, m.forest().edges(), &[0; 2002]);
    assert_eq!(t.max_handles(), 2);
    assert!(t.depth() <= 14, "{}", t.depth());
}
