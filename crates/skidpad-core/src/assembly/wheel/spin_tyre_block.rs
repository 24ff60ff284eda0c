//! Per-wheel block solve: wheel spin, longitudinal and lateral tyre impulse together, for a given chassis motion.
//!
//! Gripping tyres are solved in closed form, sliding tyres by an iteration on the friction ellipse. The lanes are the wheels of
//! one car or of a batch of cars. A joint solve is needed for parking: with separate rows in one sweep, brake and tyre drift on a
//! slope; as one block they hold the car to within a micrometre.

use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, WheelLanes, pair_from_fn};
use crate::simd::linear::SpatialVector;
use crate::solver_mode::ImpulseBounds;
use crate::tyre::friction_ellipse;
use crate::vehicle::rows::WheelRows;

/// Linear tyre impulse response to the chassis velocity v, `Δimpulse = −Σ weight · d (d · Δv)`, with up to two directions d in the contact plane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreTangent<W: WheelLanes = F32x4> {
    /// Gain of each direction, kg.
    weights: [W; 2],
    /// Directions as (longitudinal, lateral) components; `None` if they are the longitudinal and lateral rows themselves.
    directions: Option<[[W; 2]; 2]>,
}

impl<W: WheelLanes> TyreTangent<W> {
    /// Returns (gain in kg, row on the chassis) of both directions; without `directions` the longitudinal row, then the lateral one.
    #[inline(always)]
    pub fn gain_rows(&self, rows: &WheelRows<W>) -> [(W, SpatialVector<W>); 2] {
        let ([first, second], [forward, side]) = (self.weights, [rows.contact.forward, rows.contact.side]);
        match self.directions {
            None => [(first, forward), (second, side)],
            Some([[a, b], [c, d]]) => [(first, forward * a + side * b), (second, forward * c + side * d)],
        }
    }

    /// Returns the decrease of the longitudinal impulse per longitudinal speed, kg.
    #[inline(always)]
    pub fn longitudinal_gain(&self) -> W {
        let [first, second] = self.weights;
        match self.directions {
            None => first,
            Some([[a, _], [c, _]]) => first * a * a + second * c * c,
        }
    }
}

/// Tyre impulses of a block, and the data that their derivative needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreSolution<W: WheelLanes = F32x4> {
    /// Longitudinal and lateral tyre impulse, N s.
    tyre: [W; 2],
    /// Wheels whose tyre reaches its friction limit.
    sliding: W::Mask,
    /// Decrease of the impulse per sliding speed of each row, kg; 0 for a tyre without load or friction.
    gain: [W; 2],
    /// Change of sliding speed per tyre impulse: longitudinal, coupling, lateral (1/kg).
    compliance: [W; 3],
    /// Plastic speed per impulse of a sliding row, λ / limit² (1/kg), with the multiplier λ of the friction ellipse.
    plastic_compliance: [W; 2],
    /// Inverse square of the friction limit of a sliding row, 1/(N s)².
    inverse_limit_squared: [W; 2],
    /// Rows whose impulse does not respond to the velocity, because it is clamped to its own bound or fixed.
    bounded: [W::Mask; 2],
}

/// Result of the friction-ellipse iteration; the fields are those of [`TyreSolution`].
struct SlidingSolution<W: WheelLanes> {
    tyre: [W; 2],
    plastic_compliance: [W; 2],
    inverse_limit_squared: [W; 2],
}

/// Tolerance for the relative error of the friction ellipse in a single sweep. Radial scaling removes the remaining error. An iteration uses a
/// tighter tolerance, see [`ImpulseBounds::inner_tolerance_factor`].
const CONE_TOLERANCE: f32 = 1e-3;

/// Maximum number of passes that select the linearisation of each row. A change in one row can require a change in the other.
const MAX_LINEARISATION_PASSES: usize = 4;

/// Maximum number of iterations for the multiplier of the friction ellipse. Three are typical.
const MAX_CONE_ITERATIONS: usize = 10;

