//! Rows between spins, solved together for the wheels in their surroundings.
//!
//! A row's law is `per_impulse · impulse + per_speed · speed = target impulse` within its bounds; beyond them it slips. The wheels answer
//! linearly until one begins or ceases to slide or to be held: one Newton step solves all rows, another pass looks whether that has
//! happened. Rows of couplings then follow the wheel blocks themselves.

use crate::drivetrain::assisted::converter;
use crate::drivetrain::constraints::{DriveConstraint, Regime, falling};
use crate::drivetrain::rows::Shafts;
use crate::lane::Corners;
use crate::model::Model;
use crate::state::DriveState;
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;

/// Newton passes.
const PASSES: usize = 16;

/// Those from what was carried in the last step.
const GOING_ON: usize = 2;

/// Looks at motors that have not settled, each of which takes from them what is beyond their peak torque.
const BOUNDED: usize = 4;

/// Passes in which bounds of couplings follow what is driven through them; after these they stay, and what is left is convex.
const FOLLOWING: usize = 8;

/// A step is too long when the slope along it has turned to more than this share of what it was.
const OVERSHOOT: f32 = 0.5;

/// Cuts of a step that was too long, and the least share of the range left that one of them takes off either end.
const CUTS: usize = 10;
const LEAST_CUT: f32 = 0.05;

/// Misfit between a row's speed and its law that is left between wheels as blocks: a share of the fastest wheel's speed, or
/// rad/s.
const AGREED: [f32; 2] = [2e-4, 1e-3];

/// Change of the turbine's speed at which its torque is looked up to find the slope, as a share of the speeds.
const CONVERTER_PROBE: f32 = 0.01;

/// Share by which a rigid row's step falls short, so that rows that say the same do not divide by nothing.
const RIGID_SHORTFALL: f32 = 1e-4;

/// How wheels answer the shafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wheels {
    /// By their tyre's row along alone: what a clutch needs.
    Alone,
    /// As their blocks will: what couplings need, since wheels that slide show a torque too much as speed at once.
    AsBlocks,
}

/// What is known of the last step.
#[derive(Clone, Copy)]
pub(crate) struct Carried<'a> {
    pub drive: &'a DriveState,
    /// How much faster it made the car, m/s forward.
    pub gained: f32,
}

impl Carried<'_> {
    /// What motor `k` gives its gearing in a step of `dt` s like that one, N m s: what its rotor does not take.
    #[inline(always)]
    fn by_motor(&self, model: &Model, k: usize, dt: f32) -> f32 {
        dt * self.drive.motors[k] - model.rotor_momentum()[k] * self.gained
    }
}

/// Most rows that are solved by loops of a known length.
pub(crate) const FEW: usize = 4;

/// Rows between spins while they are solved: `MOST`, or at most so many where these are more than [`FEW`].
pub(crate) struct Solving<'a, const MOST: usize> {
    shafts: &'a mut Shafts,
    /// Of the rows, rad/s, under the present impulses.
    pub speeds: [f32; MOST],
    /// How row speeds answer row impulses.
    pub answers: [[f32; MOST]; MOST],
    /// Impulse of every row before its last change, and that change.
    change: [[f32; 2]; MOST],
    /// Of the elimination.
    matrix: [[f32; MOST]; MOST],
}

impl<'a, const MOST: usize> Solving<'a, MOST> {
    #[inline(always)]
    pub(crate) fn of(shafts: &'a mut Shafts) -> Self {
        let square = [[0.0; MOST]; MOST];
        Self { shafts, speeds: [0.0; MOST], answers: square, change: [[0.0; 2]; MOST], matrix: square }
    }

    /// Number of rows, which the compiler knows of a few.
    #[inline(always)]
    fn count(&self) -> usize {
        if MOST <= FEW { MOST } else { self.shafts.count }
    }

    /// Torque of the turbine at the speed it has now, and how it changes with it, the impeller following.
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

    /// Newton's method on all rows, from the impulses they carry, with the wheels as `wheels` says.
    ///
    /// Rows together minimise a convex function of their impulses: the work they take, with its sign turned. Steps that overshoot
    /// its minimum are cut, so that wherever the passes end, couplings have taken energy and given none.
    /// Tells whether they have settled.
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

