//! Engine and gearbox.

use crate::model_error::{ModelError, check_not_negative, check_positive};
use skidpad_simd::lane::Lane;

/// Share of the limiter speed below the limit over which the torque fades to 0.
const LIMITER_BAND: f32 = 0.02;

/// Quantity over speed, linear between points and constant outside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Speed and value of each point, by rising speed.
    points: Box<[[f32; 2]]>,
}

impl Curve {
    /// Builds a curve of `points` (speed, value) with strictly rising speeds.
    ///
    /// # Errors
    ///
    /// Fails for fewer than two points, a speed that does not rise, or a speed or value that is not finite.
    pub fn new(points: Vec<[f32; 2]>) -> Result<Self, &'static str> {
        if points.len() < 2 {
            return Err("needs at least two points");
        }
        if !points.iter().flatten().all(|v| v.is_finite()) {
            return Err("has a value that is not finite");
        }
        if !points.windows(2).all(|pair| pair[0][0] < pair[1][0]) {
            return Err("speeds must increase strictly");
        }
        Ok(Self { points: points.into() })
    }

    /// Returns the points (speed, value) by rising speed.
    pub fn points(&self) -> &[[f32; 2]] {
        &self.points
    }

    /// Returns the values of the points by rising speed, for changes. Every value must be finite.
    #[cfg(feature = "simd_batch")]
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.points.iter_mut().map(|[_, value]| value)
    }

    /// Returns the value at `speed` by linear interpolation; that of the first or last point outside the points. NaN
    /// gives the value of the first point.
    pub fn evaluate(&self, speed: f32) -> f32 {
        self.interpolate(speed, |i| self.points[i][1])
    }

    /// Returns the value at `speed` as [`Curve::evaluate`] does, but with `value(i)` instead of the value of point `i`.
    #[inline(always)]
    pub(crate) fn interpolate(&self, speed: f32, value: impl Fn(usize) -> f32) -> f32 {
        let points = &self.points;
        // Index of the first point above the speed.
        let next = points.partition_point(|p| p[0] <= speed);
        if next == 0 {
            return value(0);
        }
        if next == points.len() {
            return value(points.len() - 1);
        }
        let [speed_below, speed_above] = [points[next - 1][0], points[next][0]];
        let [value_below, value_above] = [value(next - 1), value(next)];
        value_below + (value_above - value_below) * ((speed - speed_below) / (speed_above - speed_below))
    }

    /// Returns the value of [`Curve::evaluate`] in each lane, bit for bit. No speed may be NaN. Visits the points in
    /// order, keeps the ends of the piece of each lane, and stops when all lanes have found theirs. Fewer than two
    /// points, which no curve has, would give 0.
    #[inline(always)]
    #[cfg(feature = "simd_batch")]
    pub(crate) fn evaluate_lanes<L: Lane>(&self, speed: L) -> L {
        self.evaluate_values(speed, |i| L::splat(self.points[i][1]))
    }

    /// Interpolates each lane linearly as [`Curve::evaluate_lanes`] does, with the speeds of this curve, but with
    /// `value(i)` instead of the value of point `i`. The lanes can thus have different values at the same speeds.
    #[inline(always)]
    #[cfg(feature = "simd_batch")]
    pub(crate) fn evaluate_values<L: Lane>(&self, speed: L, value: impl Fn(usize) -> L) -> L {
        let lanes = |i: usize| [L::splat(self.points[i][0]), value(i)];
        let count = self.points.len();
        if count < 2 {
            // No curve has fewer than two points.
            return L::default();
        }
        let ([first_speed, first_value], [last_speed, last_value]) = (lanes(0), lanes(count - 1));
        // Ends of each lane's piece: speeds a, b with their values; c is the next point.
        let ([mut a, mut value_a], [mut b, mut value_b]) = ([first_speed, first_value], lanes(1));
        let [mut c, mut value_c] = [b, value_b];
        for point in 2..count {
            let is_before_c = speed.less(c);
            if !L::any(!is_before_c) {
                break;
            }
            let [d, value_d] = lanes(point);
            (a, value_a) = (L::select(is_before_c, a, c), L::select(is_before_c, value_a, value_c));
            (b, value_b) = (L::select(is_before_c, b, d), L::select(is_before_c, value_b, value_d));
            (c, value_c) = (d, value_d);
        }
        let value = value_a + (value_b - value_a) * ((speed - a) / (b - a));
        L::select(speed.less(first_speed), first_value, L::select(speed.less(last_speed), value, last_value))
    }

    /// Returns the largest value of all points; this is the largest value of the curve.
    pub fn max_value(&self) -> f32 {
        self.points.iter().fold(f32::MIN, |m, p| m.max(p[1]))
    }
}

