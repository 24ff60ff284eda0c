//! Constants of the wheels in groups of four lanes: two axles, left before right.
//!
//! An axle always has two lanes, so that sums by axle treat left and right alike. The second lane of a single-wheel
//! axle is empty.

#[cfg(feature = "simd_batch")]
pub(crate) mod numbers;

use crate::constants::STANDARD_GRAVITY;
use crate::drivetrain::parameters::Powertrain;
use crate::model::law_groups::{LawGroup, curve_or_placeholder, group_laws};
use crate::model::parts::ModelParts;
use crate::model::torque_paths::shaft_jacobians;
use crate::suspension::parameters::{AntiRollBar, BarForcePath, Strut};
use crate::wheel::disc::BrakeDiscLanes;
use crate::wheel::parameters::{ProbeShape, RollingCoefficientLanes, Wheel};
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_tyre::curve::CurveConstants;

/// Position of a wheel in the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneIndex {
    /// Index of the group of four wheels.
    pub group: usize,
    /// Lane in the group, 0 to 3: left and right of the first axle, then of the second.
    pub lane: usize,
}

/// Constants of up to four wheels (a group): one number per wheel in the lanes of each field.
#[derive(Clone, Debug, PartialEq)]
pub struct WheelPack<W: WheelLanes = F32x4> {
    /// Wheel index of each lane. An empty lane has the index of another wheel and is masked by `present`.
    wheels: [usize; 4],
    /// Index of the first wheel if the four lanes are consecutive wheels; otherwise `None`.
    first_wheel: Option<usize>,
    /// 1 in lanes that have a wheel, 0 in empty lanes.
    present: W,
    /// Contact points at rest on level ground, vehicle frame, m.
    pub(crate) contact: Vec3Lanes<W>,
    /// Loaded rolling radius, m.
    pub radius: W,
    /// Moment of inertia about the axle, kg m².
    pub spin_inertia: W,
    /// Torque of the foot brake at full pedal, N m; 0 in empty lanes.
    pub(crate) brake_torque: W,
    /// Torque of the handbrake fully pulled, N m; 0 in empty lanes.
    pub(crate) handbrake_torque: W,
    /// Brake discs; `None` if no wheel of the group has one.
    pub(crate) discs: Option<BrakeDiscLanes<W>>,
    /// Rolling resistance coefficients.
    pub(crate) rolling: RollingCoefficientLanes<W>,
    /// Speeds between which the patch changes from a standing spring to a rolling tyre, m/s; see
    /// [`Wheel::walking_speeds`].
    pub(crate) walking: [W; 2],
    /// Mass that each wheel carries at rest, its unsprung mass included, kg.
    pub(crate) carried_mass: W,
    /// Unsprung mass, kg; 0 if unknown.
    pub(crate) unsprung_mass: W,
    /// Vertical rate of the tyre, N/m; 0 if unknown.
    pub(crate) tyre_rate: W,
    /// Vertical damping of the tyre, N s/m; 0 if unknown.
    pub(crate) tyre_damping: W,
    /// Wheel rate at rest, N/m.
    wheel_rate: W,
    /// Increase of the wheel rate per compression, N/m²; `None` if every spring is linear.
    pub(crate) progressive_rate: Option<W>,
    /// Damping in compression below the knee, N s/m.
    pub(crate) bump_damping: W,
    /// Damping in rebound below the knee, N s/m.
    pub(crate) rebound_damping: W,
    /// Knee speed (m/s) and damping share above it, for bump and for rebound; `None` if no damper has a knee.
    pub(crate) knees: Option<[[W; 2]; 2]>,
    /// Compression from rest at which the bump stop begins, m.
    pub(crate) bump_travel: W,
    /// Extension of an unloaded wheel below its position at rest, m.
    pub(crate) droop_travel: W,
    /// Rate of the bump stop, N/m, in parallel with the spring.
    pub(crate) stop_rate: W,
    /// Rate of the anti-roll bars to the opposite wheel, N/m. Only bars through the strut with a speed-independent rate
    /// count.
    pub(crate) bar_rate: W,
    /// Compression at which the bump stop is fully compressed, m.
    pub(crate) solid_travel: W,
    /// Constants of tyres with simple curves; placeholder values in the lanes of other tyres.
    pub(crate) tyre: CurveConstants<W>,
    /// Whether some lane uses a simple curve, that is, has no entry in `laws`.
    pub(crate) has_curves: bool,
    /// Tyre models (laws) other than simple curves: one entry for all TMeasy tyres, and one for each other tyre.
    pub(crate) laws: Box<[LawGroup<W>]>,
    /// −1 for a tyre that is mounted with left and right exchanged, otherwise 1.
    pub(crate) mirror_sign: W,
    /// Whether some wheel of the group has a rim probe.
    pub(crate) has_rims: bool,
    /// Height above the contact point at which tyre forces act, m; `None` if it is 0 for every wheel.
    pub(crate) force_point: Option<W>,
    /// Beams of solid axles; `None` if every wheel of the group has independent suspension.
    pub(crate) beam: Option<Beam>,
    /// Links of axles with a roll centre off the ground; `None` if no axle has one.
    pub(crate) roll_centre_links: Option<RollCentreLinks>,
    /// Lateral compliance of axles; `None` if every axle is laterally rigid.
    pub(crate) lateral: Option<LateralComplianceLanes>,
    /// Torque of a direct drive at the wheel at full throttle, N m.
    pub(crate) direct_torque: W,
    /// Revolutions of each driveline row per revolution of the wheel, see [`shaft_jacobians`].
    pub(crate) shaft_jacobian: Box<[W]>,
}

