//! What a car is: constants of one vehicle, checked once and shared by every copy of it that drives.

mod bank;
mod engine;
mod mass;
mod tyre;

pub(crate) use bank::{Bank, Place};
pub use engine::{Clutch, Curve, Differential, Engine, EngineDrive, Gearbox, MAX_LOCKS, Powertrain};
pub use mass::{box_inertia, sprung_masses};
pub use tyre::Tyre;

use crate::lane::Lane;
use crate::tyre::{Conditions, Moments, Response};
use crate::{MAX_WHEELS, Mat3, STANDARD_GRAVITY, Vec3};

/// Where on its axle a wheel sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// +y.
    Left,
    /// −y.
    Right,
    /// The only wheel of its axle.
    Centre,
}

impl Side {
    /// The letter used in channel names.
    pub fn letter(self) -> char {
        match self {
            Side::Left => 'l',
            Side::Right => 'r',
            Side::Centre => 'c',
        }
    }
}

/// Spring, damper and stops of one wheel, about the rest pose.
///
/// Axial force `F = rest_load + rate z + damping ż`, z the compression from rest (m, positive in jounce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strut {
    /// Wheel rate, N/m, > 0.
    pub rate: f32,
    /// Damping while compressing, N s/m, ≥ 0.
    pub bump_damping: f32,
    /// Damping while extending, N s/m, ≥ 0.
    pub rebound_damping: f32,
    /// Compression at which the bump stop begins, m, > 0.
    pub bump_travel: f32,
    /// Extension from rest at which the droop stop holds the wheel, m, > 0.
    pub droop_travel: f32,
    /// Rate of the bump stop, N/m, ≥ 0, added to `rate` beyond `bump_travel`.
    pub stop_rate: f32,
    /// How far the bump stop can be squeezed until metal meets metal, m, > 0.
    pub stop_travel: f32,
    /// Where the damper opens while compressing, and while extending.
    pub knees: [Knee; 2],
}

/// A damper's knee: its valves open at a speed, and beyond it each further speed adds only a share of the force. Potholes
/// pass in the fast range, roll and pitch are held in the slow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// m/s, > 0; infinite for a damper without one.
    pub above: f32,
    /// Damping beyond over damping below, –, ≥ 0.
    pub share: f32,
}

impl Default for Knee {
    fn default() -> Self {
        Self { above: f32::INFINITY, share: 1.0 }
    }
}

/// Rolling resistance coefficient `c = constant + linear v + quadratic v²`, v in m/s; the moment is `c · load · radius`.
/// A wheel at rest may resist more, as one that has sunk in or a tyre with a flat spot does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rolling {
    /// –, ≥ 0.
    pub constant: f32,
    /// s/m, ≥ 0.
    pub linear: f32,
    /// s²/m², ≥ 0.
    pub quadratic: f32,
    /// Coefficient of a wheel at rest where greater than `constant`, ≥ 0: a car stands on slopes of up to its angle.
    pub standing: f32,
    /// Speed at which nothing is left of what `standing` adds, m/s, ≥ 0; it fades smoothly.
    pub standing_below: f32,
}

impl Rolling {
    /// The coefficient at `speed` m/s.
    pub fn coefficient(&self, speed: f32) -> f32 {
        self.constant + (self.linear + self.quadratic * speed) * speed + self.added(speed)
    }

    /// What being nearly at rest adds to the coefficient.
    fn added(&self, speed: f32) -> f32 {
        let most = self.most_added();
        if most > 0.0 { most * (1.0 - speed.abs().smoothstep(0.0, self.standing_below)) } else { 0.0 }
    }

    /// What being at rest adds to the coefficient.
    pub(crate) fn most_added(&self) -> f32 {
        if self.standing_below > 0.0 { (self.standing - self.constant).max(0.0) } else { 0.0 }
    }

