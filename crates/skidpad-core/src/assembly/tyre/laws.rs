//! Patches with tyre laws that are evaluated one law at a time: brush, TMeasy, Magic Formula. Each law of a group is
//! evaluated once for all lanes, and its result is kept in the lanes of the wheels that have the law.

use crate::model::law_groups::LawTyres;
use crate::model::wheel_pack::WheelPack;
use crate::tyre_rows::TyreLinearization;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{WheelLanes, pair_from_fn};
use skidpad_simd::linear::SpatialVector;
use skidpad_tyre::parameters::Tyre;
use skidpad_tyre::{Conditions, PreparedTyre, TyreForces, TyreModel, friction_ellipse, functions};

/// Inputs of the tyre laws for the patches of a group.
pub(crate) struct TyreInput<W> {
    /// Longitudinal and lateral deflections, m.
    pub deflection: [W; 2],
    /// Load, N, > 0.
    pub load: W,
    /// Friction factor of the surface, –, > 0.
    pub grip: W,
    /// Share of rolling: 0 for a standing patch to 1 for a rolling one.
    pub rolling_share: W,
}

/// Result of one law.
struct TyreOutput<W: WheelLanes> {
    /// Forces, slopes, lengths and friction limits.
    linearised: TyreLinearization<W>,
    /// Overturning moment Mx and aligning moment Mz, N m.
    moments: [W; 2],
    /// Magnitude of the rolling resistance moment, N m.
    resistance: W,
}

impl<W: WheelLanes> TyreInput<W> {
    /// Returns the lanes in which rolling renews the patch.
    #[inline(always)]
    fn rolling_lanes(&self) -> W::Mask {
        W::default().less(self.rolling_share)
    }

    /// Returns true if rolling renews any patch.
    #[inline(always)]
    fn any_rolls(&self) -> bool {
        W::any(self.rolling_lanes())
    }
}