impl<W: WheelLanes> TyreSolution<W> {
    /// Returns an unchanged copy, field by field. The compiler keeps its fields in registers, unlike those of a whole struct.
    #[inline(always)]
    fn scalarised(self) -> Self {
        let Self {
            tyre,
            sliding,
            gain,
            compliance,
            plastic_compliance: plastic,
            inverse_limit_squared: inverse,
            bounded,
        } = self;
        Self { tyre, sliding, gain, compliance, plastic_compliance: plastic, inverse_limit_squared: inverse, bounded }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Solves spin, torque and tyre impulses for a given chassis motion, stores them in `solution`, and returns the tyre solution. A wheel is first
    /// assumed to be locked by brake and rolling resistance. If that needs more than their capacity, the wheel turns, and both act with full capacity
    /// against the needed impulse, so that a brake never reverses a wheel. The locked case is skipped if no wheel can lock, even with the largest
    /// tyre moment. [`ImpulseBounds::LateralOnly`] changes only the lateral impulse and `sliding`.
    #[inline(always)]
    pub(crate) fn solve_block(&mut self, bank: &WheelPack<W>, within: ImpulseBounds) -> TyreSolution<W> {
        let limit = self.solution.friction_bound;
        if within == ImpulseBounds::LateralOnly {
            return self.solve_lateral(limit);
        }
        // Angular momentum before brake and tyre, N m s. Wheels in `out_of_reach` cannot lock.
        let momentum = self.drive.momentum + self.drive.shaft;
        let out_of_reach = (self.tyre.locking_capacity + bank.radius * limit[0]).less(momentum.abs());
        if !W::any(!out_of_reach & bank.present_mask()) {
            return self.solve_rolling(bank, within, limit, momentum, momentum, None);
        }
        self.solve_with_locking(bank, within, limit, momentum, out_of_reach)
    }

    /// Solves a bank in which some wheels may lock: first each wheel as locked (spin 0, torque that cancels its momentum), then, unless all can be
    /// held, the others with [`Self::solve_rolling`]. `momentum` is the angular momentum of wheel and driveline before brake and tyre (N m s),
    /// `limit` the friction limits (N s); wheels in `out_of_reach` turn in any case.
    #[inline(never)]
    fn solve_with_locking(
        &mut self,
        bank: &WheelPack<W>,
        within: ImpulseBounds,
        limit: [W; 2],
        momentum: W,
        out_of_reach: W::Mask,
    ) -> TyreSolution<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let solution = self.solve_tyre(
                    within,
                    self.solution.effective_mass.speed,
                    self.solution.effective_mass.compliance,
                    limit,
                );
                // Angular impulse of the brake that stops the wheel, N m s.
                let need = momentum - bank.radius * solution.tyre[0];
                let held = !out_of_reach & !self.tyre.locking_capacity.less(need.abs());
                let need = W::select(out_of_reach, momentum, need);
                if W::any(!held & bank.present_mask()) {
                    return self.solve_rolling(bank, within, limit, momentum, need, Some((held, solution)));
                }
                (self.solution.tyre_impulse, self.solution.sliding, self.solution.spin) =
                    (solution.tyre, solution.sliding, W::default());
                self.solution.torque = self.drive.motor + self.drive.shaft - need;
                solution
            },
        )
    }

    /// Limits the stored tyre impulses to the friction limits at the current load: each direction alone for [`ImpulseBounds::Pyramid`], otherwise by
    /// radial scaling onto the ellipse. Tyres without load or friction have impulse 0. Spin, torque and `sliding` stay unchanged.
    #[inline(always)]
    pub(crate) fn clamp_to_friction(&mut self, within: ImpulseBounds) {
        let (zero, one, limit) = (W::splat(0.0), W::splat(1.0), self.friction_limit());
        let grips = self.tyre.active & zero.less(limit[0]) & zero.less(limit[1]);
        if within == ImpulseBounds::Pyramid {
            self.solution.tyre_impulse = pair_from_fn(
                #[inline(always)]
                |i| self.solution.tyre_impulse[i].clamp_nan_to_low(-limit[i], limit[i]).masked(grips),
            );
            return;
        }
        let used = pair_from_fn(
            #[inline(always)]
            |i| self.solution.tyre_impulse[i] / W::select(grips, limit[i], one),
        );
        let reach = friction_ellipse::utilisation(used);
        let share = W::select(one.less(reach), one / reach, one);
        self.solution.tyre_impulse = pair_from_fn(
            #[inline(always)]
            |i| (self.solution.tyre_impulse[i] * share).masked(grips),
        );
    }

    /// Solves the wheels that turn, and stores impulses, spin and torque. Wheels in the mask of `held` are locked: they keep the tyre solution of
    /// `held`, spin 0 and the holding torque. For the others, brake and rolling resistance act with full capacity against `need` (N m s), the brake
    /// impulse that would lock the wheel. Their spin follows from `I ω = momentum ± capacity − R F_x`; it adds R²/I to the longitudinal compliance.
    #[inline(always)]
    fn solve_rolling(
        &mut self,
        bank: &WheelPack<W>,
        within: ImpulseBounds,
        limit: [W; 2],
        momentum: W,
        need: W,
        held: Option<(W::Mask, TyreSolution<W>)>,
    ) -> TyreSolution<W> {
        // Brake and rolling resistance oppose the need. A need of 0 counts as negative.
        let hold = W::select(W::splat(0.0).less(need), -self.tyre.locking_capacity, self.tyre.locking_capacity);
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let driven = momentum + hold;
        let around = &self.solution.effective_mass;
        let [along, between, across] = around.compliance;
        let speed = [around.speed[0] - radius * driven / inertia, around.speed[1]];
        let turning = self.solve_tyre(within, speed, [along + radius * radius / inertia, between, across], limit);
        let solution = match held {
            Some((held, solution)) => TyreSolution::select(held, solution, turning),
            None => turning.scalarised(),
        };
        (self.solution.tyre_impulse, self.solution.sliding) = (solution.tyre, solution.sliding);
        let spin = (driven - radius * solution.tyre[0]) / inertia;
        let (spin, torque) = match held {
            Some((held, _)) => (spin.masked(!held), W::select(held, -need, hold)),
            None => (spin, hold),
        };
        self.solution.spin = spin;
        self.solution.torque = self.drive.motor + self.drive.shaft + torque;
        solution
    }

    /// Solves the lateral impulse alone and stores it with `sliding`. The tyre row `target impulse − gain · lateral speed`, for degressive tyres the
    /// lower of both linearisations, is clamped to ± `limit · √(1 − u²)` with the used share u of the longitudinal limit; 0 without load or friction.
    /// The returned solution has no longitudinal response, and no lateral one when sliding.
    fn solve_lateral(&mut self, limit: [W; 2]) -> TyreSolution<W> {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let grips = self.tyre.active & zero.less(limit[0]) & zero.less(limit[1]);
        let used = self.solution.tyre_impulse[0] / W::select(grips, limit[0], one);
        // Lateral limit that the longitudinal impulse leaves, N s.
        let left = (limit[1] * friction_ellipse::remaining_share(used)).masked(grips);
        let speed = self.solution.effective_mass.speed[1];
        let ([along, mut gain], target_impulse) = (self.tyre.gain, self.tyre.target_impulse[1]);
        let mut across = target_impulse - gain * speed;
        if W::any(self.tyre.degressive) {
            // The lower of both linearisations applies, as in `Self::solve_tyre`.
            let steep = self.tyre.straight_gain[1];
            let straight = self.tyre.straight_target[1] - steep * speed;
            let lower =
                self.tyre.degressive & gain.less(steep) & (straight * target_impulse).less(across * target_impulse);
            (across, gain) = (W::select(lower, straight, across), W::select(lower, steep, gain));
        }
        across = across.masked(grips);
        self.solution.tyre_impulse[1] = across.clamp_nan_to_low(-left, left);
        self.solution.sliding = left.less(across.abs());
        TyreSolution {
            tyre: self.solution.tyre_impulse,
            gain: [along, gain].map(|g| g.masked(grips)),
            // The longitudinal impulse is fixed: its mask has every lane.
            bounded: [self.contact.in_contact | !self.contact.in_contact, self.solution.sliding],
            ..TyreSolution::default()
        }
    }

    /// Clamps each tyre impulse to ± its own limit, and sets `bounded` and `sliding` for clamped rows. This is exact if the two rows do not influence
    /// each other, as in a converged coupling, whose blocks have a given velocity.
    #[inline(always)]
    fn clamp_to_pyramid(solution: TyreSolution<W>, limit: [W; 2]) -> TyreSolution<W> {
        let bounded = [0, 1].map(|i| limit[i].less(solution.tyre[i].abs()));
        let tyre = [0, 1].map(|i| solution.tyre[i].clamp_nan_to_low(-limit[i], limit[i]));
        TyreSolution { tyre, bounded, sliding: bounded[0] | bounded[1], ..solution }
    }

    /// Computes the tyre impulses (N s) within `limit` (N s). `speed` is the sliding speed without tyre impulses (m/s), `compliance` its change per
    /// impulse (1/kg: longitudinal, coupling, lateral). Rows have two linearisations: at the slip at the start of the step, and with the slope at
    /// zero slip. If the initial slip decays within the step, the first overshoots the tyre characteristic. The lower force applies. It is continuous
    /// if the selection for a sliding tyre uses the elastic slip, that is, without its plastic part.
    #[inline(always)]
    fn solve_tyre(&self, within: ImpulseBounds, speed: [W; 2], compliance: [W; 3], limit: [W; 2]) -> TyreSolution<W> {
        let solution = self.solve_tyre_rows(self.tyre.target_impulse, self.tyre.gain, within, speed, compliance, limit);
        if !W::any(self.tyre.degressive) {
            return solution;
        }
        self.select_linearisations(solution, within, speed, compliance, limit).scalarised()
    }

    /// Solves tyres with a curved characteristic (`degressive`), from `solution` with the linearisation at the initial slip. Each pass selects the
    /// lower linearisation of each row and solves again, until the selection repeats, or [`MAX_LINEARISATION_PASSES`] times.
    #[inline(never)]
    fn select_linearisations(
        &self,
        mut solution: TyreSolution<W>,
        within: ImpulseBounds,
        speed: [W; 2],
        compliance: [W; 3],
        limit: [W; 2],
    ) -> TyreSolution<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                // Rows that use the linearisation at zero slip.
                let mut straight = [W::Mask::default(); 2];
                for _ in 0..MAX_LINEARISATION_PASSES {
                    let lower = self.rows_below_initial_line(&solution, straight, speed, compliance);
                    let [x, y] = pair_from_fn(
                        #[inline(always)]
                        // Exclusive or: rows whose selection has changed.
                        |i| (lower[i] & !straight[i]) | (straight[i] & !lower[i]),
                    );
                    if !W::any(x | y) {
                        break;
                    }
                    straight = lower;
                    let tyre = &self.tyre;
                    let target_impulse = pair_from_fn(
                        #[inline(always)]
                        |i| W::select(straight[i], tyre.straight_target[i], tyre.target_impulse[i]),
                    );
                    let gain = pair_from_fn(
                        #[inline(always)]
                        |i| W::select(straight[i], tyre.straight_gain[i], tyre.gain[i]),
                    );
                    solution = self.solve_tyre_rows(target_impulse, gain, within, speed, compliance, limit);
                }
                solution
            },
        )
    }

    /// Returns, for each row, the degressive wheels on which the linearisation at zero slip has less force than the one at the initial slip. Rows in
    /// `straight` use the former, which is steep: they compare their force with that at the intersection of both lines. The other line may be flat:
    /// its rows compare the slip (speed after the impulses, without the plastic part).
    #[inline(always)]
    fn rows_below_initial_line(
        &self,
        solution: &TyreSolution<W>,
        straight: [W::Mask; 2],
        speed: [W; 2],
        compliance: [W; 3],
    ) -> [W::Mask; 2] {
        let [along, between, across] = compliance;
        let [x, y] = solution.tyre;
        // Sliding speeds after the impulses, m/s.
        let slips = [speed[0] + along * x + between * y, speed[1] + between * x + across * y];
        pair_from_fn(
            #[inline(always)]
            |i| {
                let (target_impulse, gain) = (self.tyre.target_impulse[i], self.tyre.gain[i]);
                let steeper = self.tyre.straight_gain[i] - gain;
                // Speed at which both lines intersect (m/s), and the force there.
                let crossing =
                    (self.tyre.straight_target[i] - target_impulse) / steeper.at_least(W::splat(f32::MIN_POSITIVE));
                let force = target_impulse - gain * crossing;
                let slip = slips[i] + solution.plastic_compliance[i] * solution.tyre[i];
                let stays = straight[i] & !(force * target_impulse).less(solution.tyre[i] * target_impulse);
                let turns = (crossing * target_impulse).less(slip * target_impulse) & !straight[i];
                (stays | turns) & self.tyre.degressive & W::splat(0.0).less(steeper)
            },
        )
    }

    /// Solves `(1 + G A) x = target_impulse − G speed` for both tyre impulses x, with gains G and compliance A. Impulses beyond `limit` are moved
    /// onto the ellipse, or clamped for [`ImpulseBounds::Pyramid`]. Tyres without load or friction have impulse and gain 0. Sliding adds the plastic
    /// speed `λ x / limit²` to both rows. Scaling alone would leave a locked wheel at 45° a quarter of its lateral friction.
    #[inline(always)]
    fn solve_tyre_rows(
        &self,
        target_impulse: [W; 2],
        gain: [W; 2],
        within: ImpulseBounds,
        speed: [W; 2],
        compliance: [W; 3],
        limit: [W; 2],
    ) -> TyreSolution<W> {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let grips = self.tyre.active & zero.less(limit[0]) & zero.less(limit[1]);
        let g = pair_from_fn(
            #[inline(always)]
            |i| gain[i].masked(grips),
        );
        let wanted = pair_from_fn(|i| (target_impulse[i] - g[i] * speed[i]).masked(grips));
        let squared = pair_from_fn(
            #[inline(always)]
            |i| W::select(grips, limit[i] * limit[i], one),
        );
        let system = System2x2::new(g, compliance, [zero; 2]);
        let x = system.solve(wanted);
        let sliding = (squared[0] * squared[1]).less(x[0] * x[0] * squared[1] + x[1] * x[1] * squared[0]);
        let (none, nothing) = (W::Mask::default(), [zero; 2]);
        let held = TyreSolution {
            tyre: x,
            sliding,
            gain: g,
            compliance,
            plastic_compliance: nothing,
            inverse_limit_squared: nothing,
            bounded: [none; 2],
        };
        if within == ImpulseBounds::Pyramid {
            return Self::clamp_to_pyramid(held, limit.map(|l| l.masked(grips)));
        }
        if !W::any(sliding) {
            return held;
        }
        let SlidingSolution { tyre, plastic_compliance: plastic, inverse_limit_squared: inverse } =
            Self::project_to_ellipse(x, sliding, g, compliance, system, wanted, squared, within);
        TyreSolution { tyre, plastic_compliance: plastic, inverse_limit_squared: inverse, ..held }
    }

    /// Moves the impulses `x` of the wheels in `sliding` onto the friction ellipse. Newton's method finds the multiplier λ ≥ 0 of the plastic speed
    /// with utilisation 1; radial scaling removes the rest. `system` maps `wanted`, the impulses without compliance, to `x`; `g` are the gains (kg),
    /// `squared` the squared limits. Plastic compliance and inverse limits are 0 for wheels that grip.
    #[inline(never)]
    fn project_to_ellipse(
        mut x: [W; 2],
        sliding: W::Mask,
        g: [W; 2],
        compliance: [W; 3],
        mut system: System2x2<W>,
        wanted: [W; 2],
        squared: [W; 2],
        within: ImpulseBounds,
    ) -> SlidingSolution<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let inverse = pair_from_fn(
                    #[inline(always)]
                    |i| one / squared[i],
                );
                let reach_of = |x: [W; 2]| (x[0] * x[0] * inverse[0] + x[1] * x[1] * inverse[1]).sqrt();
                // No multiplier changes a row without gain. The iteration ends once the other row has a negligible slope.
                let stuck_below = W::splat(1e-6) * inverse[0].at_most(inverse[1]) * g[0].at_least(g[1]);
                let closeness = CONE_TOLERANCE * within.inner_tolerance_factor();
                let mut reach = reach_of(x);
                // Multiplier λ (N s)² /kg, and wheels that still iterate.
                let (mut plastic, mut live) = (zero, sliding);
                // Hebden's iteration on the length of the impulse, which decreases like 1 / (c + λ).
                for _ in 0..MAX_CONE_ITERATIONS {
                    let fall = system.solve([g[0] * x[0] * inverse[0], g[1] * x[1] * inverse[1]]);
                    let slope = (x[0] * fall[0] * inverse[0] + x[1] * fall[1] * inverse[1]) / reach;
                    live = live & (stuck_below * reach).less(slope);
                    if !W::any(live) {
                        break;
                    }
                    plastic = W::select(live, plastic + (reach - one) * reach / slope, plastic);
                    system = System2x2::new(g, compliance, [g[0] * plastic * inverse[0], g[1] * plastic * inverse[1]]);
                    x = system.solve(wanted);
                    reach = reach_of(x);
                    live = live & !(reach - one).abs().less(W::splat(closeness));
                    if !W::any(live) {
                        break;
                    }
                }
                let over = sliding & one.less(reach);
                SlidingSolution {
                    tyre: pair_from_fn(
                        #[inline(always)]
                        |i| W::select(over, x[i] / reach, x[i]),
                    ),
                    plastic_compliance: pair_from_fn(
                        #[inline(always)]
                        |i| (plastic * inverse[i]).masked(sliding),
                    ),
                    inverse_limit_squared: pair_from_fn(
                        #[inline(always)]
                        |i| inverse[i].masked(sliding),
                    ),
                }
            },
        )
    }
}

