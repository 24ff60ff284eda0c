//! Froude scaling: a car whose lengths are scaled by a power of four, with all dependent quantities, drives the same
//! under the same gravity on a scaled time. Powers of four are exact in binary. Differences come from constants of
//! the code with units.

use skidpad::core::model::ProbeShape::{Cylinder, Torus};
use skidpad::core::model::{Aero, Powertrain, RollingCoefficients, Strut, ToeCamberCurves, Tyre, Unsprung, Wheel};
use skidpad::core::tyre::{Brush, CurveLaw, CurveTyre, DirectionCurve, MIN_RELAXATION_LENGTH_M, TMeasy};
use skidpad::core::{Mat3, ModelParts, State, Vec3, state::WheelState};

use super::draw::Draw;
use super::manoeuvre::Manoeuvre;
use super::run::apart;
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Scale factors of lengths, and of times and speeds, which is the square root of the former.
#[derive(Clone, Copy)]
struct Scale {
    length: f32,
    time: f32,
}

impl Scale {
    fn force(self) -> f32 {
        self.length.powi(3)
    }

    fn torque(self) -> f32 {
        self.length.powi(4)
    }

    /// Returns the factor of stiffnesses (N/m).
    fn rate(self) -> f32 {
        self.length.powi(2)
    }

    /// Returns the factor of damping coefficients (N s/m).
    fn damping(self) -> f32 {
        self.rate() * self.time
    }

    fn inertia(self) -> f32 {
        self.length.powi(5)
    }
}

/// Largest difference beyond rounding, as a share of the car's length. The causes are constants of the code with
/// units, such as speeds treated as rest.
const TOLERANCE: f64 = 1e-3;

/// Mass below which cars are only enlarged (kg).
const LIGHT: f32 = 1000.0;

pub fn check(draw: &Draw) -> Outcome {
    let Some(plain) = plain(&draw.alone().on_plane()) else { return NOT_APPLICABLE };
    // Tyres ignore loads below 1 N.
    let grows = plain.parts().mass < LIGHT || draw.random().chance(0.5);
    let scale = if grows { Scale { length: 4.0, time: 2.0 } } else { Scale { length: 0.25, time: 0.5 } };
    // Parameters of tyres and struts have limits, so that the scaled car may be invalid.
    let Some(other) = scaled(&plain, scale) else { return NOT_APPLICABLE };
    let Some(rounding) = plain.rounding(plain.sensitivity(&plain.run())) else { return NOT_APPLICABLE };
    let allowed = TOLERANCE + rounding / plain.length();
    let (mut first, mut second, mut worst) = (plain.world(), other.world(), Worst::default());
    for k in 0..plain.steps() {
        first.step(&plain.controls(k));
        second.step(&other.controls(k));
        if first.state(0).wheels.iter().zip(plain.models[0].wheels()).any(|(now, wheel)| is_at_a_stop(now, wheel)) {
            break;
        }
        let apart = apart(first.state(0), &scaled_back(second.state(0), scale), plain.length()) / plain.length();
        worst.add(apart, allowed, || {
            format!("{} times as long: {apart:.2e} of its length apart by step {k}", scale.length)
        })?;
    }
    worst.found()
}

/// Returns true if constants with units affect the wheel: bump stops have a natural frequency, and a wheel in droop
/// searches the ground within a length.
fn is_at_a_stop(now: &WheelState, wheel: &Wheel) -> bool {
    now.load == 0.0 || now.compression > wheel.strut.bump_travel || now.compression < -wheel.strut.droop_travel
}

