//! Tyre rows: linearisation of the tyre laws at the deflection at the start of the step, under the solved load.

use crate::banks::Banks;
use crate::lane::{Corners, both};
use crate::linear::SpatialVector;
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::tyre::curve::CurveConstants;
use crate::tyre::laws::TyreInput;
use crate::tyre::parameters::Tyre;
use crate::tyre::rows::{Drift, PatchMotion, TyreLinearization};
use crate::wheel::pack::WheelPack;

/// Damping ratio of a standing patch with the mass that its wheel carries. The rebound after a locked stop then ends
/// within one cycle. Below 0.2 the car rocks visibly; above 0.8 the patch creeps into place.
const STANDING_DAMPING: f32 = 0.4;

/// Slope over slope at zero slip above which the curve of a patch counts as straight.
const STRAIGHT: f32 = 0.8;

/// State of the patches of a bank at the start of a step.
struct PatchState<W: Corners> {
    /// Longitudinal and lateral deflections, m.
    deflection: [W; 2],
    /// Longitudinal and lateral sliding speeds, m/s.
    sliding: [W; 2],
    /// Share of rolling: 0 for a standing patch to 1 for a rolling one.
    share: W,
    /// Share of rolling for the time integration: `share`, or 0 on a body that wheels push.
    smooth: W,
    /// Speed with which rolling renews the patch in the middle of the step, m/s, ≥ 0.
    speed: W,
}

impl Vehicle {
    /// Computes the tyre rows of all wheels for a step of `dt` s. The laws are linearised at the deflection at the
    /// start of the step, under the solved load, which leads to the chassis velocity `loaded`.
    #[inline(always)]
    pub(crate) fn grip_rows<B: Banks>(&mut self, loaded: SpatialVector<f32>, dt: f32) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.grip_row(bank, &self.model.parts().tyres, loaded.at_each_wheel(), dt);
        }
    }
}

