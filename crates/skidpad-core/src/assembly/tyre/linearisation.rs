//! Tyre rows: linearisation of the tyre laws at the deflection at the start of the step, under the solved load.

use crate::assembly::tyre::laws::TyreInput;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{WheelLanes, pair_from_fn};
use crate::simd::linear::SpatialVector;
use crate::simd::wheel_groups::WheelGroups;
use crate::tyre::curve::CurveConstants;
use crate::tyre::parameters::Tyre;
use crate::tyre::rows::{DeflectionLine, PatchMotion, TyreLinearization};
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, banks_with_rows};

/// Damping ratio of a standing patch with the mass that its wheel carries. The rebound after a locked stop then ends
/// within one cycle. Below 0.2 the car rocks visibly; above 0.8 the patch creeps into place.
const STANDING_DAMPING_RATIO: f32 = 0.4;

/// Slope over slope at zero slip above which the curve of a patch counts as straight.
const MIN_STRAIGHT_SLOPE_RATIO: f32 = 0.8;

/// State of the patches of a bank at the start of a step.
struct PatchState<W: WheelLanes> {
    /// Longitudinal and lateral deflections, m.
    deflection: [W; 2],
    /// Longitudinal and lateral sliding speeds, m/s.
    sliding: [W; 2],
    /// Share of rolling: 0 for a standing patch to 1 for a rolling one.
    rolling_share: W,
    /// Share of rolling for the time integration: `share`, or 0 on a body that wheels push.
    integration_share: W,
    /// Speed with which rolling renews the patch in the middle of the step, m/s, ≥ 0.
    speed: W,
}

impl Vehicle {
    /// Computes the tyre rows of all wheels for a step of `dt` s. The laws are linearised at the deflection at the
    /// start of the step, under the solved load, which leads to the chassis velocity `loaded`.
    #[inline(always)]
    pub(crate) fn linearise_tyres<B: WheelGroups>(&mut self, loaded: SpatialVector<f32>, dt: f32) {
        for (bank, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            rows.linearise_tyre_rows(bank, &self.model.parts().tyres, loaded.broadcast_to_wheels(), dt);
        }
    }
}

