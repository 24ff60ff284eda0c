//! Meaning of the parameters of Bullet's ray-cast vehicle and of engines with the same vehicle.
//!
//! Springs and dampers are per mass of the whole body: `F = m (k (L0 − L) + c u)` with the mass `m` of the body, the
//! length `L`, the maximum length `L0` and the compression speed `u`. Brakes are impulses per step.

use crate::Import;
use crate::car::{BodyBox, Car, ContactHeight, Corner, SourcedNumber, sourced};
use skidpad_core::DVec3;
use skidpad_spec::spec::{Inertia, RaycastReference, Tyre};

/// Deflection at which the tyre slides in the vehicle file (m). The tyres of the sources have no deflection.
const TYRE_DEFLECTION_M: f64 = 0.005;
/// Largest friction coefficient of a vehicle file. At this value a car does not slide.
const MAX_FRICTION: f64 = 20.0;
/// Tilt of a suspension above which a note is added, as a sine.
const MAX_SUSPENSION_TILT: f64 = 0.01;

/// Axes of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SourceAxes {
    /// Unit vector forward.
    pub forward: DVec3,
    /// Unit vector to the left.
    pub left: DVec3,
    /// Unit vector upwards.
    pub up: DVec3,
}

impl SourceAxes {
    /// Creates right-handed axes from the numbers of the axes up and forward (0 to 2); left is `up × forward`. Returns
    /// `None` if both numbers are the same or one is out of range.
    pub fn right_handed(up: u32, forward: u32) -> Option<Self> {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let (up, forward) = (*axes.get(up as usize)?, *axes.get(forward as usize)?);
        (up != forward).then_some(Self { forward, left: up.cross(forward), up })
    }

    /// Converts a vector to its components forward, left and up.
    pub fn to_vehicle_axes(self, v: [f64; 3]) -> [f64; 3] {
        let v = DVec3::from_array(v);
        [v.dot(self.forward), v.dot(self.left), v.dot(self.up)]
    }

    /// Converts a size or a diagonal inertia, which have no sign, to its components forward, left and up.
    pub fn to_vehicle_size(self, v: [f64; 3]) -> [f64; 3] {
        self.to_vehicle_axes(v).map(f64::abs)
    }

    /// Converts a diagonal inertia to roll, pitch and yaw inertia (kg m²), rounded to nine digits. The product of
    /// inertia is 0.
    pub fn inertia(&self, v: [f64; 3]) -> Inertia {
        let [roll_kg_m2, pitch_kg_m2, yaw_kg_m2] = self.to_vehicle_size(v).map(crate::vehicle_file::round_digits);
        Inertia { roll_kg_m2, pitch_kg_m2, yaw_kg_m2, roll_yaw_kg_m2: 0.0 }
    }
}

