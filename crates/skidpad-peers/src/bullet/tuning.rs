//! Bullet's parameters, with the units they really have.

use skidpad_core::{DMat3, DVec3, Model, model::Hull};

/// Everything Bullet knows of one vehicle. Vehicle axes (x forward, y left, z up), origin at the centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// kg, > 0.
    pub mass: f64,
    /// About the centre of mass, kg m², positive definite.
    pub inertia: DMat3,
    /// Box that collides with the ground; `None` passes through everything.
    pub hull: Option<Hull>,
    /// In wheel order.
    pub wheels: Vec<WheelTuning>,
    /// Step length a pedal's brake force is turned into an impulse with, s, > 0. `None`: the step's own, so that a brake
    /// is the same force at every rate. Bullet takes an impulse per step, so a game's setting is right at the rate it was
    /// tuned at only: state that rate's step here to have it so.
    pub brake_step: Option<f64>,
}

/// Parameters of one wheel, in the order of Bullet's `addWheel` and its wheel's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelTuning {
    /// Start of the ray, m (`m_chassisConnectionPointCS`).
    pub hard_point: DVec3,
    /// Where the ray goes, unit vector (`m_wheelDirectionCS`).
    pub direction: DVec3,
    /// Unit vector to the right for a wheel that drives forward (`m_wheelAxleCS`).
    pub axle: DVec3,
    /// Length from hard point to wheel centre at which the spring is slack, m (`m_suspensionRestLength1`).
    pub rest_length: f64,
    /// m, > 0 (`m_wheelsRadius`).
    pub radius: f64,
    /// Spring rate over the mass of the whole body, 1/s², ≥ 0 (`m_suspensionStiffness`).
    pub stiffness: f64,
    /// Damping while compressing over the mass of the whole body, 1/s, ≥ 0 (`m_wheelsDampingCompression`).
    pub damping_compression: f64,
    /// Damping while extending over the mass of the whole body, 1/s, ≥ 0 (`m_wheelsDampingRelaxation`).
    pub damping_relaxation: f64,
    /// Largest change of length from the rest length, both ways, m, ≥ 0 (`m_maxSuspensionTravelCm` is in cm).
    pub travel: f64,
    /// Largest force of the suspension, N; it bounds what pushes the car, not what the tyre's friction is taken from
    /// (`m_maxSuspensionForce`).
    pub most_force: f64,
    /// Friction coefficient across; along it acts twice (`m_frictionSlip`).
    pub friction_slip: f64,
    /// Share of the height of the centre of mass at which side impulses act: 1 at the ground, 0 at the centre's height
    /// (`m_rollInfluence`).
    pub roll_influence: f64,
}

impl Tuning {
    /// `model` in Bullet's terms: rates and dampings by their true units, hard points so that the car stands in its
    /// described pose, roll influence and the bound of the suspension's force from [`skidpad_core::model::Peers`].
    ///
    /// What Bullet has no place for is left out: anti-roll bars, bump stops, droop stops, tyre curves, wheel inertia,
    /// rolling resistance, air, toe, Ackermann. The friction is the tyre's along; the ground's grip is not in it,
    /// because Bullet never reads that.
    pub fn of(model: &Model) -> Self {
        let mass = f64::from(model.mass());
        let peers = model.parts().peers;
        let wheel = |(i, wheel): (usize, &skidpad_core::model::Wheel)| {
            let strut = &wheel.strut;
            let rate = f64::from(strut.rate);
            let radius = f64::from(wheel.radius);
            // Bullet's spring is slack at its rest length: that is the rest pose's length plus the sag under the load.
            let sag = f64::from(model.static_load(i)) / rate;
            let length_at_rest = f64::from(strut.bump_travel) + radius;
            WheelTuning {
                hard_point: wheel.contact.as_dvec3() + DVec3::Z * (radius + length_at_rest),
                direction: DVec3::NEG_Z,
                axle: DVec3::NEG_Y,
                rest_length: length_at_rest + sag,
                radius,
                stiffness: rate / mass,
                damping_compression: f64::from(strut.bump_damping) / mass,
                damping_relaxation: f64::from(strut.rebound_damping) / mass,
                travel: sag + f64::from(strut.bump_travel),
                most_force: peers.largest_suspension_force.into(),
                friction_slip: f64::from(model.tyre(i).nominal_friction()[0]),
                roll_influence: peers.roll_influence.into(),
            }
        };
        Self {
            mass,
            inertia: model.inertia().as_dmat3(),
            hull: Some(model.parts().hull),
            wheels: model.wheels().iter().enumerate().map(wheel).collect(),
            brake_step: None,
        }
    }
}
