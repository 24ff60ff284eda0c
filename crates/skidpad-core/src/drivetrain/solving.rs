//! Joint solution of rows between spins for the wheels in their surroundings.
//!
//! A row's law is `per_impulse · impulse + per_speed · speed = target impulse` within its bounds; outside them it slips. The wheels respond
//! linearly until one begins or ceases to slide or to be locked: one Newton step solves all rows, and another pass checks for such a
//! change. Rows of couplings are then solved with the wheel blocks themselves.

use crate::drivetrain::assisted::converter;
use crate::drivetrain::constraints::{DriveConstraint, Regime, falling};
use crate::drivetrain::rows::Shafts;
use crate::lane::Corners;
use crate::model::Model;
use crate::state::DriveState;
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;

/// Maximum number of Newton passes.
const PASSES: usize = 16;

/// Maximum number of Newton passes from the impulses of the last step.
const GOING_ON: usize = 2;

/// Number of passes that limit unsettled motors to their peak torque.
const BOUNDED: usize = 4;

/// Number of passes in which bounds of couplings follow the torque driven through them. Constant bounds then leave a convex problem.
const FOLLOWING: usize = 8;

/// Largest slope accepted at the end of a step, as a share of the opposite slope at its start. A steeper one means that the step is too long.
const OVERSHOOT: f32 = 0.5;

/// Maximum number of cuts of a step that is too long.
const CUTS: usize = 10;
/// Least share of the remaining range that a cut removes from either end.
const LEAST_CUT: f32 = 0.05;

/// Accepted residual between a row's speed and its law for wheels as blocks: a share of the fastest wheel's speed, plus an absolute part in
/// rad/s.
const AGREED: [f32; 2] = [2e-4, 1e-3];

/// Change of the turbine's speed for the difference quotient of its torque, as a share of the speeds.
const CONVERTER_PROBE: f32 = 0.01;

/// Regularisation of rigid rows, as a share of their own response, so that redundant rows do not make the matrix singular.
const RIGID_SHORTFALL: f32 = 1e-4;

/// Model of the wheels' response to the shafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wheels {
    /// Longitudinal tyre row alone: sufficient for a clutch.
    Alone,
    /// Wheel blocks as the step solves them. Couplings need them, because sliding wheels turn an excess of torque into speed at once.
    AsBlocks,
}

/// Results of the last step.
#[derive(Clone, Copy)]
pub(crate) struct Carried<'a> {
    pub drive: &'a DriveState,
    /// Forward speed that the car gained, m/s.
    pub gained: f32,
}

impl Carried<'_> {
    /// Returns the impulse that motor `k` gives its gearing in a step of `dt` s like the last one, N m s: without the part that turns the rotor.
    #[inline(always)]
    fn by_motor(&self, model: &Model, k: usize, dt: f32) -> f32 {
        dt * self.drive.motors[k] - model.rotor_momentum()[k] * self.gained
    }
}

/// Largest number of rows that is solved by loops of constant length.
pub(crate) const FEW: usize = 4;

/// Rows between spins while they are solved: exactly `MOST`, or at most `MOST` if that is above [`FEW`].
pub(crate) struct Solving<'a, const MOST: usize> {
    shafts: &'a mut Shafts,
    /// Speeds of the rows under the present impulses, rad/s.
    pub speeds: [f32; MOST],
    /// Change of each row's speed per impulse of each row, 1/(kg m²).
    pub answers: [[f32; MOST]; MOST],
    /// Impulse of every row before its last change, and that change, N m s.
    change: [[f32; 2]; MOST],
    /// Workspace of the elimination.
    matrix: [[f32; MOST]; MOST],
}

impl<'a, const MOST: usize> Solving<'a, MOST> {
    #[inline(always)]
    pub(crate) fn of(shafts: &'a mut Shafts) -> Self {
        let square = [[0.0; MOST]; MOST];
        Self { shafts, speeds: [0.0; MOST], answers: square, change: [[0.0; 2]; MOST], matrix: square }
    }

