//! Solution of a lone clutch between engine and wheels, the usual case: of one car or of a batch of cars.

use crate::drivetrain::rows::Shafts;
use crate::drivetrain::solving::Solving;
use crate::lane::Corners;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;

/// Maximum number of Newton passes. Their steps are not shortened.
const PASSES: usize = 3;

impl Shafts {
    /// Returns whether no row can carry an impulse.
    #[inline(always)]
    pub(crate) fn are_open(&self) -> bool {
        self.constraints[..self.count].iter().all(|row| row.bounds == [0.0; 2] && row.viscous == 0.0)
    }

    /// Returns whether the only row is a clutch, and its engine runs or is cranked by the starter.
    #[inline(always)]
    pub(crate) fn is_clutch(&self) -> bool {
        let row = &self.constraints[0];
        self.engine.is_some() && self.count == 1 && !row.is_converter && row.dry_drag == 0.0
    }

    /// Runs one Newton pass of a lone clutch. Returns the change of the impulse on the wheels, N m s, and whether the clutch has settled.
    /// `shaft_speed`: speed of the shaft by its wheels, rad/s; `answer`: its change per impulse on the wheels, 1/(kg m²).
    #[inline(always)]
    pub(crate) fn clutch_pass(&mut self, [shaft_speed, answer]: [f32; 2]) -> (f32, bool) {
        let row = &self.constraints[0];
        let before = row.impulse;
        let (speed, answer) = (shaft_speed * row.ratio, answer * (row.ratio * row.torque_ratio(before)));
        let after = row.held(speed, answer).unwrap_or_else(|| self.slipping(speed, answer));
        let row = &mut self.constraints[0];
        let change = row.at_wheels(after) - row.at_wheels(before);
        row.impulse = after;
        (change, row.has_settled([before, after], self.within))
    }

    /// Returns the impulse of a clutch that may begin or cease to slip, N m s, at a `speed` in rad/s that its impulse changes by `answer`.
    #[inline(never)]
    pub(crate) fn slipping(&mut self, speed: f32, answer: f32) -> f32 {
        let mut solving = Solving::<1>::of(self);
        (solving.speeds, solving.answers) = ([speed], [[answer]]);
        let [after] = solving.step();
        after
    }
}

/// Solves lone clutches for wheels alone, of one car or of a batch. `pass` takes the shaft speeds (rad/s) and their changes per impulse, and
/// returns the changes of the impulses on the wheels and whether all clutches have settled. Returns whether they settled in time.
#[inline(always)]
pub(crate) fn settle_clutches<W: Corners>(
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
    mut pass: impl FnMut([W::Car; 2]) -> (W::Car, bool),
) -> bool {
    for _ in 0..PASSES {
        let mut measured = [W::Car::default(); 2];
        for (banks, rows) in banks.chunks(W::ROWS).zip(rows.chunks(W::ROWS)) {
            let [shaft_speed, answer, ..] = W::sums(
                #[inline(always)]
                |k| {
                    let (lever, (spin, answer)) = (banks[k].levers[0], rows[k].spin_under(&banks[k]));
                    [lever * spin, lever * lever * answer, W::default(), W::default()]
                },
            );
            measured = [measured[0] + shaft_speed, measured[1] + answer];
        }
        let (change, settled) = pass(measured);
        for (bank, rows) in banks.iter().zip(&mut *rows) {
            rows.drive.shaft += bank.levers[0] * W::of_car(change);
        }
        if settled {
            return true;
        }
    }
    false
}

impl<W: Corners> Rows<W> {
    /// Returns the spins of the wheels under their present shaft impulse, rad/s, and the change of the spins per further impulse, 1/(kg m²).
    /// The tyres grip within their friction bounds. The lateral row is left out: only the shafts use this, the wheel block is exact.
    #[inline(always)]
    pub(crate) fn spin_under(&self, bank: &WheelPack<W>) -> (W, W) {
        let bent = self.spin_on(bank, self.tyre.target_impulse[0], self.tyre.gain[0]);
        if !W::any(self.tyre.bends) {
            return (bent.spin, bent.answer);
        }
        let straight = self.spin_on(bank, self.tyre.straight_target[0], self.tyre.straight_gain[0]);
        let over = (straight.grip * self.tyre.target_impulse[0]).less(bent.grip * self.tyre.target_impulse[0])
            & self.tyre.bends;
        (W::select(over, straight.spin, bent.spin), W::select(over, straight.answer, bent.answer))
    }

    /// Returns spin, its change per impulse and the tyre's impulse for a longitudinal tyre row of `target_impulse` and `gain`.
    #[inline(always)]
    fn spin_on(&self, bank: &WheelPack<W>, target_impulse: W, gain: W) -> Turning<W> {
        let momentum = self.drive.momentum + self.drive.shaft;
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let divisor = W::splat(1.0) + gain * self.coupled.surroundings.compliance[0];
        let at_rest = (target_impulse - gain * self.coupled.surroundings.speed[0]) / divisor;
        let per_spin = gain * radius / divisor;
        let limit = self.coupled.friction_bound[0];
        let (spin, answer) =
            held_or_turning(momentum - radius * at_rest, self.tyre.locking_capacity, inertia + radius * per_spin);
        let grip = at_rest + per_spin * spin;
        let sliding = limit.less(grip.abs());
        if !W::any(sliding & bank.present()) {
            return Turning { spin, answer, grip };
        }
        let slid = held_or_turning(momentum - radius * grip.within(-limit, limit), self.tyre.locking_capacity, inertia);
        Turning {
            spin: W::select(sliding, slid.0, spin),
            answer: W::select(sliding, slid.1, answer),
            grip: grip.within(-limit, limit),
        }
    }
}

/// Motion of wheels under their shafts: spin, rad/s; its change per angular impulse, 1/(kg m²); longitudinal impulse of the tyre, N s.
struct Turning<W: Corners> {
    spin: W,
    answer: W,
    grip: W,
}

#[inline(always)]
fn held_or_turning<W: Corners>(momentum: W, hold: W, inertia: W) -> (W, W) {
    let turns = hold.less(momentum.abs());
    let spin = (momentum - hold.signed_by(momentum)) / inertia;
    (spin.only(turns), (W::splat(1.0) / inertia).only(turns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivetrain::constraints::{DriveConstraint, Flywheel};

    /// Checks that flywheels of J and 1 / A reach a common speed by `(ω_1 − ω_2) / (1 / J + A)`, and that a weaker clutch slips at its capacity.
    #[test]
    fn a_clutch_makes_both_sides_turn_alike_or_slips_at_its_capacity() {
        for (capacity, carried) in [(100.0, 30.0), (20.0, 20.0)] {
            let flywheel = Flywheel { speed: 200.0, inverse_inertia: 4.0, ..Flywheel::default() };
            let row = DriveConstraint::clutch(&flywheel, 1.0, 1.0, capacity, 0.0);
            let mut shafts =
                Shafts { constraints: [row].into(), count: 1, engine: Some(flywheel), ..Shafts::default() };
            assert!(shafts.is_clutch() && !shafts.are_open());
            let (change, settled) = shafts.clutch_pass([50.0, 1.0]);
            assert_eq!((change, settled), (carried, false), "{capacity} N m s");
            let (change, settled) = shafts.clutch_pass([50.0 + carried, 1.0]);
            assert_eq!((change, settled), (0.0, true), "{capacity} N m s");
        }
    }
}
