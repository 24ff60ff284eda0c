//! Parameters of wheels and axles.

use crate::constants::STANDARD_GRAVITY;
use crate::model_error::{ModelError, check_finite, check_not_negative, check_positive};
use crate::suspension::parameters::{LateralCompliance, Strut, Unsprung};
use crate::wheel::disc::BrakeDisc;
use bevy_math::Vec3;
use skidpad_simd::lane::Lane;

/// Maximum height of a roll centre over half the track. On steeper links, lateral forces would lift wheels off the
/// ground, or press them down without limit.
const MAX_LINK_SLOPE: f32 = 0.8;

/// Position of a wheel on its axle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Side of positive y.
    Left,
    /// Side of negative y.
    Right,
    /// Middle: the only wheel of its axle.
    Centre,
}

impl Side {
    /// Returns 1 if outwards is to the right, −1 if it is to the left, and 0 in the middle.
    pub fn outward_sign(self) -> f32 {
        match self {
            Side::Left => -1.0,
            Side::Right => 1.0,
            Side::Centre => 0.0,
        }
    }

    /// Returns the letter for channel names: `l`, `r` or `c`.
    pub fn letter(self) -> char {
        match self {
            Side::Left => 'l',
            Side::Right => 'r',
            Side::Centre => 'c',
        }
    }
}

/// Wheel with everything that acts at its corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wheel {
    /// Index of the axle.
    pub axle: usize,
    /// Position on the axle.
    pub side: Side,
    /// Contact point at rest on level ground, vehicle frame (origin at the centre of mass), m.
    pub contact: Vec3,
    /// Loaded rolling radius, m, > 0.
    pub radius: f32,
    /// Moment of inertia about the axle, kg m², > 0.
    pub spin_inertia: f32,
    /// Index of the tyre.
    pub tyre: usize,
    /// Spring, damper and stops.
    pub strut: Strut,
    /// Whether the tyre is mounted with left and right exchanged, such as a tyre measured on the left and mounted on
    /// the right.
    pub mirrored: bool,
    /// Static toe, rad, positive toe-in.
    pub toe: f32,
    /// Static camber relative to the chassis, rad within ±1, positive with the top leaning outwards; 0 in the middle.
    pub camber: f32,
    /// Torque of the foot brake at full pedal, N m, ≥ 0.
    pub brake_torque: f32,
    /// Torque of the handbrake fully pulled, N m, ≥ 0.
    pub handbrake_torque: f32,
    /// Thermal model of the brake; `None` for a brake that does not fade.
    pub disc: Option<BrakeDisc>,
    /// Rolling resistance.
    pub rolling: RollingCoefficients,
    /// Unsprung mass and vertical tyre stiffness; `None` if unknown.
    pub unsprung: Option<Unsprung>,
    /// Shape that detects the ground.
    pub probe: ProbeShape,
}

/// Shape that detects the ground along the travel of the suspension.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ProbeShape {
    /// Ray through the middle of the wheel. The ray falls into every gap and reacts to an edge only when the middle is
    /// above it.
    #[default]
    Ray,
    /// Circle of the loaded radius in the middle plane of the wheel, parallel to the suspension travel. The circle
    /// rolls over gaps and edges like a rigid wheel without width.
    Disc,
    /// Disc plus a circle at each side of a flat tread with this width, m, > 0.
    Cylinder(f32),
    /// Disc plus a circle on each side of a tread with this width (m, > 0) that is rounded laterally.
    Torus(f32),
}

