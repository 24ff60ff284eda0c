//! Tyre rows: linearisation of the tyre laws at the deflection at the start of the step, under the solved load.

use crate::assembly::tyre::laws::TyreInput;
use crate::model::wheel_pack::WheelPack;
use crate::tyre_rows::{DeflectionLine, PatchMotion, TyreLinearization};
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, groups_with_rows};
use skidpad_simd::lane::{WheelLanes, pair_from_fn};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::WheelGroups;
use skidpad_tyre::curve::CurveConstants;
use skidpad_tyre::parameters::Tyre;

/// Damping ratio of a standing patch with the mass that its wheel carries. The rebound after a locked stop then ends
/// within one cycle. Below 0.2 the car rocks visibly; above 0.8 the patch creeps into place.
const STANDING_DAMPING_RATIO: f32 = 0.4;

/// Slope over slope at zero slip above which the curve of a patch counts as straight.
const MIN_STRAIGHT_SLOPE_RATIO: f32 = 0.8;

/// State of the patches of a group at the start of a step.
struct PatchState<W: WheelLanes> {
    /// Longitudinal and lateral deflections, m.
    deflection: [W; 2],
    /// Longitudinal and lateral sliding speeds, m/s.
    sliding_speed: [W; 2],
    /// Share of rolling: 0 for a standing patch to 1 for a rolling one.
    rolling_share: W,
    /// Share of rolling for the time integration: `rolling_share`, or 0 on a body that wheels push.
    integration_share: W,
    /// Speed with which rolling renews the patch in the middle of the step, m/s, ≥ 0.
    renewal_speed: W,
}

impl Vehicle {
    /// Computes the tyre rows of all wheels for a step of `dt` s. The laws are linearised at the deflection at the
    /// start of the step, under the solved load, which leads to the chassis velocity `v_loaded`.
    #[inline(always)]
    pub(crate) fn linearise_tyres<B: WheelGroups>(&mut self, v_loaded: SpatialVector<f32>, dt: f32) {
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            rows.linearise_tyre_rows(group, &self.model.parts().tyres, v_loaded.broadcast_to_wheels(), dt);
        }
    }
}