    /// Returns the number of rows, a constant up to [`FEW`].
    #[inline(always)]
    fn count(&self) -> usize {
        if MOST <= FEW { MOST } else { self.shafts.count }
    }

    /// Sets the converter's law to the turbine's torque at its present speed and the slope of that torque, with the impeller in balance.
    fn linearise_converter(&mut self, model: &Model) {
        let (Some(engine), Some(converter)) = (self.shafts.engine, converter(model)) else { return };
        let speed = self.speeds[0];
        let torque = |speed: f32| converter.torques(self.shafts.impeller(converter, &engine, speed), speed)[1];
        let (here, beyond) = (torque(speed), speed + CONVERTER_PROBE * (speed.abs() + engine.speed));
        let slope = falling(
            (torque(beyond) - here) / (beyond - speed).max(f32::MIN_POSITIVE),
            here,
            speed.abs() + engine.speed,
        );
        let row = &mut self.shafts.constraints[0];
        row.per_speed = -self.shafts.dt * slope;
        row.target_impulse = self.shafts.dt * (here - slope * speed);
    }

    /// Runs Newton's method on all rows from their present impulses, with the wheels as `wheels`. Returns whether the rows have settled.
    ///
    /// The rows together minimise a convex function of their impulses: the negative of the work they absorb. Steps that overshoot
    /// its minimum are shortened. Couplings therefore never add energy, even if the passes end early.
    pub(crate) fn settle(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) -> bool {
        self.look(model, rows, wheels);
        let coupled = !model.parts().couplings.is_empty();
        for pass in 0..PASSES {
            if coupled
                && pass < FOLLOWING
                && let Some(changes) = self.bound_couplings(model)
            {
                turn(model.banks(), rows, &changes);
                self.look(model, rows, wheels);
            }
            if wheels == Wheels::AsBlocks && self.agrees(rows) {
                return true;
            }
            let found = self.step();
            let mut settled = wheels == Wheels::Alone;
            for (i, &after) in found[..self.count()].iter().enumerate() {
                let before = self.shafts.constraints[i].impulse;
                self.shafts.carry(model, rows, i, after);
                settled &= self.shafts.constraints[i].has_settled([before, after], self.shafts.within);
                self.change[i] = [before, after - before];
            }
            if settled {
                return true;
            }
            let downhill = self.slope(0.0);
            self.look(model, rows, wheels);
            self.shorten(model, rows, wheels, downhill);
        }
        false
    }

    /// Limits every motor to its peak torque at the present wheel speeds. Passes that have not settled may end with any impulse.
    #[cold]
    pub(crate) fn bound_motors(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let [first, _] = self.shafts.first_rows(model);
        for _ in 0..BOUNDED {
            for (k, motor) in model.parts().motors.iter().enumerate() {
                let (row, speed) = (&self.shafts.constraints[first + k], self.speeds[first + k]);
                let turned = motor.inertia * (self.shafts.motors[k].rotor - speed);
                let most = self.shafts.dt * motor.peak_torque;
                let impulse = turned + (row.impulse - turned).clamp(-most, most);
                self.shafts.carry(model, rows, first + k, impulse);
            }
            self.look(model, rows, wheels);
        }
    }

    /// Measures the speeds of the rows under their present impulses, and updates their laws there.
    #[inline(never)]
    fn look(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        self.look_at(model, rows, wheels);
    }

    #[inline(always)]
    fn look_at(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let measured = measure(model.banks(), rows, wheels, self.shafts.within, self.count());
        self.see(model, &measured);
    }