/// Combustion engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Full-load torque (N m) over crankshaft speed (rad/s).
    pub torque: Curve,
    /// Drag with the throttle closed: `[N m, N m s]`, constant and per rad/s, each ≥ 0. The drag of a running engine
    /// fades below idle. A dead engine has it as dry friction, which holds the engine at rest and acts against either
    /// rotation.
    pub drag: [f32; 2],
    /// Target speed of the idle governor, rad/s, > 0.
    pub idle_speed: f32,
    /// Speed at which the limiter has reduced the torque to 0, rad/s, > `idle_speed`.
    pub limiter_speed: f32,
    /// Moment of inertia of crankshaft and flywheel, kg m², > 0.
    pub inertia: f32,
    /// Share of the full-load torque (0 to 1) over the pedal (0 to 1). `None`: the share is the pedal position.
    pub throttle_map: Option<Curve>,
    /// Speed below which the engine dies, rad/s, below `idle_speed`. A dead engine stands until a starter or the car
    /// turns it faster. 0: it never dies; the governor then recovers it even from backward rotation.
    pub stall_speed: f32,
}

/// Gear ratios and shift speeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Gearbox {
    /// Forward ratios, first gear first, each > 0.
    pub forward: Box<[f32]>,
    /// Reverse ratio, > 0.
    pub reverse: f32,
    /// Final drive ratio, > 0.
    pub final_drive: f32,
    /// Share of the power that reaches the wheels, in (0, 1].
    pub efficiency: f32,
    /// Duration of a shift, in which nothing is driven, s, ≥ 0.
    pub shift_time: f32,
    /// Engine speed for automatic upshifts at full throttle, rad/s.
    pub up_speed: f32,
    /// Engine speed for automatic upshifts with the throttle closed, rad/s. Between both throttles the speed is
    /// interpolated.
    pub easy_up_speed: f32,
    /// Engine speed for automatic downshifts with the throttle closed, rad/s.
    pub down_speed: f32,
    /// Engine speed for automatic downshifts at full throttle, rad/s. Between both throttles the speed is interpolated.
    pub kick_down_speed: f32,
    /// Control of a continuous ratio between the first and the last forward ratio; `None` for fixed gears.
    pub cvt: Option<Cvt>,
}

/// Control of a continuously variable gearbox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cvt {
    /// Target engine speeds with the throttle closed and at full throttle, rad/s, each > 0. Between both the speed is
    /// interpolated.
    pub engine_speeds: [f32; 2],
    /// Largest rate of change of the ratio, 1/s, > 0.
    pub max_ratio_rate: f32,
}

impl Cvt {
    /// Returns the target engine speed at a `throttle` of 0 to 1, rad/s.
    pub fn target_speed(&self, throttle: f32) -> f32 {
        self.engine_speeds[0] + (self.engine_speeds[1] - self.engine_speeds[0]) * throttle
    }
}

impl Gearbox {
    /// Returns the engine turns per wheel turn in `gear`, final drive included: negative in reverse (any negative
    /// gear), 0 in neutral or for a gear that does not exist.
    pub fn ratio(&self, gear: i8) -> f32 {
        match gear {
            0 => 0.0,
            g if g < 0 => -self.reverse * self.final_drive,
            g => self.forward.get(g as usize - 1).map_or(0.0, |r| r * self.final_drive),
        }
    }

