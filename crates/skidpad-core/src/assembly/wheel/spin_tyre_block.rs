//! Per-wheel block solve: wheel spin, longitudinal and lateral tyre impulse together, for a given chassis motion.
//!
//! Gripping tyres are solved in closed form, sliding tyres by an iteration on the friction ellipse. The lanes are the
//! wheels of one car or of a batch of cars. A joint solve is needed for parking: with separate rows in one sweep, brake
//! and tyre drift on a slope; as one block they hold the car to within a micrometre.

use crate::impulse_bounds::ImpulseBounds;
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, WheelLanes, pair_from_fn};
use skidpad_simd::linear::SpatialVector;
use skidpad_tyre::friction_ellipse;

/// Linear response of the tyre impulse to the chassis velocity v, `Δimpulse = −Σ gain · d (d · Δv)`, with up to two
/// directions d in the contact plane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreTangent<W: WheelLanes = F32x4> {
    /// Gain of each direction, kg.
    gains: [W; 2],
    /// Directions as (longitudinal, lateral) components; `None` if they are the longitudinal and lateral rows
    /// themselves.
    directions: Option<[[W; 2]; 2]>,
}

impl<W: WheelLanes> TyreTangent<W> {
    /// Returns (gain in kg, row on the chassis) of both directions; without `directions` the longitudinal row, then the
    /// lateral one.
    #[inline(always)]
    pub fn gain_rows(&self, rows: &WheelRows<W>) -> [(W, SpatialVector<W>); 2] {
        let ([first_gain, second_gain], [forward, side]) = (self.gains, [rows.contact.forward, rows.contact.side]);
        match self.directions {
            None => [(first_gain, forward), (second_gain, side)],
            Some([[a, b], [c, d]]) => [(first_gain, forward * a + side * b), (second_gain, forward * c + side * d)],
        }
    }

    /// Returns the decrease of the longitudinal tyre impulse per longitudinal speed, kg.
    #[inline(always)]
    pub fn longitudinal_gain(&self) -> W {
        let [first_gain, second_gain] = self.gains;
        match self.directions {
            None => first_gain,
            Some([[first_x, _], [second_x, _]]) => first_gain * first_x * first_x + second_gain * second_x * second_x,
        }
    }
}

/// Tyre impulses of a block, and the data that their derivative needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct TyreSolution<W: WheelLanes = F32x4> {
    /// Longitudinal and lateral tyre impulse, N s.
    impulse: [W; 2],
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
    /// Rows whose impulse does not respond to the velocity, because it is clamped to its own bound.
    bounded: [W::Mask; 2],
}

/// Result of the friction-ellipse iteration; the fields are those of [`TyreSolution`].
struct SlidingSolution<W: WheelLanes> {
    impulse: [W; 2],
    plastic_compliance: [W; 2],
    inverse_limit_squared: [W; 2],
}

/// Tolerance for the relative error of the friction ellipse in a single sweep. Radial scaling removes the remaining
/// error. An iteration uses a tighter tolerance, see [`ImpulseBounds::inner_tolerance_factor`].
const CONE_TOLERANCE: f32 = 1e-3;

/// Maximum number of passes that select the linearisation of each row. A change in one row can require a change in the
/// other.
const MAX_LINEARISATION_PASSES: usize = 4;

/// Maximum number of iterations for the multiplier of the friction ellipse. Three are typical.
const MAX_CONE_ITERATIONS: usize = 10;