/// Wheel with the numbers of the source.
#[derive(Clone, Debug)]
pub(crate) struct RayWheel {
    /// Path of the wheel in the source.
    pub path: String,
    /// Upper end of the suspension in the axes of the source (m).
    pub hard_point: [f64; 3],
    /// Direction of the ray in the axes of the source.
    pub direction: [f64; 3],
    /// Maximum length of the suspension (m).
    pub rest_length: f64,
    /// Largest change of length of the suspension (m).
    pub travel: f64,
    /// Radius of the wheel (m).
    pub radius: f64,
    /// Spring rate per mass of the body (1/s²).
    pub stiffness: f64,
    /// Damping in compression per mass of the body (1/s).
    pub compression: f64,
    /// Damping in extension per mass of the body (1/s).
    pub relaxation: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Largest suspension force (N).
    pub max_force: f64,
    /// Lever arm of lateral forces, as a share of the height of the centre of mass: 1 if they act at the ground.
    pub roll_influence: f64,
    /// Ratio of the travel of the wheel to the travel of the spring, ≥ 1.
    pub travel_ratio: f64,
    /// Largest steering angle (rad).
    pub steering: f64,
    /// Largest engine force (N).
    pub engine_force: f64,
    /// Largest brake impulse per step (N s).
    pub brake: f64,
    /// Names of stiffness, compression damping, relaxation damping, friction, brake and engine force in the source.
    pub source_names: [&'static str; 6],
}

/// Body with ray-cast wheels, with the numbers of the source.
#[derive(Clone, Debug)]
pub(crate) struct RayVehicle {
    /// Name of the vehicle.
    pub name: String,
    /// Description of the vehicle.
    pub description: String,
    /// Mass of the body (kg).
    pub mass: f64,
    /// Centre of mass in the axes of the source (m).
    pub centre: [f64; 3],
    /// Diagonal of the inertia in the axes of the source (kg m²); `None` to compute it from `boxes`.
    pub inertia: Option<[f64; 3]>,
    /// Shape of the body in the axes of the neutral car.
    pub boxes: Vec<BodyBox>,
    /// Wheels, in any order.
    pub wheels: Vec<RayWheel>,
    /// Axes of the source.
    pub frame: SourceAxes,
}

/// Converts a ray-cast vehicle to the neutral car in the axes forward, left, up. The lock is the largest steering angle
/// of a wheel, or an estimate of 30° with a note. The car has no engine: drive forces become wheel torques. Adds notes
/// on estimates and on properties that change their meaning.
pub(crate) fn convert_vehicle(vehicle: RayVehicle, import: &mut Import<'_>) -> Car {
    // Largest steering angle (rad).
    let max_steering = vehicle.wheels.iter().map(|w| w.steering.abs()).fold(0.0, f64::max);
    let lock = if max_steering > 0.0 {
        sourced(max_steering.to_degrees(), format!("{max_steering} rad"))
    } else {
        import.add_note("", "no steering angle in the source: the full lock is an estimate");
        sourced(30.0, "estimate: the source has no angle")
    };
    let raycast_reference = raycast_parameters(&vehicle.wheels, import);
    let wheels = vehicle.wheels.iter().map(|wheel| convert_wheel(wheel, &vehicle, max_steering, import)).collect();
    let inertia = vehicle.inertia.map(|inertia| (vehicle.frame.inertia(inertia), "from the source".to_owned()));
    Car {
        name: vehicle.name,
        description: vehicle.description,
        mass: sourced(vehicle.mass, ""), // no comment
        centre: vehicle.frame.to_vehicle_axes(vehicle.centre),
        centre_source: "height at which the springs carry the car at rest".into(),
        inertia,
        boxes: vehicle.boxes,
        // The collision box follows from `boxes` or from the wheels.
        hull: None,
        wheels,
        lock,
        steer_rate: None,
        engine: None,
        raycast_reference,
    }
}

/// Returns the parameters that only ray-cast vehicles of other engines use (`raycast_reference`): roll influence (lever
/// arm of side forces as a share of the height of the centre of mass, clamped to 0 to 1) and largest suspension force
/// of the first wheel. A force of 1e9 N or more becomes no limit. Returns `None` without wheels. Adds a note for each
/// wheel with other values than the first, and one if the roll influence is below 1.
fn raycast_parameters(wheels: &[RayWheel], import: &mut Import<'_>) -> Option<RaycastReference> {
    let first_wheel = wheels.first()?;
    for wheel in wheels {
        if (wheel.roll_influence, wheel.max_force) != (first_wheel.roll_influence, first_wheel.max_force) {
            import.add_note(
                &wheel.path,
                "roll influence or maximum force differ between wheels: those of the first wheel are used",
            );
        }
    }
    if first_wheel.roll_influence < 1.0 {
        let roll_influence = first_wheel.roll_influence;
        import.add_note(
            &first_wheel.path,
            format!("roll influence {roll_influence}: only reference vehicles use it; the solvers of skidpad roll the car physically"),
        );
    }
    Some(RaycastReference {
        roll_influence: first_wheel.roll_influence.clamp(0.0, 1.0),
        // 1e9 N stands for no limit.
        max_suspension_force_n: (first_wheel.max_force < 1e9).then_some(first_wheel.max_force),
    })
}

/// Converts a wheel. `max_steering` is the largest steering angle of the vehicle (rad). The steering share of a wheel
/// is the magnitude of its angle over `max_steering`; if that is 0, the wheels ahead of the longitudinal middle steer
/// fully.
///
/// Spring rate and damping are those of the source times the mass of the body; the rate is also divided by the travel
/// ratio, the damping is not. The spring is unloaded at the rest length, which is full droop. The travel from there to
/// full bump is the stated change of length times the travel ratio. The tyre is Coulomb friction of at most
/// [`MAX_FRICTION`]. The brake impulse per step becomes a torque; the drive torque is the magnitude of the engine force
/// times the radius. Handbrake and anti-roll bar are 0. The spin inertia is 0.01 kg m², which is negligible. Adds the
/// notes of `note_replaced_values`.
fn convert_wheel(wheel: &RayWheel, vehicle: &RayVehicle, max_steering: f64, import: &mut Import<'_>) -> Corner {
    let (mass, frame) = (vehicle.mass, &vehicle.frame);
    let [stiffness_name, compression_name, relaxation_name, friction_name, _, engine_force_name] = wheel.source_names;
    let [x, y, hard_point_height] = frame.to_vehicle_axes(wheel.hard_point);
    note_replaced_values(wheel, frame, import);
    let travel_note = if wheel.travel_ratio > 1.0 {
        format!(", travel stretched {:.4} times", wheel.travel_ratio)
    } else {
        String::new()
    };
    let travel = wheel.travel * wheel.travel_ratio;
    // Height of the contact point at which the spring is unloaded.
    let unloaded_height = hard_point_height - wheel.rest_length - wheel.radius;
    let damping = |value: f64, name: &str| sourced(value * mass, format!("{name} {value} × {mass} kg"));
    // Number that the source does not have.
    let absent = || sourced(0.0, "");
    Corner {
        path: wheel.path.clone(),
        position: [x, y],
        contact: ContactHeight::Unloaded(unloaded_height),
        contact_range: [unloaded_height + travel, unloaded_height],
        contact_range_source: format!("from rest to {} m below the rest length{travel_note}", wheel.travel),
        radius: sourced(wheel.radius, ""),
        spin_inertia: sourced(0.01, "the wheels of the source have none; this value is negligible for the car"),
        rate: sourced(
            wheel.stiffness * mass / wheel.travel_ratio,
            format!("{stiffness_name} {} × {mass} kg{travel_note}", wheel.stiffness),
        ),
        bump: damping(wheel.compression, compression_name),
        rebound: damping(wheel.relaxation, relaxation_name),
        tyre: Tyre::Coulomb {
            deflection_m: TYRE_DEFLECTION_M,
            friction: crate::car::friction([wheel.friction.min(MAX_FRICTION); 2]),
        },
        tyre_source: format!(
            "{friction_name} {}; the source limits the longitudinal force to twice this value and has no contact patch",
            wheel.friction
        ),
        steer_share: if max_steering > 0.0 {
            wheel.steering.abs() / max_steering
        } else {
            f64::from(x > longitudinal_middle(vehicle))
        },
        brake: brake_torque(wheel, import.options.dt_s),
        handbrake: absent(),
        drive_torque: sourced(
            wheel.engine_force.abs() * wheel.radius,
            format!("{engine_force_name} {} N × radius", wheel.engine_force.abs()),
        ),
        anti_roll_rate: absent(),
        is_on_solid_axle: false,
        roll_centre: None,
        lateral_compliance: None,
        force_point: None,
        toe_camber: None,
        unsprung: None,
        rolling_resistance: None,
    }
}

/// Adds a note about a suspension that is not vertical, which is imported as vertical, and a note about a friction
/// coefficient above [`MAX_FRICTION`], which is imported as this maximum. Only adds notes.
fn note_replaced_values(wheel: &RayWheel, frame: &SourceAxes, import: &mut Import<'_>) {
    let [_, _, _, friction_name, ..] = wheel.source_names;
    let direction = DVec3::from_array(wheel.direction).normalize_or_zero();
    // The sum of both unit vectors is 0 for a ray straight down.
    if (direction + frame.up).length() > MAX_SUSPENSION_TILT {
        import.add_note(&wheel.path, "the suspension is not upright: imported as upright");
    }
    if wheel.friction > MAX_FRICTION {
        import.add_note(
            &wheel.path,
            format!(
                "{friction_name} {} is imported as {MAX_FRICTION}: neither value lets the tyre slide",
                wheel.friction
            ),
        );
    }
}

/// Computes the largest brake torque of a wheel (N m): brake impulse per step (N s) / `dt` (s) · radius. 0 without a
/// brake.
fn brake_torque(wheel: &RayWheel, dt: f64) -> SourcedNumber {
    // The last two names are those of brake and engine force.
    let [.., name, _] = wheel.source_names;
    if wheel.brake > 0.0 {
        let origin = format!("{name} {} N s per step of {dt:.6} s × radius", wheel.brake);
        sourced(wheel.brake / dt * wheel.radius, origin)
    } else {
        sourced(0.0, "")
    }
}

/// Returns the longitudinal position midway between the foremost and the rearmost wheel (m).
fn longitudinal_middle(vehicle: &RayVehicle) -> f64 {
    let positions = vehicle.wheels.iter().map(|w| vehicle.frame.to_vehicle_axes(w.hard_point)[0]);
    let (rearmost, foremost) =
        positions.fold((f64::MAX, f64::MIN), |(rearmost, foremost), x| (rearmost.min(x), foremost.max(x)));
    0.5 * (rearmost + foremost)
}
