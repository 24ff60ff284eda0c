//! Wheels and the axles they sit on.

use crate::constants::STANDARD_GRAVITY;
use crate::lane::Lane;
use crate::suspension::parameters::{LateralCompliance, Strut, Unsprung};
use crate::wheel::disc::Disc;
use bevy_math::Vec3;

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
    /// 1 where outwards is to the right, −1 where it is to the left, 0 in the middle.
    pub fn rightwards(self) -> f32 {
        match self {
            Side::Left => -1.0,
            Side::Right => 1.0,
            Side::Centre => 0.0,
        }
    }

    /// The letter used in channel names.
    pub fn letter(self) -> char {
        match self {
            Side::Left => 'l',
            Side::Right => 'r',
            Side::Centre => 'c',
        }
    }
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
    /// What its brakes warm; `None` for brakes that stay as they are.
    pub disc: Option<Disc>,
    /// Rolling resistance.
    pub rolling: Rolling,
    /// Mass and vertical spring of its own, if known.
    pub unsprung: Option<Unsprung>,
    /// How it feels for the ground.
    pub probe: ProbeShape,
}

/// What of a wheel feels for the ground, along the travel of its suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ProbeShape {
    /// A ray through the middle of the wheel: it falls into every gap and meets an edge only when the middle is above it.
    #[default]
    Ray,
    /// The circle of the loaded radius in the middle plane of the wheel, upright on the suspension: it rolls over gaps and edges
    /// as a rigid wheel without width does.
    Disc,
    /// That circle and those of both sides of a flat tread of that width, m, > 0.
    Cylinder(f32),
    /// The same of a tread that is round across.
    Torus(f32),
}

impl ProbeShape {
    /// Half the width of its tread, m, and whether that is round across; `None` of a ray.
    pub(crate) fn tread(self) -> Option<(f32, bool)> {
        match self {
            Self::Ray => None,
            Self::Disc => Some((0.0, false)),
            Self::Cylinder(width) => Some((0.5 * width, false)),
            Self::Torus(width) => Some((0.5 * width, true)),
        }
    }
}

impl Wheel {
    /// Static camber as the road sees it on a level car, rad, positive with the top leaning right.
    pub fn lean(&self) -> f32 {
        self.side.rightwards() * self.camber
    }

    /// Speeds between which its patch changes from a standing spring to a rolling tyre, m/s.
    pub(crate) fn walking(&self) -> [f32; 2] {
        let own = (STANDARD_GRAVITY * self.radius).sqrt();
        WALKING.map(|speed| speed * own)
    }
}

/// [`Wheel::walking`] over `√(g R)` (Froude's number, so that cars of every size do alike): 0.5 and 1.5 m/s of a wheel of 0.32 m.
/// The upper one is a walking pace; much higher and slow driving loses its slip, much lower and a car rebounds from a locked stop.
const WALKING: [f32; 2] = [0.2822, 0.8466];

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
    /// The coefficient at `speed` m/s, forwards as backwards.
    pub fn coefficient(&self, speed: f32) -> f32 {
        self.prepare().at(speed.abs())
    }

    pub(crate) fn prepare(&self) -> PreparedRolling<f32> {
        let added = if self.standing_below > 0.0 { (self.standing - self.constant).max(0.0) } else { 0.0 };
        PreparedRolling {
            by_speed: [self.constant, self.linear, self.quadratic],
            standing: [added, self.standing_below.max(f32::MIN_POSITIVE)],
        }
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

/// The coefficients of [`Rolling`] of wheels side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PreparedRolling<L> {
    /// Constant, per speed, per speed squared.
    pub by_speed: [L; 3],
    /// What being at rest adds, and the speed at which that has faded, m/s, > 0.
    pub standing: [L; 2],
}

impl<L: Lane> PreparedRolling<L> {
    /// At `speed` m/s, ≥ 0.
    #[inline(always)]
    pub fn at(&self, speed: L) -> L {
        let ([constant, linear, quadratic], [added, below]) = (self.by_speed, self.standing);
        let (zero, rolling) = (L::splat(0.0), constant + (linear + quadratic * speed) * speed);
        if !L::any(zero.less(added)) {
            return rolling;
        }
        rolling + added * (L::splat(1.0) - speed.smoothstep(zero, below))
    }
}