    /// Takes from every motor what it would give beyond its peak torque, as its wheels then turn: passes that have not settled may
    /// end with any.
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

    /// Speeds of the rows under the impulses they carry, and their laws there.
    #[inline(never)]
    fn look(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        self.look_at(model, rows, wheels);
    }

    #[inline(always)]
    fn look_at(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let measured = measure(model.banks(), rows, wheels, self.shafts.within, self.count());
        self.see(model, &measured);
    }

    /// Takes what was `measured` of wheels as speeds of the rows, and how they answer each other; and their laws there.
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

    /// Slope of what the rows minimise along their last change when they have `share` of it and turn as last measured.
    fn slope(&self, share: f32) -> f32 {
        let along = |(row, ([before, change], speed)): (&DriveConstraint, (&[f32; 2], &f32))| {
            let impulse = before + share * change;
            let turned = if *change == 0.0 { 0.0 } else { row.torque_ratio(impulse) / row.ratio * change };
            turned * row.excess(impulse, *speed)
        };
        self.shafts.constraints[..self.count()].iter().zip(self.change.iter().zip(&self.speeds)).map(along).sum()
    }

    /// Takes part of the last change back if it went too far from where the slope along it was `downhill`.
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

    /// Whether every row turns as its law says, with wheels that have last been measured as blocks.
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

    /// Rotor and torque of every motor at the speed it has now: `impulse = J (ω₀ − ω) + dt (T + T′ (ω − ω*))`.
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

    /// Bounds of couplings that carry the more, the more is driven through them; what they give their wheels more where that took impulse
    /// from any, by row. Then the wheels turn otherwise than measured.
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

    /// Impulses that satisfy every row's law as the wheels now answer: rows change between holding and slipping until
    /// none has to.
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

    /// Changes of the impulses by elimination; rows are definite, so their own entries serve as pivots.
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

/// How wheels turn the rows between spins, `MOST` or fewer, and how these answer each other through them, by their levers alone.
pub(crate) struct Measured<C, const MOST: usize> {
    /// rad/s
    pub speeds: [C; MOST],
    /// 1/(kg m²); of those with rows that come later, nothing.
    pub answers: [[C; MOST]; MOST],
}

/// Measures the wheels of so many rows.
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

/// Adds what the rows between spins give their wheels more to the impulses of their shafts.
#[inline(always)]
fn turn<W: Corners, const MOST: usize>(banks: &[WheelPack<W>], rows: &mut [Rows<W>], changes: &[W::Car; MOST]) {
    for (bank, rows) in banks.iter().zip(rows) {
        for (lever, change) in bank.levers.iter().zip(changes) {
            rows.drive.shaft += *lever * W::of_car(*change);
        }
    }
}

/// Rows between spins, of one car or of several, that go on from what they carried in the last step: which is close to the answer while
/// nothing jumps.
pub(crate) trait GoesOn<C, const MOST: usize> {
    /// Lets every row carry that; returns what they give their wheels more, N m s.
    fn begin(&mut self) -> [C; MOST];

    /// Bounds couplings by what is driven through them; the same, if that took any.
    fn bound(&mut self) -> Option<[C; MOST]>;

    /// Takes one step of Newton's method for wheels `measured` as their blocks; the same, and whether all have settled.
    fn step(&mut self, measured: &Measured<C, MOST>) -> ([C; MOST], bool);
}

/// Lets `count` rows go on that are on these wheels; whether they settle.
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

/// Those of one car.
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

    /// Lets every row carry an impulse; returns what they give their wheels more.
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
    /// As [`Rows::spin_under`] with both tyre rows, as the block solves them.
    ///
    /// With the driven momentum `d` and the tyre's answer `T` to its speed along, `I ω = d − R x` and `x' = T R / I d'`.
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

    /// In reverse a motor has for cruise control what it has at that speed forwards: `P / ω`, which falls by `P / ω²`.
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
        // J + dt P / ω², and dt of −150 N m at −600 rad/s; in 32 bits.
        assert!((row.per_speed - (0.05 + 0.01 * 0.25)).abs() < 1e-6, "{row:?}");
        assert!((row.target_impulse - 0.01 * (-150.0 - 0.25 * 600.0)).abs() < 1e-5, "{row:?}");
    }
}