impl ProbeShape {
    /// Returns half the width of the tread (m), 0 for a disc, and whether the tread is rounded laterally; `None` for a
    /// ray.
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
    /// Checks the values of a wheel of `axle`, whose half track is the magnitude of `lateral_offset` (m, positive on
    /// the left; 0 for a single wheel). `value_name` builds the name of a value in an error.
    ///
    /// - The position is finite. Radius and spin inertia are above 0, brake torques at least 0.
    /// - The roll centre is above or below the ground by at most [`MAX_LINK_SLOPE`] of half the track; on the ground
    ///   for a single wheel.
    /// - |Toe| and |camber| are below 1 rad over the whole travel.
    /// - A tread is at most as wide as the wheel is high.
    /// - Strut, rolling resistance, brake disc and unsprung mass are valid by their own checks.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(
        &self,
        axle: &Axle,
        lateral_offset: f32,
        value_name: impl Fn(&str) -> String,
    ) -> Result<(), ModelError> {
        if !self.contact.is_finite() {
            return Err(ModelError::RuleViolated("a wheel's position is not finite"));
        }
        check_positive(&value_name("radius"), self.radius)?;
        check_positive(&value_name("spin inertia"), self.spin_inertia)?;
        let max_height = MAX_LINK_SLOPE * lateral_offset.abs();
        check_not_negative(
            &value_name("0.4 of the track - roll centre height"),
            max_height - axle.roll_centre_height.abs(),
        )?;
        // Largest travel in either direction, m.
        let max_travel = self.strut.droop_travel.max(self.strut.bump_travel + self.strut.stop_travel);
        let [toe, camber] = axle.toe_camber.map_or([0.0; 2], |links| links.max_changes(max_travel));
        check_positive(&value_name("1 - |camber| within the travel"), 1.0 - self.camber.abs() - camber)?;
        check_positive(&value_name("1 - |toe| within the travel"), 1.0 - self.toe.abs() - toe)?;
        self.strut.check(&value_name)?;
        check_not_negative(&value_name("brake torque"), self.brake_torque)?;
        check_not_negative(&value_name("handbrake torque"), self.handbrake_torque)?;
        self.rolling.check(&value_name)?;
        self.disc.as_ref().map_or(Ok(()), |disc| disc.check(&value_name))?;
        if let ProbeShape::Cylinder(width) | ProbeShape::Torus(width) = self.probe {
            check_positive(&value_name("tread width"), width)?;
            check_not_negative(&value_name("2 radius - tread width"), 2.0 * self.radius - width)?;
        }
        self.unsprung.as_ref().map_or(Ok(()), |unsprung| unsprung.check(&value_name))
    }

    /// Returns the static camber relative to the road on a level car, rad, positive with the top leaning right; 0 for a
    /// wheel in the middle.
    pub fn static_lean(&self) -> f32 {
        self.side.outward_sign() * self.camber
    }

    /// Returns the speeds between which the patch changes from a standing spring to a rolling tyre, m/s:
    /// [`WALKING_FROUDE_NUMBERS`] times √(g R).
    pub(crate) fn walking_speeds(&self) -> [f32; 2] {
        let reference_speed = (STANDARD_GRAVITY * self.radius).sqrt();
        WALKING_FROUDE_NUMBERS.map(|froude_number| froude_number * reference_speed)
    }
}

/// Values of [`Wheel::walking_speeds`] over `√(g R)`: 0.5 and 1.5 m/s for a wheel of 0.32 m. As Froude numbers they
/// apply to cars of any size. The upper one is walking pace. A much higher one removes the slip of slow driving; a much
/// lower one lets a car rebound after a stop with locked wheels.
const WALKING_FROUDE_NUMBERS: [f32; 2] = [0.2822, 0.8466];

/// Rolling resistance coefficient `c = constant + linear v + quadratic v²` with v in m/s. The moment is
/// `c · load · radius`. A wheel at rest can have a higher resistance, for example if it has sunk in or has a flat spot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RollingCoefficients {
    /// Constant part, –, ≥ 0.
    pub constant: f32,
    /// Part proportional to speed, s/m, ≥ 0.
    pub linear: f32,
    /// Part proportional to the square of the speed, s²/m², ≥ 0.
    pub quadratic: f32,
    /// Coefficient at rest, –, ≥ 0; effective if larger than `constant` and if `static_fade_speed` is not 0. A car
    /// stays on slopes with a tangent up to this value.
    pub static_coefficient: f32,
    /// Speed at which the additional resistance at rest has faded out smoothly, m/s, ≥ 0.
    pub static_fade_speed: f32,
}

