//! Vehicle model: constants of one vehicle, checked once and shared by all cars that use them.

#[cfg(feature = "simd_batch")]
pub(crate) mod block_cars;
#[cfg(feature = "simd_batch")]
pub(crate) mod block_model;
pub(crate) mod body;
#[cfg(feature = "simd_batch")]
pub(crate) mod car_constants;
mod check;
pub(crate) mod law_groups;
#[cfg(feature = "simd_batch")]
pub(crate) mod own_numbers;
pub(crate) mod parts;
#[cfg(test)]
pub(crate) mod plain;
pub(crate) mod static_loads;
pub(crate) mod torque_paths;
#[cfg(feature = "simd_batch")]
mod variable_numbers;
pub(crate) mod wheel_pack;

// Every public item of the modules with a glob is a part of the model.
pub use crate::aero::parameters::*;
pub use crate::assists::parameters::*;
pub use crate::drivetrain::engine::*;
pub use crate::drivetrain::launch_device::*;
pub use crate::drivetrain::motor::Motor;
pub use crate::drivetrain::parameters::{EngineDrive, Powertrain, TorqueCoupling};
pub use crate::hitch::parameters::*;
pub use crate::model_error::ModelError;
pub use crate::shape::*;
pub use crate::steering::parameters::*;
pub use crate::suspension::parameters::*;
pub use crate::wheel::disc::*;
pub use crate::wheel::parameters::*;
pub use parts::*;
pub use skidpad_tyre::parameters::Tyre;
pub use static_loads::*;

use crate::assist_log::Assist;
use crate::model::torque_paths::TorquePath;
use crate::model::wheel_pack::{self as pack, LaneIndex, WheelPack};
use crate::model_error::{check_positive, check_positive_or_infinite};
use crate::steering::ackermann::Ackermann;
use crate::wheel::state::WheelState;
use crate::{Mat3, STANDARD_GRAVITY, Vec3};
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_tyre::functions::sin_cos;
use skidpad_tyre::{Conditions, Moments, TyreForces};

/// Maximum force of a raw motor torque at the contact of its wheel, as a multiple of the wheel's load.
pub const MAX_PULL_RATIO: f32 = 10.0;

/// Valid vehicle: immutable, shared between the cars that use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Parts from which the model was built.
    parts: ModelParts,
    /// Inverse of the mass of the whole car, 1/kg.
    inverse_mass: f32,
    /// Inverse of the inertia about the centre of mass, vehicle axes, 1/(kg m²).
    inverse_inertia: Mat3,
    /// Mass carried by each wheel at rest, kg.
    carried_masses: Box<[f32]>,
    /// Assists and tricks that can have an effect.
    assists: Box<[Assist]>,
    /// Left and right wheel of each axle.
    axle_wheels: Box<[[usize; 2]]>,
    /// Steering geometry of each axle.
    ackermann: Box<[Ackermann]>,
    /// Sine and cosine of the static camber of each wheel.
    camber_sin_cos: Box<[(f32, f32)]>,
    /// Constants of the wheels in groups of four lanes.
    wheel_packs: Box<[WheelPack]>,
    /// Group and lane of each wheel.
    lane_indices: Box<[LaneIndex]>,
    /// Torques that pass through each coupling.
    torque_paths: Box<[TorquePath]>,
    /// Angular momentum of each motor's rotor per speed of the car, kg m.
    rotor_momentum: Box<[f32]>,
    /// Bars and heave springs between wheels that are not neighbours in a group.
    separate_axle_links: Box<[usize]>,
    /// Whether road-wheel angles can change although the steering does not move.
    has_self_steering: bool,
    /// Whether any wheel probes the ground with more than a ray.
    has_rims: bool,
    /// Whether the roll centre of any axle is off the ground.
    has_roll_centre_links: bool,
    /// Whether any axle has lateral compliance.
    has_lateral_compliance: bool,
}