impl<W: WheelLanes> TyreSolution<W> {
    /// Returns an unchanged copy, built field by field. The compiler keeps its fields in registers, unlike those of a
    /// whole struct.
    #[inline(always)]
    fn scalarised(self) -> Self {
        let Self { impulse, sliding, gain, compliance, plastic_compliance, inverse_limit_squared, bounded } = self;
        Self { impulse, sliding, gain, compliance, plastic_compliance, inverse_limit_squared, bounded }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Solves spin, torque and tyre impulses of each wheel for a given chassis motion, stores them in `solution`, and
    /// returns the tyre solution. `bounds` selects the friction ellipse or separate limits of both directions
    /// (pyramid). Speeds, compliances and friction limits are those stored in `solution`.
    ///
    /// A wheel is first assumed to be locked by brake and rolling resistance. If that needs more than their capacity,
    /// the wheel turns, and both act with full capacity against the needed impulse, so that a brake never reverses a
    /// wheel. The locked case is skipped if no wheel can lock, even with the largest tyre moment.
    #[inline(always)]
    pub fn solve_block(&mut self, group: &WheelPack<W>, bounds: ImpulseBounds) -> TyreSolution<W> {
        let limit = self.solution.friction_bound;
        // Angular momentum before brake and tyre, N m s.
        let momentum = self.drive.momentum + self.drive.shaft;
        let cannot_lock = (self.tyre.locking_capacity + group.radius * limit[0]).less(momentum.abs());
        if !W::any(!cannot_lock & group.present_mask()) {
            return self.solve_rolling(group, bounds, limit, momentum, momentum, None); // no locked wheel
        }
        self.solve_with_locking(group, bounds, limit, momentum, cannot_lock)
    }

    /// Solves a group in which some wheels may lock. First solves the tyres of all wheels at spin 0. A wheel locks if
    /// the impulse that cancels both its `momentum` and the moment of this tyre impulse is at most `locking_capacity`
    /// of brake and rolling resistance; wheels in `cannot_lock` never lock. If all wheels lock, stores this solution.
    /// Otherwise [`Self::solve_rolling`] solves the wheels that turn.
    ///
    /// `momentum` is the angular momentum of wheel and driveline before brake and tyre act (N m s). `limit` contains
    /// the largest tyre impulses (N s), `bounds` their shape (ellipse or pyramid).
    #[inline(never)]
    fn solve_with_locking(
        &mut self,
        group: &WheelPack<W>,
        bounds: ImpulseBounds,
        limit: [W; 2],
        momentum: W,
        cannot_lock: W::Mask,
    ) -> TyreSolution<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let locked_solution = self.solve_tyre(
                    bounds,
                    self.solution.effective_mass.speed,
                    self.solution.effective_mass.compliance,
                    limit,
                );
                // Angular impulse of brake and rolling resistance that keeps the wheel at spin 0, N m s.
                let lock_impulse = momentum - group.radius * locked_solution.impulse[0];
                let locked = !cannot_lock & !self.tyre.locking_capacity.less(lock_impulse.abs());
                // The brake opposes this impulse. The momentum of wheels in `cannot_lock` is larger than any tyre
                // moment, so that its sign is that of their locking impulse.
                let braked_impulse = W::select(cannot_lock, momentum, lock_impulse);
                if W::any(!locked & group.present_mask()) {
                    let locked_wheels = Some((locked, locked_solution));
                    return self.solve_rolling(group, bounds, limit, momentum, braked_impulse, locked_wheels);
                }
                (self.solution.tyre_impulse, self.solution.sliding, self.solution.spin) =
                    (locked_solution.impulse, locked_solution.sliding, W::default());
                self.solution.torque = self.drive.motor + self.drive.shaft - braked_impulse;
                locked_solution
            },
        )
    }

    /// Limits the stored tyre impulses to the friction limits at the current load: each direction alone for
    /// [`ImpulseBounds::Pyramid`], otherwise by radial scaling onto the ellipse. Tyres without load or friction have
    /// impulse 0. Spin, torque and `sliding` stay unchanged.
    #[inline(always)]
    pub fn clamp_to_friction(&mut self, bounds: ImpulseBounds) {
        let (zero, one, limit) = (W::splat(0.0), W::splat(1.0), self.friction_limit());
        let has_grip = self.tyre.active & zero.less(limit[0]) & zero.less(limit[1]);
        if bounds == ImpulseBounds::Pyramid {
            self.solution.tyre_impulse = pair_from_fn(
                #[inline(always)]
                |i| self.solution.tyre_impulse[i].clamp_nan_to_low(-limit[i], limit[i]).masked(has_grip),
            );
            return;
        }
        let relative_impulse = pair_from_fn(
            #[inline(always)]
            |i| self.solution.tyre_impulse[i] / W::select(has_grip, limit[i], one),
        );
        let utilisation = friction_ellipse::utilisation(relative_impulse);
        let scale = W::select(one.less(utilisation), one / utilisation, one);
        self.solution.tyre_impulse = pair_from_fn(
            #[inline(always)]
            |i| (self.solution.tyre_impulse[i] * scale).masked(has_grip),
        );
    }

    /// Solves the wheels that turn, and stores tyre impulses, spin and torque. `locked` has the mask of the locked
    /// wheels and their tyre solution, which they keep, with spin 0 and the locking torque. On all other wheels, brake
    /// and rolling resistance act with full capacity against `lock_impulse` (N m s), the brake impulse that would lock
    /// the wheel. The spin ω follows from `I ω = momentum ± capacity − R F_x`; this rotation adds R²/I to the
    /// longitudinal compliance.
    #[inline(always)]
    fn solve_rolling(
        &mut self,
        group: &WheelPack<W>,
        bounds: ImpulseBounds,
        limit: [W; 2],
        momentum: W,
        lock_impulse: W,
        locked: Option<(W::Mask, TyreSolution<W>)>,
    ) -> TyreSolution<W> {
        // Brake and rolling resistance oppose `lock_impulse`. An impulse of 0 counts as negative.
        let brake_impulse =
            W::select(W::splat(0.0).less(lock_impulse), -self.tyre.locking_capacity, self.tyre.locking_capacity);
        let (radius, inertia) = (group.radius, group.spin_inertia);
        let braked_momentum = momentum + brake_impulse;
        let effective_mass = &self.solution.effective_mass;
        let [longitudinal, coupling, lateral] = effective_mass.compliance;
        let speed = [effective_mass.speed[0] - radius * braked_momentum / inertia, effective_mass.speed[1]];
        let rolling_solution =
            self.solve_tyre(bounds, speed, [longitudinal + radius * radius / inertia, coupling, lateral], limit);
        let solution = match locked {
            Some((locked, solution)) => TyreSolution::select(locked, solution, rolling_solution),
            None => rolling_solution.scalarised(),
        };
        (self.solution.tyre_impulse, self.solution.sliding) = (solution.impulse, solution.sliding);
        let spin = (braked_momentum - radius * solution.impulse[0]) / inertia;
        let (spin, torque) = match locked {
            Some((locked, _)) => (spin.masked(!locked), W::select(locked, -lock_impulse, brake_impulse)),
            None => (spin, brake_impulse),
        };
        self.solution.spin = spin;
        self.solution.torque = self.drive.motor + self.drive.shaft + torque;
        solution
    }

    /// Clamps each tyre impulse of `solution` to ± its own limit (N s), and sets `bounded` and `sliding` for clamped
    /// rows. This is exact if the rows do not influence each other, as in a converged solve, whose blocks have a given
    /// chassis velocity.
    #[inline(always)]
    fn clamp_to_pyramid(solution: TyreSolution<W>, limit: [W; 2]) -> TyreSolution<W> {
        let bounded = [0, 1].map(|i| limit[i].less(solution.impulse[i].abs()));
        let impulse = [0, 1].map(|i| solution.impulse[i].clamp_nan_to_low(-limit[i], limit[i]));
        TyreSolution { impulse, bounded, sliding: bounded[0] | bounded[1], ..solution }
    }

    /// Computes the tyre impulses within `limit` (N s). `speed` is the sliding speed without tyre impulses (m/s),
    /// `compliance` its change per impulse (1/kg: longitudinal, coupling, lateral).
    ///
    /// Each tyre row (longitudinal or lateral) has two linearisations: at the slip at the start of the step, and with
    /// the slope at zero slip. If the initial slip decays within the step, the first one overshoots the tyre
    /// characteristic. For tyres in `degressive`, the lower force applies. The selection for a sliding tyre uses the
    /// elastic slip, without its plastic part, so that the force is continuous.
    #[inline(always)]
    fn solve_tyre(&self, bounds: ImpulseBounds, speed: [W; 2], compliance: [W; 3], limit: [W; 2]) -> TyreSolution<W> {
        let solution = self.solve_tyre_rows(self.tyre.target_impulse, self.tyre.gain, bounds, speed, compliance, limit);
        if !W::any(self.tyre.degressive) {
            return solution;
        }
        let mut selected = solution.scalarised();
        self.select_linearisations(&mut selected, bounds, speed, compliance, limit);
        selected.scalarised()
    }

    /// Solves tyres with a curved characteristic (`degressive`). On entry, `selected` is the solution with the
    /// linearisation at the initial slip. Each pass selects the linearisation with the lower force for each row and
    /// solves again. Ends when the selection repeats, or after [`MAX_LINEARISATION_PASSES`] passes.
    #[inline(never)]
    fn select_linearisations(
        &self,
        selected: &mut TyreSolution<W>,
        bounds: ImpulseBounds,
        speed: [W; 2],
        compliance: [W; 3],
        limit: [W; 2],
    ) {
        W::call_outlined(
            #[inline(always)]
            || {
                let mut solution = selected.scalarised();
                // Rows that use the linearisation at zero slip.
                let mut uses_straight = [W::Mask::default(); 2];
                for _ in 0..MAX_LINEARISATION_PASSES {
                    let straight_is_lower = self.rows_below_initial_line(&solution, uses_straight, speed, compliance);
                    let [longitudinal_changed, lateral_changed] = pair_from_fn(
                        #[inline(always)]
                        // Exclusive or: rows whose selection has changed.
                        |i| (straight_is_lower[i] & !uses_straight[i]) | (uses_straight[i] & !straight_is_lower[i]),
                    );
                    if !W::any(longitudinal_changed | lateral_changed) {
                        break;
                    }
                    uses_straight = straight_is_lower;
                    let tyre = &self.tyre;
                    let target_impulse = pair_from_fn(
                        #[inline(always)]
                        |i| W::select(uses_straight[i], tyre.straight_target[i], tyre.target_impulse[i]),
                    );
                    let gain = pair_from_fn(
                        #[inline(always)]
                        |i| W::select(uses_straight[i], tyre.straight_gain[i], tyre.gain[i]),
                    );
                    solution = self.solve_tyre_rows(target_impulse, gain, bounds, speed, compliance, limit);
                }
                *selected = solution.scalarised();
            },
        );
    }

    /// Returns, for both rows, the degressive wheels on which the linearisation at zero slip (straight line) has less
    /// force than the one at the initial slip. Rows in `uses_straight` currently use the straight line, which is steep:
    /// their impulse is compared with that at the intersection of both lines. Other rows use the initial line, which
    /// may be flat: their slip (speed after the impulses, without the plastic part) is compared with that at the
    /// intersection.
    #[inline(always)]
    fn rows_below_initial_line(
        &self,
        solution: &TyreSolution<W>,
        uses_straight: [W::Mask; 2],
        speed: [W; 2],
        compliance: [W; 3],
    ) -> [W::Mask; 2] {
        let [longitudinal, coupling, lateral] = compliance;
        let [x, y] = solution.impulse;
        // Sliding speeds after the impulses x and y, m/s.
        let slips = [speed[0] + longitudinal * x + coupling * y, speed[1] + coupling * x + lateral * y];
        pair_from_fn(
            #[inline(always)]
            |i| {
                let (target, gain) = (self.tyre.target_impulse[i], self.tyre.gain[i]);
                let gain_difference = self.tyre.straight_gain[i] - gain;
                // Speed at which both lines intersect (m/s), and the force there.
                let crossing_speed =
                    (self.tyre.straight_target[i] - target) / gain_difference.at_least(W::splat(f32::MIN_POSITIVE));
                let crossing_impulse = target - gain * crossing_speed;
                let slip = slips[i] + solution.plastic_compliance[i] * solution.impulse[i];
                // Products with `target` compare magnitudes in its direction.
                let stays_straight = uses_straight[i] & !(crossing_impulse * target).less(solution.impulse[i] * target);
                let becomes_straight = (crossing_speed * target).less(slip * target) & !uses_straight[i];
                (stays_straight | becomes_straight) & self.tyre.degressive & W::splat(0.0).less(gain_difference)
            },
        )
    }

    /// Solves `(1 + G A) x = target_impulse − G speed` for both tyre impulses x, with the gains G and the compliance A.
    /// Impulses beyond `limit` are moved onto the friction ellipse, or clamped separately for
    /// [`ImpulseBounds::Pyramid`]. Tyres without load or friction have impulse and gain 0.
    ///
    /// On the ellipse, sliding adds the plastic speed `λ x / limit²` to both rows. Scaling alone would leave a locked
    /// wheel at 45° a quarter of its lateral friction.
    #[inline(always)]
    fn solve_tyre_rows(
        &self,
        target_impulse: [W; 2],
        gain: [W; 2],
        bounds: ImpulseBounds,
        speed: [W; 2],
        compliance: [W; 3],
        limit: [W; 2],
    ) -> TyreSolution<W> {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let has_grip = self.tyre.active & zero.less(limit[0]) & zero.less(limit[1]);
        let g = pair_from_fn(
            #[inline(always)]
            |i| gain[i].masked(has_grip),
        );
        let uncoupled_impulse = pair_from_fn(|i| (target_impulse[i] - g[i] * speed[i]).masked(has_grip));
        let squared_limit = pair_from_fn(
            #[inline(always)]
            |i| W::select(has_grip, limit[i] * limit[i], one),
        );
        let system = System2x2::new(g, compliance, [zero; 2]);
        let x = system.solve(uncoupled_impulse);
        let sliding =
            (squared_limit[0] * squared_limit[1]).less(x[0] * x[0] * squared_limit[1] + x[1] * x[1] * squared_limit[0]);
        let (no_lane, zeros) = (W::Mask::default(), [zero; 2]);
        let grip_solution = TyreSolution {
            impulse: x,
            sliding,
            gain: g,
            compliance,
            plastic_compliance: zeros,
            inverse_limit_squared: zeros,
            bounded: [no_lane; 2],
        };
        if bounds == ImpulseBounds::Pyramid {
            return Self::clamp_to_pyramid(grip_solution, limit.map(|l| l.masked(has_grip)));
        }
        if !W::any(sliding) {
            return grip_solution;
        }
        let SlidingSolution { impulse, plastic_compliance, inverse_limit_squared } =
            Self::project_to_ellipse(x, sliding, g, compliance, system, uncoupled_impulse, squared_limit, bounds);
        TyreSolution { impulse, plastic_compliance, inverse_limit_squared, ..grip_solution }
    }

    /// Moves the impulses `x` of the wheels in `sliding` onto the friction ellipse. Newton's method finds the
    /// multiplier λ ≥ 0 of the plastic speed at which the utilisation (impulse over limit) is 1; radial scaling removes
    /// a remaining excess. `system` maps `uncoupled_impulse`, the impulses without compliance, to `x`. `g` are the
    /// gains (kg), `squared_limit` the squared limits and w their inverses. Plastic compliance and inverse limits are 0
    /// for wheels that grip.
    #[inline(never)]
    fn project_to_ellipse(
        mut x: [W; 2],
        sliding: W::Mask,
        g: [W; 2],
        compliance: [W; 3],
        mut system: System2x2<W>,
        uncoupled_impulse: [W; 2],
        squared_limit: [W; 2],
        bounds: ImpulseBounds,
    ) -> SlidingSolution<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let w = pair_from_fn(
                    #[inline(always)]
                    |i| one / squared_limit[i],
                );
                let utilisation_of = |x: [W; 2]| (x[0] * x[0] * w[0] + x[1] * x[1] * w[1]).sqrt();
                // No multiplier changes a row without gain: the iteration ends if the other row's slope is negligible.
                let min_slope = W::splat(1e-6) * w[0].at_most(w[1]) * g[0].at_least(g[1]);
                let tolerance = CONE_TOLERANCE * bounds.inner_tolerance_factor();
                let mut utilisation = utilisation_of(x);
                // Multiplier λ, (N s)²/kg, and wheels that still iterate.
                let (mut lambda, mut is_iterating) = (zero, sliding);
                // Hebden's iteration. `decrease`: decrease of x per λ; `slope`: decrease of the utilisation per λ.
                for _ in 0..MAX_CONE_ITERATIONS {
                    let decrease = system.solve([g[0] * x[0] * w[0], g[1] * x[1] * w[1]]);
                    let slope = (x[0] * decrease[0] * w[0] + x[1] * decrease[1] * w[1]) / utilisation;
                    is_iterating = is_iterating & (min_slope * utilisation).less(slope);
                    if !W::any(is_iterating) {
                        break;
                    }
                    lambda = W::select(is_iterating, lambda + (utilisation - one) * utilisation / slope, lambda);
                    system = System2x2::new(g, compliance, [g[0] * lambda * w[0], g[1] * lambda * w[1]]);
                    x = system.solve(uncoupled_impulse);
                    utilisation = utilisation_of(x);
                    is_iterating = is_iterating & !(utilisation - one).abs().less(W::splat(tolerance));
                    if !W::any(is_iterating) {
                        break;
                    }
                }
                let exceeds_limit = sliding & one.less(utilisation);
                SlidingSolution {
                    impulse: pair_from_fn(
                        #[inline(always)]
                        |i| W::select(exceeds_limit, x[i] / utilisation, x[i]),
                    ),
                    plastic_compliance: pair_from_fn(
                        #[inline(always)]
                        |i| (lambda * w[i]).masked(sliding),
                    ),
                    inverse_limit_squared: pair_from_fn(
                        #[inline(always)]
                        |i| w[i].masked(sliding),
                    ),
                }
            },
        )
    }
}

