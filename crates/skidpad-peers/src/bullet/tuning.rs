//! Bullet's parameters in their true units.

use skidpad_core::{DMat3, DVec3, Model, model::Hull};

/// Parameters of one vehicle in Bullet. Vehicle axes (x forward, y left, z up), origin at the centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Mass, kg, > 0.
    pub mass: f64,
    /// Inertia about the centre of mass, kg m², positive definite.
    pub inertia: DMat3,
    /// Box that collides with the ground; `None` if the chassis has no contacts.
    pub hull: Option<Hull>,
    /// Parameters of the wheels, in order.
    pub wheels: Vec<WheelTuning>,
    /// Step length by which the brake force of a pedal is converted into an impulse, s, > 0. `None`: the length of the
    /// step, so that a brake has the same force at every rate. Bullet takes an impulse per step, so that a game's
    /// setting is correct only at the rate for which it was tuned. Set the step length of that rate here to reproduce
    /// it.
    pub brake_step: Option<f64>,
}

/// Parameters of one wheel, in the order of Bullet's `addWheel` and its wheel's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelTuning {
    /// Start of the ray in vehicle axes, m (`m_chassisConnectionPointCS`).
    pub hard_point: DVec3,
    /// Direction of the ray, unit vector (`m_wheelDirectionCS`).
    pub direction: DVec3,
    /// Axle, unit vector; to the right for a wheel that drives forward (`m_wheelAxleCS`).
    pub axle: DVec3,
    /// Length from hard point to wheel centre at which the spring is slack, m (`m_suspensionRestLength1`).
    pub rest_length: f64,
    /// Radius, m, > 0 (`m_wheelsRadius`).
    pub radius: f64,
    /// Spring rate over the mass of the whole body, 1/s², ≥ 0 (`m_suspensionStiffness`).
    pub stiffness: f64,
    /// Damping while compressing over the mass of the whole body, 1/s, ≥ 0 (`m_wheelsDampingCompression`).
    pub damping_compression: f64,
    /// Damping while extending over the mass of the whole body, 1/s, ≥ 0 (`m_wheelsDampingRelaxation`).
    pub damping_relaxation: f64,
    /// Maximum change of length from the rest length in both directions, m, ≥ 0 (`m_maxSuspensionTravelCm`, there in
    /// cm).
    pub max_travel: f64,
    /// Maximum force of the suspension on the car, N. The friction of the tyre uses the unbounded force
    /// (`m_maxSuspensionForce`).
    pub max_force: f64,
    /// Lateral coefficient of friction; the longitudinal one is twice as large (`m_frictionSlip`).
    pub friction_slip: f64,
    /// Height at which lateral impulses act: 1 at the ground, 0 at the height of the centre of mass
    /// (`m_rollInfluence`).
    pub roll_influence: f64,
}

impl Tuning {
    /// Converts `model` to Bullet's parameters. Spring rates and damping keep their true units and are divided by the
    /// mass. Hard points and rest lengths are such that the car rests in its described pose under the static loads.
    /// Roll influence and maximum suspension force are those of [`skidpad_core::model::RaycastReference`]. Wheels point
    /// down and roll forward. The hull of the model collides. Brakes use the step length.
    ///
    /// At rest, the strut is as long as bump travel plus radius, and hangs from a hard point straight above the wheel.
    /// The sag is the static load over the rate. The rest length is the length at rest plus the sag, and the maximum
    /// travel is the bump travel plus the sag.
    ///
    /// Parameters without a counterpart in Bullet are left out: anti-roll bars, bump stops, droop stops, tyre curves,
    /// wheel inertia, rolling resistance, aerodynamics, toe, Ackermann. The friction is the longitudinal one of the
    /// tyre, without the grip of the ground, which Bullet never reads.
    pub fn from_model(model: &Model) -> Self {
        let mass = f64::from(model.mass());
        let reference = model.parts().raycast_reference;
        let wheel_tuning = |(i, wheel): (usize, &skidpad_core::model::Wheel)| {
            let strut = &wheel.strut;
            let rate = f64::from(strut.rate);
            let radius = f64::from(wheel.radius);
            // Bullet's spring is slack at its rest length, which is therefore the length at rest plus the sag under the
            // load.
            let sag = f64::from(model.static_load(i)) / rate;
            let length_at_rest = f64::from(strut.bump_travel) + radius;
            WheelTuning {
                // The wheel centre at rest is one radius above the contact.
                hard_point: wheel.contact.as_dvec3() + DVec3::Z * (radius + length_at_rest),
                direction: DVec3::NEG_Z,
                axle: DVec3::NEG_Y,
                rest_length: length_at_rest + sag,
                radius,
                stiffness: rate / mass,
                damping_compression: f64::from(strut.bump_damping) / mass,
                damping_relaxation: f64::from(strut.rebound_damping) / mass,
                max_travel: sag + f64::from(strut.bump_travel),
                max_force: reference.largest_suspension_force.into(),
                friction_slip: f64::from(model.tyre(i).nominal_friction()[0]), // [0]: longitudinal
                roll_influence: reference.roll_influence.into(),
            }
        };
        Self {
            mass,
            inertia: model.inertia().as_dmat3(),
            hull: Some(model.parts().hull),
            wheels: model.wheels().iter().enumerate().map(wheel_tuning).collect(),
            brake_step: None,
        }
    }
}
