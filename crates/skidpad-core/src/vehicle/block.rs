//! One wheel's block: spin, tyre along and tyre across, solved in closed form against a given chassis motion.
//!
//! As separate rows in one sweep, brake and tyre run away on a slope; as one block they hold to a micrometre.

use super::rows::WheelRows;
use crate::linear::Six;
use crate::model::Wheel;

/// How a wheel's tyre impulse answers the chassis velocity: at most two directions, as symmetric admittances.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tangent {
    pub weights: [f32; 2],
    pub directions: [[f32; 2]; 2],
}

impl Tangent {
    /// Direction `k` as a row on the chassis.
    pub fn row(&self, k: usize, rows: &WheelRows) -> Six {
        rows.forward * self.directions[k][0] + rows.side * self.directions[k][1]
    }
}

/// The relative speed of the two tyre rows before the tyre acts, and what each unit of impulse changes in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings {
    /// m/s along and across, the wheel's spin not counted.
    pub speed: [f32; 2],
    /// 1/kg: along, between the two, across.
    pub compliance: [f32; 3],
}

/// Relative error of the friction cone at which its multiplier is accepted; the rest is scaled away radially.
const CONE_TOLERANCE: f32 = 1e-3;

impl WheelRows {
    /// Solves the block. First the wheel is assumed held by brake and rolling resistance; if that needs more than they
    /// have, it turns, and they slip with the sign of the need. So a brake never reverses a wheel.
    pub(super) fn solve_block(&mut self, wheel: &Wheel, around: &Surroundings) -> Tangent {
        let limit = self.limit();
        let momentum = self.momentum + self.shaft;
        let out_of_reach = momentum.abs() > self.hold + wheel.radius * limit[0];
        if !out_of_reach {
            let (tyre, tangent, sliding) = self.patch(around.speed, around.compliance, limit);
            let need = momentum - wheel.radius * tyre[0];
            if need.abs() <= self.hold {
                (self.tyre, self.sliding, self.spin) = (tyre, sliding, 0.0);
                self.torque = self.motor + self.shaft - need;
                return tangent;
            }
            return self.turning(wheel, around, limit, momentum, need);
        }
        self.turning(wheel, around, limit, momentum, momentum)
    }

    fn turning(&mut self, wheel: &Wheel, around: &Surroundings, limit: [f32; 2], momentum: f32, need: f32) -> Tangent {
        let hold = if need > 0.0 { -self.hold } else { self.hold };
        let (radius, momentum) = (wheel.radius, momentum + hold);
        let [along, between, across] = around.compliance;
        let speed = [around.speed[0] - radius * momentum / wheel.spin_inertia, around.speed[1]];
        let compliance = [along + radius * radius / wheel.spin_inertia, between, across];
        let (tyre, tangent, sliding) = self.patch(speed, compliance, limit);
        (self.tyre, self.sliding) = (tyre, sliding);
        self.spin = (momentum - radius * tyre[0]) / wheel.spin_inertia;
        self.torque = self.motor + self.shaft + hold;
        tangent
    }

    /// Tyre impulses at relative `speed` with `compliance`, inside the ellipse of `limit`.
    ///
    /// Sliding adds a plastic speed λ x/μ² to both rows, so the stiffer direction does not win: scaling the impulse
    /// instead gives a locked wheel at 45° a quarter of its friction sideways.
    fn patch(&self, speed: [f32; 2], compliance: [f32; 3], limit: [f32; 2]) -> ([f32; 2], Tangent, bool) {
        if !self.gripping || limit[0] <= 0.0 || limit[1] <= 0.0 {
            return ([0.0; 2], Tangent::default(), false);
        }
        let g = self.admittance;
        let wanted = [self.wish[0] - g[0] * speed[0], self.wish[1] - g[1] * speed[1]];
        let mut system = Pair::new(g, compliance, [0.0; 2]);
        let mut x = system.solve(wanted);
        let squared = [limit[0] * limit[0], limit[1] * limit[1]];
        let sliding = x[0] * x[0] * squared[1] + x[1] * x[1] * squared[0] > squared[0] * squared[1];
        let mut inverse = [0.0; 2];
        let mut plastic = 0.0;
        if sliding {
            inverse = squared.map(|s| 1.0 / s);
            let mut reach = (x[0] * x[0] * inverse[0] + x[1] * x[1] * inverse[1]).sqrt();
            // Hebden's iteration on the length of the impulse, which falls like 1 / (c + λ).
            for _ in 0..6 {
                let gradient = [g[0] * x[0] * inverse[0], g[1] * x[1] * inverse[1]];
                let fall = system.solve(gradient);
                let slope = (x[0] * fall[0] * inverse[0] + x[1] * fall[1] * inverse[1]) / reach;
                if slope <= 1e-6 * reach * inverse[0].min(inverse[1]) * g[0].min(g[1]) || slope == 0.0 {
                    break;
                }
                plastic += (reach - 1.0) * reach / slope;
                system = Pair::new(g, compliance, [g[0] * plastic * inverse[0], g[1] * plastic * inverse[1]]);
                x = system.solve(wanted);
                reach = (x[0] * x[0] * inverse[0] + x[1] * x[1] * inverse[1]).sqrt();
                if (reach - 1.0).abs() < CONE_TOLERANCE {
                    break;
                }
            }
            if reach > 1.0 {
                x = [x[0] / reach, x[1] / reach];
            }
        }
        (x, tangent(g, compliance, plastic, inverse, x, sliding), sliding)
    }
}

/// Admittances left of a patch; while it slides only the direction along the edge of the ellipse answers.
fn tangent(g: [f32; 2], compliance: [f32; 3], plastic: f32, inverse: [f32; 2], x: [f32; 2], sliding: bool) -> Tangent {
    let spring = |i: usize, c: f32| g[i] / (1.0 + g[i] * (c + plastic * inverse[i]));
    let weights = [spring(0, compliance[0]), spring(1, compliance[2])];
    if !sliding {
        return Tangent { weights, directions: [[1.0, 0.0], [0.0, 1.0]] };
    }
    let normal = [x[0] * inverse[0], x[1] * inverse[1]];
    let length = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
    if length == 0.0 || weights[0] == 0.0 || weights[1] == 0.0 {
        return Tangent::default();
    }
    let edge = [-normal[1] / length, normal[0] / length];
    let weight = 1.0 / (edge[0] * edge[0] / weights[0] + edge[1] * edge[1] / weights[1]);
    Tangent { weights: [weight, 0.0], directions: [edge, [0.0; 2]] }
}

/// `(1 + G A + P) x = b` in two unknowns.
struct Pair {
    rows: [[f32; 2]; 2],
    inverse_determinant: f32,
}

impl Pair {
    fn new(g: [f32; 2], compliance: [f32; 3], plastic: [f32; 2]) -> Self {
        let [along, between, across] = compliance;
        let rows =
            [[1.0 + g[0] * along + plastic[0], g[0] * between], [g[1] * between, 1.0 + g[1] * across + plastic[1]]];
        let inverse_determinant = 1.0 / (rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]);
        Self { rows, inverse_determinant }
    }

    fn solve(&self, b: [f32; 2]) -> [f32; 2] {
        let [[a, c], [d, e]] = self.rows;
        [(e * b[0] - c * b[1]) * self.inverse_determinant, (a * b[1] - d * b[0]) * self.inverse_determinant]
    }
}