    /// Returns the engine turns per wheel turn, see [`Gearbox::ratio`]. `ratio`: present ratio of a continuous gearbox
    /// in a forward gear, without the final drive; unused otherwise.
    pub fn ratio_at(&self, gear: i8, ratio: f32) -> f32 {
        if self.cvt.is_some() && gear > 0 { ratio * self.final_drive } else { self.ratio(gear) }
    }

    /// Returns the engine turns per wheel turn, see [`Gearbox::ratio`]. A continuous gearbox in a forward gear has the
    /// ratio it moves to at this `throttle` (0 to 1), reached at once. `shaft_speed`: speed of its output over the
    /// final drive ratio, that is the mean wheel speed, rad/s.
    pub fn ratio_for(&self, gear: i8, shaft_speed: f32, throttle: f32) -> f32 {
        self.ratio_at(gear, self.cvt.map_or(0.0, |cvt| self.target_ratio(&cvt, shaft_speed, throttle)))
    }

    /// Returns the ratio a continuous gearbox moves to, without the final drive: target engine speed over the speed of
    /// the gearbox output, clamped between the last and the first forward ratio. At a standstill or backwards that is
    /// the first (lowest gear's) ratio. `shaft_speed`: speed of its output over the final drive, rad/s.
    pub(crate) fn target_ratio(&self, cvt: &Cvt, shaft_speed: f32, throttle: f32) -> f32 {
        let (max_ratio, min_ratio) = (self.forward[0], self.forward[self.forward.len() - 1]);
        let propeller_speed = (shaft_speed * self.final_drive).max(f32::MIN_POSITIVE);
        (cvt.target_speed(throttle) / propeller_speed).min(max_ratio).max(min_ratio)
    }

    /// Clamps `gear` to the gears that exist, from −1 (reverse). A continuous gearbox has a single forward gear.
    pub fn clamp_gear(&self, gear: i8) -> i8 {
        let forward_count = if self.cvt.is_some() { 1 } else { self.forward.len().min(i8::MAX as usize) };
        gear.clamp(-1, forward_count as i8)
    }

    /// Returns the engine speed above which the gearbox shifts up at a `throttle` of 0 to 1, rad/s.
    #[inline(always)]
    pub(crate) fn up_speed_at<L: Lane>(&self, throttle: L) -> L {
        L::splat(self.easy_up_speed) + L::splat(self.up_speed - self.easy_up_speed) * throttle
    }

    /// Returns the engine speed below which the gearbox shifts down at a `throttle` of 0 to 1, rad/s.
    #[inline(always)]
    pub(crate) fn down_speed_at<L: Lane>(&self, throttle: L) -> L {
        L::splat(self.down_speed) + L::splat(self.kick_down_speed - self.down_speed) * throttle
    }

