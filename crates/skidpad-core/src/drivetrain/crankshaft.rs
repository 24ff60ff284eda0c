//! Torque of the crankshaft over a step before the clutch acts: of one engine, or of the engines of a batch of cars.

use crate::drivetrain::engine::Engine;
use skidpad_simd::lane::Lane;

/// Time constant of the idle governor, s. A slower governor stalls under a dropped clutch, a faster one oscillates at
/// 30 Hz.
const IDLE_TIME_CONSTANT_S: f32 = 0.1;

/// Crankshaft speed below which an engine does not fire, rad/s: a four-stroke turned backwards has no working cycle.
/// Slightly below 0, so that rounding does not decide for an engine held at rest.
const MIN_FIRING_SPEED_RAD_S: f32 = -0.1;

/// Inputs of an engine in a step.
#[derive(Clone, Copy)]
pub(crate) struct EngineInput<L: Lane> {
    /// Share of the full load, 0 to 1, see [`Engine::throttle_opening`]; 0 while the gearbox shifts.
    pub throttle: L,
    /// Torque at full load, N m.
    pub full_load: L,
    /// Whether the starter turns the engine.
    pub starter: L::Mask,
}

impl Engine {
    /// Returns the inertia to use in a step of `dt` s, kg m²: that of the engine, or the least with which drag cannot
    /// reverse the rotation, if that is more. Drag is evaluated at the start of the step; it rises by at most
    /// `c / ω_idle + 2 d` per rad/s, where it fades below idle.
    #[inline(always)]
    pub(crate) fn effective_inertia(&self, dt: f32) -> f32 {
        let [constant, per_speed] = self.drag;
        self.inertia.max(dt * (constant / self.idle_speed + 2.0 * per_speed))
    }

    /// Returns the steady torque at the clutch, N m, at a crankshaft `speed` in rad/s with the `pedal` at 0 to 1, idle
    /// governor, limiter and drag included; 0 for a dead engine, as its starter is off. The full load is that of the
    /// torque curve at this speed.
    pub fn torque_at(&self, speed: f32, pedal: f32) -> f32 {
        self.torque_at_full_load(speed, pedal, self.torque.evaluate(speed), || self.torque.max_value())
    }

    /// Returns [`Engine::torque_at`] for an engine with another torque curve. `full_load` is its torque at `speed`, and
    /// `peak_torque` returns its largest one, N m.
    #[inline(always)]
    pub(crate) fn torque_at_full_load(
        &self,
        speed: f32,
        pedal: f32,
        full_load: f32,
        peak_torque: impl FnOnce() -> f32,
    ) -> f32 {
        let input = EngineInput { throttle: self.throttle_opening(pedal), full_load, starter: false };
        // 0.0: duration of the step; the governor keeps its own time constant.
        self.crank_torque(speed, &input, peak_torque, 0.0)
    }

    /// Returns the speed after `dt` s, rad/s, from a start at `speed` and before the clutch acts: `ω + dt T / J` with
    /// the torque at the start and the effective inertia. `peak_torque` returns the largest torque of the curve, N m.
    /// Dry friction of a dead engine is left out.
    #[inline(always)]
    pub(crate) fn free_engine_speed<L: Lane>(
        &self,
        speed: L,
        input: &EngineInput<L>,
        peak_torque: impl FnOnce() -> L,
        dt: f32,
    ) -> L {
        let torque = self.crank_torque(speed, input, peak_torque, dt);
        speed + L::splat(dt) * torque / L::splat(self.effective_inertia(dt))
    }

