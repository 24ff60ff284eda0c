//! Constraint row between spins: its law while it holds, its bounds, and the clutch of a dead engine.

use crate::drivetrain::engine::Engine;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::parameters::TorqueCoupling;
use crate::impulse_bounds::ImpulseBounds;
use skidpad_simd::lane::Lane;

/// Tolerance for the change of the clutch's impulse, as a share of its capacity. A smaller change cannot hide a wheel
/// that begins or ceases to slide. While none does, the Newton step is exact.
const CLUTCH_TOLERANCE: f32 = 0.02;

/// Tolerance for the change of any other impulse: a share of the impulse, and a torque in N m. Their sum applies.
const IMPULSE_TOLERANCE: [f32; 2] = [1e-3, 0.01];

/// Upper limit of a motor's absolute tolerance, as a share of its peak torque.
const MAX_MOTOR_TOLERANCE: f32 = 1e-4;

/// Least fall of a torque from standstill to the present speed, as a share of the torque. A flatter row cannot express
/// its residual as a speed: a step towards its torque would look like one without gain and be undone.
const MIN_TORQUE_FALL: f32 = 1e-3;

/// Constraint row between spins: the clutch or converter between engine and wheels, a motor on its wheels, or a
/// coupling between two sides. The impulse `p` (N m s) and the speed `ω` (rad/s) between its ends follow
/// `per_impulse · p + per_speed · ω = right_hand_side`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriveConstraint {
    /// Turns of the row per turn of the wheels on its levers.
    pub ratio: f32,
    /// Torque on the wheels per torque through the row, for a negative and a positive torque. Losses act in the
    /// direction of the power flow.
    pub torque_ratios: [f32; 2],
    /// Coefficient of the impulse while the row holds. Clutch: inverse inertia of the flywheel, 1/(kg m²). Coupling: 0.
    /// Motor or converter: 1, as its law is an impulse over speed.
    pub per_impulse: f32,
    /// Coefficient of the speed while the row holds. Clutch or coupling: 1. Motor or converter: fall of its impulse
    /// with speed, kg m².
    pub per_speed: f32,
    /// Right side of the law. Clutch: speed of the flywheel without it, rad/s. Motor or converter: impulse at zero
    /// speed, N m s.
    pub right_hand_side: f32,
    /// Least and largest impulse while the row holds, N m s.
    pub bounds: [f32; 2],
    /// Viscous impulse per slip speed, which adds to the bound while the row slips, N m s².
    pub viscous: f32,
    /// Tolerance for the change of the impulse: a share of it, and an absolute part in N m s.
    pub tolerance: [f32; 2],
    /// Present impulse, N m s; positive drives the wheels (coupling: its first side).
    pub impulse: f32,
    /// Whether the row is that of a torque converter.
    pub is_converter: bool,
    /// Largest impulse of the dry friction on the engine's side, N m s; 0 except for the clutch of a dead engine.
    pub dry_drag: f32,
}

/// State of a row: it holds to its law, or slips at its lower (0) or upper (1) bound. While the clutch of a dead engine
/// holds, the engine stands, or turns backwards (0) or forwards (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regime {
    /// Row that satisfies its law exactly.
    Holding,
    /// Row at its lower (0) or upper (1) bound, plus the viscous impulse.
    Slipping(usize),
    /// Clutch that holds a dead engine at rest.
    Standing,
    /// Clutch that turns a dead engine backwards (0) or forwards (1) against its dry friction.
    Turning(usize),
}

/// Returns the torque on the wheels per negative and per positive torque through a row of `ratio` and `efficiency`:
/// `[i / η, i η]`. A negative torque is driven by the wheels, so that losses increase it at the wheels.
#[inline(always)]
pub(crate) fn torque_ratios<L: Lane>(ratio: L, efficiency: f32) -> [L; 2] {
    [ratio / L::splat(efficiency), ratio * L::splat(efficiency)]
}

/// Selects the torque ratio for `impulse`: `negative_ratio` if it is negative, else `positive_ratio`.
#[inline(always)]
pub(crate) fn torque_ratio<L: Lane>([negative_ratio, positive_ratio]: [L; 2], impulse: L) -> L {
    L::select(impulse.less(L::splat(0.0)), negative_ratio, positive_ratio)
}

