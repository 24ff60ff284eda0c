//! Patches under the tyre laws that are evaluated one law at a time: brush, TMeasy, Magic Formula. Each law of a bank
//! is evaluated once for all four lanes, and kept where a wheel has it.

use crate::lane::Corners;
use crate::linear::SpatialVector;
use crate::step::rows::Rows;
use crate::tyre::parameters::Tyre;
use crate::tyre::rows::TyreLinearization;
use crate::tyre::{Conditions, PreparedTyre, TyreModel, friction_ellipse, functions};
use crate::wheel::pack::WheelPack;

/// What the patches of a bank are asked.
pub(crate) struct TyreInput<W> {
    /// Deflection along and across, m.
    pub deflection: [W; 2],
    /// N and –, above 0.
    pub load: W,
    pub grip: W,
    /// 0 standing to 1 rolling.
    pub share: W,
}

/// What one law answers.
struct TyreOutput<W: Corners> {
    linearised: TyreLinearization<W>,
    /// Mx and Mz, N m.
    moments: [W; 2],
    /// Size of the rolling resistance, N m.
    resistance: W,
}

impl<W: Corners> Rows<W> {
    /// Takes over the patches of `bank` whose tyres have laws of their own, with their moments and rolling resistance.
    #[inline(never)]
    pub(crate) fn linearise_laws(
        &mut self,
        linearised: &mut TyreLinearization<W>,
        bank: &WheelPack<W>,
        tyres: &[Tyre],
        asked: &TyreInput<W>,
    ) {
        W::widest(
            #[inline(always)]
            || self.linearise_each_law(linearised, bank, tyres, asked),
        );
    }

    #[inline(always)]
    fn linearise_each_law(
        &mut self,
        linearised: &mut TyreLinearization<W>,
        bank: &WheelPack<W>,
        tyres: &[Tyre],
        asked: &TyreInput<W>,
    ) {
        let step = W::splat(self.dt);
        // A patch that faces no ground has no camber.
        let upright = W::splat(1.0) - self.contact.lean * self.contact.lean;
        let camber = functions::atan(self.contact.lean / upright.at_least(W::splat(1e-6)).sqrt());
        let conditions = Conditions {
            load: asked.load,
            grip: asked.grip,
            camber,
            speed: self.begun.rolling_speed,
            pressure: W::default(),
        };
        self.tyre.moments = [W::default(); 2];
        for law in &bank.laws {
            let answer = match &tyres[law.tyre] {
                Tyre::Curve(tyre) => answer(tyre, &conditions, asked),
                Tyre::Brush(tyre) => answer(tyre, &conditions, asked),
                Tyre::TMeasy(tyre) => answer(tyre, &conditions, asked),
                Tyre::MagicFormula { formula, pressure } => {
                    let pressure = W::splat(*pressure);
                    handed(&**formula, bank.mirror_sign, &Conditions { pressure, ..conditions }, asked)
                }
            };
            let (lanes, biting) = (law.lanes(), law.lanes() & self.tyre.active);
            *linearised = TyreLinearization::select(lanes, answer.linearised, *linearised);
            self.tyre.locking_capacity += (step * answer.resistance).only(biting);
            for i in [0, 1] {
                let moment = step * answer.moments[i] * asked.share;
                self.tyre.moments[i] = W::select(lanes, moment.only(biting), self.tyre.moments[i]);
            }
        }
    }

    /// What the moments of the tyres do to the chassis.
    #[inline(always)]
    pub(crate) fn twist(&self) -> SpatialVector<W> {
        let [overturning, aligning] = self.tyre.moments;
        let angular = self.contact.forward.linear * overturning + self.contact.normal.linear * aligning;
        SpatialVector { angular, ..SpatialVector::default() }
    }

    /// The moments of the last step, to start from.
    #[inline(always)]
    pub(crate) fn recall_moments(&mut self, bank: &WheelPack<W>, dt: f32) {
        self.has_laws = !bank.laws.is_empty();
        if self.has_laws {
            let last = |moment: W| (moment * W::splat(dt)).only(self.contact.in_contact);
            self.tyre.moments = self.begun.moments.map(last);
        }
    }
}

/// A tyre that is not the same left and right: mirrored wheels ask and are answered with left and right exchanged. Called: what it takes of
/// registers and memory is its own.
#[inline(never)]
fn handed<W: Corners, M: TyreModel>(
    law: &M,
    mirror_sign: W,
    conditions: &Conditions<W>,
    asked: &TyreInput<W>,
) -> TyreOutput<W> {
    W::widest(
        #[inline(always)]
        || {
            let [along, across] = asked.deflection;
            let mirrored = Conditions { camber: conditions.camber * mirror_sign, ..*conditions };
            let mut answer = answer(law, &mirrored, &TyreInput { deflection: [along, across * mirror_sign], ..*asked });
            answer.linearised.curve.force[1] = answer.linearised.curve.force[1] * mirror_sign;
            answer.moments = answer.moments.map(|moment| moment * mirror_sign);
            answer
        },
    )
}

#[inline(always)]
fn answer<W: Corners, M: TyreModel>(law: &M, conditions: &Conditions<W>, asked: &TyreInput<W>) -> TyreOutput<W> {
    let (zero, one) = (W::default(), W::splat(1.0));
    let at = law.prepare(conditions);
    let (lengths, limit) = (at.relaxation(), at.limit());
    let slip = [0, 1].map(|i| asked.deflection[i] / lengths[i]);
    let rolls = W::any(zero.less(asked.share));
    let mut curve = if rolls { at.force(slip) } else { Default::default() };
    // Past the peak the force is taken as it is.
    curve.slope = curve.slope.map(|slope| slope.at_least(zero));
    let moments = if rolls { law.moments(&at, slip) } else { Default::default() };
    // Under both slips a law may reach beyond the ellipse of its two peaks; then it is the edge.
    let used = [0, 1].map(|i| curve.force[i] / limit[i].at_least(W::splat(LEAST_LIMIT)));
    let reach = friction_ellipse::reach(used).at_least(one);
    let linearised = TyreLinearization {
        stiffness: at.stiffness(),
        lengths,
        curve,
        friction: limit.map(|limit| limit / asked.load * reach),
        sensitivity: zero,
        unloaded_share: one,
        most_load: W::splat(f32::INFINITY),
    };
    TyreOutput {
        linearised,
        moments: [moments.overturning, moments.aligning],
        resistance: law.rolling_resistance(&at, slip),
    }
}

/// Limit below which a force counts as within it, N.
const LEAST_LIMIT: f32 = 1e-3;