    /// Stores speeds and responses of the rows from the `measured` wheels, and updates the laws of converter and motors.
    #[inline(always)]
    fn see(&mut self, model: &Model, measured: &Measured<f32, MOST>) {
        let count = self.count();
        for i in 0..count {
            let row = &self.shafts.constraints[i];
            self.speeds[i] = measured.speeds[i] * row.ratio;
            for j in 0..count {
                let other = &self.shafts.constraints[j];
                let answer = measured.answers[i.max(j)][i.min(j)];
                self.answers[i][j] = answer * (row.ratio * other.torque_ratio(other.impulse));
            }
        }
        if self.shafts.constraints[0].is_converter {
            self.linearise_converter(model);
        }
        if !model.parts().motors.is_empty() {
            self.linearise_motors(model);
        }
    }

    /// Returns the slope of the minimised function along the last change of the impulses, with `share` of it applied, at the measured speeds.
    fn slope(&self, share: f32) -> f32 {
        let along = |(row, ([before, change], speed)): (&DriveConstraint, (&[f32; 2], &f32))| {
            let impulse = before + share * change;
            let turned = if *change == 0.0 { 0.0 } else { row.torque_ratio(impulse) / row.ratio * change };
            turned * row.excess(impulse, *speed)
        };
        self.shafts.constraints[..self.count()].iter().zip(self.change.iter().zip(&self.speeds)).map(along).sum()
    }

    /// Takes back part of the last change if it overshoots. `downhill`: slope along the change at its start.
    #[cold]
    #[inline(never)]
    fn shorten(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels, downhill: f32) {
        let near = -OVERSHOOT * downhill;
        let (mut low, mut high) = ([0.0, downhill], [1.0, self.slope(1.0)]);
        if high[1] <= near.max(0.0) {
            return;
        }
        for cut in 0..=CUTS {
            let width = high[0] - low[0];
            let across = (low[1] / (low[1] - high[1])).clamp(LEAST_CUT, 1.0 - LEAST_CUT);
            let kept = if cut == CUTS || downhill >= 0.0 { low[0] } else { low[0] + width * across };
            for i in 0..self.count() {
                let [before, change] = self.change[i];
                self.shafts.carry(model, rows, i, before + kept * change);
            }
            self.look(model, rows, wheels);
            let slope = self.slope(kept);
            if slope.abs() <= near || kept == low[0] {
                return;
            }
            if slope > 0.0 { high = [kept, slope] } else { low = [kept, slope] }
        }
    }

    /// Returns whether every row satisfies its law, for wheels last measured as blocks.
    fn agrees(&self, rows: &[Rows]) -> bool {
        let [relative, absolute] = AGREED;
        let closeness = self.shafts.within.closeness();
        let fastest =
            rows.iter().flat_map(|rows| rows.coupled.spin.lanes()).fold(0.0f32, |most, spin| most.max(spin.abs()));
        let tolerance = closeness * (relative * fastest + absolute);
        self.shafts.constraints[..self.count()].iter().zip(&self.speeds).all(|(row, &speed)| {
            let [[least, most], [share, alone]] = [row.bounds, row.settled];
            let beyond = row.impulse - row.impulse.max(least).min(most);
            let within = row.viscous > 0.0 || beyond.abs() <= closeness * (share * row.impulse.abs() + alone);
            let excess = row.excess(row.impulse, speed) / row.ratio.abs().max(1.0);
            within && (excess <= tolerance || row.impulse <= least) && (excess >= -tolerance || row.impulse >= most)
        })
    }