    /// Returns the largest throttle, 0 to 1, at which the gearbox does not shift down from an engine `speed` in rad/s.
    /// Inverse of [`Gearbox::down_speed_at`]. Returns 1 if the throttle does not change the downshift speed.
    pub(crate) fn kick_down_pedal(&self, speed: f32) -> f32 {
        let range = self.kick_down_speed - self.down_speed;
        if range > 0.0 { ((speed - self.down_speed) / range).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Returns the lowest forward gear in which the engine turns slower than the upshift speed at closed throttle; the
    /// top gear if there is none. `shaft_speed`: mean wheel speed weighted by the torque shares, rad/s. A continuous
    /// gearbox has the gear 1.
    pub(crate) fn rolling_gear(&self, shaft_speed: f32) -> i8 {
        let top_gear = self.clamp_gear(i8::MAX);
        (1..=top_gear).find(|&gear| shaft_speed * self.ratio(gear) < self.easy_up_speed).unwrap_or(top_gear)
    }

    /// Checks the values of the gearbox. Returns the first violation.
    ///
    /// - Above 0: ratios and efficiency, which is at most 1 (to rounding). Not negative: shift time and kick-down
    ///   speed.
    /// - The upshift speed with the throttle closed exceeds the downshift speed there. The upshift speed at full
    ///   throttle exceeds both downshift speeds.
    /// - A continuous gearbox has two forward ratios, the first not smaller, and a ratio rate and engine speeds above
    ///   0.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_positive("final drive", self.final_drive)?;
        check_positive("reverse ratio", self.reverse)?;
        check_positive("efficiency", self.efficiency)?;
        check_positive("1 + epsilon - efficiency", 1.000_1 - self.efficiency)?;
        check_not_negative("shift time", self.shift_time)?;
        self.forward.iter().try_for_each(|&r| check_positive("gear ratio", r))?;
        check_positive("easy up-shift speed above down-shift speed", self.easy_up_speed - self.down_speed)?;
        check_not_negative("kick-down speed", self.kick_down_speed)?;
        check_positive(
            "up-shift speed above down-shift speed",
            self.up_speed - self.down_speed.max(self.kick_down_speed),
        )?;
        let Some(cvt) = &self.cvt else { return Ok(()) };
        if self.forward.len() != 2 || self.forward[0] < self.forward[1] {
            return Err(ModelError::RuleViolated(
                "a continuously variable gearbox needs two forward ratios, the higher ratio first",
            ));
        }
        check_positive("ratio rate of a continuously variable gearbox", cvt.max_ratio_rate)?;
        cvt.engine_speeds
            .iter()
            .try_for_each(|&speed| check_positive("engine speed of a continuously variable gearbox", speed))
    }
}

impl Engine {
    /// Returns the share of the torque that the limiter leaves at `speed` rad/s: 1 up to 2 % below the limiter speed,
    /// from there linearly to 0 at that speed.
    #[inline(always)]
    pub(crate) fn limiter_factor<L: Lane>(&self, speed: L) -> L {
        let share = (L::splat(self.limiter_speed) - speed) / L::splat(LIMITER_BAND * self.limiter_speed);
        share.clamp_keeping_nan(L::splat(0.0), L::splat(1.0))
    }

    /// Returns the share of the full-load torque at a `pedal` of 0 to 1, from the throttle map; the pedal itself
    /// without a map.
    pub fn throttle_opening(&self, pedal: f32) -> f32 {
        self.throttle_map.as_ref().map_or(pedal, |map| map.evaluate(pedal))
    }

    /// Returns whether the engine is dead: its crankshaft `speed` in rad/s (negative backwards) is below the stall
    /// speed. Engines with `stall_speed` 0 never die.
    pub fn is_dead<L: Lane>(&self, speed: L) -> L::Mask {
        if self.stall_speed > 0.0 { speed.less(L::splat(self.stall_speed)) } else { L::Mask::default() }
    }

    /// Returns the drag with the throttle closed at a crankshaft `speed` of either sign in rad/s: `c + d |ω|`, N m, ≥
    /// 0.
    #[inline(always)]
    pub(crate) fn drag_at<L: Lane>(&self, speed: L) -> L {
        L::splat(self.drag[0]) + L::splat(self.drag[1]) * speed.abs()
    }

    /// Returns the largest dry friction of a dead engine at `speed` rad/s, N m; 0 for a running engine.
    pub(crate) fn dry_drag(&self, speed: f32) -> f32 {
        if self.is_dead(speed) { self.drag_at(speed) } else { 0.0 }
    }