/// Wheels on the beams of solid axles; zeros in the lanes of other wheels. A beam follows the body laterally at its
/// roll centre and rotates about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beam {
    /// Rotation of the beam relative to the body per wheel travel, rad/m. Jounce of the left wheel tilts the beam to
    /// the right.
    tilt_per_travel: F32x4,
    /// Displacement of both wheel centres to the right per travel of this wheel due to that rotation, –: (R − h) /
    /// track, negative for right wheels, with wheel radius R and roll centre height h.
    pub sway: F32x4,
    /// 0.5 for wheels on a beam, otherwise 0.
    half: F32x4,
}

impl Beam {
    /// Builds the beams of the solid axles among `wheels`: rotation per travel 1 / (y − y') with the lateral position
    /// y' of the opposite wheel. `None` if no wheel has a solid axle and an opposite wheel. `present` masks empty
    /// lanes. `sway` is the rotation times R − h, with wheel radius R and roll centre height h; `half` is 0.5 on beams.
    fn new(parts: &ModelParts, wheels: [usize; 4], present: F32x4) -> Option<Self> {
        // Rotation per travel of wheel `i`; `None` without a beam or an opposite wheel.
        let tilt_of_wheel = |i: usize| {
            let wheel = &parts.wheels[i];
            let is_opposite = |other: &&Wheel| other.axle == wheel.axle && other.side != wheel.side;
            let opposite = parts.wheels.iter().find(is_opposite)?;
            parts.axles[wheel.axle].solid.then(|| 1.0 / (wheel.contact.y - opposite.contact.y))
        };
        // Rotation per travel, rad/m; 0 without a beam.
        let tilts = wheels.map(|i| tilt_of_wheel(i).unwrap_or(0.0));
        let tilt_per_travel = F32x4::new(tilts) * present;
        tilts.iter().any(|&tilt| tilt != 0.0).then(|| Self {
            tilt_per_travel,
            sway: Self::sway(parts, wheels, tilt_per_travel),
            half: F32x4::splat(0.5).masked(F32x4::default().less(tilt_per_travel.abs())),
        })
    }