impl<W: Corners> CurveConstants<W> {
    /// Linearises the simple curves of a bank for a step of `step` s.
    #[inline(always)]
    fn linearised(&self, asked: &TyreInput<W>, step: W) -> TyreLinearization<W> {
        let TyreInput { deflection, load, grip, share } = *asked;
        let point = self.at(load, grip);
        let curve = if W::any(W::default().less(share)) {
            self.force(
                &point,
                both(
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
            most_load: self.most_load * step,
        }
    }
}

impl<W: Corners> Rows<W> {
    /// Returns the target impulse (N s) and the gain (kg) of tyre row `i`.
    #[cfg(test)]
    pub fn tyre_terms(&self, i: usize) -> (W, W) {
        (self.tyre.target_impulse[i], self.tyre.gain[i])
    }

    /// Computes the tyre rows of a bank. Below walking pace the patch is a spring on a friction ellipse: it holds a
    /// parked car and returns its stored energy when the brake is released. Above walking pace the tyre's curve applies
    /// at the lagged slip. Both have the same slope at zero slip.
    ///
    /// The carcass is a spring of constant rate between rim and contact, loaded by the force of the curve. The
    /// relaxation length therefore falls with the slope of the curve, and sliding past the peak leaves no memory
    /// (Pacejka, *Tire and Vehicle Dynamics*, ch. 7.2, eq. 7.21 to 7.26).
    #[inline(always)]
    pub(crate) fn grip_row(&mut self, bank: &WheelPack<W>, tyres: &[Tyre], loaded: SpatialVector<W>, dt: f32) {
        let (zero, one, step) = (W::splat(0.0), W::splat(1.0), W::splat(dt));
        let deflection = self.begun.deflection;
        // Rolling speed in the middle of the step, under the tyre forces of the last step.
        let slowed = (self.speeds(loaded)[0] - self.contact.started[0]).only(self.contact.in_contact);
        let rolling_speed = (self.begun.rolling_speed + W::splat(0.5) * slowed).abs();
        let mut coefficient = bank.rolling.at(rolling_speed);
        if self.contact.ground_motion.moves_or_textured {
            coefficient += self.contact.ground_motion.rolling;
        }
        let pressing = self.pressing();
        let rolling = coefficient * pressing * bank.radius;
        self.tyre.locking_capacity = self.drive.brake + rolling;
        self.tyre.active = self.contact.in_contact & zero.less(pressing) & zero.less(self.contact.friction_factor);
        let load = W::select(self.tyre.active, pressing / step, bank.tyre.nominal_load);
        let grip = W::select(self.tyre.active, self.contact.friction_factor, one);
        let tyre = &bank.tyre;
        let share = self.rolling_share(bank);
        let speed = rolling_speed.only(tyre.relaxes());
        let asked = TyreInput { deflection, load, grip, share };
        let mut linearised = if bank.has_curves { tyre.linearised(&asked, step) } else { TyreLinearization::none() };
        if self.has_laws {
            self.linearise_laws(&mut linearised, bank, tyres, &asked);
        }
        self.tyre.lengths = linearised.lengths;
        let rim = bank.radius * self.begun.spin;
        let now = PatchState {
            deflection,
            sliding: [self.contact.started[0] - rim, self.contact.started[1]],
            share,
            smooth: self.smooth_share(bank),
            // Rotation of the wheel renews a standing patch; the deflection of the carcass of a held wheel does not.
            speed: W::select(zero.less(share), speed, rim.abs().only(tyre.relaxes())),
        };
        self.linearise(bank, &linearised, &now);
        self.tyre.sensitivity = linearised.sensitivity;
        self.tyre.unloaded_share = linearised.unloaded_share;
        self.tyre.most_load = linearised.most_load;
    }

    /// Returns the share of rolling: 0 for a standing patch or dry friction, to 1 for a rolling patch.
    #[inline(always)]
    fn rolling_share(&self, bank: &WheelPack<W>) -> W {
        self.begun.rolling.only(bank.tyre.relaxes())
    }

    /// Returns the share of rolling for the time integration: 0 on a body that wheels push, see
    /// [`PatchMotion::across`].
    #[inline(always)]
    pub(crate) fn smooth_share(&self, bank: &WheelPack<W>) -> W {
        self.rolling_share(bank).only(!self.contact.ground_motion.changes())
    }

    /// Computes target impulses and gains of the tyre rows from the forces and slopes at the slip at the start of the
    /// step.
    #[inline(always)]
    fn linearise(&mut self, bank: &WheelPack<W>, linearised: &TyreLinearization<W>, now: &PatchState<W>) {
        let (zero, one, step) = (W::splat(0.0), W::splat(1.0), W::splat(self.dt));
        let standing = one - now.share;
        let stands = W::any(zero.less(standing));
        let (mut damping, mut held, mut across) = ([zero; 2], zero, (Drift::default(), one));
        self.tyre.bends = W::Mask::default();
        for i in [0, 1] {
            let elastic = linearised.stiffness[i] / linearised.lengths[i];
            let force = elastic * now.deflection[i] * standing + linearised.curve.force[i] * now.share;
            let slope = elastic * standing + linearised.curve.slope[i] / linearised.lengths[i] * now.share;
            let sticking = (slope / elastic.at_least(W::splat(f32::MIN_POSITIVE))).within(zero, one);
            let motion = PatchMotion {
                deflection: now.deflection[i],
                speed: now.sliding[i],
                sticking,
                creep: step * now.speed / linearised.lengths[i],
                rolling: now.smooth,
            };
            let (drift, late) = if i == 0 {
                held = force;
                motion.along(step, slope * self.spin_softness(bank))
            } else {
                across = motion.across(step);
                across
            };
            if stands {
                damping[i] = W::splat(2.0 * STANDING_DAMPING) * (elastic * bank.sprung).sqrt() * standing;
            }
            // Impulse per deflection that the step adds.
            let stiffness = step * slope * late + damping[i];
            let target_impulse = step * force + stiffness * (drift.kept - now.deflection[i]);
            self.tyre.elastic[i] = elastic;
            self.tyre.drift[i] = drift;
            self.tyre.target_impulse[i] = target_impulse.only(self.tyre.active);
            self.tyre.gain[i] = (stiffness * drift.per_speed).only(self.tyre.active);
            self.tyre.bends = self.tyre.bends | (sticking.less(W::splat(STRAIGHT)) & self.tyre.active);
            self.tyre.friction[i] = linearised.friction[i].only(self.tyre.active);
            self.coupled.tyre[i] = self.coupled.tyre[i].only(self.tyre.active);
        }
        if W::any(self.tyre.bends) {
            self.straighten(bank, [held, linearised.lengths[0]], damping, across, now);
        }
    }

    /// Returns the squared phase angle of the spin oscillation of a wheel within the step, per stiffness of its patch,
    /// m/N.
    #[inline(always)]
    fn spin_softness(&self, bank: &WheelPack<W>) -> W {
        W::splat(self.dt * self.dt) * bank.radius * bank.radius / bank.spin_inertia
    }

    /// Computes the rows of patches whose slip vanishes within the step. In the longitudinal row, the carcass alone
    /// reduces the force `held` at the start of the step to 0. In the lateral row, the slope at zero slip applies to
    /// the remaining slip.
    #[inline(always)]
    fn straighten(
        &mut self,
        bank: &WheelPack<W>,
        [held, length]: [W; 2],
        damping: [W; 2],
        across: (Drift<W>, W),
        now: &PatchState<W>,
    ) {
        let (one, step) = (W::splat(1.0), W::splat(self.dt));
        // Under large lateral slip, the longitudinal force can exceed the force of the longitudinal deflection.
        let most = now.deflection[0].abs();
        let carcass = (held / self.tyre.elastic[0].at_least(W::splat(f32::MIN_POSITIVE))).within(-most, most);
        let motion = PatchMotion {
            deflection: carcass,
            speed: now.sliding[0],
            sticking: one,
            creep: step * now.speed / length,
            rolling: now.smooth,
        };
        let along = motion.along(step, self.tyre.elastic[0] * self.spin_softness(bank));
        self.tyre.straight_drift = along.0;
        let deflection = now.deflection[1];
        let rows = [(along, held, carcass), (across, self.tyre.elastic[1] * deflection, deflection)];
        for (i, ((drift, late), force, from)) in rows.into_iter().enumerate() {
            let stiffness = step * self.tyre.elastic[i] * late + damping[i];
            let target_impulse = step * force + stiffness * (drift.kept - from);
            self.tyre.straight_target[i] = target_impulse.only(self.tyre.active);
            self.tyre.straight_gain[i] = (stiffness * drift.per_speed).only(self.tyre.active);
        }
    }

    /// Returns the largest longitudinal and lateral tyre impulses under the current load impulse, N s.
    #[inline(always)]
    pub fn limit(&self) -> [W; 2] {
        let load = self.pressing().at_least(W::default()).at_most(self.tyre.most_load);
        let share = self.tyre.unloaded_share - self.tyre.sensitivity * load;
        [self.tyre.friction[0] * share * load, self.tyre.friction[1] * share * load]
    }
}