    /// Returns the crankshaft torque over a step of `dt` s, N m: throttle times full load, minus drag as the throttle
    /// closes, plus the idle governor. The limiter reduces the throttle, and an engine that turns backwards does not
    /// fire. Drag fades linearly to 0 below idle.
    ///
    /// Below 1.1 times idle speed, the governor adds what the other terms lack to approach idle with its time constant
    /// (at least `dt`). The torque of the governor is at least 0 and at most `peak_torque`, the largest of the torque
    /// curve in N m. A dead engine has only the torque of its starter, which accelerates it towards idle in the same
    /// way: its drag acts as dry friction, outside this function.
    #[inline(always)]
    fn crank_torque<L: Lane>(&self, speed: L, input: &EngineInput<L>, peak_torque: impl FnOnce() -> L, dt: f32) -> L {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let time_constant = IDLE_TIME_CONSTANT_S.max(dt);
        // Torque that approaches idle speed with the governor's time constant, N m.
        let idle_torque =
            || (L::splat(self.idle_speed) - speed) / L::splat(time_constant) * L::splat(self.effective_inertia(dt));
        let is_firing = !speed.less(L::splat(MIN_FIRING_SPEED_RAD_S));
        let throttle = (input.throttle * self.limiter_factor(speed)).masked(is_firing);
        // Against the rotation of either sign; fades linearly below idle.
        let drag =
            self.drag_at(speed) * (one - throttle) * (speed / L::splat(self.idle_speed)).clamp_keeping_nan(-one, one);
        let driving_torque = input.full_load * throttle;
        // 1.1: the governor fades out above idle, where it only makes up for drag.
        let (is_near_idle, mut governor) = (speed.less(L::splat(self.idle_speed * 1.1)), zero);
        if L::any(is_near_idle) {
            governor =
                (idle_torque() + drag - driving_torque).clamp_keeping_nan(zero, peak_torque()).masked(is_near_idle);
        }
        let torque = driving_torque - drag + governor;
        let is_dead = self.is_dead(speed);
        if L::any(is_dead) { L::select(is_dead, idle_torque().masked(input.starter), torque) } else { torque }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivetrain::engine::tests::engine;

    /// Returns the crankshaft torque of the test engine over a step of 10 ms, N m.
    fn torque_at(speed: f32, throttle: f32, starter: bool) -> f32 {
        let engine = engine();
        let input = EngineInput { throttle, full_load: engine.torque.evaluate(speed), starter };
        engine.crank_torque(speed, &input, || engine.torque.max_value(), 0.01)
    }

    /// Returns the torque of the governor below idle, N m: `J (ω_idle − ω) / T`.
    fn governed(speed: f32) -> f32 {
        (80.0 - speed) / IDLE_TIME_CONSTANT_S * 0.2
    }

    /// Checks the torque: the curve times the pedal, less drag times the rest of the pedal. Near idle the governor's
    /// torque is added, and drag compensated. In the middle of the limiter's band, half the throttle is left.
    #[test]
    fn the_crankshaft_has_pull_less_drag_and_what_the_governor_gives() {
        for (speed, throttle, torque) in [
            (400.0, 1.0, 200.0),
            (400.0, 0.0, -110.0),
            (400.0, 0.5, 100.0 - 55.0),
            (700.0, 1.0, -185.0),
            (693.0, 1.0, 0.5 * 200.0 - 0.5 * 183.25),
            (79.0, 0.0, governed(79.0)),
            (84.0, 0.0, governed(84.0)),
            (84.0, 0.5, 100.0 - 0.5 * 31.0),
            (20.0, 1.0, 0.0),
        ] {
            let found = torque_at(speed, throttle, false);
            // Differences of numbers up to 200 N m, and of 700 rad/s over a band of 14.
            assert!((found - torque).abs() < 2e-3, "{found} instead of {torque} N m at {speed} rad/s");
        }
        assert_eq!(torque_at(20.0, 0.0, true), governed(20.0), "a starter turns a dead engine");
    }
    /// Checks that an engine of any inertia slows down to idle with its throttle closed and never reverses. Each step
    /// slows it, or moves it to at most idle speed (80 rad/s). After 20 s it idles within 0.01 rad/s.
    #[test]
    fn an_engine_comes_down_to_idle_whatever_it_weighs() {
        for inertia in [1e-6, 1e-4, 1e-3, 1e-2, 0.2] {
            let engine = Engine { inertia, ..engine() };
            for dt in [1.0, 0.1, 0.05, 1.0 / 60.0, 1e-3] {
                let mut speed = 700.0;
                for _ in 0..(20.0 / dt) as usize {
                    let input = EngineInput { throttle: 0.0, full_load: engine.torque.evaluate(speed), starter: false };
                    let next_speed = engine.free_engine_speed(speed, &input, || engine.torque.max_value(), dt);
                    assert!(
                        next_speed <= speed.max(80.0) && next_speed > 0.0,
                        "{next_speed} after {speed}: {inertia} kg m², {dt} s"
                    );
                    speed = next_speed;
                }
                // The speed approaches idle with the governor's time constant, or at once.
                assert!((speed - 80.0).abs() < 1e-2, "{speed} rad/s: {inertia} kg m², {dt} s");
            }
        }
    }
}