    /// Returns [`Beam::sway`] of `wheels`: `tilt_per_travel` (rad/m) times the wheel radius less the height of the roll
    /// centre.
    fn sway(parts: &ModelParts, wheels: [usize; 4], tilt_per_travel: F32x4) -> F32x4 {
        let arm = |i: usize| parts.wheels[i].radius - parts.axles[parts.wheels[i].axle].roll_centre_height;
        tilt_per_travel * F32x4::new(wheels.map(arm))
    }

    /// Returns the rotation of each wheel's beam relative to the body, (q_left − q_right) / track, with the wheels at
    /// `travel` (m), rad, positive to the right; 0 without a beam.
    #[inline(always)]
    pub fn tilt(&self, travel: F32x4) -> F32x4 {
        let own_tilt = self.tilt_per_travel * travel;
        // The rotation per travel has opposite signs on both sides.
        own_tilt + own_tilt.opposite()
    }

    /// Returns, for wheels on a beam, the mean of the `values` at both its ends, and for other wheels their own value.
    #[inline(always)]
    pub fn mean_of_ends(&self, values: F32x4) -> F32x4 {
        values + self.half * (values.opposite() - values)
    }
}

/// Wheels that links guide laterally as they travel, about a roll centre off the ground; zeros in the lanes of other
/// wheels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollCentreLinks {
    /// Displacement of the contact point to the left per metre of jounce, –; see [`crate::Model::link_slope`]. On a
    /// beam, the mean of the displacements due to both wheels applies to both.
    pub slope: F32x4,
    /// 0.5 for wheels on a beam, otherwise 0.
    pub beam_half: F32x4,
    /// 1 for wheels that are not on a beam, otherwise 0.
    pub independent: F32x4,
}

impl RollCentreLinks {
    /// Builds the links of the axles of `wheels`: the slope [`link_slope`], and whether the axle is a beam or
    /// independent. `None` if every roll centre is on the ground. `present` masks empty lanes.
    fn new(parts: &ModelParts, wheels: [usize; 4], present: F32x4) -> Option<Self> {
        let axle = |i: usize| &parts.axles[parts.wheels[i].axle];
        let slopes = wheels.map(|i| link_slope(parts, i));
        let beam_half = F32x4::new(wheels.map(|i| if axle(i).solid { 0.5 } else { 0.0 }));
        let independent = F32x4::new(wheels.map(|i| if axle(i).solid { 0.0 } else { 1.0 }));
        slopes.iter().any(|&slope| slope != 0.0).then(|| Self {
            slope: F32x4::new(slopes) * present,
            beam_half,
            independent,
        })
    }

    /// Returns, for wheels on a beam, the mean of the `values` at both its ends, and for other wheels their own value.
    #[inline(always)]
    pub fn mean_of_ends(&self, values: F32x4) -> F32x4 {
        values * self.independent + (values + values.opposite()) * self.beam_half
    }

    /// Returns the motion of the contact points to the left relative to the body for a travel of the wheels, `slope ·
    /// travel`, on a beam the mean of both wheels: the displacement (m) for a travel (m), or the velocity (m/s) for a
    /// travel rate (m/s).
    #[inline(always)]
    pub fn lateral_motion(&self, travel: F32x4) -> F32x4 {
        self.mean_of_ends(self.slope * travel)
    }

    /// Returns the jacking force of the links on each wheel, upwards along its travel, for tyre forces `lateral_force`
    /// to the left: `slope · lateral_force`, on a beam with the mean of both tyre forces. The unit is that of
    /// `lateral_force`, N or N s.
    #[inline(always)]
    pub fn jacking_force(&self, lateral_force: F32x4) -> F32x4 {
        self.slope * self.mean_of_ends(lateral_force)
    }
}

/// Lateral compliance of the wheels of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LateralComplianceLanes {
    /// 1 for wheels on a compliant axle, otherwise 0.
    pub compliant: F32x4,
    /// Lateral rate per wheel, N/m; 1 for wheels on a rigid axle.
    pub rate: F32x4,
    /// Lateral damping per wheel, N s/m; 0 for wheels on a rigid axle.
    pub damping: F32x4,
}