impl<W: WheelLanes> TyreSolution<W> {
    /// Returns the response to the chassis velocity after the solve. Gripping rows have the gain `g / (1 + g (compliance + plastic compliance))`
    /// without coupling, bounded rows 0. A tyre that slides on the ellipse responds only along the tangent of the ellipse.
    #[inline(always)]
    pub(crate) fn tangent(&self) -> TyreTangent<W> {
        let [along, _, across] = self.compliance;
        let spring = |i: usize, c: W| self.gain[i] / (W::splat(1.0) + self.gain[i] * (c + self.plastic_compliance[i]));
        let weights = [spring(0, along).masked(!self.bounded[0]), spring(1, across).masked(!self.bounded[1])];
        let cone = self.sliding & !self.bounded[0] & !self.bounded[1];
        if W::any(cone) { self.sliding_tangent(weights, cone) } else { TyreTangent { weights, directions: None } }
    }

    /// Returns the tangent of a bank in which the wheels in `cone` slide on the ellipse. Their one direction is the tangent of the ellipse, with the
    /// gain of both `weights` in series along it (0 if one is 0). The other wheels keep `weights` and the directions of the rows.
    #[cold]
    #[inline(never)]
    fn sliding_tangent(&self, weights: [W; 2], cone: W::Mask) -> TyreTangent<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let normal = pair_from_fn(
                    #[inline(always)]
                    |i| self.tyre[i] * self.inverse_limit_squared[i],
                );
                let length = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
                let edge = [-normal[1] / length, normal[0] / length];
                let weight = one / (edge[0] * edge[0] / weights[0] + edge[1] * edge[1] / weights[1]);
                let known = zero.less(length) & zero.less(weights[0]) & zero.less(weights[1]);
                let pick = |yes: W, no: W| W::select(cone, yes.masked(known), no);
                TyreTangent {
                    weights: [pick(weight, weights[0]), pick(zero, weights[1])],
                    directions: Some([[pick(edge[0], one), pick(edge[1], zero)], [zero, pick(zero, one)]]),
                }
            },
        )
    }

    /// Returns `yes` in the lanes of `mask` and `no` in the others, field by field.
    #[inline(always)]
    fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let pick = |yes: W, no: W| W::select(mask, yes, no);
        let ([a, b, c], [d, e, f]) = (yes.compliance, no.compliance);
        Self {
            tyre: pair_from_fn(
                #[inline(always)]
                |i| pick(yes.tyre[i], no.tyre[i]),
            ),
            gain: pair_from_fn(
                #[inline(always)]
                |i| pick(yes.gain[i], no.gain[i]),
            ),
            sliding: (yes.sliding & mask) | (no.sliding & !mask),
            compliance: [pick(a, d), pick(b, e), pick(c, f)],
            plastic_compliance: pair_from_fn(
                #[inline(always)]
                |i| pick(yes.plastic_compliance[i], no.plastic_compliance[i]),
            ),
            inverse_limit_squared: pair_from_fn(
                #[inline(always)]
                |i| pick(yes.inverse_limit_squared[i], no.inverse_limit_squared[i]),
            ),
            bounded: pair_from_fn(
                #[inline(always)]
                |i| (yes.bounded[i] & mask) | (no.bounded[i] & !mask),
            ),
        }
    }
}