/// Returns the impulse on the shaft of the wheels for an `impulse` through the row, N m s.
#[inline(always)]
pub(crate) fn shaft_impulse<L: Lane>(torque_ratios: [L; 2], impulse: L) -> L {
    torque_ratio(torque_ratios, impulse) * impulse
}

/// Returns the impulse at which a single row holds, N m s, and a mask: `p + (r − a p − b ω) / (b R + a)`. The mask
/// is false if the impulse lies outside `min_impulse..=max_impulse`, if a = per_impulse is not positive, or if the
/// divisor is not positive. `present_impulse`: present impulse p, N m s; `speed`: present speed ω of the row, rad/s;
/// `response`: its change R per impulse, 1/(kg m²).
#[inline(always)]
pub(crate) fn holding_impulse<L: Lane>(
    [per_impulse, per_speed, right_hand_side]: [L; 3],
    [min_impulse, max_impulse]: [L; 2],
    present_impulse: L,
    [speed, response]: [L; 2],
) -> (L, L::Mask) {
    let zero = L::splat(0.0);
    let pivot = per_speed * response + per_impulse;
    let residual = right_hand_side - per_impulse * present_impulse - per_speed * speed;
    let impulse = present_impulse + residual / pivot;
    let is_out_of_bounds = impulse.less(min_impulse) | max_impulse.less(impulse);
    (impulse, zero.less(per_impulse) & zero.less(pivot) & !is_out_of_bounds)
}

/// Returns whether the change from `old_impulse` to `new_impulse` is within `relative · |new_impulse| + absolute`,
/// times the factor of `impulse_bounds`. A change of NaN counts as within it.
#[inline(always)]
pub(crate) fn is_within_tolerance<L: Lane>(
    [relative, absolute]: [L; 2],
    [old_impulse, new_impulse]: [L; 2],
    impulse_bounds: ImpulseBounds,
) -> L::Mask {
    !(L::splat(impulse_bounds.inner_tolerance_factor()) * (relative * new_impulse.abs() + absolute))
        .less((new_impulse - old_impulse).abs())
}

/// Returns `slope` (N m s), but at most `−MIN_TORQUE_FALL · |torque| / range`, so that the torque always falls with the
/// speed. `torque`: torque, N m; `range`: speed range, rad/s. A range of 0 counts as the smallest positive number.
pub(crate) fn limit_slope(slope: f32, torque: f32, range: f32) -> f32 {
    slope.min(-MIN_TORQUE_FALL * torque.abs() / range.max(f32::MIN_POSITIVE))
}

/// Engine side of the clutch, of one car or of a batch of cars.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flywheel<L = f32> {
    /// Speed at the start of the step, rad/s.
    pub start_speed: L,
    /// Speed at the end of the step before the clutch acts, rad/s.
    pub speed: L,
    /// Inverse of the engine's effective inertia, 1/(kg m²).
    pub inverse_inertia: L,
    /// Largest angular impulse of the dry friction of a dead engine, N m s.
    pub dry_drag: L,
    /// Values of `speed` with a closed throttle and with the driver's throttle, rad/s. Used only by cars with assists.
    pub speed_bounds: [L; 2],
}

/// Row of a clutch, of one car or of a batch of cars; fields as in [`DriveConstraint`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClutchRow<L> {
    /// Turns of the row per turn of the wheels on its levers.
    pub ratio: L,
    /// Torque on the wheels per negative and per positive torque through the clutch.
    pub torque_ratios: [L; 2],
    /// Inverse inertia of the flywheel, 1/(kg m²).
    pub per_impulse: L,
    /// Speed of the flywheel without the clutch, rad/s.
    pub free_speed: L,
    /// Least and largest impulse, N m s.
    pub bounds: [L; 2],
    /// Tolerance for the change of the impulse: a share of it, and an absolute part in N m s.
    pub tolerance: [L; 2],
    /// Present impulse, N m s.
    pub impulse: L,
}