impl<W: WheelLanes> TyreOutput<W> {
    /// Builds the result of a law without moments and rolling resistance.
    #[inline(always)]
    fn from_forces(linearised: TyreLinearization<W>) -> Self {
        Self { linearised, moments: [W::default(); 2], resistance: W::default() }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Linearises the patches of `group` whose tyres have laws (tyre models other than simple curves), and replaces
    /// their lanes in `linearised`. `tyres` are all tyres of the model. Adds the rolling resistance of the laws to the
    /// locking capacity, and sets the moments of the tyres. Runs in the widest instruction set.
    #[inline(never)]
    pub(crate) fn linearise_laws(
        &mut self,
        linearised: &mut TyreLinearization<W>,
        group: &WheelPack<W>,
        tyres: &[Tyre],
        input: &TyreInput<W>,
    ) {
        W::dispatch_simd(
            #[inline(always)]
            || self.linearise_each_law(linearised, group, tyres, input),
        );
    }

    /// Evaluates each law of the group in all lanes and stores its result in the lanes of its wheels: forces, rolling
    /// resistance (added to the locking capacity of active tyres) and moments. The moments are multiplied by the share
    /// of rolling, and 0 for patches that stand or are inactive.
    ///
    /// The moments of the step are those at its start, extrapolated by half of the change since the start of the last
    /// step; without extrapolation if either is 0. They are stored as impulses in `tyre.moments`. The moments at the
    /// start are kept for the next step.
    #[inline(always)]
    fn linearise_each_law(
        &mut self,
        linearised: &mut TyreLinearization<W>,
        group: &WheelPack<W>,
        tyres: &[Tyre],
        input: &TyreInput<W>,
    ) {
        let (zero, dt) = (W::default(), W::splat(self.dt));
        // Only the Magic Formula uses camber and pressure; they are set there.
        let conditions = Conditions {
            load: input.load,
            grip: input.grip,
            camber: W::default(),
            speed: self.start.rolling_speed,
            pressure: W::default(),
        };
        // Overturning and aligning moments at the start of the step, N m.
        let mut start_moments = [W::default(); 2];
        for law in &group.laws {
            let output = match &law.tyres {
                LawTyres::TMeasy(tyres) => {
                    TyreOutput::from_forces(linearise_prepared(&tyres.prepare(&conditions), input).0)
                }
                LawTyres::Single(tyre) => match &tyres[*tyre] {
                    Tyre::Brush(tyre) => evaluate_law(tyre, &conditions, input),
                    Tyre::MagicFormula { formula, pressure } => {
                        let cambered_conditions =
                            Conditions { camber: self.camber(), pressure: W::splat(*pressure), ..conditions };
                        evaluate_mirrored(&**formula, group.mirror_sign, &cambered_conditions, input)
                    }
                    // Groups evaluate simple curves and TMeasy tyres side by side.
                    Tyre::Curve(_) | Tyre::TMeasy(_) => continue,
                },
            };
            let (lanes, active_lanes) = (law.lanes(), law.lanes() & self.tyre.active);
            let rolling_lanes = active_lanes & input.rolling_lanes();
            *linearised = match W::any(!lanes) {
                true => TyreLinearization::select(lanes, output.linearised, *linearised),
                false => output.linearised,
            };
            self.tyre.locking_capacity += (dt * output.resistance).masked(active_lanes);
            for i in [0, 1] {
                let moment = (output.moments[i] * input.rolling_share).masked(rolling_lanes);
                start_moments[i] = W::select(lanes, moment, start_moments[i]);
            }
        }
        // Mean over the step, from the moments at its start and at the start of the last step (Adams-Bashforth) if a
        // patch has both.
        let (half, is_nonzero) = (W::splat(0.5), |moment: W| zero.less(moment.abs()));
        self.tyre.moments = pair_from_fn(|i| {
            let [start_moment, previous_moment] = [start_moments[i], self.start.moments[i]];
            dt * W::select(
                is_nonzero(start_moment) & is_nonzero(previous_moment),
                start_moment + half * (start_moment - previous_moment),
                start_moment,
            )
        });
        self.start.set_moments(start_moments);
    }

    /// Returns the camber against the ground, rad, positive with the top leaning right; 0 for a patch without ground.
    /// Computes `asin` of the camber's sine by the arc tangent.
    #[inline(always)]
    fn camber(&self) -> W {
        let squared_cosine = W::splat(1.0) - self.contact.camber_sine * self.contact.camber_sine;
        // The lower bound avoids a division by 0 for a wheel that lies on its side.
        functions::atan(self.contact.camber_sine / squared_cosine.at_least(W::splat(1e-6)).sqrt())
    }

    /// Returns the angular impulse of the tyre moments on the chassis, N m s: Mx about the wheel's heading and Mz about
    /// the contact normal. Rolling resistance acts on the spin and is left out.
    #[inline(always)]
    pub(crate) fn moment_impulse(&self) -> SpatialVector<W> {
        let [overturning, aligning] = self.tyre.moments;
        let angular = self.contact.forward.linear * overturning + self.contact.normal.linear * aligning;
        SpatialVector { angular, ..SpatialVector::default() }
    }

    /// Sets whether the group has laws other than simple curves (`has_laws`). If so, sets the moments of the tyres to
    /// those of the last step, as initial values (warm start) of a step of `dt` s: angular impulses in N m s, 0 for
    /// wheels without contact.
    #[inline(always)]
    pub(crate) fn warm_start_moments(&mut self, group: &WheelPack<W>, dt: f32) {
        self.has_laws = !group.laws.is_empty();
        if self.has_laws {
            let (dt_lanes, in_contact) = (W::splat(dt), self.contact.in_contact);
            let [overturning, aligning] = self.start.moments;
            self.tyre.moments = [(overturning * dt_lanes).masked(in_contact), (aligning * dt_lanes).masked(in_contact)];
        }
    }
}

/// Evaluates a tyre that is not symmetric: for mirrored wheels (`mirror_sign` −1), inputs (lateral deflection, camber)
/// and results (lateral force, moments) are reflected left to right. The function is not inlined, so that it allocates
/// its own registers and stack.
#[inline(never)]
fn evaluate_mirrored<W: WheelLanes, M: TyreModel>(
    law: &M,
    mirror_sign: W,
    conditions: &Conditions<W>,
    input: &TyreInput<W>,
) -> TyreOutput<W> {
    W::dispatch_simd(
        #[inline(always)]
        || {
            let [longitudinal, lateral] = input.deflection;
            let mirrored = Conditions { camber: conditions.camber * mirror_sign, ..*conditions };
            // Inputs are reflected here, results below.
            let mut output = evaluate_law(
                law,
                &mirrored,
                &TyreInput { deflection: [longitudinal, lateral * mirror_sign], ..*input },
            );
            output.linearised.curve.force[1] = output.linearised.curve.force[1] * mirror_sign;
            let [overturning, aligning] = output.moments;
            output.moments = [overturning * mirror_sign, aligning * mirror_sign];
            output
        },
    )
}

/// Evaluates a law: linearised forces, moments and the rolling resistance at the slips of the deflections. Moments are
/// 0 in all lanes if no patch rolls.
#[inline(always)]
fn evaluate_law<W: WheelLanes, M: TyreModel>(
    law: &M,
    conditions: &Conditions<W>,
    input: &TyreInput<W>,
) -> TyreOutput<W> {
    let prepared = law.prepare(conditions);
    let (linearised, slip) = linearise_prepared(&prepared, input);
    let moments = if input.any_rolls() { law.moments(&prepared, slip) } else { Default::default() };
    TyreOutput {
        linearised,
        moments: [moments.overturning, moments.aligning],
        resistance: law.rolling_resistance(&prepared, slip),
    }
}

/// Returns the linearised forces of a tyre under given conditions, and the slips at which they are evaluated:
/// deflection over relaxation length. Standing lanes have force and slope 0, and falling slopes count as 0. Friction is
/// the limit over the load, raised where the combined force exceeds the ellipse; it does not depend on the load impulse
/// of the step.
#[inline(always)]
fn linearise_prepared<W: WheelLanes, P: PreparedTyre<W>>(
    prepared: &P,
    input: &TyreInput<W>,
) -> (TyreLinearization<W>, [W; 2]) {
    let (zero, one) = (W::default(), W::splat(1.0));
    let (relaxation_lengths, limit) = (prepared.relaxation(), prepared.limit());
    let slip = pair_from_fn(|i| input.deflection[i] / relaxation_lengths[i]);
    let mut curve = TyreForces { force: [zero; 2], slope: [zero; 2] };
    if input.any_rolls() {
        // A standing patch has no slip force, even if other lanes roll. Past the peak the slope is 0: the force is
        // constant.
        let (rolling_lanes, forces) = (input.rolling_lanes(), prepared.force(slip));
        curve = TyreForces {
            force: pair_from_fn(|i| forces.force[i].masked(rolling_lanes)),
            slope: pair_from_fn(|i| forces.slope[i].at_least(zero).masked(rolling_lanes)),
        };
    }
    // Under combined slip a law may exceed the ellipse of its two peaks. The friction limit is then raised to the
    // force.
    let force_ratio = pair_from_fn(|i| curve.force[i] / limit[i].at_least(W::splat(MIN_FRICTION_LIMIT_N)));
    let utilisation = friction_ellipse::utilisation(force_ratio).at_least(one);
    let linearised = TyreLinearization {
        stiffness: prepared.stiffness(),
        lengths: relaxation_lengths,
        curve,
        // Friction coefficients at the present load.
        friction: pair_from_fn(|i| limit[i] / input.load * utilisation),
        // Constant friction coefficient within the step.
        sensitivity: zero,
        unloaded_share: one,
        peak_friction_load: W::splat(f32::INFINITY),
    };
    (linearised, slip)
}

/// Minimum friction limit in the utilisation of the limits, N.
const MIN_FRICTION_LIMIT_N: f32 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_simd::lane::{F32x4, Lane};