/// Linear system `(1 + G A + P) x = b` in two unknowns with the matrix `rows`: gains G, compliance A, plastic term P.
struct System2x2<W: WheelLanes> {
    rows: [[W; 2]; 2],
    inverse_determinant: W,
}

impl<W: WheelLanes> System2x2<W> {
    /// Builds matrix and inverse determinant from diagonal `g`, symmetric `compliance` and diagonal `plastic`.
    #[inline(always)]
    fn new(g: [W; 2], compliance: [W; 3], plastic: [W; 2]) -> Self {
        let (one, [along, between, across]) = (W::splat(1.0), compliance);
        let rows =
            [[one + g[0] * along + plastic[0], g[0] * between], [g[1] * between, one + g[1] * across + plastic[1]]];
        let inverse_determinant = one / (rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]);
        Self { rows, inverse_determinant }
    }

    /// Returns the solution x for the right-hand side `b` (Cramer's rule).
    #[inline(always)]
    fn solve(&self, b: [W; 2]) -> [W; 2] {
        let [[a, c], [d, e]] = self.rows;
        [(e * b[0] - c * b[1]) * self.inverse_determinant, (a * b[1] - d * b[0]) * self.inverse_determinant]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::lane::Lane;

    /// A row without gain beyond its limit, and a row with almost no impulse: no multiplier of the ellipse reduces the first one.
    #[test]
    fn a_row_without_admittance_slides_at_its_limit() {
        let all = |x: f32| F32x4::splat(x);
        let mut rows = WheelRows::default();
        rows.tyre.active = all(0.0).less(all(1.0));
        let target_impulse = [all(10.0), all(1e-20)];
        let solution = rows.solve_tyre_rows(
            target_impulse,
            [all(0.0), all(1e-3)],
            ImpulseBounds::Cone,
            [all(0.0); 2],
            [all(0.0); 3],
            [all(1.0); 2],
        );
        let [along, across] = solution.tyre.map(|x| x.lanes()[0]);
        assert!((along - 1.0).abs() < 1e-6 && across.abs() < 1e-6, "{along} {across}");
    }

    /// Impulses outside the ellipse are scaled radially onto it; impulses inside are unchanged.
    #[test]
    fn tyres_are_held_to_the_ellipse_of_their_limits() {
        let all = |x: f32| F32x4::splat(x);
        let held = |tyre: [f32; 2], within| {
            let mut rows = WheelRows::<F32x4>::default();
            rows.tyre.active = all(0.0).less(all(1.0));
            (rows.tyre.friction, rows.tyre.unloaded_share) = ([all(20.0), all(10.0)], all(1.0));
            (rows.tyre.peak_friction_load, rows.suspension.load, rows.suspension.pressing_share) =
                (all(9.0), all(1.0), all(1.0));
            rows.solution.tyre_impulse = tyre.map(all);
            rows.clamp_to_friction(within);
            rows.solution.tyre_impulse.map(|lanes| lanes.lane_value(0))
        };
        assert_eq!(held([12.0, -6.0], ImpulseBounds::Cone), [12.0, -6.0]);
        // These are 1.2 and 1.6 times the limits, twice the radius of the ellipse.
        for (found, known) in held([24.0, -16.0], ImpulseBounds::Cone).into_iter().zip([12.0, -8.0]) {
            assert!((found - known).abs() < 1e-5, "{found} N s in 32 bits");
        }
        assert_eq!(held([24.0, -16.0], ImpulseBounds::Pyramid), [20.0, -10.0]);
    }
}
