//! A servo on a cable of a full mechanism in a world.

use crate::{
    support::G,
    twin::{finger, full, settle, world},
};

use forks_mechanism::{
    Cable, Combination, LinkId, MechanismBuilder, Servo, Transmission,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};

#[test]
fn a_winch_holds_a_rod_by_its_string() {
    let mut b = MechanismBuilder::from_mechanism(&finger());
    let rod = LinkId::new(1);
    let (pin, hook) = (DVec3::new(-0.12, 0.0, -0.02), DVec3::new(0.0, 0.0, -0.1));
    let string =
        b.add_cable(Cable::straight("string", [(LinkId::WORLD, pin), (rod, hook)], 0.0, 0.0));
    b.add_servo(Servo {
        name: "winch".into(),
        transmission: Transmission::Cable(string),
        combination: Combination { terms: vec![], offset: 0.0 },
        stiffness: 150.0,
        damping: 20.0,
    });
    let m = b.build().unwrap();
    let mut world = world(1e-3, DVec3::new(0.0, 0.0, -G));
    let placement = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0));
    let handle = world.add_full("rod", &full(&m, "site:tip"), placement).unwrap();
    let length = |q: f64| (DQuat::from_rotation_y(q) * hook).distance(pin);
    for target in [-0.03, 0.02] {
        world.set_servo_targets(handle, &[0.0, target]).unwrap();
        settle(&mut world, handle, 5.0);
        let q = world.coordinates(handle).unwrap()[0];
        let stretch = length(q) - length(0.0) - target;
        let arm = (length(q + 1e-6) - length(q - 1e-6)) / 2e-6;
        // The finger's own servo, which stays at 0, and its weight.
        let torque = -150.0 * stretch * arm - 2.0 * q - 0.2 * G * 0.06 * q.sin();
        println!("{q}: {torque:e}");
        assert!(q.abs() > 0.05 && torque.abs() < 1e-7, "{q} {torque:e}");
        let energy = 75.0 * stretch * stretch + q * q;
        assert!((world.energy().elastic - energy).abs() < 1e-10 + 1e-7 * energy);
    }
}