impl LateralComplianceLanes {
    /// Builds the compliances of `wheels`: rate and damping of each axle divided by its number of wheels. `None`
    /// without a compliant axle. `present` masks empty lanes.
    fn new(parts: &ModelParts, wheels: [usize; 4], present: F32x4) -> Option<Self> {
        // Rate (N/m) and damping (N s/m) per wheel.
        let compliances = wheels.map(|i| {
            let axle = parts.wheels[i].axle;
            let count = parts.wheels.iter().filter(|wheel| wheel.axle == axle).count() as f32;
            parts.axles[axle]
                .lateral_compliance
                .map(|axle_compliance| [axle_compliance.rate, axle_compliance.damping].map(|value| value / count))
        });
        compliances.iter().any(Option::is_some).then(|| Self {
            compliant: F32x4::new(compliances.map(|compliance| compliance.map_or(0.0, |_| 1.0))) * present,
            rate: F32x4::new(compliances.map(|compliance| compliance.map_or(1.0, |[rate, _]| rate))),
            damping: F32x4::new(compliances.map(|compliance| compliance.map_or(0.0, |[_, damping]| damping))),
        })
    }
}

/// Returns the roll centre height of the axle of wheel `i` over [`lateral_offset`], –; 0 for a roll centre on the
/// ground. Positive if jounce moves the contact point to the left.
pub(crate) fn link_slope(parts: &ModelParts, i: usize) -> f32 {
    let height = parts.axles[parts.wheels[i].axle].roll_centre_height;
    if height == 0.0 { 0.0 } else { height / lateral_offset(parts, i) }
}

/// Returns half the lateral distance of wheel `i` from the other wheel of its axle, m, positive for the left wheel; 0
/// for a single wheel.
pub(crate) fn lateral_offset(parts: &ModelParts, i: usize) -> f32 {
    let wheel = &parts.wheels[i];
    let is_opposite = |&(k, other): &(usize, &Wheel)| k != i && other.axle == wheel.axle;
    let opposite = parts.wheels.iter().enumerate().find(is_opposite);
    opposite.map_or(0.0, |(_, other)| 0.5 * (wheel.contact.y - other.contact.y))
}

