//! Launch devices, which connect the engine to the gearbox of a standing car: a clutch or a torque converter.

use crate::drivetrain::engine::{Curve, Engine};
use crate::model_error::{ModelError, check_positive};
use skidpad_simd::lane::Lane;

/// Launch device between engine and gearbox.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchDevice {
    /// Dry clutch.
    Clutch(Clutch),
    /// Torque converter.
    Converter(Converter),
}

/// Dry clutch: Coulomb friction between engine and gearbox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clutch {
    /// Largest torque when fully engaged, N m, > 0.
    pub capacity: f32,
    /// Engine speed at which an automatic clutch is fully engaged, rad/s, above idle.
    pub engaged_speed: f32,
}

impl Clutch {
    /// Returns the engagement e of an automatic clutch, 0 at idle speed to 1, at the speed that its `engine` has at the
    /// end of a step of `dt` s. `speed`: that speed ω without the clutch, rad/s. The torque of the clutch slows the
    /// engine, which opens the clutch again: `e = (ω − e C dt / J − idle) / (engaged − idle)`, solved for e. The speed
    /// at the start of the step would engage too hard while the engine accelerates, by a tenth at 30 Hz, and tyres near
    /// their limit would slide.
    #[inline(always)]
    pub(crate) fn engagement<L: Lane>(&self, speed: L, engine: &Engine, dt: f32) -> L {
        let range = self.engagement_range(engine, dt);
        ((speed - L::splat(engine.idle_speed)) / L::splat(range)).clamp_keeping_nan(L::splat(0.0), L::splat(1.0))
    }

    /// Returns the range of `speed` in [`Clutch::engagement`] from idle to full engagement, rad/s.
    #[inline(always)]
    fn engagement_range(&self, engine: &Engine, dt: f32) -> f32 {
        self.engaged_speed - engine.idle_speed + self.capacity * dt / engine.effective_inertia(dt)
    }

    /// Returns the capacity of an automatic clutch as an impulse over a step of `dt` s: 0 up to idle speed, then linear
    /// in the speed of its `engine` up to full capacity.
    pub(crate) fn capacity_law(&self, engine: &Engine, dt: f32) -> ClutchLaw {
        let full_capacity = self.capacity * dt;
        ClutchLaw {
            idle: engine.idle_speed,
            per_speed: full_capacity / self.engagement_range(engine, dt),
            full_capacity,
        }
    }
}

/// Capacity of an automatic clutch over the speed that its engine would have without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClutchLaw {
    /// Engine speed up to which the clutch is open, rad/s.
    pub idle: f32,
    /// Increase of the capacity per engine speed, N m s².
    pub per_speed: f32,
    /// Capacity of the closed clutch over a step, N m s.
    pub full_capacity: f32,
}

impl ClutchLaw {
    /// Returns the largest impulse the clutch carries at an engine `speed` in rad/s, N m s.
    pub fn capacity(&self, speed: f32) -> f32 {
        ((speed - self.idle) * self.per_speed).clamp(0.0, self.full_capacity)
    }

    /// Returns the lowest engine speed at which the clutch carries `impulse` N m s, or its full capacity if that is
    /// less, rad/s.
    pub fn speed_for(&self, impulse: f32) -> f32 {
        self.idle + impulse.clamp(0.0, self.full_capacity) / self.per_speed
    }
}

/// Torque converter: the impeller turns with the engine, the turbine with the gearbox.
///
/// The impeller takes `C(ν) ω²` at its own speed ω, the turbine gives `R(ν)` times that torque, ν the speed ratio of
/// turbine and impeller (dimensional analysis of hydrodynamic drives: Dubbel, "Handbook of Mechanical Engineering",
/// couplings). When the turbine is faster than the impeller, both change roles, and the torque is not multiplied.
#[derive(Clone, Debug, PartialEq)]
pub struct Converter {
    /// Capacity C, N m s², over the speed ratio, each ≥ 0 and 0 at a ratio of 1.
    pub capacity: Curve,
    /// Torque ratio R over the speed ratio, each > 0.
    pub torque_ratio: Curve,
    /// Lock-up clutch; `None` if the converter has none.
    pub lock_up: Option<LockUp>,
}