    /// Rolling resistance of an air-filled tyre on dry road at `pressure` bar.
    ///
    /// `c = 0.005 + (1/p)(0.01 + 0.0095 (v/100)²)`, p in bar, v in km/h; Engineering ToolBox, "Rolling Resistance".
    pub fn from_pressure(pressure: f32) -> Self {
        Self {
            constant: 0.005 + 0.01 / pressure,
            linear: 0.0,
            quadratic: 0.0095 * 0.036 * 0.036 / pressure,
            ..Self::default()
        }
    }
}

/// What moves with a wheel, for solvers that let wheels move on their own. Part of the car's mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsprung {
    /// kg, > 0, less than the wheel carries at rest.
    pub mass: f32,
    /// Vertical rate of the tyre, N/m, > 0.
    pub tyre_rate: f32,
    /// Vertical damping of the tyre, N s/m, ≥ 0.
    pub tyre_damping: f32,
}

/// One wheel with everything that acts at its corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheel {
    /// Index into the axles.
    pub axle: usize,
    /// Place on the axle.
    pub side: Side,
    /// Contact point at rest on level ground, vehicle frame (origin at the centre of mass), m.
    pub contact: Vec3,
    /// Loaded rolling radius, m, > 0.
    pub radius: f32,
    /// Inertia about the axle, kg m², > 0.
    pub spin_inertia: f32,
    /// Index into the tyres.
    pub tyre: usize,
    /// Spring, damper, stops.
    pub strut: Strut,
    /// Whether the tyre is mounted with left and right exchanged: what one measured on the left is on the right.
    pub mirrored: bool,
    /// Static toe, rad, positive toe-in.
    pub toe: f32,
    /// Static camber against the chassis, rad within ±1, positive with the top leaning outwards; 0 in the middle.
    pub camber: f32,
    /// Torque of the foot brake at full pedal, N m, ≥ 0.
    pub brake_torque: f32,
    /// Torque of the handbrake fully pulled, N m, ≥ 0.
    pub handbrake_torque: f32,
    /// Rolling resistance.
    pub rolling: Rolling,
    /// Mass and vertical spring of its own, if known.
    pub unsprung: Option<Unsprung>,
}

impl Wheel {
    /// Static camber as the road sees it on a level car, rad, positive with the top leaning right.
    pub fn lean(&self) -> f32 {
        match self.side {
            Side::Left => -self.camber,
            Side::Right => self.camber,
            Side::Centre => 0.0,
        }
    }
}

/// A steered or unsteered axle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axle {
    /// Mean road-wheel angle of this axle per rad of [`crate::Controls::steer`]; 0 unsteered, negative counter-steers.
    pub steer_ratio: f32,
    /// 0 parallel to 1 full Ackermann (cot outer − cot inner = track / distance to the turning axis).
    pub ackermann: f32,
    /// Distance from the turning axis (the mean of the unsteered axles) to this axle, m, positive ahead of it.
    pub turning_distance: f32,
}

/// Steering limits of the whole car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// Largest mean road-wheel angle, rad, in (0, π/2).
    pub lock: f32,
    /// Largest rate of the mean road-wheel angle, rad/s, > 0; infinite when unlimited.
    pub rate: f32,
}

/// An anti-roll bar between two wheels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AntiRollBar {
    /// Indices of the wheels.
    pub wheels: [usize; 2],
    /// Force at each wheel per metre of difference in travel, N/m, ≥ 0.
    pub rate: f32,
    /// Speeds between which the rate rises smoothly from nothing, m/s, rising; both 0 for a bar of steel.
    pub fades_in: [f32; 2],
    /// Where its force goes.
    pub coupling: BarCoupling,
}

/// Where the force of an anti-roll bar goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarCoupling {
    /// Through strut and tyre: friction knows of it. With a wheel in the air nothing is left on the chassis but what the
    /// other one carries.
    #[default]
    InLoadPath,
    /// On the chassis, at wheels that touch the ground, as scripts on game engines have it: tyres see only
    /// `K_s / (K_s + K_a)` of the load transfer, a third when the bar is as stiff as the springs. For comparison.
    External,
}