impl<L: Lane> ClutchRow<L> {
    /// Builds the row of a clutch between `flywheel` and the wheels, with `capacity` and warm-start `impulse` in N m s.
    /// While it holds, `p / J + ω = ω_flywheel`. The bounds are ± `capacity`; the impulse is clamped to them. `ratio`:
    /// flywheel turns per turn of the propeller shaft. The tolerance is [`CLUTCH_TOLERANCE`] of the capacity.
    #[inline(always)]
    pub(crate) fn new(flywheel: &Flywheel<L>, ratio: L, efficiency: f32, [capacity, impulse]: [L; 2]) -> Self {
        Self {
            ratio,
            torque_ratios: torque_ratios(ratio, efficiency),
            per_impulse: flywheel.inverse_inertia,
            free_speed: flywheel.speed,
            bounds: [-capacity, capacity],
            // No relative part.
            tolerance: [L::splat(0.0), L::splat(CLUTCH_TOLERANCE) * capacity],
            impulse: impulse.clamp_keeping_nan(-capacity, capacity),
        }
    }
}

impl From<ClutchRow<f32>> for DriveConstraint {
    /// Builds the full row, without viscous torque, dry friction or converter.
    #[inline(always)]
    fn from(row: ClutchRow<f32>) -> Self {
        let ClutchRow { ratio, torque_ratios, per_impulse, free_speed, bounds, tolerance, impulse } = row;
        Self {
            ratio,
            torque_ratios,
            per_impulse,
            per_speed: 1.0,
            right_hand_side: free_speed,
            bounds,
            viscous: 0.0,
            tolerance,
            impulse,
            is_converter: false,
            dry_drag: 0.0,
        }
    }
}

impl DriveConstraint {
    /// Builds the row of a clutch, see [`ClutchRow::new`].
    #[inline(always)]
    pub(crate) fn clutch(flywheel: &Flywheel, ratio: f32, efficiency: f32, capacity: f32, impulse: f32) -> Self {
        ClutchRow::new(flywheel, ratio, efficiency, [capacity, impulse]).into()
    }