impl<W: WheelLanes> CurveConstants<W> {
    /// Linearises the simple curves of a bank for a step of `step` s: forces and slopes at the slips deflection over length, and the friction limit
    /// as a function of the load impulse. If no patch rolls, force and slope are 0, as standing patches use only the stiffness.
    #[inline(always)]
    fn linearise_curves(&self, asked: &TyreInput<W>, step: W) -> TyreLinearization<W> {
        let TyreInput { deflection, load, grip, rolling_share: share } = *asked;
        let point = self.at_load(load, grip);
        let curve = if W::any(W::default().less(share)) {
            self.force(
                &point,
                pair_from_fn(
                    #[inline(always)]
                    |i| deflection[i] / point.lengths[i],
                ),
            )
        } else {
            Default::default()
        };
        TyreLinearization {
            stiffness: point.stiffness,
            lengths: point.lengths,
            curve,
            friction: [self.friction[0] * grip, self.friction[1] * grip],
            sensitivity: self.load_sensitivity / (self.nominal_load * step),
            unloaded_share: W::splat(1.0) + self.load_sensitivity,
            peak_friction_load: self.peak_friction_load * step,
        }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the target impulse (N s) and the gain (kg) of tyre row `i`.
    #[cfg(test)]
    pub fn tyre_terms(&self, i: usize) -> (W, W) {
        (self.tyre.target_impulse[i], self.tyre.gain[i])
    }

    /// Computes the tyre rows of a bank (one scalar equation per wheel and direction: impulse = target − gain · sliding speed), for a step of `dt` s
    /// under the present load impulses. Also sets which tyres are active, the locking capacity (brake and rolling resistance) and the friction
    /// limits. `loaded`: chassis velocity after the loads and the tyre impulses of the last step.
    ///
    /// Below walking pace the patch is a spring on a friction ellipse: it holds a parked car and returns its stored energy when the brake is
    /// released. Above walking pace the tyre's curve applies at the lagged slip. In between both are blended by the share of rolling. Both have the
    /// same slope at zero slip.
    ///
    /// The carcass is a spring of constant rate between rim and contact, loaded by the force of the curve. The relaxation length therefore falls with
    /// the slope of the curve, and sliding past the peak leaves no memory (Pacejka, *Tire and Vehicle Dynamics*, ch. 7.2, eq. 7.21 to 7.26).
    #[inline(always)]
    pub(crate) fn linearise_tyre_rows(
        &mut self,
        bank: &WheelPack<W>,
        tyres: &[Tyre],
        loaded: SpatialVector<W>,
        dt: f32,
    ) {
        let (zero, one, step) = (W::splat(0.0), W::splat(1.0), W::splat(dt));
        let deflection = self.start.deflection;
        // Rolling speed in the middle of the step, under the tyre forces of the last step.
        let slowed = (self.speeds(loaded)[0] - self.contact.start_speed[0]).masked(self.contact.in_contact);
        let rolling_speed = (self.start.rolling_speed + W::splat(0.5) * slowed).abs();
        let mut coefficient = bank.rolling.coefficient(rolling_speed);
        if self.contact.ground_motion.moves_or_textured {
            coefficient += self.contact.ground_motion.rolling_resistance;
        }
        // Load impulse of the step, N s.
        let pressing = self.normal_impulse();
        let rolling = coefficient * pressing * bank.radius;
        self.tyre.locking_capacity = self.drive.brake + rolling;
        self.tyre.active = self.contact.in_contact & zero.less(pressing) & zero.less(self.contact.friction_factor);
        // Lanes without contact are evaluated under the nominal load and masked later.
        let load = W::select(self.tyre.active, pressing / step, bank.tyre.nominal_load);
        let grip = W::select(self.tyre.active, self.contact.friction_factor, one);
        let tyre = &bank.tyre;
        let share = self.rolling_share(bank);
        let speed = rolling_speed.masked(tyre.relaxing_lanes());
        let asked = TyreInput { deflection, load, grip, rolling_share: share };
        let mut linearised =
            if bank.has_curves { tyre.linearise_curves(&asked, step) } else { TyreLinearization::zero() };
        if self.has_laws {
            self.linearise_laws(&mut linearised, bank, tyres, &asked);
        }
        self.tyre.lengths = linearised.lengths;
        // Circumferential speed of the wheel, m/s.
        let rim = bank.radius * self.start.spin;
        let now = PatchState {
            deflection,
            sliding: [self.contact.start_speed[0] - rim, self.contact.start_speed[1]],
            rolling_share: share,
            integration_share: self.integration_share(bank),
            // Rotation of the wheel renews a standing patch; the deflection of the carcass of a held wheel does not.
            speed: W::select(zero.less(share), speed, rim.abs().masked(tyre.relaxing_lanes())),
        };
        self.set_tyre_rows(bank, &linearised, &now);
        self.tyre.sensitivity = linearised.sensitivity;
        self.tyre.unloaded_share = linearised.unloaded_share;
        self.tyre.peak_friction_load = linearised.peak_friction_load;
    }

    /// Returns the share of rolling: 0 for a standing patch or dry friction, to 1 for a rolling patch. It is that stored at the start of the step.
    #[inline(always)]
    fn rolling_share(&self, bank: &WheelPack<W>) -> W {
        self.start.rolling.masked(bank.tyre.relaxing_lanes())
    }

    /// Returns the share of rolling for the time integration: 0 on a body that wheels push, see
    /// [`PatchMotion::across`].
    #[inline(always)]
    pub(crate) fn integration_share(&self, bank: &WheelPack<W>) -> W {
        self.rolling_share(bank).masked(!self.contact.ground_motion.accelerating_wheels())
    }

    /// Computes target impulses and gains of the tyre rows from the forces and slopes at the slip at the start of the step.
    ///
    /// For each direction: blends the spring of a standing patch with the rolling curve, integrates the deflection over the step as a line over the
    /// sliding speed at its end, and turns force and slope into `impulse = target − gain · speed`. A standing patch also has a damper with
    /// [`STANDING_DAMPING_RATIO`]. Rows of inactive lanes are 0. If the slope of any patch is below [`MIN_STRAIGHT_SLOPE_RATIO`] of that at zero
    /// slip, its straight rows are computed too.
    #[inline(always)]
    fn set_tyre_rows(&mut self, bank: &WheelPack<W>, linearised: &TyreLinearization<W>, now: &PatchState<W>) {
        let (zero, one, step) = (W::splat(0.0), W::splat(1.0), W::splat(self.dt));
        let standing = one - now.rolling_share;
        let stands = W::any(zero.less(standing));
        let (mut damping, mut held, mut across) = ([zero; 2], zero, (DeflectionLine::default(), one));
        self.tyre.degressive = W::Mask::default();
        for i in [0, 1] {
            // Rate of the carcass, N/m.
            let elastic = linearised.stiffness[i] / linearised.lengths[i];
            let force = elastic * now.deflection[i] * standing + linearised.curve.force[i] * now.rolling_share;
            let slope = elastic * standing + linearised.curve.slope[i] / linearised.lengths[i] * now.rolling_share;
            // Slope over slope at zero slip: share of the deflection that sticks.
            let sticking = (slope / elastic.at_least(W::splat(f32::MIN_POSITIVE))).clamp_nan_to_low(zero, one);
            let motion = PatchMotion {
                deflection: now.deflection[i],
                speed: now.sliding[i],
                sticking,
                creep: step * now.speed / linearised.lengths[i],
                rolling: now.integration_share,
            };
            // Deflection line, and the weight of its end in the mean force of the step.
            let (drift, late) = if i == 0 {
                held = force;
                motion.integrate_longitudinal(step, slope * self.spin_softness(bank))
            } else {
                across = motion.integrate_lateral(step);
                across
            };
            if stands {
                damping[i] = W::splat(2.0 * STANDING_DAMPING_RATIO) * (elastic * bank.carried_mass).sqrt() * standing;
            }
            // Impulse per deflection that the step adds.
            let stiffness = step * slope * late + damping[i];
            let target_impulse = step * force + stiffness * (drift.intercept - now.deflection[i]);
            self.tyre.elastic_stiffness[i] = elastic;
            self.tyre.deflection_lines[i] = drift;
            self.tyre.target_impulse[i] = target_impulse.masked(self.tyre.active);
            self.tyre.gain[i] = (stiffness * drift.per_speed).masked(self.tyre.active);
            self.tyre.degressive =
                self.tyre.degressive | (sticking.less(W::splat(MIN_STRAIGHT_SLOPE_RATIO)) & self.tyre.active);
            self.tyre.friction[i] = linearised.friction[i].masked(self.tyre.active);
            self.solution.tyre_impulse[i] = self.solution.tyre_impulse[i].masked(self.tyre.active);
        }
        if W::any(self.tyre.degressive) {
            self.set_straight_rows(bank, [held, linearised.lengths[0]], damping, across, now);
        }
    }

    /// Returns the squared phase angle of the spin oscillation of a wheel within the step, per stiffness of its patch, m/N: `dt² R² / I`.
    #[inline(always)]
    fn spin_softness(&self, bank: &WheelPack<W>) -> W {
        W::splat(self.dt * self.dt) * bank.radius * bank.radius / bank.spin_inertia
    }

    /// Computes the rows of patches whose slip vanishes within the step, as bounds of the tangent rows. In the longitudinal row, the carcass alone
    /// reduces the force `held` (N) at the start of the step to 0. In the lateral row, the slope at zero slip applies to the remaining slip.
    /// `length`: longitudinal length of the patch, m; `damping`: standing dampers, N s/m; `across`: lateral deflection line and weight of its end.
    #[inline(always)]
    fn set_straight_rows(
        &mut self,
        bank: &WheelPack<W>,
        [held, length]: [W; 2],
        damping: [W; 2],
        across: (DeflectionLine<W>, W),
        now: &PatchState<W>,
    ) {
        let (one, step) = (W::splat(1.0), W::splat(self.dt));
        // Under large lateral slip, the longitudinal force can exceed the force of the longitudinal deflection.
        let most = now.deflection[0].abs();
        let carcass =
            (held / self.tyre.elastic_stiffness[0].at_least(W::splat(f32::MIN_POSITIVE))).clamp_nan_to_low(-most, most);
        let motion = PatchMotion {
            deflection: carcass,
            speed: now.sliding[0],
            sticking: one,
            creep: step * now.speed / length,
            rolling: now.integration_share,
        };
        let along = motion.integrate_longitudinal(step, self.tyre.elastic_stiffness[0] * self.spin_softness(bank));
        self.tyre.straight_deflection_line = along.0;
        let deflection = now.deflection[1];
        let rows = [(along, held, carcass), (across, self.tyre.elastic_stiffness[1] * deflection, deflection)];
        for (i, ((drift, late), force, from)) in rows.into_iter().enumerate() {
            let stiffness = step * self.tyre.elastic_stiffness[i] * late + damping[i];
            let target_impulse = step * force + stiffness * (drift.intercept - from);
            self.tyre.straight_target[i] = target_impulse.masked(self.tyre.active);
            self.tyre.straight_gain[i] = (stiffness * drift.per_speed).masked(self.tyre.active);
        }
    }

    /// Returns the largest longitudinal and lateral tyre impulses under the current load impulse p, N s: `μ p (1 + s − s p / p_nominal)`, with p
    /// clamped to 0 and to the load at which the limit is largest.
    #[inline(always)]
    pub fn friction_limit(&self) -> [W; 2] {
        let load = self.normal_impulse().at_least(W::default()).at_most(self.tyre.peak_friction_load);
        let share = self.tyre.unloaded_share - self.tyre.sensitivity * load;
        [self.tyre.friction[0] * share * load, self.tyre.friction[1] * share * load]
    }
}