impl AntiRollBar {
    /// Rate at a speed, N/m.
    pub fn rate_at(&self, speed: f32) -> f32 {
        let [low, high] = self.fades_in;
        if speed >= high { self.rate } else { self.rate * speed.smoothstep(low, high) }
    }
}

/// Aerodynamic forces: each `C v²` with v the speed through the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aero {
    /// Drag `½ ρ Cd A`, N s²/m², ≥ 0, against the velocity, at `drag_point`.
    pub drag: f32,
    /// Vehicle frame, m.
    pub drag_point: Vec3,
    /// Surfaces that press the car down.
    pub downforce: [Surface; 2],
}

/// A surface whose force points down in the vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// `½ ρ Cl A`, N s²/m², positive downwards.
    pub coefficient: f32,
    /// Vehicle frame, m.
    pub point: Vec3,
}

/// The box that stands for the body in collisions, aligned with the vehicle frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull {
    /// Vehicle frame (origin at the centre of mass), m.
    pub centre: Vec3,
    /// m, each > 0.
    pub half_extents: Vec3,
}

/// What ray-cast vehicles of other engines need beside the car itself. skidpad's own solvers never read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peers {
    /// Share of the height of the centre of mass at which side impulses act: 1 at the ground, as in a real car, 0 at the
    /// centre's height, where they roll nothing.
    pub roll_influence: f32,
    /// Largest force of one suspension, N, > 0; infinite when unbounded.
    pub largest_suspension_force: f32,
}

impl Default for Peers {
    /// The roll influence Bullet's constructor sets, and forces without bound.
    fn default() -> Self {
        Self { roll_influence: 0.1, largest_suspension_force: f32::INFINITY }
    }
}

/// Everything a [`Model`] is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelParts {
    /// Whole car, wheels included, kg, > 0.
    pub mass: f32,
    /// About the centre of mass, vehicle axes, kg m², positive definite.
    pub inertia: Mat3,
    /// Height of the centre of mass above level ground at rest, m, > 0.
    pub centre_height: f32,
    /// Axle by axle from the front, left before right.
    pub wheels: Vec<Wheel>,
    /// From the front.
    pub axles: Vec<Axle>,
    /// Shared by wheels through an index.
    pub tyres: Vec<Tyre>,
    /// Any number; none by default.
    pub bars: Vec<AntiRollBar>,
    /// Limits of the steering.
    pub steering: Steering,
    /// What turns the wheels.
    pub powertrain: Powertrain,
    /// Drag and downforce.
    pub aero: Aero,
    /// Collision box.
    pub hull: Hull,
    /// For peers in comparisons.
    pub peers: Peers,
}

/// Why parts do not make a vehicle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A number is not finite or outside its range.
    #[error("{part} is {found}, but must be {accepts}")]
    OutOfRange {
        /// Which number.
        part: String,
        /// Its value.
        found: f32,
        /// The accepted range.
        accepts: &'static str,
    },
    /// The wheels cannot carry the car.
    #[error("the centre of mass lies outside the wheels' footprint, so no set of pushing springs carries the car")]
    Unsupported,
    /// The list of wheels breaks a rule.
    #[error("{0}")]
    Wheels(&'static str),
    /// An index points past the end of its list.
    #[error("{part} refers to number {index} of a list of {length}")]
    Dangling {
        /// Which reference.
        part: String,
        /// Its index.
        index: usize,
        /// The list's length.
        length: usize,
    },
}

/// A valid vehicle: immutable, shared between the cars that drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    parts: ModelParts,
    inverse_mass: f32,
    inverse_inertia: Mat3,
    sprung: Box<[f32]>,
    axle_wheels: Box<[[usize; 2]]>,
    banks: Box<[Bank]>,
    places: Box<[Place]>,
}