    /// Adds the dry friction of a dead engine behind this clutch: sets `dry_drag`, its largest impulse in N m s, and
    /// replaces the tolerance by [`IMPULSE_TOLERANCE`] for a step of `dt` s. `speed` is the engine's present speed,
    /// rad/s; `efficiency` is that of the gearbox. Only the wheels can turn a dead engine, so that losses act from the
    /// wheels to the engine: at a standstill or backwards, the torque ratios change accordingly. Forwards, they stay.
    ///
    /// The inertia is J and the common speed while the clutch holds is ω: `p = J (ω_f − ω) ∓ D` for forward and
    /// backward rotation. At a standstill p has any value between both, as with a brake on the flywheel.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_dry_friction(&mut self, speed: f32, efficiency: f32, dry_drag: f32, dt: f32) {
        // For a negative (wheels drive the engine) and a positive torque.
        let [negative_ratio, positive_ratio] = self.torque_ratios;
        if speed <= 0.0 {
            // The torque that the wheels drive is the positive one backwards, and either one at a standstill.
            self.torque_ratios = [if speed < 0.0 { positive_ratio } else { negative_ratio }, self.ratio / efficiency];
        }
        let [relative, tolerance_torque] = IMPULSE_TOLERANCE;
        (self.dry_drag, self.tolerance) = (dry_drag, [relative, tolerance_torque * dt]);
    }

    /// Builds the row of a torque converter that carried `impulse` N m s before, without bounds. The law is a
    /// placeholder (`p = 0`): each Newton pass sets it to the tangent of the turbine torque.
    pub(crate) fn converter(ratio: f32, efficiency: f32, impulse: f32, dt: f32) -> Self {
        let [relative, tolerance_torque] = IMPULSE_TOLERANCE;
        Self {
            ratio,
            torque_ratios: torque_ratios(ratio, efficiency),
            per_impulse: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            tolerance: [relative, tolerance_torque * dt],
            impulse,
            is_converter: true,
            ..Self::default()
        }
    }

    /// Builds the row of a coupling that carries no impulse yet: while it holds, its speed difference is 0, within
    /// bounds of ± friction times `dt`. Bounds of torque-sensing couplings are set later, by the torque driven through
    /// them. The viscous impulse per slip speed is the viscous torque times `dt`.
    pub(crate) fn coupling(coupling: &TorqueCoupling, dt: f32) -> Self {
        let viscous = coupling.viscous * dt;
        let [relative, tolerance_torque] = IMPULSE_TOLERANCE;
        Self {
            ratio: 1.0,
            torque_ratios: [1.0; 2],
            per_speed: 1.0,
            bounds: [-coupling.friction * dt, coupling.friction * dt],
            viscous,
            tolerance: [relative, tolerance_torque * dt],
            ..Self::default()
        }
    }

    /// Builds the row of a motor, whose rotor turns with its wheels, without impulse and bounds. The law is a
    /// placeholder (`p = 0`): each Newton pass sets it. `direction`: 1 forward, −1 in reverse, where driving torques
    /// are negative and losses must reduce them. The absolute tolerance is at most [`MAX_MOTOR_TOLERANCE`] of the peak
    /// torque, times `dt`.
    pub(crate) fn motor(motor: &Motor, direction: f32, dt: f32) -> Self {
        let [relative, tolerance_torque] = IMPULSE_TOLERANCE;
        Self {
            ratio: motor.reduction,
            torque_ratios: torque_ratios(
                motor.reduction,
                if direction < 0.0 { 1.0 / motor.efficiency } else { motor.efficiency },
            ),
            per_impulse: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            tolerance: [relative, tolerance_torque.min(MAX_MOTOR_TOLERANCE * motor.peak_torque) * dt],
            ..Self::default()
        }
    }

    /// Returns the torque on the wheels per torque through the row at an `impulse` of the row.
    #[inline(always)]
    pub(crate) fn torque_ratio(&self, impulse: f32) -> f32 {
        torque_ratio(self.torque_ratios, impulse)
    }

    /// Returns the impulse on the shaft of the wheels when the row carries `impulse`, N m s: ratio and losses included,
    /// before the wheels' levers.
    #[inline(always)]
    pub(crate) fn shaft_impulse(&self, impulse: f32) -> f32 {
        shaft_impulse(self.torque_ratios, impulse)
    }

    /// Sets the impulse of the row, N m s, without clamping. Returns the change of the impulse on the wheels, N m s,
    /// which the caller adds to them.
    #[inline(always)]
    pub(crate) fn set_impulse(&mut self, impulse: f32) -> f32 {
        let change = self.shaft_impulse(impulse) - self.shaft_impulse(self.impulse);
        self.impulse = impulse;
        change
    }

    /// Returns `[per_impulse, per_speed, right_hand_side]` of the equation of the row in `regime`. Holding: its law.
    /// Slipping: `p + viscous · ω = bound`. Standing dead engine: `ω = 0`. Turning dead engine: the law, with the right
    /// side shifted against the rotation by dry friction over inertia: up for backward (0), down for forward (1)
    /// rotation.
    pub(crate) fn coefficients(&self, regime: Regime) -> [f32; 3] {
        match regime {
            Regime::Holding => [self.per_impulse, self.per_speed, self.right_hand_side],
            Regime::Slipping(bound) => [1.0, self.viscous, self.bounds[bound]],
            Regime::Standing => [0.0, 1.0, 0.0],
            Regime::Turning(0) => {
                [self.per_impulse, self.per_speed, self.right_hand_side + self.per_impulse * self.dry_drag]
            }
            Regime::Turning(_) => {
                [self.per_impulse, self.per_speed, self.right_hand_side - self.per_impulse * self.dry_drag]
            }
        }
    }

    /// Returns `right side − per_impulse · impulse − per_speed · speed` of the row in `regime`, 0 if it is satisfied. A
    /// positive residual requires a larger impulse. The unit is that of the regime's right side: rad/s or N m s.
    pub(crate) fn residual(&self, regime: Regime, impulse: f32, speed: f32) -> f32 {
        let [per_impulse, per_speed, right_hand_side] = self.coefficients(regime);
        right_hand_side - per_impulse * impulse - per_speed * speed
    }

    /// Returns the impulse of a single row that holds, N m s, or `None` if it lies outside the bounds or the law has no
    /// impulse term. `speed`: present speed, rad/s; `response`: its change per impulse, 1/(kg m²). Dry friction of a
    /// dead engine is left out.
    #[inline(always)]
    pub(crate) fn holding_impulse(&self, speed: f32, response: f32) -> Option<f32> {
        let law = [self.per_impulse, self.per_speed, self.right_hand_side];
        let (impulse, is_holding) = holding_impulse(law, self.bounds, self.impulse, [speed, response]);
        is_holding.then_some(impulse)
    }

    /// Returns whether the change from the impulse `old_impulse` to `new_impulse` is within the row's tolerance, times
    /// the factor of `impulse_bounds`.
    #[inline(always)]
    pub(crate) fn has_converged(&self, [old_impulse, new_impulse]: [f32; 2], impulse_bounds: ImpulseBounds) -> bool {
        is_within_tolerance(self.tolerance, [old_impulse, new_impulse], impulse_bounds)
    }

    /// Returns the regime to try first: standing for the clutch of a dead engine, else holding.
    pub(crate) fn initial_regime(&self) -> Regime {
        if self.dry_drag > 0.0 { Regime::Standing } else { Regime::Holding }
    }

    /// Returns the regime that follows `regime` at `impulse` (N m s) and `speed` (rad/s); `regime` itself if it is
    /// consistent.
    ///
    /// A slipping row holds again once its law demands an impulse inside the bound; the clutch of a dead engine then
    /// turns the engine in the direction of `speed`. Any other row slips if `impulse` is beyond a bound. A standing
    /// dead engine turns if the law at rest demands more than its dry friction. A turning one stands if `speed` has the
    /// wrong sign.
    pub(crate) fn next_regime(&self, regime: Regime, impulse: f32, speed: f32) -> Regime {
        let [min_impulse, max_impulse] = self.bounds;
        // Regimes: 0 is the lower bound or backwards, 1 the upper bound or forwards.
        match regime {
            Regime::Slipping(bound) => {
                let unslipped_regime = match self.initial_regime() {
                    Regime::Standing => Regime::Turning(usize::from(speed >= 0.0)),
                    initial => initial,
                };
                let residual = self.residual(unslipped_regime, impulse, speed);
                // The law demands an impulse inside this bound.
                let demands_inside = if bound == 1 { residual < 0.0 } else { residual > 0.0 };
                if demands_inside { unslipped_regime } else { regime }
            }
            _ if impulse > max_impulse => Regime::Slipping(1),
            _ if impulse < min_impulse => Regime::Slipping(0),
            // 0.0: speed of a standing engine. The impulse is beyond its dry friction.
            Regime::Standing if self.residual(Regime::Turning(0), impulse, 0.0) < 0.0 => Regime::Turning(0),
            Regime::Standing if self.residual(Regime::Turning(1), impulse, 0.0) > 0.0 => Regime::Turning(1),
            Regime::Turning(0) if speed > 0.0 => Regime::Standing,
            Regime::Turning(1) if speed < 0.0 => Regime::Standing,
            consistent => consistent,
        }
    }

    /// Returns `speed` less the speed that the row's equation has at `impulse`, rad/s; 0 if the equation does not
    /// determine a speed.
    ///
    /// Within the bounds the equation is the law `per_speed · ω + per_impulse · p = right_hand_side`, which determines
    /// no speed if `per_speed` is 0. Dry friction of a dead engine then reduces the speed towards 0, by up to the
    /// friction over the inertia. Beyond a bound the equation is that of the viscous slip, `p + viscous · ω = bound`,
    /// which determines no speed without viscosity.
    pub(crate) fn speed_excess(&self, impulse: f32, speed: f32) -> f32 {
        let [min_impulse, max_impulse] = self.bounds;
        let excess_impulse = impulse - impulse.max(min_impulse).min(max_impulse);
        if excess_impulse != 0.0 {
            // Speed of the viscous slip: −excess / viscous.
            return if self.viscous > 0.0 { speed + excess_impulse / self.viscous } else { 0.0 };
        }
        // Value of `per_speed · speed` by the law without dry friction, and the largest part that friction takes of it.
        let (speed_term, drag_range) =
            (self.right_hand_side - self.per_impulse * impulse, self.per_impulse * self.dry_drag);
        if self.per_speed > 0.0 {
            speed - (speed_term - speed_term.clamp(-drag_range, drag_range)) / self.per_speed
        } else {
            0.0
        }
    }

    /// Returns `impulse` clamped to the bounds, N m s. A row that slips without viscous torque gets exactly its bound;
    /// with viscous torque the impulse is not clamped.
    pub(crate) fn clamp_impulse(&self, regime: Regime, impulse: f32) -> f32 {
        match regime {
            Regime::Slipping(bound) if self.viscous == 0.0 => self.bounds[bound],
            Regime::Slipping(_) => impulse,
            _ => impulse.max(self.bounds[0]).min(self.bounds[1]),
        }
    }
}

