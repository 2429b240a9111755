//! What cannot be tissue is refused in a sentence.

use forks_flex::parse;

const SOFT: &str = r#"<elasticity young="1e4" poisson=".3"/>"#;

fn sentence(body: &str, deformable: &str) -> String {
    let text = format!(
        r#"<mujoco><worldbody><body name="b"><geom size="1" mass="1"/>{body}</body></worldbody>
        <deformable>{deformable}</deformable></mujoco>"#
    );
    parse(&text).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn flexible_bodies_that_cannot_be() {
    let comp = |attributes: &str, inside: &str| {
        sentence(&format!(r#"<flexcomp name="c" {attributes}>{inside}</flexcomp>"#), "")
    };
    let flex = |attributes: &str, inside: &str| {
        sentence("", &format!(r#"<flex name="f" {attributes}>{inside}</flex>"#))
    };
    let tet = r#"dim="3" body="b" vertex="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 3""#;
    for (found, expected) in [
        (comp(r#"type="grid" dim="2""#, SOFT), "'c' has 2 dimensions"),
        (comp(r#"type="grid" dim="3" dof="radial""#, SOFT), "dof=\"radial\""),
        (comp(r#"type="mesh" dim="3""#, SOFT), "type mesh"),
        (comp(r#"dim="3" count="2 2 2""#, ""), "no elasticity"),
        (comp(r#"dim="3" count="2 2""#, SOFT), "2 numbers in count"),
        (comp(r#"dim="3" count="2 2 1""#, SOFT), "grid of [2, 2, 1]"),
        (comp(r#"dim="3" count="2 2 2""#, &format!(r#"{SOFT}<pin id="8"/>"#)), "beyond"),
        (comp(r#"dim="3" rigid="true""#, SOFT), "rigid"),
        (comp(r#"dim="3" count="2 2 2""#, &format!("{SOFT}<plugin/>")), "plugin"),
        (comp(r#"dim="3" count="2 2 2""#, r#"<elasticity young="0" poisson="0"/>"#), "Young"),
        (flex(r#"dim="3" body="b" vertex="0 0" element="0 1 2 3""#, SOFT), "other than 3"),
        (flex(r#"dim="3" body="b x" vertex="0 0 0" element="0 1 2 3""#, SOFT), "2 bodies for 1"),
        (flex(r#"dim="3" body="x" vertex="0 0 0" element="0 1 2 3""#, SOFT), "'x'"),
        (flex(r#"dim="3" body="b" vertex="0 0 0" element="0 1 2 3""#, SOFT), "node 1 of 1"),
        (flex(tet, r#"<elasticity young="1e4" poisson="0.5"/>"#), "Poisson"),
    ] {
        assert!(found.contains(expected), "{found}");
        assert!(!found.contains('\n'), "{found}");
    }
    assert!(parse("<mujoco>").unwrap_err().to_string().contains("no XML"));
}