impl RollingCoefficients {
    /// Checks that all values are finite and at least 0. `value_name` builds the name of a value in an error.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, value_name: impl Fn(&str) -> String) -> Result<(), ModelError> {
        for (quantity, value) in [
            ("constant rolling resistance", self.constant),
            ("linear rolling resistance", self.linear),
            ("quadratic rolling resistance", self.quadratic),
            ("static rolling resistance", self.static_coefficient),
            ("static-to-rolling transition speed", self.static_fade_speed),
        ] {
            check_not_negative(&value_name(quantity), value)?;
        }
        Ok(())
    }

    /// Returns the coefficient at `speed` (m/s), –, equal in both directions: `constant + linear |v| + quadratic v²`
    /// plus the additional resistance near standstill.
    pub fn coefficient(&self, speed: f32) -> f32 {
        self.prepare().coefficient(speed.abs())
    }

    /// Returns the coefficients in the form that steps use: the additional coefficient at rest is
    /// `static_coefficient − constant`, and 0 if that is negative or `static_fade_speed` is 0. A fade speed of 0
    /// becomes the smallest positive number.
    pub(crate) fn prepare(&self) -> RollingCoefficientLanes<f32> {
        let static_excess =
            if self.static_fade_speed > 0.0 { (self.static_coefficient - self.constant).max(0.0) } else { 0.0 };
        RollingCoefficientLanes {
            by_speed: [self.constant, self.linear, self.quadratic],
            static_excess: [static_excess, self.static_fade_speed.max(f32::MIN_POSITIVE)],
        }
    }

    /// Returns the rolling resistance of a pneumatic tyre on a dry road at `pressure` (bar), without additional
    /// resistance at rest.
    ///
    /// `c = 0.005 + (1/p)(0.01 + 0.0095 (v/100)²)`, p in bar, v in km/h; Engineering ToolBox, "Rolling Resistance".
    pub fn from_pressure(pressure: f32) -> Self {
        Self {
            constant: 0.005 + 0.01 / pressure,
            linear: 0.0,
            // 0.036 converts m/s to 100 km/h.
            quadratic: 0.0095 * 0.036 * 0.036 / pressure,
            ..Self::default()
        }
    }
}

/// Coefficients of [`RollingCoefficients`] for one wheel or several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollingCoefficientLanes<L> {
    /// Coefficients of v⁰, v¹ and v²: –, s/m, s²/m².
    pub by_speed: [L; 3],
    /// Additional coefficient at rest, –, and the speed at which it has faded out, m/s, > 0.
    pub static_excess: [L; 2],
}

impl<L: Lane> RollingCoefficientLanes<L> {
    /// Returns the coefficient at `speed` (m/s, ≥ 0), –. The additional coefficient at rest fades out with a smooth
    /// step between 0 and its fade speed.
    #[inline(always)]
    pub fn coefficient(&self, speed: L) -> L {
        let ([constant, linear, quadratic], [excess, fade_speed]) = (self.by_speed, self.static_excess);
        let (zero, rolling_coefficient) = (L::splat(0.0), constant + (linear + quadratic * speed) * speed);
        if !L::any(zero.less(excess)) {
            return rolling_coefficient;
        }
        rolling_coefficient + excess * (L::splat(1.0) - speed.smoothstep(zero, fade_speed))
    }
}

/// Axle, steered or unsteered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axle {
    /// Road-wheel angle in the middle of the axle per rad of [`crate::Controls::steer`]; 0 if unsteered, negative for
    /// counter-steering.
    pub steer_ratio: f32,
    /// Ackermann share, from 0 (parallel) to 1 (full). Full means cot outer − cot inner = track / distance to the
    /// turning axis; the mean of both cotangents is that of the angle in the middle.
    pub ackermann: f32,
    /// Distance from the turning axis to this axle, m, positive ahead of it. The turning axis is the mean of the
    /// unsteered axles. If all axles are steered, it is the axis for small angles, for which steer ratios are
    /// proportional to the distances.
    pub turning_distance: f32,
    /// Kinematic change of toe and camber with wheel travel; `None` if both stay constant.
    pub toe_camber: Option<ToeCamberCurves>,
    /// Whether both wheels are on one beam (solid axle), which stays square on its tyres while the body rolls. The roll
    /// inertia of the beam acts only in solvers with unsprung masses.
    pub solid: bool,
    /// Height of the roll centre above the ground at rest, m. Links transfer a lateral tyre force F to the body there,
    /// so that the struts carry F times this height less of the roll moment. Per wheel travel, the contact points move
    /// sideways by this height over half the track, outwards in jounce if positive. Range: ±0.4 of the track. Must be 0
    /// for an axle with one wheel or with a force point.
    pub roll_centre_height: f32,
    /// Lateral compliance of the axle; `None` if its links are rigid.
    pub lateral_compliance: Option<LateralCompliance>,
    /// Height above the contact points at which tyre forces act, along the travel, m, ≥ 0. The physical value is 0. At
    /// the height of the centre of mass, tyre forces neither roll nor pitch the car.
    pub force_point_height: f32,
}

