//! What a car is: constants of one vehicle, checked once and shared by every copy of it that drives.

mod check;
pub(crate) mod error;
pub(crate) mod parts;
#[cfg(test)]
pub(crate) mod plain;

pub use error::ModelError;
pub use parts::{Hull, ModelParts, Peers};

pub use crate::aero::parameters::{Aero, AeroMaps, Surface, Table};
pub use crate::assists::parameters::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};
pub use crate::chassis::mass::box_inertia;
pub use crate::drivetrain::converter::{Clutch, Converter, LaunchDevice, LockUp};
pub use crate::drivetrain::engine::{Continuous, Curve, Engine, Gearbox};
pub use crate::drivetrain::motor::Motor;
pub use crate::drivetrain::parameters::{Coupling, EngineDrive, Powertrain};
pub use crate::hitch::parameters::{Coupler, Hitch, TrailerBrakes};
pub use crate::statics::shares::{carried_masses, sprung_masses};
pub use crate::steering::parameters::Steering;
pub use crate::suspension::parameters::{
    AntiRollBar, BarCoupling, HeaveSpring, Knee, LateralCompliance, Strut, Unsprung,
};
pub use crate::tyre::parameters::Tyre;
pub use crate::wheel::disc::Disc;
pub use crate::wheel::parameters::{Axle, Guidance, ProbeShape, Rolling, Side, Wheel};

use crate::assists::assist_log::Assist;
use crate::drivetrain::flow::Flow;
use crate::lane::{Four, Lane};
use crate::steering::ackermann::Ackermann;
use crate::tyre::{Conditions, Moments, Response};
use crate::wheel::pack::{self, LaneIndex, WheelPack};
use crate::wheel::state::WheelState;
use crate::{Mat3, STANDARD_GRAVITY, Vec3, math};
use error::{positive, positive_or_infinite};

/// Largest pull of a raw motor torque at the contact of its wheel, as a multiple of the wheel's load.
pub const LARGEST_PULL: f32 = 10.0;

/// A valid vehicle: immutable, shared between the cars that drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    parts: ModelParts,
    inverse_mass: f32,
    inverse_inertia: Mat3,
    sprung: Box<[f32]>,
    assists: Box<[Assist]>,
    axle_wheels: Box<[[usize; 2]]>,
    ackermann: Box<[Ackermann]>,
    leans: Box<[(f32, f32)]>,
    banks: Box<[WheelPack]>,
    places: Box<[LaneIndex]>,
    flows: Box<[Flow]>,
    rotor_momentum: Box<[f32]>,
    axle_links_apart: Box<[usize]>,
    turned_by_travel: bool,
    has_rims: bool,
    has_links: bool,
    is_compliant: bool,
}

/// Share of an even split of the mass that every wheel must carry at rest: rows are scaled by what a wheel carries.
const LEAST_CARRIED: f32 = 1e-3;