/// Minimum mass that a wheel carries at rest, as a share of an even split. Rows are scaled by the carried mass.
const MIN_CARRIED_SHARE: f32 = 1e-3;

impl Model {
    /// Builds a model: checks `parts`, derives the mass that each wheel carries at rest, and precomputes all constants
    /// of a step.
    ///
    /// # Errors
    ///
    /// Returns the first violation, in this order: the ranges and rules of the parts; a centre of mass outside the
    /// wheels ([`ModelError::Unsupported`]); an axle without one or two wheels; a solid axle without a wheel on each
    /// side; a wheel that carries less than a thousandth of an even split, or not more than its unsprung mass; an axle
    /// whose lateral rate is not above its load per metre. Vehicle files report all of their errors before this check.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        check::check(&parts)?;
        let points: Vec<[f64; 2]> = parts.wheels.iter().map(|w| [w.contact.x as f64, w.contact.y as f64]).collect();
        let mass = f64::from(parts.mass);
        // Horizontal coordinates, m.
        let horizontal = |point: Vec3| [point.x, point.y].map(f64::from);
        let hitch = parts.hitch.map(|hitch| (horizontal(hitch.point), f64::from(hitch.carried_mass)));
        let coupler = parts.coupler.map(|coupler| horizontal(coupler.point));
        let wheel_masses = carried_masses(&points, coupler, hitch, mass).ok_or(ModelError::Unsupported)?;
        let axle_wheels = axle_wheels(&parts)?;
        for (axle, [left, right]) in parts.axles.iter().zip(&axle_wheels) {
            if axle.solid && parts.wheels[*left].contact.y <= parts.wheels[*right].contact.y {
                return Err(ModelError::RuleViolated(
                    "a solid axle needs one wheel on the left and one wheel on the right",
                ));
            }
        }
        for (i, (wheel, carried_mass)) in parts.wheels.iter().zip(&wheel_masses).enumerate() {
            let min_mass = MIN_CARRIED_SHARE * parts.mass / parts.wheels.len() as f32;
            check_positive(
                &format!("wheel {i}: carried mass at rest - {min_mass} kg"),
                *carried_mass as f32 - min_mass,
            )?;
            // 1.0: passes the check without an unsprung mass.
            let remaining_mass = wheel.unsprung.map_or(1.0, |unsprung| *carried_mass as f32 - unsprung.mass);
            check_positive(&format!("wheel {i}: carried mass - unsprung mass"), remaining_mass)?;
        }
        for (i, axle) in parts.axles.iter().enumerate() {
            let axle_masses = parts.wheels.iter().zip(&wheel_masses).filter(|(wheel, _)| wheel.axle == i);
            let load = axle_masses.map(|(_, carried_mass)| *carried_mass as f32).sum::<f32>() * STANDARD_GRAVITY;
            // A rigid axle passes the check.
            let rate = axle.lateral_compliance.map_or(f32::INFINITY, |compliance| compliance.rate);
            check_positive_or_infinite(&format!("axle {i}: lateral stiffness - load per metre"), rate - load)?;
        }
        let wheel_masses: Box<[f32]> = wheel_masses.into_iter().map(|mass| mass as f32).collect();
        let has_self_steering = parts.steering.compliance.is_some()
            || parts.axles.iter().any(|axle| axle.toe_camber.is_some() || axle.solid);
        Ok(Self {
            wheel_packs: pack::build_packs(&parts, &wheel_masses, &axle_wheels),
            lane_indices: pack::lane_indices(&parts, &axle_wheels),
            inverse_mass: 1.0 / parts.mass,
            inverse_inertia: parts.inertia.inverse(),
            carried_masses: wheel_masses,
            assists: effective_assists(&parts),
            torque_paths: parts.couplings.iter().map(|coupling| TorquePath::new(&parts, coupling)).collect(),
            rotor_momentum: parts.motors.iter().map(|motor| motor.momentum(&parts.wheels)).collect(),
            separate_axle_links: pack::separate_axle_links(&parts),
            has_rims: parts.wheels.iter().any(|wheel| wheel.probe != ProbeShape::Ray),
            has_roll_centre_links: parts.axles.iter().any(|axle| axle.roll_centre_height != 0.0),
            has_lateral_compliance: parts.axles.iter().any(|axle| axle.lateral_compliance.is_some()),
            has_self_steering,
            ackermann: ackermann(&parts, &axle_wheels),
            camber_sin_cos: parts.wheels.iter().map(|wheel| sin_cos(wheel.camber)).collect(),
            axle_wheels,
            parts,
        })
    }

    /// Returns the parts of the model.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// Returns the mass of the whole car, kg.
    pub fn mass(&self) -> f32 {
        self.parts.mass
    }

    /// Returns the inverse of [`Model::mass`], 1/kg.
    pub fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    /// Returns the inertia about the centre of mass, vehicle axes, kg m².
    pub fn inertia(&self) -> &Mat3 {
        &self.parts.inertia
    }

    /// Returns the inverse of [`Model::inertia`], 1/(kg m²).
    pub fn inverse_inertia(&self) -> &Mat3 {
        &self.inverse_inertia
    }

    /// Returns the wheels, axle by axle from the front, left before right.
    pub fn wheels(&self) -> &[Wheel] {
        &self.parts.wheels
    }

    /// Returns the mass carried by each wheel at rest, kg, in wheel order. The mass includes the wheel's share of the
    /// mass that is described to rest on the hitch.
    pub fn carried_masses(&self) -> &[f32] {
        &self.carried_masses
    }

    /// Returns the assists and tricks that can have an effect, in the order of [`Assist::ALL`]; empty for a plain car.
    pub fn assists(&self) -> &[Assist] {
        &self.assists
    }

    /// Returns the mean compressions of the first and the last axle, m. `compression` is the compression of a wheel, m.
    pub fn mean_compression(&self, compression: impl Fn(usize) -> f32) -> [f32; 2] {
        let axles = &self.axle_wheels;
        [axles[0], axles[axles.len() - 1]].map(|[left, right]| 0.5 * (compression(left) + compression(right)))
    }

    /// Returns the magnitude of the steer ratio of the first steered axle; 1 if no axle is steered.
    pub fn steer_ratio(&self) -> f32 {
        let mut ratios = self.parts.axles.iter().map(|axle| axle.steer_ratio.abs());
        ratios.find(|ratio| *ratio != 0.0).unwrap_or(1.0)
    }

    /// Returns the left and right road-wheel angles of each axle, rad, positive to the left, without toe. `axle_angles`
    /// are the angles in the middle of each axle, rad. The Ackermann geometry of each axle turns its wheels about the
    /// centre of the common curvature.
    pub fn road_wheel_angles(&self, axle_angles: &[f32]) -> Vec<[f32; 2]> {
        let curvature = Ackermann::curvature(&self.ackermann, |i| axle_angles[i]);
        self.ackermann.iter().zip(axle_angles).map(|(axle, axle_angle)| axle.angles(*axle_angle, curvature)).collect()
    }

    /// Returns the Ackermann geometry of each axle.
    pub(crate) fn ackermann(&self) -> &[Ackermann] {
        &self.ackermann
    }

    /// Returns the sine and cosine of the static camber of each wheel.
    pub(crate) fn camber_sin_cos(&self) -> &[(f32, f32)] {
        &self.camber_sin_cos
    }

    /// Returns the pair of wheels of each axle. An axle with one wheel has its number twice.
    pub(crate) fn axle_wheels(&self) -> &[[usize; 2]] {
        &self.axle_wheels
    }

    /// Returns true if road-wheel angles can change although the steering does not move: by toe or camber that change
    /// with the travel (bump steer), or by a compliant linkage.
    pub(crate) fn has_self_steering(&self) -> bool {
        self.has_self_steering
    }

    /// Returns the constants of the wheels in groups of four lanes.
    pub(crate) fn wheel_packs(&self) -> &[WheelPack] {
        &self.wheel_packs
    }

    /// Returns the group and the lane of wheel `i`.
    pub(crate) fn lane_index(&self, i: usize) -> LaneIndex {
        self.lane_indices[i]
    }

    /// Returns four shares, one per lane of the wheel groups: of the wheels in this lane of any group, the share for
    /// which `has_property` returns true (0 to 1; 0 for a lane without wheels). `has_property` takes a wheel index.
    pub(crate) fn share_of_lanes(&self, has_property: impl Fn(usize) -> bool) -> F32x4 {
        // Numbers of wheels with the property (index 0) and of all wheels (index 1), by lane.
        let mut counts = [[0.0; 4]; 2];
        for (wheel, lane_index) in self.lane_indices.iter().enumerate() {
            counts[0][lane_index.lane] += f32::from(has_property(wheel));
            counts[1][lane_index.lane] += 1.0;
        }
        let [matching, total] = counts.map(F32x4::new);
        matching / total.at_least(F32x4::splat(1.0))
    }

    /// Returns true if `wheels` are neighbours on one axle in a group (lanes 0 and 1, or 2 and 3), and `coupling_sign`
    /// is below 0. The coupling sign of a link between two wheels is −1 if the link resists opposite travel (anti-roll
    /// bar), and 1 if it resists equal travel (heave spring).
    pub(crate) fn is_between_opposite(&self, wheels: [usize; 2], coupling_sign: f32) -> bool {
        let [first, second] = wheels.map(|i| self.lane_indices[i]);
        // `^ 1` exchanges left and right lane of an axle.
        coupling_sign < 0.0 && first.group == second.group && first.lane ^ 1 == second.lane
    }

    /// Returns true if the car has anti-roll bars or heave springs.
    pub(crate) fn has_axle_links(&self) -> bool {
        !self.parts.bars.is_empty() || !self.parts.heave_springs.is_empty()
    }

    /// Returns the numbers of the bars, then the heave springs, that are not part of [`WheelPack::bar_rate`].
    pub(crate) fn separate_axle_links(&self) -> &[usize] {
        &self.separate_axle_links
    }

    /// Returns true if any wheel probes the ground with more than a ray.
    #[inline(always)]
    pub fn has_rims(&self) -> bool {
        self.has_rims
    }

    /// Returns true if the roll centre of any axle is off the ground.
    #[inline(always)]
    pub(crate) fn has_roll_centre_links(&self) -> bool {
        self.has_roll_centre_links
    }

    /// Returns true if any axle has lateral compliance.
    #[inline(always)]
    pub(crate) fn has_lateral_compliance(&self) -> bool {
        self.has_lateral_compliance
    }

    /// Returns true if tyre rows may not be orthogonal unit vectors: with rim probes, or with roll centres off the
    /// ground.
    #[inline(always)]
    pub(crate) fn has_tilted_rows(&self) -> bool {
        self.has_rims | self.has_roll_centre_links
    }

    /// Returns the movement of the contact point of wheel `i` to the left per metre of jounce, –: the height of its
    /// roll centre over half the track. On a solid axle, each contact point moves by half of the sum of the movements
    /// of both wheels.
    pub fn link_slope(&self, i: usize) -> f64 {
        f64::from(pack::link_slope(&self.parts, i))
    }

    /// Returns true if pedals drive the car: by an engine, by torques directly at the wheels, or by motors.
    pub fn is_driven(&self) -> bool {
        !matches!(self.parts.powertrain, Powertrain::None) || !self.parts.motors.is_empty()
    }

    /// Returns, for each coupling, the torques that drive both of its sides.
    pub(crate) fn torque_paths(&self) -> &[TorquePath] {
        &self.torque_paths
    }

    /// Returns the angular momentum of the rotor of each motor per speed of the car, kg m; see [`Motor::momentum`].
    pub(crate) fn rotor_momentum(&self) -> &[f32] {
        &self.rotor_momentum
    }

    /// Returns the maximum raw motor torque at wheel `i`, N m: [`MAX_PULL_RATIO`] times load times radius. The load is
    /// the wheel's load at rest or the mean load of all wheels, whichever is larger. Larger torques turn the chassis
    /// faster than steps resolve.
    pub fn max_motor_torque(&self, i: usize) -> f32 {
        let mean_load = self.parts.mass * STANDARD_GRAVITY / self.parts.wheels.len() as f32;
        MAX_PULL_RATIO * self.static_load(i).max(mean_load) * self.parts.wheels[i].radius
    }

    /// Returns the tyre of wheel `i`.
    pub fn tyre(&self, i: usize) -> &Tyre {
        &self.parts.tyres[self.parts.wheels[i].tyre]
    }

    /// Computes the forces of the tyre of wheel `i` at the slips (κ, −tan α), as it is mounted; see [`Tyre::force`].
    /// For a mirrored tyre, lateral slip and camber are reversed before and the lateral force after the evaluation.
    pub fn tyre_force(&self, i: usize, slip: [f32; 2], conditions: &Conditions<f32>) -> TyreForces<f32> {
        let mirror_sign = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        let conditions = Conditions { camber: conditions.camber * mirror_sign, ..*conditions };
        let mut forces = self.tyre(i).force([slip[0], slip[1] * mirror_sign], &conditions);
        forces.force[1] *= mirror_sign;
        forces
    }

    /// Computes the moments of the tyre of wheel `i` at the slips (κ, −tan α), N m, as it is mounted; see
    /// [`Tyre::moments`]. For a mirrored tyre, lateral slip and camber are reversed before, Mx and Mz after the
    /// evaluation.
    pub fn tyre_moments(&self, i: usize, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
        let mirror_sign = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        let conditions = Conditions { camber: conditions.camber * mirror_sign, ..*conditions };
        let moments = self.tyre(i).moments([slip[0], slip[1] * mirror_sign], &conditions);
        Moments { overturning: moments.overturning * mirror_sign, aligning: moments.aligning * mirror_sign, ..moments }
    }

    /// Returns the lengths of the patch of wheel `i` under `conditions`, as it is mounted, m; see
    /// [`Tyre::patch_lengths`].
    pub fn patch_lengths(&self, i: usize, conditions: &Conditions<f32>) -> [f32; 2] {
        let mirror_sign = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        self.tyre(i).patch_lengths(&Conditions { camber: conditions.camber * mirror_sign, ..*conditions })
    }

    /// Returns the slips κ and −tan α of wheel `i` in the state `wheel`, lagged by the relaxation lengths: the
    /// deflection of its patch over these lengths. For dry friction, returns the deflection over the sliding
    /// deflection.
    pub fn lagged_slip(&self, i: usize, wheel: &WheelState) -> [f32; 2] {
        let lengths = self.patch_lengths(i, &wheel.conditions());
        [0, 1].map(|k| wheel.deflection[k] / lengths[k])
    }

    /// Returns the camber of wheel `i` against the chassis, rad, positive with the top leaning outwards: the static
    /// camber plus the change by the links at its compression, and the tilt of a solid axle. `compression` is the
    /// compression of each wheel, m.
    pub fn camber(&self, i: usize, compression: impl Fn(usize) -> f32) -> f32 {
        let wheel = &self.parts.wheels[i];
        let axle = &self.parts.axles[wheel.axle];
        // 1: index of the camber, after toe.
        let camber_change = axle.toe_camber.map_or(0.0, |links| links.changes_at(compression(i))[1]);
        let camber = wheel.camber + camber_change;
        if axle.solid { camber + wheel.side.outward_sign() * self.beam_tilt(wheel.axle, compression) } else { camber }
    }

    /// Returns the angle by which the beam of a solid axle leans to the right against the chassis, rad: left less right
    /// compression over the track. `compression` is the compression of each wheel, m. The axle needs two wheels.
    #[inline(always)]
    pub(crate) fn beam_tilt<L: Lane>(&self, axle: usize, compression: impl Fn(usize) -> L) -> L {
        let [left, right] = self.axle_wheels[axle];
        let track = self.parts.wheels[left].contact.y - self.parts.wheels[right].contact.y;
        (compression(left) - compression(right)) / L::splat(track)
    }

    /// Returns the name of wheel `i` in telemetry channels: axle number from the front and side, such as `1l`.
    pub fn wheel_name(&self, i: usize) -> String {
        let wheel = &self.parts.wheels[i];
        format!("{}{}", wheel.axle + 1, wheel.side.letter())
    }

    /// Returns the effective mass of longitudinal motion, kg, with the spin of wheels and of the motors' rotors:
    /// `m + Σ I / R² + Σ J k²`. m is the mass of the vehicle, I and R are spin inertia and radius of each wheel. J is
    /// the inertia of each rotor, and k its angle per length of road, rad/m. An engine is not included.
    pub fn rolling_mass(&self) -> f32 {
        let spin_mass = |wheel: &Wheel| wheel.spin_inertia / (wheel.radius * wheel.radius);
        let rotor_mass = |motor: &Motor| {
            let angle_per_metre = motor.angle_per_metre(&self.parts.wheels);
            motor.inertia * angle_per_metre * angle_per_metre
        };
        let rotor_masses: f32 = self.parts.motors.iter().map(rotor_mass).sum();
        self.parts.mass + self.parts.wheels.iter().map(spin_mass).sum::<f32>() + rotor_masses
    }
}