impl Axle {
    /// Checks the values of the axle. The largest steering angle at the steering `lock` (rad) is below a right angle,
    /// the Ackermann share is 0 to 1, the force point height is not negative, and turning distance and roll centre
    /// height are finite. A force point excludes a roll centre off the ground.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, lock: f32) -> Result<(), ModelError> {
        let max_angle = self.steer_ratio.abs() * lock;
        check_positive("π/2 - maximum steering angle of an axle", core::f32::consts::FRAC_PI_2 - max_angle)?;
        check_not_negative("Ackermann share", self.ackermann)?;
        check_not_negative("1 - Ackermann share", 1.0 - self.ackermann)?;
        check_finite("distance of an axle from the turning axis", Vec3::splat(self.turning_distance))?;
        check_not_negative("force application height of an axle", self.force_point_height)?;
        check_finite("roll centre height of an axle", Vec3::splat(self.roll_centre_height))?;
        self.lateral_compliance.as_ref().map_or(Ok(()), LateralCompliance::check)?;
        if self.force_point_height > 0.0 && self.roll_centre_height != 0.0 {
            return Err(ModelError::RuleViolated(
                "an axle with a force application height must have its roll centre at ground level",
            ));
        }
        Ok(())
    }
}

/// Changes of toe and camber with the compression from rest z (m, positive in jounce): `linear z + quadratic z²`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToeCamberCurves {
    /// Linear and quadratic coefficient of toe, rad/m and rad/m², positive for toe-in.
    pub toe: [f32; 2],
    /// Linear and quadratic coefficient of camber, rad/m and rad/m², positive with the top leaning outwards.
    pub camber: [f32; 2],
}

impl ToeCamberCurves {
    /// Returns the changes of toe and camber relative to rest at a compression of `travel` (m), rad:
    /// `linear z + quadratic z²`.
    #[inline(always)]
    pub fn changes_at<L: Lane>(&self, travel: L) -> [L; 2] {
        [self.toe, self.camber].map(|[linear, quadratic]| (L::splat(linear) + L::splat(quadratic) * travel) * travel)
    }

    /// Returns upper bounds for the magnitudes of both changes within ±`travel` (m, ≥ 0), rad: `|linear| z +
    /// |quadratic| z²`.
    pub fn max_changes(&self, travel: f32) -> [f32; 2] {
        [self.toe, self.camber].map(|[linear, quadratic]| (linear.abs() + quadratic.abs() * travel) * travel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plain::plain_car;

    /// Checks both walking speeds of a wheel of 0.32 m, and twice these speeds for a wheel four times as large: the
    /// Froude number `v / √(g R)` is equal for wheels of every size.
    #[test]
    fn a_walk_of_a_wheel_four_times_as_large_is_twice_as_fast() {
        let walking_speeds = |radius| Wheel { radius, ..plain_car().wheels[0] }.walking_speeds();
        // 0.5 and 1.5 m/s for a wheel of 0.32 m; the constants have four digits.
        for (found, expected) in walking_speeds(0.32).into_iter().zip([0.5, 1.5]) {
            assert!((found / expected - 1.0f32).abs() < 1e-3, "{found} m/s");
        }
        for (large, small) in walking_speeds(1.28).into_iter().zip(walking_speeds(0.32)) {
            assert!((large / small - 2.0).abs() < 1e-6, "{large} m/s");
        }
    }

    /// Checks the changes of toe and camber at ±0.25 m against their bounds.
    #[test]
    fn toe_and_camber_never_leave_their_bounds_and_reach_them_at_an_end() {
        let curves = ToeCamberCurves { toe: [-0.5, 2.0], camber: [0.25, 1.0] };
        assert_eq!(curves.changes_at(0.25), [0.0, 0.125]);
        assert_eq!(curves.changes_at(-0.25), [0.25, 0.0]);
        assert_eq!(curves.max_changes(0.25), [0.25, 0.125]);
    }
}