impl Model {
    /// Checks `parts` and derives the share of the mass each wheel carries.
    ///
    /// # Errors
    /// The first rule the parts break. Descriptions read from files report all of theirs before they get here.
    pub fn new(parts: ModelParts) -> Result<Self, ModelError> {
        check(&parts)?;
        let points: Vec<[f64; 2]> = parts.wheels.iter().map(|w| [w.contact.x as f64, w.contact.y as f64]).collect();
        let sprung = sprung_masses(&points, parts.mass as f64).ok_or(ModelError::Unsupported)?;
        let axle_wheels = axle_wheels(&parts)?;
        for (i, (wheel, carried)) in parts.wheels.iter().zip(&sprung).enumerate() {
            let left = wheel.unsprung.map_or(1.0, |own| *carried as f32 - own.mass);
            positive(&format!("wheel {i}: carried mass less the unsprung one"), left)?;
        }
        let sprung: Box<[f32]> = sprung.into_iter().map(|m| m as f32).collect();
        Ok(Self {
            banks: bank::banks(&parts, &sprung, &axle_wheels),
            places: bank::places(&parts, &axle_wheels),
            inverse_mass: 1.0 / parts.mass,
            inverse_inertia: parts.inertia.inverse(),
            sprung,
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

    /// Mass carried by each wheel at rest, kg, in wheel order.
    pub fn sprung(&self) -> &[f32] {
        &self.sprung
    }

    /// Load of wheel `i` at rest on level ground, N.
    pub fn static_load(&self, i: usize) -> f32 {
        self.sprung[i] * STANDARD_GRAVITY
    }

    /// Wheels of each axle, as a pair; an axle with one wheel names it twice.
    pub(crate) fn axle_wheels(&self) -> &[[usize; 2]] {
        &self.axle_wheels
    }

    /// The wheels' constants, four side by side.
    pub(crate) fn banks(&self) -> &[Bank] {
        &self.banks
    }

    /// Where in the banks wheel `i` is.
    pub(crate) fn place(&self, i: usize) -> Place {
        self.places[i]
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

    /// Lengths of the patch of wheel `i` under `load` N at `camber` rad against the ground; see [`Tyre::lengths`].
    pub fn patch_lengths(&self, i: usize, load: f32, camber: f32) -> [f32; 2] {
        let hand = if self.parts.wheels[i].mirrored { -1.0 } else { 1.0 };
        self.tyre(i).lengths(&Conditions { camber: camber * hand, ..Conditions::upright(load, 0.0) })
    }

    /// Name of wheel `i` in channels: axle number from the front and side, like `1l`.
    pub fn wheel_name(&self, i: usize) -> String {
        let wheel = &self.parts.wheels[i];
        format!("{}{}", wheel.axle + 1, wheel.side.letter())
    }

    /// Mass that the car's motion along the road accelerates, wheels' spin included: `m + Σ I / R²`, kg.
    pub fn rolling_mass(&self) -> f32 {
        let spin = |w: &Wheel| w.spin_inertia / (w.radius * w.radius);
        self.parts.mass + self.parts.wheels.iter().map(spin).sum::<f32>()
    }
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

fn check(parts: &ModelParts) -> Result<(), ModelError> {
    let count = parts.wheels.len();
    if !(2..=MAX_WHEELS).contains(&count) {
        return Err(ModelError::Wheels("a vehicle needs 2 to 32 wheels"));
    }
    if parts.wheels.windows(2).any(|w| w[1].axle < w[0].axle) {
        return Err(ModelError::Wheels("wheels must be listed axle by axle from the front"));
    }
    positive("mass", parts.mass)?;
    positive("centre_height", parts.centre_height)?;
    positive("steering lock", parts.steering.lock)?;
    let minors = [
        parts.inertia.x_axis.x,
        parts.inertia.x_axis.x * parts.inertia.y_axis.y - parts.inertia.x_axis.y * parts.inertia.x_axis.y,
        parts.inertia.determinant(),
    ];
    for minor in minors {
        positive("a leading minor of the inertia", minor)?;
    }
    for half in parts.hull.half_extents.to_array() {
        positive("hull half extent", half)?;
    }
    let peers = &parts.peers;
    not_negative("roll influence", peers.roll_influence)?;
    not_negative("what roll influence leaves of 1", 1.0 - peers.roll_influence)?;
    positive("largest suspension force", peers.largest_suspension_force.min(f32::MAX))?;
    for (i, wheel) in parts.wheels.iter().enumerate() {
        check_wheel(parts, i, wheel)?;
    }
    for bar in &parts.bars {
        for wheel in bar.wheels {
            within("anti-roll bar wheel", wheel, count)?;
        }
        not_negative("anti-roll bar rate", bar.rate)?;
        not_negative("speed from which an anti-roll bar acts", bar.fades_in[0])?;
        if bar.fades_in != [0.0; 2] {
            positive("range of speeds in which an anti-roll bar fades in", bar.fades_in[1] - bar.fades_in[0])?;
        }
    }
    for (i, tyre) in parts.tyres.iter().enumerate() {
        if let Some(fault) = tyre.faults().into_iter().next() {
            let part = format!("tyre {i}: {}", fault.name);
            return Err(ModelError::OutOfRange { part, found: fault.found, accepts: fault.accepts });
        }
    }
    parts.powertrain.check(count)
}

fn check_wheel(parts: &ModelParts, i: usize, wheel: &Wheel) -> Result<(), ModelError> {
    let named = |what: &str| format!("wheel {i}: {what}");
    within(&named("axle"), wheel.axle, parts.axles.len())?;
    within(&named("tyre"), wheel.tyre, parts.tyres.len())?;
    if !wheel.contact.is_finite() {
        return Err(ModelError::Wheels("a wheel's position is not finite"));
    }
    positive(&named("radius"), wheel.radius)?;
    positive(&named("spin inertia"), wheel.spin_inertia)?;
    positive(&named("1 - size of camber"), 1.0 - wheel.camber.abs())?;
    let strut = &wheel.strut;
    positive(&named("wheel rate"), strut.rate)?;
    positive(&named("bump travel"), strut.bump_travel)?;
    positive(&named("droop travel"), strut.droop_travel)?;
    positive(&named("stop travel"), strut.stop_travel)?;
    for knee in strut.knees {
        positive(&named("speed of a damper's knee"), knee.above.min(f32::MAX))?;
    }
    for (what, value) in [
        ("bump damping", strut.bump_damping),
        ("rebound damping", strut.rebound_damping),
        ("stop rate", strut.stop_rate),
        ("share of damping beyond the bump knee", strut.knees[0].share),
        ("share of damping beyond the rebound knee", strut.knees[1].share),
        ("brake torque", wheel.brake_torque),
        ("handbrake torque", wheel.handbrake_torque),
        ("rolling constant", wheel.rolling.constant),
        ("rolling linear", wheel.rolling.linear),
        ("rolling quadratic", wheel.rolling.quadratic),
        ("rolling at rest", wheel.rolling.standing),
        ("speed below which a wheel counts as at rest", wheel.rolling.standing_below),
    ] {
        not_negative(&named(what), value)?;
    }
    if let Some(own) = &wheel.unsprung {
        positive(&named("unsprung mass"), own.mass)?;
        positive(&named("vertical tyre rate"), own.tyre_rate)?;
        not_negative(&named("vertical tyre damping"), own.tyre_damping)?;
    }
    Ok(())
}

pub(crate) fn positive(part: &str, found: f32) -> Result<(), ModelError> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    let part = part.into();
    Err(ModelError::OutOfRange { part, found, accepts: "a finite number above 0" })
}

pub(crate) fn not_negative(part: &str, found: f32) -> Result<(), ModelError> {
    if found >= 0.0 && found.is_finite() {
        return Ok(());
    }
    let part = part.into();
    Err(ModelError::OutOfRange { part, found, accepts: "a finite number, 0 or more" })
}

pub(crate) fn within(part: &str, index: usize, length: usize) -> Result<(), ModelError> {
    if index < length {
        return Ok(());
    }
    Err(ModelError::Dangling { part: part.into(), index, length })
}