    /// Sets the law of every motor to rotor and torque at its present speed: `impulse = J (ω₀ − ω) + dt (T + T′ (ω − ω*))`.
    #[inline(always)]
    fn linearise_motors(&mut self, model: &Model) {
        let (pull, dt, [first, _]) = (self.shafts.pull, self.shafts.dt, self.shafts.first_rows(model));
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let speed = self.speeds[first + k];
            let given = pull.of(motor, speed);
            let is_limited = self.shafts.limited_by.is_some();
            let step = &mut self.shafts.motors[k];
            let (torque, slope) = if is_limited { step.limits.of(motor, speed * pull.direction, given) } else { given };
            let begun = motor.inertia * step.rotor;
            let slope = falling(slope, torque, motor.max_speed);
            let row = &mut self.shafts.constraints[first + k];
            row.per_speed = motor.inertia - dt * slope;
            row.target_impulse = begun + dt * (torque * pull.direction - slope * speed);
        }
    }

    /// Sets the bounds of torque-sensing couplings by the torque driven through them. If that reduces an impulse, returns the changes on the wheels
    /// by row, N m s, and the measured speeds are outdated; else `None`.
    fn bound_couplings(&mut self, model: &Model) -> Option<[f32; MOST]> {
        let [_, first] = self.shafts.first_rows(model);
        let (mut changes, mut taken) = ([0.0; MOST], false);
        for (k, coupling) in model.parts().couplings.iter().enumerate() {
            if coupling.bias == [1.0; 2] {
                continue;
            }
            let flow = &model.flows()[k];
            let through: f32 = self
                .shafts
                .constraints
                .iter()
                .zip(&flow.through)
                .map(|(row, part)| part * row.at_wheels(row.impulse))
                .sum();
            let [towards_first, towards_second] = coupling.capacity(through / self.shafts.dt, flow.first_share);
            let (least, most) = (-towards_second * self.shafts.dt, towards_first * self.shafts.dt);
            let row = &mut self.shafts.constraints[first + k];
            row.bounds = [least, most];
            let impulse = row.impulse.max(least).min(most);
            if row.viscous == 0.0 && impulse != row.impulse {
                changes[first + k] = row.carries(impulse);
                taken = true;
            }
        }
        taken.then_some(changes)
    }

    /// Returns the impulses that satisfy every row's law with the present response of the wheels, N m s. Rows change between holding and slipping
    /// until their regimes are consistent.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> [f32; MOST] {
        let count = self.count();
        let mut regimes = [Regime::Holds; MOST];
        regimes[0] = self.shafts.constraints[0].first();
        let mut found = [0.0; MOST];
        for _ in 0..4 * count + 1 {
            let changes = self.solve(&regimes);
            let mut same = true;
            for i in 0..count {
                let answers = &self.answers[i][..count];
                let speed = self.speeds[i] + answers.iter().zip(&changes).map(|(a, c)| a * c).sum::<f32>();
                let row = &self.shafts.constraints[i];
                let impulse = row.impulse + changes[i];
                found[i] = row.bounded(regimes[i], impulse);
                let next = row.next(regimes[i], impulse, speed);
                same &= next == regimes[i];
                regimes[i] = next;
            }
            if same {
                break;
            }
        }
        found
    }

    /// Solves for the changes of the impulses by elimination, N m s. The rows are definite, so their own entries serve as pivots.
    #[inline(always)]
    fn solve(&mut self, regimes: &[Regime; MOST]) -> [f32; MOST] {
        let (count, matrix) = (self.count(), &mut self.matrix);
        let mut right = [0.0; MOST];
        for i in 0..count {
            let row = &self.shafts.constraints[i];
            let [per_impulse, per_speed, _] = row.law(regimes[i]);
            right[i] = row.missing(regimes[i], row.impulse, self.speeds[i]);
            for (entry, answer) in matrix[i].iter_mut().zip(&self.answers[i][..count]) {
                *entry = per_speed * answer;
            }
            matrix[i][i] += if per_impulse == 0.0 { RIGID_SHORTFALL * matrix[i][i] } else { per_impulse };
        }
        for i in 0..count {
            let (done, left) = matrix.split_at_mut(i + 1);
            let pivot = &done[i][..count];
            for (k, row) in left.iter_mut().enumerate().take(count - i - 1) {
                let share = if pivot[i] > 0.0 { row[i] / pivot[i] } else { 0.0 };
                for (entry, over) in row.iter_mut().zip(pivot).skip(i) {
                    *entry -= share * over;
                }
                right[i + 1 + k] -= share * right[i];
            }
        }
        for i in (0..count).rev() {
            let known: f32 = (i + 1..count).map(|j| matrix[i][j] * right[j]).sum();
            right[i] = if matrix[i][i] > 0.0 { (right[i] - known) / matrix[i][i] } else { 0.0 };
        }
        right
    }
}

