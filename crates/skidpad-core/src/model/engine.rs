//! Engine, clutch and gearbox.

use super::{ModelError, not_negative, positive};

/// A quantity over speed, linear between points and constant outside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Box<[[f32; 2]]>,
}

impl Curve {
    /// `points` are (speed, value), speed strictly rising.
    ///
    /// # Errors
    /// Fewer than two points, a speed that does not rise, or a value that is not finite.
    pub fn new(points: Vec<[f32; 2]>) -> Result<Self, &'static str> {
        if points.len() < 2 {
            return Err("needs at least two points");
        }
        if !points.iter().flatten().all(|v| v.is_finite()) {
            return Err("holds a value that is not finite");
        }
        if !points.windows(2).all(|w| w[0][0] < w[1][0]) {
            return Err("speeds must rise strictly");
        }
        Ok(Self { points: points.into() })
    }

    /// (speed, value), rising.
    pub fn points(&self) -> &[[f32; 2]] {
        &self.points
    }

    /// Value at `speed`.
    pub fn at(&self, speed: f32) -> f32 {
        let points = &self.points;
        let Some(next) = points.iter().position(|p| p[0] > speed) else {
            return points[points.len() - 1][1];
        };
        if next == 0 {
            return points[0][1];
        }
        let (a, b) = (points[next - 1], points[next]);
        a[1] + (b[1] - a[1]) * ((speed - a[0]) / (b[0] - a[0]))
    }

    /// Largest value at a point.
    pub fn peak(&self) -> f32 {
        self.points.iter().fold(f32::MIN, |m, p| m.max(p[1]))
    }
}

/// A combustion engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Full-load torque (N m) over crankshaft speed (rad/s).
    pub torque: Curve,
    /// Drag with the throttle closed: `[N m, N m s]`, constant and per rad/s, each ≥ 0.
    pub drag: [f32; 2],
    /// Speed the idle governor holds, rad/s, > 0.
    pub idle: f32,
    /// Speed at which the limiter has cut the torque to nothing, rad/s, > `idle`.
    pub limit: f32,
    /// Crankshaft and flywheel, kg m², > 0.
    pub inertia: f32,
}

/// A dry clutch: Coulomb friction between engine and gearbox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clutch {
    /// Largest torque it carries fully engaged, N m, > 0.
    pub capacity: f32,
    /// Engine speed at which it is fully engaged when it works by itself, rad/s, above idle.
    pub engaged_speed: f32,
}

impl Clutch {
    /// How far it is engaged when it works by itself, 0 to 1, by the speed of its `engine` at the end of a step of `dt` s.
    /// The engine would come to `speed` rad/s without it; what the clutch carries slows the engine, which opens the clutch
    /// again: `e = (ω − e C dt / J − idle) / (engaged − idle)`. By the speed at the start a clutch grips too hard when the
    /// engine rises, by a tenth at 30 Hz, and tyres near their limit break loose.
    pub(crate) fn engaged_at(&self, speed: f32, engine: &Engine, dt: f32) -> f32 {
        let range = self.engaged_speed - engine.idle + self.capacity * dt / engine.inertia;
        ((speed - engine.idle) / range).clamp(0.0, 1.0)
    }
}

/// Ratios and how they change.
#[derive(Clone, Debug, PartialEq)]
pub struct Gearbox {
    /// Forward ratios, first gear first, each > 0.
    pub forward: Box<[f32]>,
    /// Reverse ratio, > 0.
    pub reverse: f32,
    /// Final drive ratio, > 0.
    pub final_drive: f32,
    /// Share of the power that arrives at the wheels, in (0, 1].
    pub efficiency: f32,
    /// Time without drive during a shift, s, ≥ 0.
    pub shift_time: f32,
    /// Engine speed above which it shifts up by itself, rad/s.
    pub up_speed: f32,
    /// Engine speed below which it shifts down by itself, rad/s.
    pub down_speed: f32,
}

impl Gearbox {
    /// Engine turns per wheel turn in `gear`; negative in reverse, 0 in neutral or for a gear that does not exist.
    pub fn ratio(&self, gear: i8) -> f32 {
        match gear {
            0 => 0.0,
            g if g < 0 => -self.reverse * self.final_drive,
            g => self.forward.get(g as usize - 1).map_or(0.0, |r| r * self.final_drive),
        }
    }

    /// `gear` limited to those that exist.
    pub fn nearest(&self, gear: i8) -> i8 {
        gear.clamp(-1, self.forward.len().min(i8::MAX as usize) as i8)
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        positive("final drive", self.final_drive)?;
        positive("reverse ratio", self.reverse)?;
        positive("efficiency", self.efficiency)?;
        positive("1 + epsilon - efficiency", 1.000_1 - self.efficiency)?;
        not_negative("shift time", self.shift_time)?;
        self.forward.iter().try_for_each(|&r| positive("gear ratio", r))?;
        positive("up-shift speed above down-shift speed", self.up_speed - self.down_speed)
    }
}

impl Engine {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        positive("engine idle speed", self.idle)?;
        positive("engine limit above idle", self.limit - self.idle)?;
        positive("engine inertia", self.inertia)?;
        not_negative("engine drag", self.drag[0])?;
        not_negative("engine drag per speed", self.drag[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_hits_its_points_and_is_flat_outside() {
        let curve = Curve::new(vec![[100.0, 393.0], [460.0, 475.0], [628.0, 373.0]]).expect("valid");
        for (speed, torque) in
            [(0.0, 393.0), (100.0, 393.0), (280.0, 434.0), (460.0, 475.0), (628.0, 373.0), (900.0, 373.0)]
        {
            assert_eq!(curve.at(speed), torque, "at {speed} rad/s");
        }
        assert_eq!(curve.peak(), 475.0);
    }

    #[test]
    fn a_broken_curve_is_refused() {
        assert!(Curve::new(vec![[1.0, 1.0]]).is_err());
        assert!(Curve::new(vec![[1.0, 1.0], [1.0, 2.0]]).is_err());
        assert!(Curve::new(vec![[1.0, f32::NAN], [2.0, 2.0]]).is_err());
    }
}