impl WheelPack {
    /// Returns the entries of this group's wheels in `all`; `None` unless the group has four consecutive wheels, as in
    /// most cars.
    #[inline(always)]
    pub(crate) fn consecutive_four_mut<'a, T>(&self, all: &'a mut [T]) -> Option<&'a mut [T; 4]> {
        all.get_mut(self.first_wheel?..)?.first_chunk_mut()
    }

    /// Returns the entries of this group's wheels in `all`; `None` unless the group has four consecutive wheels.
    #[inline(always)]
    pub(crate) fn consecutive_four<'a, T>(&self, all: &'a [T]) -> Option<&'a [T; 4]> {
        all.get(self.first_wheel?..)?.first_chunk()
    }

    /// Returns true if the lanes are two full axles of two wheels, or one, whose wheel indices are consecutive from
    /// `first_wheel` on. A group with a single-wheel axle returns false.
    #[cfg(feature = "simd_batch")]
    pub(crate) fn is_consecutive_from(&self, first_wheel: usize) -> bool {
        let lane_count = match self.present.lanes() {
            [1.0, 1.0, 1.0, 1.0] => 4,
            [1.0, 1.0, 0.0, 0.0] => 2,
            _ => return false,
        };
        self.wheels[..lane_count].iter().enumerate().all(|(lane, wheel)| *wheel == first_wheel + lane)
    }

    /// Collects the `value` of each wheel index in its lane; 0 in empty lanes.
    #[inline(always)]
    pub(crate) fn gather(&self, value: impl Fn(usize) -> f32) -> F32x4 {
        F32x4::new(self.wheels.map(value)) * self.present
    }

    /// Returns the entry of each lane's wheel in `all`, for [`WheelPack::gather_field`] and
    /// [`WheelPack::gather_four_fields`]. An empty lane has the entry of another wheel.
    #[inline(always)]
    pub(crate) fn wheel_entries<'a, T>(&self, all: &'a [T]) -> [&'a T; 4] {
        match self.consecutive_four(all) {
            Some(entries) => entries.each_ref(),
            None => self.wheels.map(|i| &all[i]),
        }
    }

    /// Collects one number per wheel from the `entries`; 0 in empty lanes.
    #[inline(always)]
    pub(crate) fn gather_field<T>(&self, entries: [&T; 4], value: impl Fn(&T) -> f32) -> F32x4 {
        F32x4::new(entries.map(value)) * self.present
    }

    /// Collects four numbers per wheel from the `entries`: one vector of four lanes per number; 0 in empty lanes.
    #[inline(always)]
    pub(crate) fn gather_four_fields<T>(&self, entries: [&T; 4], values: impl Fn(&T) -> [f32; 4]) -> [F32x4; 4] {
        let lanes = F32x4::transposed(entries.map(|wheel| F32x4::new(values(wheel))));
        // A group of four consecutive wheels has no empty lane.
        if self.first_wheel.is_some() { lanes } else { lanes.map(|lanes| lanes * self.present) }
    }

    /// Calls `visit` with the lane and the index of each wheel of the group. Empty lanes are skipped.
    #[inline(always)]
    pub fn for_each_wheel(&self, mut visit: impl FnMut(usize, usize)) {
        let present = self.present.lanes();
        for (lane, &wheel) in self.wheels.iter().enumerate() {
            if present[lane] != 0.0 {
                visit(lane, wheel);
            }
        }
    }
}

impl<W: WheelLanes> WheelPack<W> {
    /// Returns the lanes that have a wheel.
    #[inline(always)]
    pub fn present_mask(&self) -> W::Mask {
        W::splat(0.0).less(self.present)
    }

    /// Returns the spring forces beyond those at rest at `travel` (m), N, `(c + ½ r z) z` with the rate c at rest and
    /// its increase r, and the wheel rates there, `c + r z`, N/m. Stops are left out.
    #[inline(always)]
    pub(crate) fn spring_force_and_rate(&self, travel: W) -> (W, W) {
        let Some(progressive_rate) = self.progressive_rate else { return (self.wheel_rate * travel, self.wheel_rate) };
        let rate_increase = progressive_rate * travel;
        ((self.wheel_rate + W::splat(0.5) * rate_increase) * travel, self.wheel_rate + rate_increase)
    }

    /// Returns the height of a probe ray's start above the contact point at rest, m: one wheel diameter.
    #[inline(always)]
    pub(crate) fn ray_start_height(&self) -> W {
        self.radius * W::splat(2.0)
    }

    /// Returns the vertical deflection of the tyres at rest, carried weight over tyre rate, m. Valid only for wheels
    /// with a known unsprung mass.
    #[inline(always)]
    pub(crate) fn static_tyre_deflection(&self) -> W {
        self.carried_mass * W::splat(STANDARD_GRAVITY) / self.tyre_rate
    }
}

/// Returns the group and lane of every wheel, by wheel index: two axles per group, two lanes per axle. `axle_wheels`
/// has the left and the right wheel of each axle, twice the same for a single wheel.
pub(crate) fn lane_indices(parts: &ModelParts, axle_wheels: &[[usize; 2]]) -> Box<[LaneIndex]> {
    // Lane 0 or 2 for the first wheel of an axle, 1 or 3 for the second.
    let lane_index = |i: usize| {
        let axle = parts.wheels[i].axle;
        let lane_in_axle = usize::from(axle_wheels[axle][0] != i);
        LaneIndex { group: axle / 2, lane: axle % 2 * 2 + lane_in_axle }
    };
    (0..parts.wheels.len()).map(lane_index).collect()
}