/// Linearises the simple `curves` of a group for a step of `dt` s: forces and slopes at the slips (deflection over
/// length), and the friction limit as a function of the load impulse. If no patch of the group rolls, force and slope
/// are 0, because standing patches use only the stiffness.
#[inline(always)]
fn linearise_curves<W: WheelLanes>(curves: &CurveConstants<W>, input: &TyreInput<W>, dt: W) -> TyreLinearization<W> {
    let TyreInput { deflection, load, grip, rolling_share } = *input;
    let loaded_curve = curves.at_load(load, grip);
    let curve = if W::any(W::default().less(rolling_share)) {
        curves.force(
            &loaded_curve,
            pair_from_fn(
                #[inline(always)]
                |i| deflection[i] / loaded_curve.lengths[i],
            ),
        )
    } else {
        Default::default()
    };
    TyreLinearization {
        stiffness: loaded_curve.stiffness,
        lengths: loaded_curve.lengths,
        curve,
        friction: [curves.friction[0] * grip, curves.friction[1] * grip],
        // Terms of the friction limit, see `WheelRows::friction_limit`; loads are impulses there.
        sensitivity: curves.load_sensitivity / (curves.nominal_load * dt),
        unloaded_share: W::splat(1.0) + curves.load_sensitivity,
        peak_friction_load: curves.peak_friction_load * dt,
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Computes the tyre rows of a group (one scalar equation per wheel and direction: impulse = target − gain ·
    /// sliding speed), for a step of `dt` s under the present load impulses. Also sets which tyres are active (contact,
    /// load and friction), the locking capacity (brake and rolling resistance), the terms of the friction limit and the
    /// moments of tyre laws. `v_loaded`: chassis velocity after the loads and the tyre impulses of the last step.
    ///
    /// Below walking pace the patch is a spring on a friction ellipse: it holds a parked car and returns its stored
    /// energy when the brake is released. Above walking pace the tyre's curve applies at the lagged slip. In between
    /// both are blended by the share of rolling. Both have the same slope at zero slip.
    ///
    /// The carcass is a spring of constant rate between rim and contact, loaded by the force of the curve. The
    /// relaxation length therefore falls with the slope of the curve, and sliding past the peak leaves no memory
    /// (Pacejka, *Tire and Vehicle Dynamics*, ch. 7.2, eq. 7.21 to 7.26).
    #[inline(always)]
    pub(crate) fn linearise_tyre_rows(
        &mut self,
        group: &WheelPack<W>,
        tyres: &[Tyre],
        v_loaded: SpatialVector<W>,
        dt: f32,
    ) {
        let (zero, one, dt_lanes) = (W::splat(0.0), W::splat(1.0), W::splat(dt));
        let deflection = self.start.deflection;
        // Rolling speed in the middle of the step, under the tyre forces of the last step.
        let speed_change = (self.speeds(v_loaded)[0] - self.contact.start_speed[0]).masked(self.contact.in_contact);
        let rolling_speed = (self.start.rolling_speed + W::splat(0.5) * speed_change).abs();
        let mut resistance_coefficient = group.rolling.coefficient(rolling_speed);
        if self.contact.ground_motion.moves_or_textured {
            resistance_coefficient += self.contact.ground_motion.rolling_resistance;
        }
        // Load impulse of the step, N s.
        let load_impulse = self.normal_impulse();
        let rolling_impulse = resistance_coefficient * load_impulse * group.radius;
        self.tyre.locking_capacity = self.drive.brake + rolling_impulse;
        self.tyre.active = self.contact.in_contact & zero.less(load_impulse) & zero.less(self.contact.friction_factor);
        // Lanes without contact are evaluated under the nominal load and masked later.
        let load = W::select(self.tyre.active, load_impulse / dt_lanes, group.tyre.nominal_load);
        let grip = W::select(self.tyre.active, self.contact.friction_factor, one);
        let tyre = &group.tyre;
        let rolling_share = self.rolling_share(group);
        let renewal_speed = rolling_speed.masked(tyre.relaxing_lanes());
        let input = TyreInput { deflection, load, grip, rolling_share };
        // Simple curves of all lanes first; other laws then replace their lanes.
        let mut linearised =
            if group.has_curves { linearise_curves(tyre, &input, dt_lanes) } else { TyreLinearization::zero() };
        if self.has_laws {
            self.linearise_laws(&mut linearised, group, tyres, &input);
        }
        self.tyre.lengths = linearised.lengths;
        // Circumferential speed of the wheel, m/s.
        let rim_speed = group.radius * self.start.spin;
        let patch = PatchState {
            deflection,
            sliding_speed: [self.contact.start_speed[0] - rim_speed, self.contact.start_speed[1]],
            rolling_share,
            integration_share: self.integration_share(group),
            // Rotation of the wheel renews a standing patch; the deflection of the carcass of a held wheel does not.
            renewal_speed: W::select(
                zero.less(rolling_share),
                renewal_speed,
                rim_speed.abs().masked(tyre.relaxing_lanes()),
            ),
        };
        self.set_tyre_rows(group, &linearised, &patch);
        self.tyre.sensitivity = linearised.sensitivity;
        self.tyre.unloaded_share = linearised.unloaded_share;
        self.tyre.peak_friction_load = linearised.peak_friction_load;
    }

    /// Returns the share of rolling at the start of the step: 0 for a standing patch to 1 for a rolling patch; 0 for
    /// tyres with dry friction, which do not relax.
    #[inline(always)]
    fn rolling_share(&self, group: &WheelPack<W>) -> W {
        self.start.rolling.masked(group.tyre.relaxing_lanes())
    }

    /// Returns the share of rolling for the time integration ([`PatchMotion::rolling`]): that of the patch, or 0 on
    /// ground whose velocity wheels change within the step.
    #[inline(always)]
    pub(crate) fn integration_share(&self, group: &WheelPack<W>) -> W {
        self.rolling_share(group).masked(!self.contact.ground_motion.accelerating_wheels())
    }

    /// Computes target impulses and gains of the tyre rows from the forces and slopes at the slip at the start of the
    /// step. Also stores elastic stiffness, deflection lines, degressive lanes and friction, and removes the tyre
    /// impulses of inactive lanes.
    ///
    /// For each direction: blends the spring of a standing patch with the rolling curve, integrates the deflection over
    /// the step as a line over the sliding speed at its end, and turns force and slope into
    /// `impulse = target − gain · speed`. A standing patch also has a damper with [`STANDING_DAMPING_RATIO`]. Target
    /// and gain of inactive lanes are 0. If the slope of any patch is below [`MIN_STRAIGHT_SLOPE_RATIO`] of that at
    /// zero slip, its straight rows are computed too.
    #[inline(always)]
    fn set_tyre_rows(&mut self, group: &WheelPack<W>, linearised: &TyreLinearization<W>, patch: &PatchState<W>) {
        let (zero, one, dt) = (W::splat(0.0), W::splat(1.0), W::splat(self.dt));
        let standing_share = one - patch.rolling_share;
        let is_any_standing = W::any(zero.less(standing_share));
        let (mut damping, mut longitudinal_force, mut lateral_line) =
            ([zero; 2], zero, (DeflectionLine::default(), one));
        self.tyre.degressive = W::Mask::default();
        for i in [0, 1] {
            // Rate of the carcass, N/m.
            let carcass_rate = linearised.stiffness[i] / linearised.lengths[i];
            let force =
                carcass_rate * patch.deflection[i] * standing_share + linearised.curve.force[i] * patch.rolling_share;
            let slope =
                carcass_rate * standing_share + linearised.curve.slope[i] / linearised.lengths[i] * patch.rolling_share;
            // Slope over slope at zero slip: share of the deflection that sticks.
            let sticking_share =
                (slope / carcass_rate.at_least(W::splat(f32::MIN_POSITIVE))).clamp_nan_to_low(zero, one);
            let motion = PatchMotion {
                deflection: patch.deflection[i],
                speed: patch.sliding_speed[i],
                sticking: sticking_share,
                creep: dt * patch.renewal_speed / linearised.lengths[i],
                rolling: patch.integration_share,
            };
            // Deflection line, and the weight of its end in the mean force of the step.
            let (deflection_line, end_weight) = if i == 0 {
                longitudinal_force = force;
                motion.integrate_longitudinal(dt, slope * self.spin_softness(group))
            } else {
                lateral_line = motion.integrate_lateral(dt);
                lateral_line
            };
            if is_any_standing {
                damping[i] = W::splat(2.0 * STANDING_DAMPING_RATIO)
                    * (carcass_rate * group.carried_mass).sqrt()
                    * standing_share;
            }
            // Impulse per deflection that the step adds.
            let stiffness = dt * slope * end_weight + damping[i];
            let target_impulse = dt * force + stiffness * (deflection_line.intercept - patch.deflection[i]);
            self.tyre.elastic_stiffness[i] = carcass_rate;
            self.tyre.deflection_lines[i] = deflection_line;
            self.tyre.target_impulse[i] = target_impulse.masked(self.tyre.active);
            self.tyre.gain[i] = (stiffness * deflection_line.per_speed).masked(self.tyre.active);
            self.tyre.degressive =
                self.tyre.degressive | (sticking_share.less(W::splat(MIN_STRAIGHT_SLOPE_RATIO)) & self.tyre.active);
            self.tyre.friction[i] = linearised.friction[i].masked(self.tyre.active);
            self.solution.tyre_impulse[i] = self.solution.tyre_impulse[i].masked(self.tyre.active);
        }
        if W::any(self.tyre.degressive) {
            self.set_straight_rows(group, [longitudinal_force, linearised.lengths[0]], damping, lateral_line, patch);
        }
    }

    /// Returns the squared phase angle of the spin oscillation of a wheel within the step, per stiffness of its patch,
    /// m/N: `dt² R² / I`.
    #[inline(always)]
    fn spin_softness(&self, group: &WheelPack<W>) -> W {
        W::splat(self.dt * self.dt) * group.radius * group.radius / group.spin_inertia
    }

    /// Computes the straight rows: the tyre rows for a slip that vanishes within the step. They bound the tangent rows,
    /// which are linearised at the slip at the start. Stores `straight_target`, `straight_gain` and
    /// `straight_deflection_line`, the longitudinal one.
    ///
    /// In the longitudinal row, the carcass alone reduces `longitudinal_force` (N) at the start of the step to 0. In
    /// the lateral row, the slope at zero slip applies to the remaining slip. `length`: longitudinal length of the
    /// patch, m; `damping`: dampers of standing patches, N s/m; `lateral_line`: lateral deflection line and the weight
    /// of its end.
    #[inline(always)]
    fn set_straight_rows(
        &mut self,
        group: &WheelPack<W>,
        [longitudinal_force, length]: [W; 2],
        damping: [W; 2],
        lateral_line: (DeflectionLine<W>, W),
        patch: &PatchState<W>,
    ) {
        let (one, dt) = (W::splat(1.0), W::splat(self.dt));
        // Under large lateral slip, the longitudinal force can exceed the force of the longitudinal deflection.
        let max_deflection = patch.deflection[0].abs();
        let carcass_deflection = (longitudinal_force
            / self.tyre.elastic_stiffness[0].at_least(W::splat(f32::MIN_POSITIVE)))
        .clamp_nan_to_low(-max_deflection, max_deflection);
        let motion = PatchMotion {
            deflection: carcass_deflection,
            speed: patch.sliding_speed[0],
            sticking: one,
            creep: dt * patch.renewal_speed / length,
            rolling: patch.integration_share,
        };
        let longitudinal_line =
            motion.integrate_longitudinal(dt, self.tyre.elastic_stiffness[0] * self.spin_softness(group));
        // Without the weight of its end.
        self.tyre.straight_deflection_line = longitudinal_line.0;
        let deflection = patch.deflection[1];
        // Deflection line with weight, force (N) and deflection (m) at the start, of both directions.
        let rows = [
            (longitudinal_line, longitudinal_force, carcass_deflection),
            (lateral_line, self.tyre.elastic_stiffness[1] * deflection, deflection),
        ];
        for (i, ((deflection_line, end_weight), force, start_deflection)) in rows.into_iter().enumerate() {
            let stiffness = dt * self.tyre.elastic_stiffness[i] * end_weight + damping[i];
            let target_impulse = dt * force + stiffness * (deflection_line.intercept - start_deflection);
            self.tyre.straight_target[i] = target_impulse.masked(self.tyre.active);
            self.tyre.straight_gain[i] = (stiffness * deflection_line.per_speed).masked(self.tyre.active);
        }
    }

    /// Returns the largest longitudinal and lateral tyre impulses under the load impulse p on the ground, N s: `μ p
    /// (unloaded_share − sensitivity · p)`. p is clamped to 0 and to the load at which the limit is largest.
    #[inline(always)]
    pub fn friction_limit(&self) -> [W; 2] {
        let load = self.normal_impulse().at_least(W::default()).at_most(self.tyre.peak_friction_load);
        let share = self.tyre.unloaded_share - self.tyre.sensitivity * load;
        [self.tyre.friction[0] * share * load, self.tyre.friction[1] * share * load]
    }
}