impl<W: WheelLanes> TyreSolution<W> {
    /// Returns the linear response to the chassis velocity at the solution. Gripping rows have the gain `g / (1 + g
    /// (compliance + plastic compliance))` without the coupling of both rows; bounded rows have 0. A tyre that slides
    /// on the ellipse responds only along the tangent of the ellipse.
    #[inline(always)]
    pub(crate) fn tangent(&self) -> TyreTangent<W> {
        let [longitudinal, _, lateral] = self.compliance;
        let series_gain =
            |i: usize, c: W| self.gain[i] / (W::splat(1.0) + self.gain[i] * (c + self.plastic_compliance[i]));
        let gains =
            [series_gain(0, longitudinal).masked(!self.bounded[0]), series_gain(1, lateral).masked(!self.bounded[1])];
        let on_cone = self.sliding & !self.bounded[0] & !self.bounded[1];
        if W::any(on_cone) { self.sliding_tangent(gains, on_cone) } else { TyreTangent { gains, directions: None } }
    }

    /// Returns the tangent of a group in which the wheels in `on_cone` slide on the friction ellipse. These wheels
    /// respond in one direction, the tangent of the ellipse, with the gain of both `gains` in series along it (0 if a
    /// gain or the impulse is 0). All other wheels keep `gains` and the directions of the rows.
    #[cold]
    #[inline(never)]
    fn sliding_tangent(&self, gains: [W; 2], on_cone: W::Mask) -> TyreTangent<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                // Direction perpendicular to the ellipse at the impulse.
                let normal = pair_from_fn(
                    #[inline(always)]
                    |i| self.impulse[i] * self.inverse_limit_squared[i],
                );
                let length = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
                let tangent = [-normal[1] / length, normal[0] / length];
                let tangent_gain = one / (tangent[0] * tangent[0] / gains[0] + tangent[1] * tangent[1] / gains[1]);
                let has_tangent = zero.less(length) & zero.less(gains[0]) & zero.less(gains[1]);
                let select = |sliding: W, other: W| W::select(on_cone, sliding.masked(has_tangent), other);
                TyreTangent {
                    gains: [select(tangent_gain, gains[0]), select(zero, gains[1])],
                    // The second direction has gain 0 on the ellipse; other wheels have (1, 0) and (0, 1).
                    directions: Some([[select(tangent[0], one), select(tangent[1], zero)], [zero, select(zero, one)]]),
                }
            },
        )
    }

    /// Returns `yes` in the lanes of `mask` and `no` in the others, field by field.
    #[inline(always)]
    fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let select_lanes = |yes: W, no: W| W::select(mask, yes, no);
        let ([a, b, c], [d, e, f]) = (yes.compliance, no.compliance);
        Self {
            impulse: pair_from_fn(
                #[inline(always)]
                |i| select_lanes(yes.impulse[i], no.impulse[i]),
            ),
            gain: pair_from_fn(
                #[inline(always)]
                |i| select_lanes(yes.gain[i], no.gain[i]),
            ),
            sliding: (yes.sliding & mask) | (no.sliding & !mask),
            compliance: [select_lanes(a, d), select_lanes(b, e), select_lanes(c, f)],
            plastic_compliance: pair_from_fn(
                #[inline(always)]
                |i| select_lanes(yes.plastic_compliance[i], no.plastic_compliance[i]),
            ),
            inverse_limit_squared: pair_from_fn(
                #[inline(always)]
                |i| select_lanes(yes.inverse_limit_squared[i], no.inverse_limit_squared[i]),
            ),
            bounded: pair_from_fn(
                #[inline(always)]
                |i| (yes.bounded[i] & mask) | (no.bounded[i] & !mask),
            ),
        }
    }
}