/// Returns the Ackermann geometry of each axle, from its mean longitudinal position and its track.
fn ackermann(parts: &ModelParts, axle_wheels: &[[usize; 2]]) -> Box<[Ackermann]> {
    let contact_points = || axle_wheels.iter().map(|pair| pair.map(|i| parts.wheels[i].contact));
    let positions: Vec<f32> = contact_points().map(|[left, right]| 0.5 * (left.x + right.x)).collect();
    let tracks: Vec<f32> = contact_points().map(|[left, right]| left.y - right.y).collect();
    Ackermann::for_axles(&parts.axles, &positions, &tracks)
}

/// Returns the left and right wheel of each axle; an axle with one wheel has its number twice. The first wheel in the
/// list of the parts is the left one.
///
/// # Errors
///
/// Fails for an axle with no wheel or more than two.
fn axle_wheels(parts: &ModelParts) -> Result<Box<[[usize; 2]]>, ModelError> {
    (0..parts.axles.len())
        .map(|axle| {
            let wheels_of_axle: Vec<usize> =
                (0..parts.wheels.len()).filter(|&i| parts.wheels[i].axle == axle).collect();
            match wheels_of_axle[..] {
                [single_wheel] => Ok([single_wheel, single_wheel]),
                [left, right] => Ok([left, right]),
                _ => Err(ModelError::RuleViolated("every axle needs one or two wheels")),
            }
        })
        .collect()
}

/// Returns the assists and tricks that can have an effect on a car of `parts`, in the order of [`Assist::ALL`]: those
/// of [`Assists::has`], external forces, and raised points of tyre forces. Tricks of ray-cast solvers are never
/// included.
fn effective_assists(parts: &ModelParts) -> Box<[Assist]> {
    let has_effect = |assist: &Assist| match assist {
        Assist::Elements => !parts.external_forces.is_empty(),
        Assist::ForcePoint => parts.axles.iter().any(|axle| axle.force_point_height > 0.0),
        assist => parts.assists.has(*assist),
    };
    Assist::ALL.iter().copied().filter(has_effect).collect()
}
