//! Actuators that are servos, and what they add to joints. Expected values are MuJoCo 4.0.0's.

use crate::support;

use support::{UNIT, about, model};

/// One servo's stiffness and damping along its joint or tendon.
fn servos(actuators: &str, defaults: &str) -> Vec<(f64, f64)> {
    let i = model(
        r#"<body><geom size=".1" pos=".2 0 0"/><joint name="j" armature=".1"/>
             <joint name="k" type="slide" axis="1 0 0"/></body>
           <body><geom size=".1"/><joint name="ball" type="ball"/></body>"#,
        &format!(
            r#"{defaults}<tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="k" coef="3"/></fixed></tendon>
               <actuator>{actuators}</actuator>"#
        ),
    );
    i.mechanism.servos().iter().map(|s| (s.stiffness, s.damping)).collect()
}

#[test]
fn servos_of_all_kinds() {
    let facts = [
        (r#"<position joint="j" kp="5"/>"#, 5.0, 0.0),
        (r#"<position jointinparent="j" kp="5" kv="2" gear="3"/>"#, 45.0, 18.0),
        (r#"<position joint="j" kp="5" dampratio="1" gear="3"/>"#, 45.0, 9.0 * 0.79485396),
        (r#"<position tendon="t" kp="5" dampratio="1" gear="2"/>"#, 20.0, 4.0 * 0.55524886),
        (r#"<velocity joint="j" kv="3"/>"#, 0.0, 3.0),
        (r#"<intvelocity joint="j" kp="4" actrange="0 1"/>"#, 4.0, 0.0),
        (r#"<cylinder joint="j" bias="0 -2 -3"/>"#, 2.0, 3.0),
        (r#"<pid joint="j" kp="4" kv="2" ki="1"/>"#, 4.0, 2.0),
        (r#"<pid joint="j" kp="4" dampratio="1"/>"#, 4.0, 2.13281699),
        (r#"<general joint="j" biastype="affine" biasprm="0 -2 -3" gear="2"/>"#, 8.0, 12.0),
        (
            r#"<general joint="j" gainprm="7" biastype="affine" biasprm="0 -7 .5"/>"#,
            7.0,
            1.41072584,
        ),
    ];
    for (text, stiffness, damping) in facts {
        let s = servos(text, "");
        assert_eq!(s.len(), 1, "{text}");
        about(s[0].0, stiffness, 1e-12);
        about(s[0].1, damping, 1e-7);
    }
    for text in [
        r#"<motor joint="j"/>"#,
        r#"<damper joint="j" kv="3" ctrlrange="0 1"/>"#,
        r#"<position joint="ball"/>"#,
        r#"<orientation joint="ball" kp="3"/>"#,
        r#"<muscle joint="j"/>"#,
        r#"<dcmotor joint="j" motorconst="1" resistance="2"/>"#,
    ] {
        assert!(servos(text, "").is_empty(), "{text}");
    }
}

#[test]
fn servos_of_default_classes() {
    let d = r#"<default><position kp="9" kv="1"/></default>"#;
    let all = r#"<position joint="j"/><general joint="j"/><velocity joint="j"/><position joint="j" dampratio="2"/>
                 <intvelocity joint="j" kp="2"/><position joint="j" kp="3"/>"#;
    let s = servos(all, d);
    let wanted = [(9.0, 1.0), (9.0, 1.0), (0.0, 1.0), (9.0, 6.39845096), (2.0, 0.0), (3.0, 1.0)];
    assert_eq!(s.len(), wanted.len());
    for (x, e) in s.iter().zip(wanted) {
        about(x.0, e.0, 1e-12);
        about(x.1, e.1, 1e-7);
    }
    let d = r#"<default><general biastype="affine" gainprm="10" biasprm="0 -10 -1"/></default>"#;
    let all = r#"<position joint="j"/><velocity joint="j"/><general joint="j" biasprm="0 -4"/><cylinder joint="j"/>
                 <pid joint="j"/><general joint="j" biastype="none"/><motor joint="j"/>"#;
    assert_eq!(servos(all, d), [(10.0, 1.0), (0.0, 10.0), (4.0, 1.0), (10.0, 1.0), (1.0, 0.0)]);
    let d = r#"<default><velocity kv="5"/></default>"#;
    let all = r#"<position joint="j"/><velocity joint="j"/><general joint="j"/>"#;
    assert_eq!(servos(all, d), [(1.0, 0.0), (0.0, 5.0), (0.0, 5.0)]);
    let d = r#"<default><position kp="4" dampratio="1"/></default>"#;
    let s = servos(r#"<position joint="j"/><position joint="j" kv="2"/><general joint="j"/>"#, d);
    for (x, e) in s.iter().zip([2.13281699, 2.0, 2.13281699]) {
        about(x.1, e, 1e-7);
    }
}

/// Each kind starts from the nearest class that says something about it or about `general`.
#[test]
fn servos_of_nested_classes() {
    let every = r#"<position joint="j" class="a"/><velocity joint="j" class="a"/><general joint="j" class="a"/>
        <intvelocity joint="j" class="a" actrange="0 1"/><pid joint="j" class="a"/>"#;
    let g = r#"<general biastype="affine" gainprm="10" biasprm="0 -10 -1"/>"#;
    let facts: [(String, &[(f64, f64)]); 8] = [
        (format!(r#"{g}<default class="a"><position kp="3"/></default>"#),
            &[(3.0, 1.0), (0.0, 10.0), (3.0, 1.0), (10.0, 1.0), (1.0, 0.0)]),
        (format!(r#"{g}<default class="a"><velocity kv="3"/></default>"#),
            &[(10.0, 1.0), (0.0, 3.0), (0.0, 3.0), (10.0, 1.0), (1.0, 0.0)]),
        // The motor is what `general` starts from: no bias.
        (format!(r#"{g}<default class="a"><motor/></default>"#),
            &[(10.0, 1.0), (0.0, 10.0), (10.0, 1.0), (1.0, 0.0)]),
        (format!(r#"<position kp="3" kv=".5"/><default class="a">{g}</default>"#),
            &[(10.0, 1.0), (0.0, 10.0), (10.0, 1.0), (10.0, 1.0), (1.0, 0.0)]),
        (r#"<position kp="3" kv=".5"/><default class="a"><general biasprm="0 -7"/></default>"#.into(),
            &[(3.0, 0.5), (0.0, 3.0), (7.0, 0.5), (3.0, 0.5), (1.0, 0.0)]),
        (r#"<position kp="3" kv=".5"/><velocity kv="8"/><default class="a"><position kp="4"/></default>"#.into(),
            &[(4.0, 0.0), (0.0, 8.0), (4.0, 0.0), (1.0, 0.0), (1.0, 0.0)]),
        (format!(r#"{g}<position kv="2"/><default class="a"/>"#),
            &[(10.0, 2.0), (0.0, 1.0), (10.0, 2.0), (1.0, 0.0), (1.0, 0.0)]),
        (r#"<velocity kv="2"/><general gainprm="5"/><default class="a"/>"#.into(),
            &[(5.0, 2.0), (0.0, 5.0), (0.0, 2.0), (5.0, 2.0), (1.0, 0.0)]),
    ];
    for (classes, wanted) in facts {
        let s = servos(every, &format!("<default>{classes}</default>"));
        assert_eq!(s, wanted, "{classes}");
    }
    // What all kinds share comes from whatever was said last.
    let gear = r#"<default><motor gear="3"/><default class="a"/></default>"#;
    assert_eq!(servos(r#"<position joint="j" class="a"/>"#, gear), [(9.0, 0.0)]);
}

#[test]
fn rotors_and_dampers_of_actuators_count() {
    let i = model(
        &format!(r#"<body>{UNIT}<joint name="j" armature=".1" damping=".5"/></body>"#),
        r#"<actuator><motor joint="j" armature="1" damping="2" gear="3"/></actuator>"#,
    );
    let j = &i.mechanism.joints()[0];
    assert_eq!((j.armature[0], j.damping.get(0, 0)), (9.1, 18.5));
    // Where a time constant sets the joint's damping, the actuator's comes on top; its rotor counts
    // before.
    let i = model(
        &format!(r#"<body>{UNIT}<joint name="j" springdamper=".5 1" damping="3"/></body>"#),
        r#"<actuator><motor joint="j" armature="1" damping="2"/></actuator>"#,
    );
    let j = &i.mechanism.joints()[0];
    about(j.spring.as_ref().unwrap().stiffness.get(0, 0), 8.0, 1e-12);
    about(j.damping.get(0, 0), 10.0, 1e-12);
}