/// Returns the draw without unscalable features: engines, motors, assists, aerodynamic maps, warming brakes, bodywork
/// on the ground. Relaxation lengths are raised above the smallest one of the code. `None` for measured tyres and
/// Coulomb friction, which has no relaxation length.
fn plain(draw: &Draw) -> Option<Draw> {
    let mut parts = draw.parts().clone();
    for tyre in &mut parts.tyres {
        match tyre {
            Tyre::MagicFormula { .. } | Tyre::Curve(CurveTyre { law: CurveLaw::Coulomb { .. }, .. }) => return None,
            Tyre::Curve(curve) => {
                curve.relaxation = curve.relaxation.map(|length| length.max(40.0 * MIN_RELAXATION_LENGTH_M))
            }
            Tyre::Brush(brush) => brush.half_length = brush.half_length.max(4.0 * MIN_RELAXATION_LENGTH_M),
            Tyre::TMeasy(_) => {}
        }
    }
    parts.powertrain = Powertrain::None;
    parts.motors.clear();
    parts.aero.maps = None;
    parts.assists = Default::default();
    (parts.hitch, parts.coupler) = (None, None);
    for wheel in &mut parts.wheels {
        wheel.disc = None;
        // A cylinder contacts a plane with its middle or with an edge, depending on micrometres. A torus does not.
        if let Cylinder(width) = wheel.probe {
            wheel.probe = Torus(width);
        }
    }
    parts.hull.half_extents *= 0.3;
    parts.hull.centre = Vec3::ZERO;
    let mut plain = draw.with_parts(parts)?;
    (plain.manoeuvre.gear, plain.placement.gear) = (Some(0), Some(0));
    Some(plain)
}

fn scaled(draw: &Draw, scale: Scale) -> Option<Draw> {
    let mut other = draw.with_parts(scaled_parts(draw.parts(), scale))?;
    other.hz = draw.hz / scale.time;
    other.seconds = draw.seconds * f64::from(scale.time);
    other.placement.speed *= scale.time;
    let [velocity, angular_velocity] = other.kick;
    other.kick = [velocity * scale.time, angular_velocity / scale.time];
    let manoeuvre = other.manoeuvre.with(|key| {
        key.at *= f64::from(scale.time);
        key.wheels.iter_mut().for_each(|wheel| wheel.motor_torque *= scale.torque());
    });
    other.manoeuvre = Manoeuvre { cruise: None, ..manoeuvre };
    Some(other)
}

fn scaled_back(state: &State, scale: Scale) -> State {
    let mut back = state.clone();
    back.position /= f64::from(scale.length);
    back.velocity /= scale.time;
    back.angular_velocity *= scale.time;
    back
}

fn scaled_parts(parts: &ModelParts, scale: Scale) -> ModelParts {
    let mut other = parts.clone();
    other.mass *= scale.force();
    other.inertia = Mat3::from_cols_array(&parts.inertia.to_cols_array().map(|moment| moment * scale.inertia()));
    other.centre_height *= scale.length;
    other.wheels.iter_mut().for_each(|wheel| scale_wheel(wheel, scale));
    for axle in &mut other.axles {
        axle.turning_distance *= scale.length;
        axle.roll_centre_height *= scale.length;
        axle.force_point_height *= scale.length;
        let per_length = |[linear, quadratic]: [f32; 2]| [linear / scale.length, quadratic / scale.length.powi(2)];
        axle.toe_camber = axle
            .toe_camber
            .map(|links| ToeCamberCurves { toe: per_length(links.toe), camber: per_length(links.camber) });
        if let Some(given) = &mut axle.lateral_compliance {
            (given.rate, given.damping) = (given.rate * scale.rate(), given.damping * scale.damping());
        }
    }
    other.tyres = parts.tyres.iter().map(|tyre| scaled_tyre(tyre, scale)).collect();
    for bar in &mut other.bars {
        bar.rate *= scale.rate();
        bar.speed_range = bar.speed_range.map(|speed| speed * scale.time);
    }
    for spring in &mut other.heave_springs {
        (spring.rate, spring.damping) = (spring.rate * scale.rate(), spring.damping * scale.damping());
    }
    other.steering.rate /= scale.time;
    if let Some(kingpin) = &mut other.steering.kingpin {
        kingpin.trail *= scale.length;
        kingpin.scrub_radius *= scale.length;
        kingpin.pneumatic_trail *= scale.length;
    }
    if let Some(linkage) = &mut other.steering.compliance {
        (linkage.stiffness, linkage.time_constant) =
            (linkage.stiffness * scale.torque(), linkage.time_constant * scale.time);
    }
    for coupling in &mut other.couplings {
        coupling.friction *= scale.torque();
        coupling.viscous *= scale.torque() * scale.time;
    }
    scale_air(&mut other.aero, scale);
    other.hull.half_extents *= scale.length;
    other.hull.centre *= scale.length;
    other.raycast_reference.largest_suspension_force *= scale.force();
    other
}

