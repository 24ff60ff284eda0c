//! What turns the wheels: engine, clutch, gearbox, differentials, or torque straight at the wheels.

use super::{ModelError, not_negative, positive, within};

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
}

/// Most locked differentials one car may have.
pub const MAX_LOCKS: usize = 4;

/// How torque reaches the wheels, and which speeds are tied together.
#[derive(Clone, Debug, PartialEq)]
pub struct Differential {
    /// Share of the propeller shaft's torque per wheel, in wheel order; they sum to 1.
    pub shares: Box<[f32]>,
    /// Locked differentials: the two sets of wheels whose mean speeds are held equal.
    pub locks: Box<[[Box<[usize]>; 2]]>,
}

/// What turns the wheels.
#[derive(Clone, Debug, PartialEq)]
pub enum Powertrain {
    /// Nothing but raw torques.
    None,
    /// Torque straight at the wheels: throttle times N m, per wheel in wheel order; negative gear reverses it.
    Direct(Box<[f32]>),
    /// Engine, clutch, gearbox and differentials.
    Engine(Box<EngineDrive>),
}

/// The parts of a drivetrain with an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDrive {
    /// Source of the torque.
    pub engine: Engine,
    /// Between engine and gearbox.
    pub clutch: Clutch,
    /// Ratios.
    pub gearbox: Gearbox,
    /// Torque split.
    pub differential: Differential,
}

impl Powertrain {
    /// The engine's drivetrain, if there is one.
    pub fn engine(&self) -> Option<&EngineDrive> {
        match self {
            Powertrain::Engine(drive) => Some(drive),
            _ => None,
        }
    }

    pub(crate) fn check(&self, wheels: usize) -> Result<(), ModelError> {
        match self {
            Powertrain::None => Ok(()),
            Powertrain::Direct(torques) if torques.len() != wheels => {
                Err(ModelError::Wheels("direct drive needs one torque for each wheel"))
            }
            Powertrain::Direct(torques) => torques.iter().try_for_each(|&t| not_negative("direct torque", t)),
            Powertrain::Engine(drive) => drive.check(wheels),
        }
    }
}

impl EngineDrive {
    fn check(&self, wheels: usize) -> Result<(), ModelError> {
        let Self { engine, clutch, gearbox, differential } = self;
        positive("engine idle speed", engine.idle)?;
        positive("engine limit above idle", engine.limit - engine.idle)?;
        positive("engine inertia", engine.inertia)?;
        not_negative("engine drag", engine.drag[0])?;
        not_negative("engine drag per speed", engine.drag[1])?;
        positive("clutch capacity", clutch.capacity)?;
        positive("clutch engagement above idle", clutch.engaged_speed - engine.idle)?;
        positive("final drive", gearbox.final_drive)?;
        positive("reverse ratio", gearbox.reverse)?;
        positive("efficiency", gearbox.efficiency)?;
        positive("1 + epsilon - efficiency", 1.000_1 - gearbox.efficiency)?;
        not_negative("shift time", gearbox.shift_time)?;
        gearbox.forward.iter().try_for_each(|&r| positive("gear ratio", r))?;
        positive("up-shift speed above down-shift speed", gearbox.up_speed - gearbox.down_speed)?;
        if differential.shares.len() != wheels {
            return Err(ModelError::Wheels("the differential needs one share for each wheel"));
        }
        differential.shares.iter().try_for_each(|&s| not_negative("torque share", s))?;
        let sum: f32 = differential.shares.iter().sum();
        if (sum - 1.0).abs() > 1e-3 {
            let part = "sum of torque shares".into();
            return Err(ModelError::OutOfRange { part, found: sum, accepts: "1" });
        }
        for &wheel in differential.locks.iter().flatten().flatten() {
            within("locked differential wheel", wheel, wheels)?;
        }
        Ok(())
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