impl Model {
    /// Checks `parts` and derives the share of the mass each wheel carries.
    ///
    /// # Errors
    /// The first rule the parts break. Descriptions read from files report all of theirs before they get here.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        check::check(&parts)?;
        let points: Vec<[f64; 2]> = parts.wheels.iter().map(|w| [w.contact.x as f64, w.contact.y as f64]).collect();
        let mass = f64::from(parts.mass);
        let plane = |point: Vec3| [point.x, point.y].map(f64::from);
        let hitch = parts.hitch.map(|hitch| (plane(hitch.point), f64::from(hitch.carried_mass)));
        let coupler = parts.coupler.map(|coupler| plane(coupler.point));
        let sprung = carried_masses(&points, coupler, hitch, mass).ok_or(ModelError::Unsupported)?;
        let axle_wheels = axle_wheels(&parts)?;
        for (axle, [left, right]) in parts.axles.iter().zip(&axle_wheels) {
            if axle.solid && parts.wheels[*left].contact.y <= parts.wheels[*right].contact.y {
                return Err(ModelError::Wheels("a solid axle needs a wheel on the left and one on the right of it"));
            }
        }
        for (i, (wheel, carried)) in parts.wheels.iter().zip(&sprung).enumerate() {
            let least = LEAST_CARRIED * parts.mass / parts.wheels.len() as f32;
            positive(&format!("wheel {i}: mass it carries at rest, less {least} kg"), *carried as f32 - least)?;
            let left = wheel.unsprung.map_or(1.0, |own| *carried as f32 - own.mass);
            positive(&format!("wheel {i}: carried mass less the unsprung one"), left)?;
        }
        for (i, axle) in parts.axles.iter().enumerate() {
            let carried = parts.wheels.iter().zip(&sprung).filter(|(wheel, _)| wheel.axle == i);
            let load = carried.map(|(_, carried)| *carried as f32).sum::<f32>() * STANDARD_GRAVITY;
            let rate = axle.lateral_compliance.map_or(f32::INFINITY, |given| given.rate);
            positive_or_infinite(&format!("axle {i}: lateral rate, less its load per metre"), rate - load)?;
        }
        let sprung: Box<[f32]> = sprung.into_iter().map(|m| m as f32).collect();
        Ok(Self {
            banks: pack::banks(&parts, &sprung, &axle_wheels),
            places: pack::places(&parts, &axle_wheels),
            inverse_mass: 1.0 / parts.mass,
            inverse_inertia: parts.inertia.inverse(),
            sprung,
            assists: used(&parts),
            flows: parts.couplings.iter().map(|coupling| Flow::of(&parts, coupling)).collect(),
            rotor_momentum: parts.motors.iter().map(|motor| motor.momentum(&parts.wheels)).collect(),
            axle_links_apart: pack::axle_links_apart(&parts),
            has_rims: parts.wheels.iter().any(|wheel| wheel.probe != ProbeShape::Ray),
            has_links: parts.axles.iter().any(|axle| axle.roll_centre != 0.0),
            is_compliant: parts.axles.iter().any(|axle| axle.lateral_compliance.is_some()),
            turned_by_travel: parts.axles.iter().any(|axle| axle.guidance.is_some() || axle.solid),
            ackermann: ackermann(&parts, &axle_wheels),
            leans: parts.wheels.iter().map(|wheel| math::sin_cos(wheel.camber)).collect(),
            axle_wheels,
            parts,
        })
    }

    /// What the model was made of.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// Whole car, kg.
    pub fn mass(&self) -> f32 {
        self.parts.mass
    }

    /// Inverse of [`Model::mass`], 1/kg.
    pub fn inverse_mass(&self) -> f32 {
        self.inverse_mass
    }

    /// About the centre of mass, vehicle axes, kg m².
    pub fn inertia(&self) -> &Mat3 {
        &self.parts.inertia
    }

    /// Inverse of [`Model::inertia`].
    pub fn inverse_inertia(&self) -> &Mat3 {
        &self.inverse_inertia
    }

    /// Axle by axle from the front, left before right.
    pub fn wheels(&self) -> &[Wheel] {
        &self.parts.wheels
    }

    /// Mass carried by each wheel at rest, kg, in wheel order; with its share of what is described to rest on the hitch.
    pub fn sprung(&self) -> &[f32] {
        &self.sprung
    }

    /// The assists and tricks that can add anything, in the order of [`Assist::ALL`]; none for a plain car.
    pub fn assists(&self) -> &[Assist] {
        &self.assists
    }

    /// Means over the first and the last axle of what a car's wheels are compressed by.
    pub fn mean_compression(&self, compression: impl Fn(usize) -> f32) -> [f32; 2] {
        let axles = &self.axle_wheels;
        [axles[0], axles[axles.len() - 1]].map(|[left, right]| 0.5 * (compression(left) + compression(right)))
    }

    /// Size of the steer ratio of the first axle that is steered; 1 without one.
    pub fn steer_ratio(&self) -> f32 {
        let mut ratios = self.parts.axles.iter().map(|axle| axle.steer_ratio.abs());
        ratios.find(|ratio| *ratio != 0.0).unwrap_or(1.0)
    }

    /// Returns the left and right road-wheel angles of each axle, rad, without toe, with the `middles` of the axles turned by so much.
    pub fn road_wheel_angles(&self, middles: &[f32]) -> Vec<[f32; 2]> {
        let curvature = Ackermann::curvature(&self.ackermann, |i| middles[i]);
        self.ackermann.iter().zip(middles).map(|(axle, middle)| axle.angles(*middle, curvature)).collect()
    }

    /// Ackermann geometry of each axle.
    pub(crate) fn ackermann(&self) -> &[Ackermann] {
        &self.ackermann
    }

    /// Sine and cosine of the camber of each wheel.
    pub(crate) fn leans(&self) -> &[(f32, f32)] {
        &self.leans
    }

    /// Wheels of each axle, as a pair; an axle with one wheel names it twice.
    pub(crate) fn axle_wheels(&self) -> &[[usize; 2]] {
        &self.axle_wheels
    }

    /// Whether the travel of some wheel changes toe or camber.
    pub(crate) fn turned_by_travel(&self) -> bool {
        self.turned_by_travel
    }

    /// The wheels' constants, four side by side.
    pub(crate) fn banks(&self) -> &[WheelPack] {
        &self.banks
    }

    /// Where in the banks wheel `i` is.
    pub(crate) fn place(&self, i: usize) -> LaneIndex {
        self.places[i]
    }

    /// In each lane, which share of its wheels (one of each bank) are so that `is` holds of their number.
    pub(crate) fn share_of_lanes(&self, is: impl Fn(usize) -> bool) -> Four {
        let mut counts = [[0.0; 4]; 2];
        for (wheel, place) in self.places.iter().enumerate() {
            counts[0][place.lane] += f32::from(is(wheel));
            counts[1][place.lane] += 1.0;
        }
        let [found, all] = counts.map(Four::new);
        found / all.at_least(Four::splat(1.0))
    }

    /// Whether `wheels` are those of one axle, tied against each other.
    pub(crate) fn is_between_opposite(&self, wheels: [usize; 2], way: f32) -> bool {
        let [first, second] = wheels.map(|i| self.places[i]);
        way < 0.0 && first.bank == second.bank && first.lane ^ 1 == second.lane
    }

    /// Whether anything ties two wheels.
    pub(crate) fn has_axle_links(&self) -> bool {
        !self.parts.bars.is_empty() || !self.parts.heave_springs.is_empty()
    }

    /// Bars, then heave springs, that are not in [`WheelPack::bar_rate`], by their number.
    pub(crate) fn axle_links_apart(&self) -> &[usize] {
        &self.axle_links_apart
    }

    /// Whether some wheel feels for the ground with more than a ray.
    #[inline(always)]
    pub fn has_rims(&self) -> bool {
        self.has_rims
    }

    /// Whether the roll centre of some axle is off the ground.
    #[inline(always)]
    pub(crate) fn has_links(&self) -> bool {
        self.has_links
    }

    /// Whether some axle gives way sideways.
    #[inline(always)]
    pub(crate) fn is_compliant(&self) -> bool {
        self.is_compliant
    }

    /// Whether rows of tyres may be other than unit vectors at right angles: on rims, and on links.
    #[inline(always)]
    pub(crate) fn has_slanted_rows(&self) -> bool {
        self.has_rims | self.has_links
    }

    /// How far links move the contact point of wheel `i` to the left per metre of jounce, –: the height of its roll centre over
    /// half the track. Half of it, and half of what the other wheel's travel makes, on a solid axle.
    pub fn link_slope(&self, i: usize) -> f64 {
        f64::from(pack::link_slope(&self.parts, i))
    }

    /// Whether pedals drive it: an engine, torques straight at the wheels, or motors.
    pub fn is_driven(&self) -> bool {
        !matches!(self.parts.powertrain, Powertrain::None) || !self.parts.motors.is_empty()
    }

    /// What drives both sides of each coupling.
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// See [`Motor::momentum`].
    pub(crate) fn rotor_momentum(&self) -> &[f32] {
        &self.rotor_momentum
    }

    /// Largest raw motor torque that counts at wheel `i`, N m: [`LARGEST_PULL`] times the wheel's load at rest, or the mean load of all
    /// wheels where that is larger, times its radius. Larger ones turn the chassis faster than steps resolve.
    pub fn largest_motor_torque(&self, i: usize) -> f32 {
        let mean = self.parts.mass * STANDARD_GRAVITY / self.parts.wheels.len() as f32;
        LARGEST_PULL * self.static_load(i).max(mean) * self.parts.wheels[i].radius
    }

    /// The tyre of wheel `i`.
    pub fn tyre(&self, i: usize) -> &Tyre {
        &self.parts.tyres[self.parts.wheels[i].tyre]
    }

    /// Force of the tyre of wheel `i` at the slips (κ, −tan α), as it is mounted; see [`Tyre::force`].
    pub fn tyre_force(&self, i: usize, slip: [f32; 2], conditions: &Conditions<f32>) -> Response<f32> {
        let hand = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        let conditions = Conditions { camber: conditions.camber * hand, ..*conditions };
        let mut found = self.tyre(i).force([slip[0], slip[1] * hand], &conditions);
        found.force[1] *= hand;
        found
    }

    /// Moments of the tyre of wheel `i` at the slips (κ, −tan α), as it is mounted.
    pub fn tyre_moments(&self, i: usize, slip: [f32; 2], conditions: &Conditions<f32>) -> Moments<f32> {
        let hand = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        let conditions = Conditions { camber: conditions.camber * hand, ..*conditions };
        let found = self.tyre(i).moments([slip[0], slip[1] * hand], &conditions);
        Moments { overturning: found.overturning * hand, aligning: found.aligning * hand, ..found }
    }

    /// Lengths of the patch of wheel `i` under `conditions`, as it is mounted, m; see [`Tyre::lengths`].
    pub fn patch_lengths(&self, i: usize, conditions: &Conditions<f32>) -> [f32; 2] {
        let hand = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        self.tyre(i).lengths(&Conditions { camber: conditions.camber * hand, ..*conditions })
    }

    /// Computes the slips κ and −tan α of wheel `i` in the state `wheel` by the deflection of its patch, lagged by the relaxation lengths.
    /// Tyres of dry friction have shares of their sliding deflection instead.
    pub fn lagged_slip(&self, i: usize, wheel: &WheelState) -> [f32; 2] {
        let lengths = self.patch_lengths(i, &wheel.conditions());
        [0, 1].map(|k| wheel.deflection[k] / lengths[k])
    }

    /// Camber of wheel `i` against the chassis, every wheel being compressed by what `compression` (m) says, rad, positive with
    /// the top leaning outwards.
    pub fn camber(&self, i: usize, compression: impl Fn(usize) -> f32) -> f32 {
        let wheel = &self.parts.wheels[i];
        let axle = &self.parts.axles[wheel.axle];
        let linked = axle.guidance.map_or(0.0, |links| links.at(compression(i))[1]);
        let camber = wheel.camber + linked;
        if axle.solid { camber + wheel.side.rightwards() * self.turned(wheel.axle, compression) } else { camber }
    }

    /// How far the beam of a solid axle leans to the right against the chassis, rad.
    pub(crate) fn turned(&self, axle: usize, compression: impl Fn(usize) -> f32) -> f32 {
        let [left, right] = self.axle_wheels[axle];
        let track = self.parts.wheels[left].contact.y - self.parts.wheels[right].contact.y;
        (compression(left) - compression(right)) / track
    }

    /// Name of wheel `i` in channels: axle number from the front and side, like `1l`.
    pub fn wheel_name(&self, i: usize) -> String {
        let wheel = &self.parts.wheels[i];
        format!("{}{}", wheel.axle + 1, wheel.side.letter())
    }

    /// Mass that the car's motion along the road accelerates, the spin of wheels and of motors' rotors included:
    /// `m + Σ I / R² + Σ J n² / R²`, kg; an engine is not in it.
    pub fn rolling_mass(&self) -> f32 {
        let spin = |w: &Wheel| w.spin_inertia / (w.radius * w.radius);
        let rotor = |motor: &Motor| {
            let turns = motor.turns_per_metre(&self.parts.wheels);
            motor.inertia * turns * turns
        };
        let rotors: f32 = self.parts.motors.iter().map(rotor).sum();
        self.parts.mass + self.parts.wheels.iter().map(spin).sum::<f32>() + rotors
    }
}

