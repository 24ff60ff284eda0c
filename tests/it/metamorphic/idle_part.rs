//! An idle part has no effect beyond rounding.

use skidpad::core::model::{
    AntiRollBar, BrakeDisc, HeaveSpring, Hitch, Kingpin, Motor, SteeringCompliance, TorqueCoupling,
};
use skidpad::core::{ModelParts, Vec3};

use super::draw::Draw;
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Name of an idle part, and the function that adds it.
type Part = (&'static str, fn(&mut ModelParts));

const PARTS: [Part; 8] = [
    ("bar without a rate", |parts| parts.bars.push(AntiRollBar { wheels: [0, 1], ..AntiRollBar::default() })),
    ("heave spring without a rate", |parts| {
        parts.heave_springs.push(HeaveSpring { wheels: [0, 1], rate: 0.0, damping: 0.0 });
    }),
    ("coupling without friction", |parts| {
        let sides = [Box::from([0]), Box::from([1])];
        parts.couplings.push(TorqueCoupling { sides, friction: 0.0, bias: [1.0; 2], viscous: 0.0 });
    }),
    ("motor that nothing asks", |parts| {
        parts.motors.push(Motor {
            wheels: Box::from([0]),
            peak_torque: 1e-6,
            power: f32::INFINITY,
            max_speed: 1e6,
            reduction: 1.0,
            efficiency: 1.0,
            inertia: 0.0,
            lift_regeneration: 0.0,
            brake_regeneration: 0.0,
        });
    }),
    ("brake disc that never fades", |parts| {
        let capacity = 10.0 * parts.mass;
        for wheel in &mut parts.wheels {
            let disc = BrakeDisc {
                heat_capacity: capacity,
                cooling: [0.0; 2],
                fade_range: [1e8, 1e9],
                min_torque_factor: 1.0,
            };
            wheel.disc.get_or_insert(disc);
        }
    }),
    ("hitch that tows nothing", |parts| {
        let behind = parts.wheels.iter().map(|wheel| wheel.contact.x).fold(0.0, f32::min);
        parts.hitch.get_or_insert(Hitch { point: Vec3::new(1.5 * behind, 0.0, -0.1), ..Hitch::default() });
    }),
    ("steering linkage that does not yield", |parts| {
        parts.steering.kingpin.get_or_insert(Kingpin { trail: 0.1 * parts.wheels[0].radius, ..Kingpin::default() });
        let stiffness = 1e9 * parts.mass;
        parts.steering.compliance.get_or_insert(SteeringCompliance { stiffness, time_constant: 0.0 });
    }),
    ("handbrake that is not pulled", |parts| {
        let torque = parts.mass;
        parts.wheels.iter_mut().for_each(|wheel| wheel.handbrake_torque += torque);
    }),
];

pub fn check(draw: &Draw) -> Outcome {
    let mut bare = draw.alone();
    bare.manoeuvre = bare.manoeuvre.with(|key| key.handbrake = 0.0);
    let run = bare.run();
    let sensitivity = bare.sensitivity(&run);
    if bare.rounding(sensitivity).is_none() {
        return NOT_APPLICABLE;
    }
    let mut worst = Worst::default();
    for (name, add) in PARTS {
        let mut parts = bare.parts().clone();
        add(&mut parts);
        // A car with the largest number of motors or couplings accepts no further one.
        let Some(fitted) = bare.with_parts(parts) else { continue };
        let apart = bare.apart(&run, &fitted.run());
        let rounding = 1e-5 * bare.length() + 30.0 * sensitivity;
        worst.add(apart, rounding, || format!("{name}: {apart:.2e} m apart, rounding makes {rounding:.2e} m"))?;
    }
    worst.found()
}