/// A steered or unsteered axle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axle {
    /// Road-wheel angle in the middle of this axle per rad of [`crate::Controls::steer`]; 0 unsteered, negative counter-steers.
    pub steer_ratio: f32,
    /// 0 parallel to 1 full Ackermann: cot outer − cot inner = track / distance to the turning axis, with the mean of both cotangents
    /// that of the angle in the middle.
    pub ackermann: f32,
    /// Distance from the turning axis to this axle, m, positive ahead of it. The turning axis is the mean of the unsteered axles.
    /// The turning axis of a vehicle whose axles are all steered is that of small angles: ratios are in proportion to the distances from it.
    pub turning_distance: f32,
    /// How its links turn the wheels as they travel; `None` where toe and camber stay.
    pub guidance: Option<Guidance>,
    /// Whether its two wheels sit on one beam, which stands square on their tyres while the body rolls on it. Only wheels that move on
    /// their own feel what it weighs in roll.
    pub solid: bool,
    /// Height of its roll centre above the ground at rest, m: its links lead a side force F of its tyres to the body there, so that
    /// their struts carry `F` times it less of the moment in roll, and its contact points move sideways by it over half the track
    /// as wheels travel, outwards in jounce where positive. At most 0.4 of the track either way; 0 of an axle with one wheel,
    /// or with a force point.
    pub roll_centre: f32,
    /// How far its wheels give way to side forces; `None` where its links are rigid.
    pub lateral_compliance: Option<LateralCompliance>,
    /// How far above the contact points the forces of its tyres act, along the travel, m, ≥ 0. A trick: 0 is what is real, at
    /// the height of the centre of mass tyres neither roll nor pitch the car.
    pub force_point: f32,
}

/// Toe and camber of an axle's wheels against their compression from rest z (m, positive in jounce), beyond the static ones:
/// `linear z + quadratic z²`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guidance {
    /// rad/m and rad/m², positive toe-in.
    pub toe: [f32; 2],
    /// rad/m and rad/m², positive with the top leaning outwards.
    pub camber: [f32; 2],
}

impl Guidance {
    /// Toe and camber that a compression of `travel` m adds, rad.
    pub fn at(&self, travel: f32) -> [f32; 2] {
        [self.toe, self.camber].map(|[linear, quadratic]| (linear + quadratic * travel) * travel)
    }

    /// Bounds of the sizes of both within `travel` m either way, rad.
    pub fn largest(&self, travel: f32) -> [f32; 2] {
        [self.toe, self.camber].map(|[linear, quadratic]| (linear.abs() + quadratic.abs() * travel) * travel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plain::plain_car;

    /// Froude's number `v / √(g R)` is the same for wheels of every size.
    #[test]
    fn a_walk_of_a_wheel_four_times_as_large_is_twice_as_fast() {
        let walking = |radius| Wheel { radius, ..plain_car().wheels[0] }.walking();
        // 0.5 and 1.5 m/s of a wheel of 0.32 m, by numbers of four digits.
        for (found, known) in walking(0.32).into_iter().zip([0.5, 1.5]) {
            assert!((found / known - 1.0f32).abs() < 1e-3, "{found} m/s");
        }
        for (large, small) in walking(1.28).into_iter().zip(walking(0.32)) {
            assert!((large / small - 2.0).abs() < 1e-6, "{large} m/s");
        }
    }

    #[test]
    fn toe_and_camber_never_leave_their_bounds_and_reach_them_at_an_end() {
        let guidance = Guidance { toe: [-0.5, 2.0], camber: [0.25, 1.0] };
        assert_eq!(guidance.at(0.25), [0.0, 0.125]);
        assert_eq!(guidance.at(-0.25), [0.25, 0.0]);
        assert_eq!(guidance.largest(0.25), [0.25, 0.125]);
    }
}