fn ackermann(parts: &ModelParts, axle_wheels: &[[usize; 2]]) -> Box<[Ackermann]> {
    let ends = || axle_wheels.iter().map(|both| both.map(|i| parts.wheels[i].contact));
    let positions: Vec<f32> = ends().map(|[left, right]| 0.5 * (left.x + right.x)).collect();
    let tracks: Vec<f32> = ends().map(|[left, right]| left.y - right.y).collect();
    Ackermann::of_axles(&parts.axles, &positions, &tracks)
}

fn axle_wheels(parts: &ModelParts) -> Result<Box<[[usize; 2]]>, ModelError> {
    (0..parts.axles.len())
        .map(|axle| {
            let on: Vec<usize> = (0..parts.wheels.len()).filter(|&i| parts.wheels[i].axle == axle).collect();
            match on[..] {
                [only] => Ok([only, only]),
                [left, right] => Ok([left, right]),
                _ => Err(ModelError::Wheels("every axle needs one or two wheels")),
            }
        })
        .collect()
}

/// Those that can add anything to a car of `parts`, in the order of [`Assist::ALL`].
fn used(parts: &ModelParts) -> Box<[Assist]> {
    let assists = &parts.assists;
    let uses = |assist: &Assist| match assist {
        Assist::AntiLock => assists.abs.is_some(),
        Assist::StabilityControl => assists.stability.is_some(),
        Assist::TractionControl => assists.traction.is_some(),
        Assist::LaunchControl => assists.launch.is_some(),
        Assist::CruiseControl => assists.cruise.is_some(),
        Assist::CounterSteer => assists.counter_steer.is_some(),
        Assist::SpeedSteering => assists.speed_steering.is_some(),
        Assist::Elements => !parts.elements.is_empty(),
        Assist::AngularDrag => assists.angular_drag > 0.0,
        Assist::LoweredCentre => assists.lowered_centre > 0.0,
        Assist::ForcePoint => parts.axles.iter().any(|axle| axle.force_point > 0.0),
        // Of solvers, not of cars.
        Assist::RollInfluence | Assist::LargestForce => false,
    };
    Assist::ALL.iter().copied().filter(uses).collect()
}