impl<L: Lane> Flywheel<L> {
    /// Builds the flywheel of `engine` for a step of `dt` s, with its speed at the start and the speed it would reach
    /// without a clutch, rad/s. The flywheel has no dry friction, and both `speed_bounds` are that speed.
    #[inline(always)]
    pub(crate) fn new(engine: &Engine, [start_speed, speed]: [L; 2], dt: f32) -> Self {
        let inverse_inertia = L::splat(1.0 / engine.effective_inertia(dt));
        Self { start_speed, speed, inverse_inertia, dry_drag: L::splat(0.0), speed_bounds: [speed; 2] }
    }

    /// Returns `speed` reduced by the dry friction, but not beyond 0, rad/s.
    #[inline(always)]
    pub(crate) fn after_dry_drag(&self, speed: L) -> L {
        let max_speed_loss = self.dry_drag * self.inverse_inertia;
        speed - speed.clamp_keeping_nan(-max_speed_loss, max_speed_loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds the clutch (50 N m s) of a dead engine at rest with 0.5 kg m² and 4 N m s of dry friction.
    fn dead_engine_clutch() -> DriveConstraint {
        let flywheel = Flywheel { inverse_inertia: 2.0, ..Flywheel::default() };
        // Ratio 3, efficiency 1, capacity 50 N m s, no impulse before.
        let mut row = DriveConstraint::clutch(&flywheel, 3.0, 1.0, 50.0, 0.0);
        // Engine at rest, efficiency 1, dry friction 4 N m s, step of 10 ms.
        row.add_dry_friction(0.0, 1.0, 4.0, 0.01);
        row
    }

    /// Checks that a dead engine stands under an impulse below its dry friction, and else turns in the direction of the
    /// push: a positive impulse drives the wheels, and its reaction turns the engine backwards (0). An impulse beyond
    /// the capacity slips. An engine that turns against its regime stands.
    #[test]
    fn a_dead_engine_stands_until_more_than_its_dry_friction_turns_it() {
        let row = dead_engine_clutch();
        for (impulse, next) in [
            (0.0, Regime::Standing),
            (3.9, Regime::Standing),
            (-3.9, Regime::Standing),
            (4.1, Regime::Turning(0)),
            (-4.1, Regime::Turning(1)),
            (51.0, Regime::Slipping(1)),
            (-51.0, Regime::Slipping(0)),
        ] {
            assert_eq!(row.next_regime(Regime::Standing, impulse, 0.0), next, "{impulse} N m s");
        }
        assert_eq!(row.next_regime(Regime::Turning(0), 5.0, 1.0), Regime::Standing, "turned backwards no more");
        assert_eq!(row.next_regime(Regime::Turning(1), -5.0, -1.0), Regime::Standing, "turned forwards no more");
    }

    /// Checks that the tolerance is a share of the new impulse plus a constant: 0.01 · 100 + 0.5 N m s, for changes of
    /// either sign.
    #[test]
    fn a_row_has_settled_when_it_changes_by_less_than_its_measure() {
        let row = DriveConstraint { tolerance: [0.01, 0.5], ..DriveConstraint::default() };
        let is_converged = |change: f32| row.has_converged([100.0 + change, 100.0], ImpulseBounds::ApproximateCone);
        assert_eq!([0.0, 1.4, -1.4, 1.6, -1.6].map(is_converged), [true, true, true, false, false]);
    }

    /// Checks the bounds of a coupling, ± friction times the step, and its tolerance: a thousandth of its impulse, and
    /// 0.01 N m times the step of 10 ms.
    #[test]
    fn a_coupling_settles_by_its_own_measure() {
        let row = DriveConstraint::coupling(
            &TorqueCoupling { friction: 100.0, ..TorqueCoupling::locked(Default::default()) },
            0.01,
        );
        assert_eq!((row.bounds, row.tolerance), ([-1.0, 1.0], [1e-3, 1e-4]));
    }
}