/// Response of the wheels to at most `MOST` rows between spins, by their levers alone, without ratios.
pub(crate) struct Measured<C, const MOST: usize> {
    /// Speeds of the rows, rad/s.
    pub speeds: [C; MOST],
    /// Change of a row's speed per impulse of a row, 1/(kg m²); 0 above the diagonal.
    pub answers: [[C; MOST]; MOST],
}

/// Measures the wheels of `count` rows.
#[inline(always)]
fn measure<W: Corners, const MOST: usize>(
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
    wheels: Wheels,
    within: Within,
    count: usize,
) -> Measured<W::Car, MOST> {
    let none = W::Car::default();
    let mut measured = Measured { speeds: [none; MOST], answers: [[none; MOST]; MOST] };
    for (banks, rows) in banks.chunks(W::ROWS).zip(rows.chunks_mut(W::ROWS)) {
        let turning = W::each(
            #[inline(always)]
            |k| match wheels {
                Wheels::Alone => rows[k].spin_under(&banks[k]),
                Wheels::AsBlocks => rows[k].spin_of_block(&banks[k], within),
            },
        );
        for i in 0..count {
            measured.speeds[i] += W::sum_of(
                #[inline(always)]
                |k| banks[k].levers[i] * turning[k].0,
            );
            for j in 0..i + 1 {
                measured.answers[i][j] += W::sum_of(
                    #[inline(always)]
                    |k| banks[k].levers[i] * banks[k].levers[j] * turning[k].1,
                );
            }
        }
    }
    measured
}

/// Adds the `changes` of the rows' impulses on the wheels, N m s, to the shaft impulses of the wheels.
#[inline(always)]
fn turn<W: Corners, const MOST: usize>(banks: &[WheelPack<W>], rows: &mut [Rows<W>], changes: &[W::Car; MOST]) {
    for (bank, rows) in banks.iter().zip(rows) {
        for (lever, change) in bank.levers.iter().zip(changes) {
            rows.drive.shaft += *lever * W::of_car(*change);
        }
    }
}

/// Rows between spins, of one car or of a batch, solved from the impulses of the last step. These are close to the solution unless
/// an input jumps.
pub(crate) trait GoesOn<C, const MOST: usize> {
    /// Sets every row to its impulse of the last step. Returns the changes on the wheels by row, N m s.
    fn begin(&mut self) -> [C; MOST];

    /// Sets the bounds of couplings by the torque driven through them. Returns the changes on the wheels if an impulse was reduced, else `None`.
    fn bound(&mut self) -> Option<[C; MOST]>;

    /// Takes a Newton step for wheels `measured` as blocks. Returns the changes on the wheels, N m s, and whether all rows have settled.
    fn step(&mut self, measured: &Measured<C, MOST>) -> ([C; MOST], bool);
}

/// Solves `count` rows of these wheels from the impulses of the last step. Returns whether they settle.
#[inline(always)]
pub(crate) fn go_on<W: Corners, const MOST: usize>(
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
    (count, within): (usize, Within),
    shafts: &mut impl GoesOn<W::Car, MOST>,
) -> bool {
    turn(banks, rows, &shafts.begin());
    for _ in 0..GOING_ON {
        if let Some(changes) = shafts.bound() {
            turn(banks, rows, &changes);
        }
        let (changes, settled) = shafts.step(&measure(banks, rows, Wheels::AsBlocks, within, count));
        turn(banks, rows, &changes);
        if settled {
            return true;
        }
    }
    false
}

/// Rows of one car, solved from the impulses of the last step.
pub(crate) struct Going<'a, const MOST: usize> {
    solving: Solving<'a, MOST>,
    model: &'a Model,
    carried: Carried<'a>,
}