fn scale_wheel(wheel: &mut Wheel, scale: Scale) {
    wheel.contact *= scale.length;
    wheel.radius *= scale.length;
    wheel.spin_inertia *= scale.inertia();
    wheel.brake_torque *= scale.torque();
    wheel.handbrake_torque *= scale.torque();
    let RollingCoefficients {
        constant,
        linear,
        quadratic,
        static_coefficient: standing,
        static_fade_speed: standing_below,
    } = wheel.rolling;
    wheel.rolling = RollingCoefficients {
        constant,
        linear: linear / scale.time,
        quadratic: quadratic / scale.length,
        static_coefficient: standing,
        static_fade_speed: standing_below * scale.time,
    };
    let strut = &mut wheel.strut;
    *strut = Strut {
        rate: strut.rate * scale.rate(),
        progressive_rate: strut.progressive_rate * scale.length,
        bump_damping: strut.bump_damping * scale.damping(),
        rebound_damping: strut.rebound_damping * scale.damping(),
        bump_travel: strut.bump_travel * scale.length,
        droop_travel: strut.droop_travel * scale.length,
        stop_rate: strut.stop_rate * scale.rate(),
        stop_travel: strut.stop_travel * scale.length,
        knees: strut.knees,
    };
    strut.knees.iter_mut().for_each(|knee| knee.speed *= scale.time);
    wheel.unsprung = wheel.unsprung.map(|own| Unsprung {
        mass: own.mass * scale.force(),
        tyre_rate: own.tyre_rate * scale.rate(),
        tyre_damping: own.tyre_damping * scale.damping(),
    });
    wheel.probe = match wheel.probe {
        Cylinder(width) => Cylinder(width * scale.length),
        Torus(width) => Torus(width * scale.length),
        same => same,
    };
}

fn scaled_tyre(tyre: &Tyre, scale: Scale) -> Tyre {
    let (force, length) = (scale.force(), scale.length);
    match tyre.clone() {
        Tyre::Curve(curve) => Tyre::Curve(CurveTyre {
            law: match curve.law {
                CurveLaw::Coulomb { deflection } => CurveLaw::Coulomb { deflection: deflection * length },
                CurveLaw::Linear { stiffness } => CurveLaw::Linear { stiffness: stiffness.map(|each| each * force) },
                same => same,
            },
            nominal_load: curve.nominal_load * force,
            relaxation: curve.relaxation.map(|each| each * length),
            ..curve
        }),
        Tyre::Brush(brush) => Tyre::Brush(Brush {
            bristle_stiffness: brush.bristle_stiffness.map(|each| each * force / length.powi(2)),
            half_length: brush.half_length * length,
            nominal_load: brush.nominal_load * force,
            ..brush
        }),
        Tyre::TMeasy(tyre) => {
            let all = |directions: [DirectionCurve; 2]| {
                directions.map(|one| DirectionCurve {
                    slope: one.slope * force,
                    largest: one.largest * force,
                    sliding: one.sliding * force,
                    ..one
                })
            };
            Tyre::TMeasy(TMeasy {
                nominal_load: tyre.nominal_load * force,
                nominal: all(tyre.nominal),
                double: all(tyre.double),
                relaxation: tyre.relaxation.map(|each| each * length),
            })
        }
        measured @ Tyre::MagicFormula { .. } => measured,
    }
}

fn scale_air(aero: &mut Aero, scale: Scale) {
    let area = scale.length.powi(2);
    aero.drag *= area;
    aero.side *= area;
    aero.drag_point *= scale.length;
    aero.side_point *= scale.length;
    for surface in &mut aero.downforce {
        surface.coefficient *= area;
        surface.point *= scale.length;
    }
}