    /// Checks speeds, inertia and drag: 0 ≤ stall speed < idle < limiter, inertia > 0, drag ≥ 0, and shares of the
    /// throttle map within 0 to 1. Returns the first violation. The torque curve is not checked.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_positive("engine idle speed", self.idle_speed)?;
        check_positive("engine speed limit above idle speed", self.limiter_speed - self.idle_speed)?;
        check_positive("engine inertia", self.inertia)?;
        check_not_negative("engine drag", self.drag[0])?;
        check_not_negative("engine drag per engine speed", self.drag[1])?;
        check_not_negative("stall speed of the engine", self.stall_speed)?;
        check_positive("idle speed above the stall speed of the engine", self.idle_speed - self.stall_speed)?;
        // Points (pedal, share of the torque); none without a map.
        let shares = self.throttle_map.as_ref().map_or(&[][..], Curve::points);
        if shares.iter().any(|point| !(0.0..=1.0).contains(&point[1])) {
            return Err(ModelError::RuleViolated("values of a throttle map must be from 0 to 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds an engine with 200 N m at every speed and a drag of 10 N m and 0.25 N m s. The engine idles at 80 rad/s,
    /// dies below 40 rad/s, is limited to 700 rad/s, and has 0.2 kg m².
    pub(crate) fn engine() -> Engine {
        Engine {
            torque: Curve::new(vec![[100.0, 200.0], [600.0, 200.0]]).expect("valid"),
            drag: [10.0, 0.25],
            idle_speed: 80.0,
            limiter_speed: 700.0,
            inertia: 0.2,
            throttle_map: None,
            stall_speed: 40.0,
        }
    }

    /// Checks the values at, between and outside the points, alone and as a lane of a batch, and the largest value.
    #[test]
    fn a_curve_hits_its_points_and_is_flat_outside() {
        let curve = Curve::new(vec![[100.0, 393.0], [460.0, 475.0], [628.0, 373.0]]).expect("valid");
        for (speed, torque) in
            [(0.0, 393.0), (100.0, 393.0), (280.0, 434.0), (460.0, 475.0), (628.0, 373.0), (900.0, 373.0)]
        {
            assert_eq!(curve.evaluate(speed), torque, "at {speed} rad/s");
            #[cfg(feature = "simd_batch")]
            assert_eq!(curve.evaluate_lanes(speed), torque, "at {speed} rad/s in a lane");
        }
        assert_eq!(curve.max_value(), 475.0);
    }

    /// Checks that a single point, equal speeds and a value of NaN are refused.
    #[test]
    fn a_broken_curve_is_refused() {
        assert!(Curve::new(vec![[1.0, 1.0]]).is_err());
        assert!(Curve::new(vec![[1.0, 1.0], [1.0, 2.0]]).is_err());
        assert!(Curve::new(vec![[1.0, f32::NAN], [2.0, 2.0]]).is_err());
    }

    /// Checks the ratios of reverse, neutral, both forward gears, and a third gear that does not exist (0).
    #[test]
    fn a_gear_turns_the_engine_by_its_ratio_times_that_of_the_final_drive() {
        let gearbox = Gearbox {
            forward: [3.5, 2.0].into(),
            reverse: 3.0,
            final_drive: 4.0,
            efficiency: 0.9,
            shift_time: 0.2,
            up_speed: 600.0,
            easy_up_speed: 300.0,
            down_speed: 120.0,
            kick_down_speed: 250.0,
            cvt: None,
        };
        for (gear, ratio) in [(-1, -12.0), (0, 0.0), (1, 14.0), (2, 8.0), (3, 0.0)] {
            assert_eq!(gearbox.ratio(gear), ratio, "in gear {gear}");
        }
    }

    /// Checks the drag at running speeds, at the stall speed and below it in both directions. Only below the stall
    /// speed the drag is dry friction, too.
    #[test]
    fn drag_grows_with_speed_and_a_dead_engine_keeps_it_as_friction() {
        let engine = engine();
        for (speed, drag, dry) in [(400.0, 110.0, 0.0), (40.0, 20.0, 0.0), (20.0, 15.0, 15.0), (-20.0, 15.0, 15.0)] {
            assert_eq!([engine.drag_at(speed), engine.dry_drag(speed)], [drag, dry], "at {speed} rad/s");
        }
    }

    /// Checks the target engine speed with the throttle closed, a quarter open and full.
    #[test]
    fn a_continuous_gearbox_aims_between_its_speeds_as_the_pedal_tells() {
        let continuous = Cvt { engine_speeds: [150.0, 550.0], max_ratio_rate: 1.0 };
        assert_eq!([0.0, 0.25, 1.0].map(|throttle| continuous.target_speed(throttle)), [150.0, 250.0, 550.0]);
    }
}