impl<'a, const MOST: usize> Going<'a, MOST> {
    #[inline(always)]
    pub(crate) fn of(shafts: &'a mut Shafts, model: &'a Model, carried: Carried<'a>) -> Self {
        Self { solving: Solving::of(shafts), model, carried }
    }

    /// Sets the impulse of every row. Returns the changes on the wheels by row, N m s.
    #[inline(always)]
    fn carry(&mut self, mut impulse: impl FnMut(usize, &DriveConstraint) -> f32) -> [f32; MOST] {
        let (count, mut changes) = (self.solving.count(), [0.0; MOST]);
        for (i, row) in self.solving.shafts.constraints[..count].iter_mut().enumerate() {
            changes[i] = row.carries(impulse(i, row));
        }
        changes
    }
}

impl<const MOST: usize> GoesOn<f32, MOST> for Going<'_, MOST> {
    #[inline(always)]
    fn begin(&mut self) -> [f32; MOST] {
        let (carried, model, dt) = (self.carried, self.model, self.solving.shafts.dt);
        let [motors, couplings] = self.solving.shafts.first_rows(model);
        self.carry(
            #[inline(always)]
            |i, row| match i {
                _ if i < motors => row.impulse,
                _ if i < couplings => carried.by_motor(model, i - motors, dt),
                _ => dt * carried.drive.couplings[i - couplings],
            },
        )
    }

    #[inline(always)]
    fn bound(&mut self) -> Option<[f32; MOST]> {
        if self.model.parts().couplings.is_empty() { None } else { self.solving.bound_couplings(self.model) }
    }

    #[inline(always)]
    fn step(&mut self, measured: &Measured<f32, MOST>) -> ([f32; MOST], bool) {
        self.solving.see(self.model, measured);
        let (found, within, mut settled) = (self.solving.step(), self.solving.shafts.within, true);
        let changes = self.carry(
            #[inline(always)]
            |i, row| {
                settled &= row.has_settled([row.impulse, found[i]], within);
                found[i]
            },
        );
        (changes, settled)
    }
}

impl<W: Corners> Rows<W> {
    /// Returns the spins of the wheels and their change per impulse like [`Rows::spin_under`], with both tyre rows as the wheel block solves them.
    ///
    /// With the driven momentum `d` and the tyre's response `T` to its longitudinal speed, `I ω = d − R x` and `x' = T R / I d'`.
    #[inline(always)]
    fn spin_of_block(&mut self, bank: &WheelPack<W>, within: Within) -> (W, W) {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let along = self.solve_block(bank, within).tangent().along();
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let free = (one - radius * radius / inertia * along).at_least(zero);
        (self.coupled.spin, (free / inertia).only(zero.less(self.coupled.spin.abs())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivetrain::assisted::tests::motor;
    use crate::drivetrain::rows::PedalDemand;
    use crate::model::plain::plain_car;

    /// Checks that a motor in reverse has the same cruise torque as forwards at that speed: `P / ω`, which falls by `P / ω²`.
    #[test]
    fn a_motor_is_asked_at_its_speed_towards_the_drive() {
        let mut parts = plain_car();
        parts.motors = vec![motor()];
        let model = Model::new(parts).expect("valid");
        let mut shafts = Shafts::of(&model);
        shafts.begin(PedalDemand { direction: -1.0, ..PedalDemand::default() }, &model, 0.01);
        shafts.drive_motor(0, 250.0);
        let mut solving = Solving::<1>::of(&mut shafts);
        solving.speeds = [-600.0];
        solving.linearise_motors(&model);
        let row = &shafts.constraints[0];
        // J + dt P / ω², and dt times −150 N m at −600 rad/s; f32 rounding.
        assert!((row.per_speed - (0.05 + 0.01 * 0.25)).abs() < 1e-6, "{row:?}");
        assert!((row.target_impulse - 0.01 * (-150.0 - 0.25 * 600.0)).abs() < 1e-5, "{row:?}");
    }
}