/// Builds the groups of a vehicle, two axles each. `carried_masses` is the mass that each wheel carries at rest (kg),
/// `axle_wheels` as for [`lane_indices`]. Lanes of a missing second axle or second wheel repeat another wheel and are
/// marked empty.
pub(crate) fn build_packs(parts: &ModelParts, carried_masses: &[f32], axle_wheels: &[[usize; 2]]) -> Box<[WheelPack]> {
    axle_wheels
        .chunks(2)
        .map(|axles| {
            let last = axles[axles.len() - 1];
            let rear_wheels = if axles.len() == 2 { last } else { [last[0], last[0]] };
            let wheels = [axles[0][0], axles[0][1], rear_wheels[0], rear_wheels[1]];
            // 1 if the group has a second axle.
            let has_rear_axle = if axles.len() == 2 { 1.0 } else { 0.0 };
            let has_both = |pair: [usize; 2]| if pair[0] == pair[1] { 0.0 } else { 1.0 }; // two wheels
            build_pack(
                parts,
                carried_masses,
                wheels,
                F32x4::new([1.0, has_both(axles[0]), has_rear_axle, has_rear_axle * has_both(rear_wheels)]),
            )
        })
        .collect()
}

/// Builds the group of four lanes with these `wheels`; `present` is 1, or 0 in empty lanes. `carried_masses` is the
/// mass on each wheel at rest (kg).
///
/// Values are those of the wheels, with these exceptions. Droop travel ends where the spring is slack, and `bar_rate`
/// sums the bars of [`counts_in_bar_rate`]. Values of empty lanes repeat those of another wheel, except brake, bar,
/// direct drive and shaft values, which are 0.
fn build_pack(parts: &ModelParts, carried_masses: &[f32], wheels: [usize; 4], present: F32x4) -> WheelPack {
    // Value of every lane; empty lanes repeat another wheel.
    let lanes = |value: &dyn Fn(&Wheel) -> f32| F32x4::new(wheels.map(|i| value(&parts.wheels[i])));
    let any = |condition: &dyn Fn(&Wheel) -> bool| wheels.iter().any(|&i| condition(&parts.wheels[i]));
    // Values that are 0 in empty lanes.
    let mask = |value: &dyn Fn(usize) -> f32| F32x4::new(wheels.map(value)) * present;
    let is_consecutive = (0..4).all(|k| wheels[k] == wheels[0] + k);
    let laws = group_laws(parts, wheels, present);
    WheelPack {
        wheels,
        first_wheel: is_consecutive.then_some(wheels[0]),
        present,
        contact: Vec3Lanes::new(lanes(&|w| w.contact.x), lanes(&|w| w.contact.y), lanes(&|w| w.contact.z)),
        radius: lanes(&|w| w.radius),
        spin_inertia: lanes(&|w| w.spin_inertia),
        brake_torque: lanes(&|w| w.brake_torque) * present,
        handbrake_torque: lanes(&|w| w.handbrake_torque) * present,
        discs: BrakeDiscLanes::from_wheels(wheels.map(|i| parts.wheels[i].disc)),
        rolling: RollingCoefficientLanes {
            by_speed: [0, 1, 2].map(|k| lanes(&|w| w.rolling.prepare().by_speed[k])),
            static_excess: [0, 1].map(|k| lanes(&|w| w.rolling.prepare().static_excess[k])),
        },
        walking: [0, 1].map(|k| lanes(&|w| w.walking_speeds()[k])),
        carried_mass: F32x4::new(wheels.map(|i| carried_masses[i])),
        unsprung_mass: lanes(&|w| w.unsprung.map_or(0.0, |unsprung| unsprung.mass)),
        tyre_rate: lanes(&|w| w.unsprung.map_or(0.0, |unsprung| unsprung.tyre_rate)),
        tyre_damping: lanes(&|w| w.unsprung.map_or(0.0, |unsprung| unsprung.tyre_damping)),
        wheel_rate: lanes(&|w| w.strut.rate),
        progressive_rate: any(&|w| w.strut.progressive_rate != 0.0).then(|| lanes(&|w| w.strut.progressive_rate)),
        bump_damping: lanes(&|w| w.strut.bump_damping),
        rebound_damping: lanes(&|w| w.strut.rebound_damping),
        knees: any(&|w| w.strut.knees != <[_; 2]>::default())
            .then(|| [0, 1].map(|i| [lanes(&|w| w.strut.knees[i].speed), lanes(&|w| w.strut.knees[i].fast_ratio)])),
        bump_travel: lanes(&|w| w.strut.bump_travel),
        droop_travel: F32x4::new(wheels.map(|i| droop_extension(&parts.wheels[i].strut, carried_masses[i]))),
        stop_rate: lanes(&|w| w.strut.stop_rate),
        bar_rate: mask(&|i| {
            let bars = parts.bars.iter().filter(|bar| bar.wheels.contains(&i) && counts_in_bar_rate(parts, bar));
            bars.fold(0.0, |sum, bar| sum + bar.rate)
        }),
        solid_travel: lanes(&|w| w.strut.bump_travel + w.strut.stop_travel),
        tyre: CurveConstants::pack_lanes(
            wheels.map(|i| curve_or_placeholder(&parts.tyres[parts.wheels[i].tyre]).constants()),
        ),
        // The laws cover a lane once at most. A sum of 0 is a simple curve or an empty lane.
        has_curves: laws.iter().fold(F32x4::default(), |sum, law| sum + law.has_law) != F32x4::splat(1.0),
        laws,
        mirror_sign: lanes(&|w| if w.mirrored { -1.0 } else { 1.0 }),
        has_rims: any(&|w| w.probe != ProbeShape::Ray),
        force_point: any(&|w| parts.axles[w.axle].force_point_height != 0.0)
            .then(|| lanes(&|w| parts.axles[w.axle].force_point_height)),
        beam: Beam::new(parts, wheels, present),
        roll_centre_links: RollCentreLinks::new(parts, wheels, present),
        lateral: LateralComplianceLanes::new(parts, wheels, present),
        direct_torque: mask(&|i| if let Powertrain::Direct(torques) = &parts.powertrain { torques[i] } else { 0.0 }),
        shaft_jacobian: shaft_jacobians(parts).map(|levers| mask(&|i| levers[i])).collect(),
    }
}

