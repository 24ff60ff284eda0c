//! Steering: from the angle the driver reaches to the road-wheel angles and axle directions.

pub(crate) mod parameters;
pub(crate) mod rows;

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::lane::{Four, Lane};
use crate::math;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::parameters::Axle;

impl Vehicle {
    /// Road-wheel angles: rate limit, axle ratio, Ackermann, toe, or the raw angle of a wheel.
    #[inline(always)]
    pub(crate) fn steer(&mut self, controls: &Controls, asked: &DriverDemand, dt: f32) {
        self.state.steer = steered(self.state.steer, asked.steer, asked.steer_rate * dt);
        self.turn_as_steered(controls);
    }

    /// Turns the wheels to where the steering is, unless they are.
    #[inline(always)]
    pub(crate) fn turn_as_steered(&mut self, controls: &Controls) {
        // Toe and camber over travel, and raw angles, may have moved although the steering has not.
        let own = controls.wheels.is_empty() && !self.model.turned_by_travel();
        // By their bits: a zero of the other sign turns an axle by another one, which a world that resumes would have.
        let reached = self.state.steer.to_bits();
        if !own || self.turned_to != Some(reached) {
            self.turned_to = own.then_some(reached);
            self.turn_wheels(controls);
        }
    }

    /// Turns the wheels to where the steering has been turned.
    #[inline(never)]
    fn turn_wheels(&mut self, controls: &Controls) {
        let parts = self.model.parts();
        for (i, (axle, &[left, right])) in parts.axles.iter().zip(self.model.axle_wheels()).enumerate() {
            let mean = self.state.steer * axle.steer_ratio;
            let track = parts.wheels[left].contact.y - parts.wheels[right].contact.y;
            let leaning = if axle.solid { self.model.turned(i, |i| self.state.wheels[i].compression) } else { 0.0 };
            let spread = if mean == 0.0 { 0.0 } else { ackermann_spread(mean, axle, track) };
            for (i, sign) in [(left, -1.0), (right, 1.0)] {
                let (wheel, state) = (&parts.wheels[i], &mut self.state.wheels[i]);
                let (mut toe, mut camber) = (wheel.toe, wheel.camber);
                if let Some(links) = &axle.guidance {
                    let [more_toe, more_camber] = links.at(state.compression);
                    (toe, camber) = (toe + more_toe, camber + more_camber);
                }
                if axle.solid {
                    camber += wheel.side.rightwards() * leaning;
                }
                state.steer_to(controls.raw_angle(i).unwrap_or(mean + sign * (spread + toe)));
                let place = self.model.place(i);
                self.rows[place.bank].turn(place.lane, state.steer, [camber, wheel.side.rightwards()]);
            }
        }
    }
}

impl Rows {
    /// Turns the wheel of `lane` to `angle` rad, with a `camber` rad that leans its top to the right by `rightwards`.
    pub(crate) fn turn(&mut self, lane: usize, angle: f32, [camber, rightwards]: [f32; 2]) {
        let rows = &mut self.steering;
        let same = |was: Four, is: f32| was.lanes()[lane].to_bits() == is.to_bits();
        let kept = same(rows.steered, angle) && same(rows.inclined, camber);
        if !kept || rows.straight_axle.y.lanes()[lane] == 0.0 {
            let (sin, cos) = math::sin_cos(angle);
            let (lean, level) = math::sin_cos(camber);
            let axle = &mut rows.straight_axle;
            axle.x.set(lane, -sin * level);
            axle.y.set(lane, cos * level);
            axle.z.set(lane, rightwards * lean);
            rows.steered.set(lane, angle);
            rows.inclined.set(lane, camber);
        }
    }
}

/// Where the steering gets to, rad, `from` one angle towards the one `asked` for, by no more than its `reach`.
#[inline(always)]
pub(crate) fn steered<L: Lane>(from: L, asked: L, reach: f32) -> L {
    from + (asked - from).clamped(L::splat(-reach), L::splat(reach))
}

/// Half the difference between right and left road-wheel angle for a `mean` angle, rad.
///
/// With ε = this, full Ackermann asks cot(δ−ε) − cot(δ+ε) = T/L, which gives
/// `2ε = atan k − asin(k cos 2δ / √(1+k²))`, k = T/(2L): exact, and the mean stays δ.
fn ackermann_spread(mean: f32, axle: &Axle, track: f32) -> f32 {
    let k = axle.ackermann * track / (2.0 * axle.turning_distance.abs().max(1e-3));
    if k == 0.0 {
        return 0.0;
    }
    let (_, cosine) = math::sin_cos(2.0 * mean);
    let full = math::atan(k) - math::asin(k * cosine / (1.0 + k * k).sqrt());
    // The wheels toe out in a turn to either side: the inner one steers more.
    -0.5 * full
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    /// Oracle 5.13: cot δo − cot δi = T / L, and the mean is what was asked.
    #[test]
    fn ackermann_is_exact_on_both_sides() {
        let axle = Axle { steer_ratio: 1.0, ackermann: 1.0, turning_distance: 2.654, ..Axle::default() };
        for mean in [-0.6, -0.2, -0.01, 0.01, 0.2378, 0.6f32] {
            let spread = ackermann_spread(mean, &axle, 1.575);
            let (left, right) = (mean - spread, mean + spread);
            let (outer, inner) = if mean > 0.0 { (right, left) } else { (-left, -right) };
            let difference = 1.0 / math::tan(outer) - 1.0 / math::tan(inner);
            assert!((difference - 1.575 / 2.654).abs() < 2e-3 / mean.abs(), "{mean}: {difference}");
            assert!(outer < inner);
        }
    }

    /// Turned to nothing from the other side, an axle has the bits of one that was turned so at once.
    #[test]
    fn an_axle_remembers_no_sign_of_nothing() {
        let turned = |angles: &[f32]| {
            let mut rows = Rows::default();
            angles.iter().for_each(|angle| rows.turn(0, *angle, [0.0, 1.0]));
            rows.steering.straight_axle.lane(0).map(f32::to_bits)
        };
        for angle in [0.0, -0.0] {
            assert_eq!(turned(&[-angle, angle]), turned(&[angle]), "{angle}");
        }
    }
}