/// Linear system `(1 + G A + P) x = b` in two unknowns with the `matrix` of gains G, compliance A, plastic term P.
struct System2x2<W: WheelLanes> {
    matrix: [[W; 2]; 2],
    inverse_determinant: W,
}

impl<W: WheelLanes> System2x2<W> {
    /// Builds matrix and inverse determinant from diagonal `g`, symmetric `compliance` and diagonal `plastic`.
    #[inline(always)]
    fn new(g: [W; 2], compliance: [W; 3], plastic: [W; 2]) -> Self {
        let (one, [xx, xy, yy]) = (W::splat(1.0), compliance);
        let matrix = [[one + g[0] * xx + plastic[0], g[0] * xy], [g[1] * xy, one + g[1] * yy + plastic[1]]];
        let inverse_determinant = one / (matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]);
        Self { matrix, inverse_determinant }
    }

    /// Returns the solution x for the right-hand side `b` (Cramer's rule).
    #[inline(always)]
    fn solve(&self, b: [W; 2]) -> [W; 2] {
        let [[a11, a12], [a21, a22]] = self.matrix;
        [(a22 * b[0] - a12 * b[1]) * self.inverse_determinant, (a11 * b[1] - a21 * b[0]) * self.inverse_determinant]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_simd::lane::Lane;

    /// Checks that a row without gain ends at its limit, beside a row with almost no impulse: no multiplier of the
    /// ellipse reduces it.
    #[test]
    fn a_row_without_admittance_slides_at_its_limit() {
        let splat = |x: f32| F32x4::splat(x);
        let mut rows = WheelRows::default();
        rows.tyre.active = splat(0.0).less(splat(1.0));
        let target_impulse = [splat(10.0), splat(1e-20)];
        // Gains, bounds, sliding speeds, compliances, limits.
        let solution = rows.solve_tyre_rows(
            target_impulse,
            [splat(0.0), splat(1e-3)],
            ImpulseBounds::Cone,
            [splat(0.0); 2],
            [splat(0.0); 3],
            [splat(1.0); 2],
        );
        let [longitudinal, lateral] = solution.impulse.map(|x| x.lanes()[0]);
        assert!((longitudinal - 1.0).abs() < 1e-6 && lateral.abs() < 1e-6, "{longitudinal} {lateral}");
    }

    /// Checks that the ellipse scales impulses outside radially and leaves others unchanged, and that the pyramid
    /// clamps each row.
    #[test]
    fn tyres_are_held_to_the_ellipse_of_their_limits() {
        let splat = |x: f32| F32x4::splat(x);
        let clamp = |tyre: [f32; 2], bounds| {
            let mut rows = WheelRows::<F32x4>::default();
            rows.tyre.active = splat(0.0).less(splat(1.0));
            (rows.tyre.friction, rows.tyre.unloaded_share) = ([splat(20.0), splat(10.0)], splat(1.0));
            (rows.tyre.peak_friction_load, rows.suspension.load, rows.suspension.pressing_share) =
                (splat(9.0), splat(1.0), splat(1.0));
            rows.solution.tyre_impulse = tyre.map(splat);
            rows.clamp_to_friction(bounds);
            rows.solution.tyre_impulse.map(|lanes| lanes.lane_value(0))
        };
        assert_eq!(clamp([12.0, -6.0], ImpulseBounds::Cone), [12.0, -6.0]);
        // These are 1.2 and 1.6 times the limits, twice the radius of the ellipse.
        for (found, expected) in clamp([24.0, -16.0], ImpulseBounds::Cone).into_iter().zip([12.0, -8.0]) {
            assert!((found - expected).abs() < 1e-5, "{found} N s in 32 bits");
        }
        assert_eq!(clamp([24.0, -16.0], ImpulseBounds::Pyramid), [20.0, -10.0]);
    }
}