/// Returns true if a bar connects the wheels of one axle through their struts (not on the chassis) with a
/// speed-independent rate.
fn counts_in_bar_rate(parts: &ModelParts, bar: &AntiRollBar) -> bool {
    let [left, right] = bar.wheels.map(|i| parts.wheels[i].axle);
    left == right && bar.force_path == BarForcePath::InLoadPath && bar.speed_range == [0.0; 2]
}

/// Returns the indices of the axle links that are not part of [`WheelPack::bar_rate`]. Bars come first, then heave
/// springs.
pub(crate) fn separate_axle_links(parts: &ModelParts) -> Box<[usize]> {
    let bars = parts.bars.iter().enumerate().filter(|(_, bar)| !counts_in_bar_rate(parts, bar)).map(|(k, _)| k);
    bars.chain((0..parts.heave_springs.len()).map(|k| parts.bars.len() + k)).collect()
}

/// Returns the extension of an unloaded wheel, m: the droop stop or, if smaller, the extension at which the spring is
/// slack. `carried_mass` is the mass on the wheel at rest, kg. A wheel that a force would have to pull down to the
/// ground does not touch it.
fn droop_extension(strut: &Strut, carried_mass: f32) -> f32 {
    // A loss of the whole static load extends the spring: a negative compression.
    let slack_extension = -strut.compression_at_force((-carried_mass * STANDARD_GRAVITY).into(), 0.0) as f32;
    strut.droop_travel.min(slack_extension)
}