    /// Tyre with 1000 N in both directions at once, at every slip.
    struct Square;

    impl PreparedTyre<F32x4> for Square {
        fn force(&self, _: [F32x4; 2]) -> TyreForces<F32x4> {
            TyreForces { force: [F32x4::splat(1000.0); 2], slope: [F32x4::splat(1e4); 2] }
        }

        fn stiffness(&self) -> [F32x4; 2] {
            [F32x4::splat(1e4); 2]
        }

        fn limit(&self) -> [F32x4; 2] {
            [F32x4::splat(1000.0); 2]
        }

        fn relaxation(&self) -> [F32x4; 2] {
            [F32x4::splat(0.1); 2]
        }
    }

    /// Checks, in four lanes of which two stand, that a standing patch has no slip force while other lanes roll, and
    /// that the friction limit of a rolling patch is raised to its force, here by √2; that of a standing patch is not.
    #[test]
    fn a_patch_that_stands_has_no_slip_force_whoever_rolls_beside_it() {
        let input = TyreInput {
            deflection: [F32x4::splat(0.01); 2],
            load: F32x4::splat(2000.0),
            grip: F32x4::splat(1.0),
            rolling_share: F32x4::new([0.0, 1.0, 0.5, 0.0]),
        };
        let (linearised, _) = linearise_prepared(&Square, &input);
        for (force, friction) in linearised.curve.force.into_iter().zip(linearised.friction) {
            assert_eq!(force.lanes(), [0.0, 1000.0, 1000.0, 0.0]);
            for (lane, factor) in [1.0, f32::sqrt(2.0), f32::sqrt(2.0), 1.0].into_iter().enumerate() {
                // Rounding of f32.
                assert!(
                    (friction.lane_value(lane) - 0.5 * factor).abs() < 1e-7,
                    "lane {lane}: {}",
                    friction.lane_value(lane)
                );
            }
        }
    }
}