/// Lock-up clutch that bridges a torque converter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockUp {
    /// Largest torque, N m, > 0.
    pub capacity: f32,
    /// Turbine speed above which the clutch is closed, rad/s, > 0.
    pub speed: f32,
    /// Lowest gear in which the clutch closes, ≥ 1.
    pub lowest_gear: i8,
}

impl LockUp {
    /// Returns whether the clutch is closed in `gear` with the turbine at `turbine_speed` rad/s.
    pub fn is_closed(&self, gear: i8, turbine_speed: f32) -> bool {
        gear >= self.lowest_gear && turbine_speed > self.speed
    }
}

/// Number of bisections in the search for an impeller speed. More would only refine the last bits of an f32.
const IMPELLER_BISECTIONS: usize = 22;

/// Returns the speed between `low` and `high`, rad/s, above which `is_beyond` is true, by [`IMPELLER_BISECTIONS`]
/// bisections. Returns an end if `is_beyond` does not change.
#[inline]
fn bisect([mut low, mut high]: [f32; 2], is_beyond: impl Fn(f32) -> bool) -> f32 {
    for _ in 0..IMPELLER_BISECTIONS {
        let middle = 0.5 * (low + high);
        if is_beyond(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

impl Converter {
    /// Returns the torques that the impeller takes from the engine and the turbine gives the gearbox, N m, at their
    /// speeds, rad/s: `C(ν) ω²` and R(ν) times that, with ν = turbine over impeller. If the turbine is faster, both are
    /// `−C(impeller_speed / turbine_speed) · turbine²`. A negative speed is treated as the curves' first point.
    pub fn torques(&self, impeller_speed: f32, turbine_speed: f32) -> [f32; 2] {
        if turbine_speed <= impeller_speed {
            let ratio = if impeller_speed > 0.0 { turbine_speed / impeller_speed } else { 0.0 };
            let impeller_torque = self.capacity.evaluate(ratio) * impeller_speed * impeller_speed;
            return [impeller_torque, impeller_torque * self.torque_ratio.evaluate(ratio)];
        }
        let overrun_torque = self.capacity.evaluate(impeller_speed / turbine_speed) * turbine_speed * turbine_speed;
        [-overrun_torque, -overrun_torque]
    }

    /// Returns the impeller speed `w`, rad/s, that solves `w = free_speed − per_torque · T(w)` with the turbine at
    /// `turbine_speed` rad/s: `free_speed` is the speed without torque (rad/s), `per_torque` its loss per N m. Returns
    /// 0 instead of a backward speed; engine drag never causes one.
    ///
    /// Between two points of the capacity, `c = a + b r`, the torque `c w²` at the ratio r = turbine / w is
    /// `a w² + b turbine w`, and on the overrun, where r = w / turbine, `−a turbine² − b turbine w`: a quadratic or a
    /// linear equation of the one piece in which it balances. The search visits the pieces from equal speeds (ratio 1)
    /// towards the lowest ratio, and takes the first one at whose far end the residual has changed its sign. Below the
    /// lowest ratio, and with the turbine at rest or backwards, the capacity is that of the first point. The result is
    /// clamped to the speeds of its piece.
    pub(crate) fn impeller_speed(&self, free_speed: f32, per_torque: f32, turbine_speed: f32) -> f32 {
        let points = self.capacity.points();
        // The impeller drives the turbine, not the reverse.
        let is_driving = turbine_speed <= 0.0 || free_speed >= turbine_speed;
        // Positive if the impeller must be faster, rad/s. Index 0 is the torque of the impeller.
        let speed_residual = |speed: f32| free_speed - per_torque * self.torques(speed, turbine_speed)[0] - speed;
        // Search piece by piece, starting at equal speeds: upwards if the impeller drives, else downwards.
        let mut near_end = turbine_speed.max(0.0);
        // With the turbine at rest or backwards, every impeller speed has the capacity of the first point.
        let piece_count = if turbine_speed > 0.0 { points.len() } else { 0 };
        for k in (0..piece_count).rev() {
            let [ratio, capacity] = points[k];
            // Beyond the last point the capacity is constant up to a ratio of 1.
            let [next_ratio, next_capacity] = points.get(k + 1).copied().unwrap_or([1.0, capacity]);
            if next_ratio <= ratio {
                continue;
            }
            // Speed at the other end of this piece.
            let far_end = match is_driving {
                true if ratio > 0.0 => turbine_speed / ratio,
                true => f32::INFINITY,
                false => turbine_speed * ratio,
            };
            // The balance lies before an end that is too fast (driving) or too slow (overrun).
            if far_end == f32::INFINITY || (speed_residual(far_end) < 0.0) == is_driving {
                let slope = (next_capacity - capacity) / (next_ratio - ratio);
                let coefficients =
                    [capacity - slope * ratio, slope * turbine_speed].map(|coefficient| per_torque * coefficient);
                // Within the piece, whichever end is faster.
                return solve_balance(coefficients, free_speed, turbine_speed, is_driving)
                    .max(near_end.min(far_end))
                    .min(near_end.max(far_end));
            }
            near_end = far_end;
        }
        // No piece balances: constant capacity below the lowest ratio.
        let coefficients = [per_torque * points[0][1], 0.0];
        let [min_speed, max_speed] = if is_driving { [near_end, f32::INFINITY] } else { [0.0, near_end] };
        solve_balance(coefficients, free_speed, turbine_speed, is_driving).max(min_speed).min(max_speed)
    }

    /// Returns the impeller speed, rad/s from 0 to `max_speed`, at which the turbine gives `torque` N m while it turns
    /// with `turbine_speed` rad/s, by bisection; nearly `max_speed` if the torque is not reached.
    pub(crate) fn impeller_speed_for(&self, torque: f32, turbine_speed: f32, max_speed: f32) -> f32 {
        let is_below_torque = |speed: f32| self.torques(speed, turbine_speed)[1] < torque;
        // Beyond the result as soon as the torque is reached.
        bisect([0.0, max_speed.max(0.0)], |speed| !is_below_torque(speed))
    }

    /// Returns the impeller speed, rad/s from 0 to `max_speed`, at which an engine's `engine_torque` at that speed
    /// equals the impeller's torque with the turbine at `turbine_speed` rad/s, by bisection; nearly `max_speed` if the
    /// engine is stronger up to there.
    pub fn balance_speed(&self, engine_torque: impl Fn(f32) -> f32, turbine_speed: f32, max_speed: f32) -> f32 {
        bisect([0.0, max_speed], |speed| engine_torque(speed) < self.torques(speed, turbine_speed)[0])
    }

    /// Checks the curves and the lock-up: speed ratios within 0 to 1, capacities not negative and 0 at ratio 1, torque
    /// ratios positive, and positive capacity, speed and lowest gear of the lock-up. Returns the first violation.
    fn check(&self) -> Result<(), ModelError> {
        let has_valid_ratios = |curve: &Curve| curve.points().iter().all(|point| (0.0..=1.0).contains(&point[0]));
        if !has_valid_ratios(&self.capacity) || !has_valid_ratios(&self.torque_ratio) {
            return Err(ModelError::RuleViolated("speed ratios of a torque converter must be from 0 to 1"));
        }
        if self.capacity.evaluate(1.0) != 0.0 || self.capacity.points().iter().any(|point| point[1] < 0.0) {
            return Err(ModelError::RuleViolated(
                "the capacity of a torque converter must be at least 0, and 0 at a speed ratio of 1",
            ));
        }
        self.torque_ratio
            .points()
            .iter()
            .try_for_each(|point| check_positive("torque ratio of a converter", point[1]))?;
        let Some(lock_up) = &self.lock_up else { return Ok(()) };
        check_positive("capacity of a lock-up clutch", lock_up.capacity)?;
        check_positive("speed of a lock-up clutch", lock_up.speed)?;
        check_positive("lowest gear of a lock-up clutch", lock_up.lowest_gear.into())
    }
}

/// Returns the impeller speed w that balances the engine on one linear piece of the capacity curve, rad/s.
/// `free_speed`: speed before the converter acts, rad/s; `[a, b]`: coefficients of the speed loss by the torque, s/rad
/// and –. If the impeller drives (`is_driving`), w solves `w = free_speed − (a w² + b w)` (positive root; a negative
/// discriminant counts as 0). Otherwise the turbine is faster, and w solves `w = free_speed + a turbine² + b w`.
fn solve_balance([a, b]: [f32; 2], free_speed: f32, turbine_speed: f32, is_driving: bool) -> f32 {
    if !is_driving {
        return (free_speed + a * turbine_speed * turbine_speed) / (1.0 - b);
    }
    let linear = 1.0 + b;
    let root = (linear * linear + 4.0 * a * free_speed).max(0.0).sqrt();
    // Use the form of the root that does not subtract.
    if linear >= 0.0 { 2.0 * free_speed / (linear + root) } else { (root - linear) / (2.0 * a) }
}

impl LaunchDevice {
    /// Checks a clutch (capacity > 0, engaged speed above the engine's `idle_speed`, rad/s) or a converter. Returns the
    /// first violation.
    pub(crate) fn check(&self, idle_speed: f32) -> Result<(), ModelError> {
        match self {
            LaunchDevice::Clutch(clutch) => {
                check_positive("clutch capacity", clutch.capacity)?;
                check_positive("clutch engagement above idle", clutch.engaged_speed - idle_speed)
            }
            LaunchDevice::Converter(converter) => converter.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a converter with a capacity of 4e-3 N m s² and twice the torque at a standstill, without lock-up.
    fn converter() -> Converter {
        Converter {
            capacity: Curve::new(vec![[0.0, 4e-3], [0.85, 3e-3], [1.0, 0.0]]).expect("valid"),
            torque_ratio: Curve::new(vec![[0.0, 2.0], [0.85, 1.0]]).expect("valid"),
            lock_up: None,
        }
    }

    /// Checks that the law has the capacity of [`Clutch::engagement`], and that `speed_for` is its inverse.
    #[test]
    fn a_clutch_that_works_by_itself_has_a_capacity_over_the_speed_of_its_engine() {
        let (clutch, dt) = (Clutch { capacity: 600.0, engaged_speed: 200.0 }, 0.01);
        let engine = crate::drivetrain::engine::tests::engine();
        let law = clutch.capacity_law(&engine, dt);
        for speed in [0.0, 80.0, 100.0, 150.0, 300.0] {
            let capacity = law.capacity(speed);
            // 6.0: full capacity, 600 N m over 0.01 s, in N m s. Products of three numbers in f32.
            assert!(
                (capacity - 6.0 * clutch.engagement(speed, &engine, dt)).abs() < 1e-5,
                "{capacity} at {speed} rad/s"
            );
            if 0.0 < capacity && capacity < 6.0 {
                assert!((law.speed_for(capacity) - speed).abs() < 1e-4, "{speed} rad/s");
            }
        }
        assert_eq!(law.speed_for(9.0), law.speed_for(6.0), "no speed carries more than the clutch has");
    }

    /// Checks `C ω²` and twice that on the turbine at a standstill, no torque at equal speeds and at rest, and one
    /// negative torque on both sides while the turbine is faster.
    #[test]
    fn torques_meet_their_curves_and_change_sign_at_one() {
        let converter = converter();
        assert_eq!(converter.torques(250.0, 0.0), [250.0, 500.0]);
        assert_eq!(converter.torques(200.0, 200.0), [0.0, 0.0]);
        let [impeller_torque, turbine_torque] = converter.torques(200.0, 250.0);
        assert!(impeller_torque < 0.0 && impeller_torque == turbine_torque);
        assert_eq!(converter.torques(0.0, 0.0), [0.0, 0.0]);
    }

    /// Checks that ratios outside 0 to 1, a capacity at equal speeds, a negative capacity and a torque ratio of 0 are
    /// refused.
    #[test]
    fn broken_curves_are_refused() {
        let curve = |points: &[[f32; 2]]| Curve::new(points.to_vec()).expect("rising speeds");
        let with_capacity = |points| Converter { capacity: curve(points), ..converter() };
        let with_ratio = |points| Converter { torque_ratio: curve(points), ..converter() };
        assert_eq!(converter().check(), Ok(()));
        assert!(with_capacity(&[[0.0, 4e-3], [1.0, 0.0], [1.5, 0.0]]).check().is_err(), "a ratio beyond 1");
        assert!(with_capacity(&[[0.0, 4e-3], [1.0, 1e-3]]).check().is_err(), "it carries at equal speeds");
        assert!(with_capacity(&[[0.0, -1e-3], [1.0, 0.0]]).check().is_err(), "it pulls");
        assert!(with_ratio(&[[-0.5, 2.0], [0.85, 1.0]]).check().is_err(), "a ratio below 0");
        assert!(with_ratio(&[[0.0, 2.0], [0.85, 0.0]]).check().is_err(), "no torque");
    }

    /// Checks the stall speed of an engine with 250 N m, `√(250 / 4e-3)` rad/s, and that impeller speeds satisfy their
    /// equation within 0.02 rad/s: with the turbine at rest, on the overrun, from a standstill, and at equal speeds.
    #[test]
    fn speeds_balance() {
        let converter = converter();
        assert!((converter.balance_speed(|_| 250.0, 0.0, 700.0) - 250.0).abs() < 1e-3);
        for (free_speed, turbine_speed) in [(300.0, 0.0), (100.0, 250.0), (0.0, 100.0), (200.0, 200.0)] {
            let speed = converter.impeller_speed(free_speed, 0.2, turbine_speed);
            let residual = free_speed - 0.2 * converter.torques(speed, turbine_speed)[0] - speed;
            assert!(residual.abs() < 0.02, "{free_speed} {turbine_speed}: {speed}, {residual}");
        }
    }

    /// Checks the balance at many speeds, for steps and engines from 1 kHz and 1 kg m² to 20 Hz and 0.02 kg m². Curves
    /// may start above a ratio of 0 and may rise. Either the residual is a few roundings, or the impeller rests at 0
    /// and its free speed less torque would be negative.
    #[test]
    fn the_impeller_balances_wherever_it_is_driven() {
        let curve = |points: &[[f32; 2]]| Curve::new(points.to_vec()).expect("rising speeds");
        let shapes: [&[[f32; 2]]; 5] = [
            &[[0.0, 4e-3], [0.85, 3e-3], [1.0, 0.0]],
            &[[0.0, 2e-3], [0.5, 2.5e-3], [0.9, 1e-3], [0.97, 8e-4], [1.0, 0.0]],
            &[[0.6, 3e-3], [1.0, 0.0]],
            &[[0.0, 0.0], [0.3, 3e-3], [1.0, 0.0]],
            &[[0.0, 4e-3], [0.9, 0.0]],
        ];
        for capacity in shapes {
            let converter = Converter { capacity: curve(capacity), ..converter() };
            for per_torque in [1e-3, 0.04, 0.25, 2.5] {
                // Free speeds and turbine speeds from −100 to 700 rad/s.
                let cases = (-2..=14).flat_map(|free_speed| {
                    (-2..=14)
                        .map(move |turbine_speed| [free_speed, turbine_speed].map(|multiple| 50.0 * multiple as f32))
                });
                for [free_speed, turbine_speed] in cases {
                    let speed = converter.impeller_speed(free_speed, per_torque, turbine_speed);
                    let torque = converter.torques(speed, turbine_speed)[0];
                    let residual = free_speed - per_torque * torque - speed;
                    let scale = free_speed.abs().max(speed).max((per_torque * torque).abs());
                    let is_at_rest = speed == 0.0 && residual <= 0.0;
                    // A few roundings of f32; more if the torque changes steeply with the speed.
                    assert!(
                        is_at_rest || residual.abs() <= 2e-5 * scale * (1.0 + per_torque * 50.0),
                        "{capacity:?} {per_torque} {free_speed} {turbine_speed}: {speed}, {residual}"
                    );
                }
            }
        }
    }
}
