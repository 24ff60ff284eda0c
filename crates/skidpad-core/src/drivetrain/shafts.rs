//! Clutch, motors and couplings: rows between spins, solved together for the wheels in their surroundings.
//!
//! They are solved before the wheel blocks, each wheel standing in with its inertia *and* the grip of its tyre, so no
//! shaft stiffness limits the step. A row's law is `own · impulse + per_speed · speed = target impulse` within its bounds; beyond
//! them it slips. The wheels answer linearly until one begins or ceases to slide or to be held: one Newton step solves
//! all rows, another pass looks whether that has happened. Rows of couplings then follow the wheel blocks themselves.

use crate::drivetrain::clutch::settle_clutches;
use crate::drivetrain::converter::Converter;
use crate::drivetrain::links::{Flywheel, Link, Regime, falling};
use crate::drivetrain::motor::Motor;
use crate::drivetrain::orders::converter;
use crate::drivetrain::rows::{MOST_LINKS, PedalDemand, Shafts};
use crate::lane::{Corners, Four, Lane};
use crate::model::Model;
use crate::state::DriveState;
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Newton passes.
const PASSES: usize = 16;

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
enum Wheels {
    /// By their tyre's row along alone: what a clutch needs.
    Alone,
    /// As their blocks will: what couplings need, since wheels that slide show a torque too much as speed at once.
    AsBlocks,
}

impl PedalDemand {
    /// Torque of a `motor`, N m towards the drive, at a rotor speed of `speed` rad/s (positive forward), and how it changes
    /// with the speed.
    pub(crate) fn of(&self, motor: &Motor, speed: f32) -> (f32, f32) {
        let demand = if self.towards == 0.0 { 0.0 } else { motor.demand(self.throttle, self.brake) };
        motor.torque(speed * self.towards, demand)
    }
}

impl Shafts {
    /// Begins a step: an engine's row, if there is one, before those of motors and couplings. Rows carry nothing yet but the
    /// clutch, which carries what it did.
    pub(crate) fn begin(&mut self, engine: Option<&(Flywheel, Link)>, pull: PedalDemand, model: &Model, dt: f32) {
        let parts = model.parts();
        (self.engine, self.count, self.dt, self.pull, self.orders) = (None, 0, dt, pull, None);
        if let Some((flywheel, clutch)) = engine {
            (self.engine, self.links[0], self.count) = (Some(*flywheel), *clutch, 1);
        }
        let motors = parts.motors.iter().map(|motor| Link::motor(motor, pull.towards, dt));
        let couplings = parts.couplings.iter().map(|coupling| Link::coupling(coupling, dt));
        let others = &mut self.links[usize::from(engine.is_some())..];
        for (to, link) in others.iter_mut().zip(motors.chain(couplings)) {
            *to = link;
            self.count += 1;
        }
    }

    /// Tells how fast motor `k` turned when the step began, rad/s.
    pub(crate) fn turned(&mut self, k: usize, speed: f32) {
        self.rotors[k] = speed;
    }

    /// Takes back what motors and couplings carry: passes from impulses that are far off may settle with any.
    pub(crate) fn clear_impulses(&mut self, model: &Model, rows: &mut [Rows]) {
        let [first, _] = self.first_rows(model);
        for i in first..self.count {
            self.carry(model, rows, i, 0.0);
        }
    }

    /// Row of the first motor, and of the first coupling.
    pub(crate) fn first_rows(&self, model: &Model) -> [usize; 2] {
        let motors = usize::from(self.engine.is_some());
        [motors, motors + model.parts().motors.len()]
    }

    pub(crate) fn write_back(&self, drive: &mut DriveState, model: &Model, rows: &[Rows]) {
        let links = &self.links[..self.count];
        if let (Some(engine), Some(link)) = (&self.engine, links.first()) {
            let turns =
                || model.banks().iter().zip(rows).map(|(bank, rows)| (bank.levers[0] * rows.coupled.spin).sum());
            let speed = match converter(model) {
                Some(fluid) if link.fluid => {
                    let found = self.impeller(fluid, engine, turns().sum::<f32>() * link.ratio);
                    // Wheels that slide sideways may turn faster than the row took them to: what drives them drives no engine.
                    if link.impulse > 0.0 { found.min(engine.speed) } else { found }
                }
                _ => engine.dragged(engine.speed - link.impulse * engine.inverse_inertia),
            };
            drive.engine_speed = speed;
            drive.clutch = link.impulse / self.dt;
        }
        let [motors, couplings] = self.first_rows(model);
        if motors == self.count {
            return;
        }
        for (k, (torque, motor)) in drive.motors.iter_mut().zip(&model.parts().motors).enumerate() {
            let link = &links[motors + k];
            let turns =
                model.banks().iter().zip(rows).map(|(bank, rows)| (bank.levers[motors + k] * rows.coupled.spin).sum());
            let gained = turns.sum::<f32>() * link.ratio - self.rotors[k];
            *torque = (link.impulse + motor.inertia * gained) / self.dt;
        }
        for (carried, link) in drive.couplings.iter_mut().zip(&links[couplings..]) {
            *carried = link.impulse / self.dt;
        }
    }

    /// Speed of the impeller after the step with the turbine at `turbine`, rad/s.
    fn impeller(&self, fluid: &Converter, engine: &Flywheel, turbine: f32) -> f32 {
        let free = engine.speed - engine.dry_drag * engine.inverse_inertia;
        fluid.impeller_speed(free, self.dt * engine.inverse_inertia, turbine)
    }

    /// Torque of the turbine at the speed it has now, and how it changes with it, the impeller following.
    fn linearise_converter(&mut self, model: &Model) {
        let (Some(engine), Some(fluid)) = (self.engine, converter(model)) else { return };
        let speed = self.speeds[0];
        let torque = |speed: f32| fluid.torques(self.impeller(fluid, &engine, speed), speed)[1];
        let (here, beyond) = (torque(speed), speed + CONVERTER_PROBE * (speed.abs() + engine.speed));
        let slope = falling(
            (torque(beyond) - here) / (beyond - speed).max(f32::MIN_POSITIVE),
            here,
            speed.abs() + engine.speed,
        );
        let link = &mut self.links[0];
        link.per_speed = -self.dt * slope;
        link.target_impulse = self.dt * (here - slope * speed);
    }

    /// Newton's method on all rows, from the impulses they carry, with the wheels as `wheels` says.
    ///
    /// Rows together minimise a convex function of their impulses: the work they take, with its sign turned. Steps that overshoot
    /// its minimum are cut, so that wherever the passes end, couplings have taken energy and given none.
    /// Tells whether they have settled.
    fn settle(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) -> bool {
        self.look(model, rows, wheels);
        let coupled = !model.parts().couplings.is_empty();
        for pass in 0..PASSES {
            if coupled && pass < FOLLOWING && self.set_capacities(model, rows) {
                self.look(model, rows, wheels);
            }
            if wheels == Wheels::AsBlocks && self.agrees() {
                return true;
            }
            let found = self.step::<MOST_LINKS>();
            let mut settled = wheels == Wheels::Alone;
            for (i, &after) in found[..self.count].iter().enumerate() {
                let before = self.links[i].impulse;
                self.carry(model, rows, i, after);
                settled &= self.has_settled(i, before);
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

    /// Whether the impulse of row `i` is next to what it was `before`.
    #[inline(always)]
    pub(crate) fn has_settled(&self, i: usize, before: f32) -> bool {
        let ([relative, absolute], after) = (self.links[i].settled, self.links[i].impulse);
        (after - before).abs() <= self.within.closeness() * (relative * after.abs() + absolute)
    }

    /// [`Shafts::settle`] for whatever rows there are.
    #[inline(never)]
    fn settle_rows(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        if !self.settle(model, rows, wheels) && !model.parts().motors.is_empty() {
            self.bound_motors(model, rows, wheels);
        }
    }

    /// Takes from every motor what it would give beyond its peak torque, as its wheels then turn: passes that have not settled may
    /// end with any.
    #[cold]
    fn bound_motors(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let [first, _] = self.first_rows(model);
        for _ in 0..BOUNDED {
            for (k, motor) in model.parts().motors.iter().enumerate() {
                let (link, speed) = (&self.links[first + k], self.speeds[first + k]);
                let turned = motor.inertia * (self.rotors[k] - speed);
                let most = self.dt * motor.peak_torque;
                let impulse = turned + (link.impulse - turned).clamp(-most, most);
                self.carry(model, rows, first + k, impulse);
            }
            self.look(model, rows, wheels);
        }
    }

    /// Speeds of the rows under the impulses they carry, and their laws there.
    #[inline(never)]
    fn look(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        self.measure(model, rows, wheels);
        if self.links[0].fluid {
            self.linearise_converter(model);
        }
        if !model.parts().motors.is_empty() {
            self.linearise_motors(model);
        }
    }

    /// Number of rows.
    #[inline(always)]
    fn count<const MOST: usize>(&self) -> usize {
        if MOST == 1 { 1 } else { self.count }
    }

    /// Slope of what the rows minimise along their last change when they have `share` of it and turn as last measured.
    fn slope(&self, share: f32) -> f32 {
        let along = |(link, ([before, change], speed)): (&Link, (&[f32; 2], &f32))| {
            let impulse = before + share * change;
            let turned = if *change == 0.0 { 0.0 } else { link.torque_ratio(impulse) / link.ratio * change };
            turned * link.excess(impulse, *speed)
        };
        self.links[..self.count].iter().zip(self.change.iter().zip(&self.speeds)).map(along).sum()
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
            for i in 0..self.count {
                let [before, change] = self.change[i];
                self.carry(model, rows, i, before + kept * change);
            }
            self.look(model, rows, wheels);
            let slope = self.slope(kept);
            if slope.abs() <= near || kept == low[0] {
                return;
            }
            if slope > 0.0 { high = [kept, slope] } else { low = [kept, slope] }
        }
    }

    /// Whether every row turns as its law says.
    fn agrees(&self) -> bool {
        let [relative, absolute] = AGREED;
        let closeness = self.within.closeness();
        let tolerance = closeness * (relative * self.fastest + absolute);
        self.links[..self.count].iter().zip(&self.speeds).all(|(link, &speed)| {
            let [[least, most], [share, alone]] = [link.bounds, link.settled];
            let beyond = link.impulse - link.impulse.max(least).min(most);
            let within = link.viscous > 0.0 || beyond.abs() <= closeness * (share * link.impulse.abs() + alone);
            let excess = link.excess(link.impulse, speed) / link.ratio.abs().max(1.0);
            within && (excess <= tolerance || link.impulse <= least) && (excess >= -tolerance || link.impulse >= most)
        })
    }

    /// Lets row `i` carry `impulse`, and its wheels feel it.
    #[inline(always)]
    pub(crate) fn carry(&mut self, model: &Model, rows: &mut [Rows], i: usize, impulse: f32) {
        let link = &mut self.links[i];
        let change = link.at_wheels(impulse) - link.at_wheels(link.impulse);
        for (bank, rows) in model.banks().iter().zip(rows) {
            rows.drive.shaft += bank.levers[i] * Four::splat(change);
        }
        link.impulse = impulse;
    }

    /// Speeds of the rows, and how they answer each other.
    fn measure(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let count = self.count;
        if wheels == Wheels::AsBlocks {
            self.fastest = 0.0;
        }
        for i in 0..count {
            self.speeds[i] = 0.0;
            self.answers[i][..count].fill(0.0);
        }
        for (bank, rows) in model.banks().iter().zip(rows) {
            let (spin, answer) = match wheels {
                Wheels::Alone => rows.spin_under(bank),
                Wheels::AsBlocks => {
                    let found = rows.spin_of_block(bank, self.within);
                    self.fastest = found.0.lanes().iter().fold(self.fastest, |most, spin| most.max(spin.abs()));
                    found
                }
            };
            for (i, &lever) in bank.levers.iter().enumerate().take(count) {
                self.speeds[i] += (lever * spin).sum();
                for (j, &other) in bank.levers.iter().enumerate().take(i + 1) {
                    self.answers[i][j] += (lever * other * answer).sum();
                }
            }
        }
        for i in 0..count {
            let link = &self.links[i];
            self.speeds[i] *= link.ratio;
            for j in 0..i {
                self.answers[j][i] = self.answers[i][j];
            }
        }
        for i in 0..count {
            for j in 0..count {
                let other = &self.links[j];
                self.answers[i][j] *= self.links[i].ratio * other.torque_ratio(other.impulse);
            }
        }
    }

    /// Rotor and torque of every motor at the speed it has now: `impulse = J (ω₀ − ω) + dt (T + T′ (ω − ω*))`.
    fn linearise_motors(&mut self, model: &Model) {
        let (pull, dt, [first, _]) = (self.pull, self.dt, self.first_rows(model));
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let speed = self.speeds[first + k];
            let given = pull.of(motor, speed);
            let (torque, slope) = match &mut self.orders {
                Some(orders) => orders.of(k, motor, speed * pull.towards, given),
                None => given,
            };
            let slope = falling(slope, torque, motor.max_speed);
            let link = &mut self.links[first + k];
            link.per_speed = motor.inertia - dt * slope;
            link.target_impulse = motor.inertia * self.rotors[k] + dt * (torque * pull.towards - slope * speed);
        }
    }

    /// Bounds of couplings that carry the more, the more is driven through them; whether that took impulse from any. Then
    /// the wheels turn otherwise than measured.
    fn set_capacities(&mut self, model: &Model, rows: &mut [Rows]) -> bool {
        let [_, first] = self.first_rows(model);
        let mut taken = false;
        for (k, coupling) in model.parts().couplings.iter().enumerate() {
            if coupling.bias == [1.0; 2] {
                continue;
            }
            let flow = &model.flows()[k];
            let through: f32 =
                self.links.iter().zip(&flow.through).map(|(link, part)| part * link.at_wheels(link.impulse)).sum();
            let [towards_first, towards_second] = coupling.capacity(through / self.dt, flow.first_share);
            let (least, most) = (-towards_second * self.dt, towards_first * self.dt);
            let link = &mut self.links[first + k];
            link.bounds = [least, most];
            let impulse = link.impulse.max(least).min(most);
            if link.viscous == 0.0 && impulse != link.impulse {
                self.carry(model, rows, first + k, impulse);
                taken = true;
            }
        }
        taken
    }

    /// Impulses that satisfy every row's law as the wheels now answer: rows change between holding and slipping until
    /// none has to.
    #[inline(always)]
    pub(crate) fn step<const MOST: usize>(&mut self) -> [f32; MOST] {
        let count = self.count::<MOST>();
        let mut regimes = [Regime::Holds; MOST];
        regimes[0] = self.links[0].first();
        let mut found = [0.0; MOST];
        for _ in 0..4 * count + 1 {
            let changes = self.solve(&regimes);
            let mut same = true;
            for i in 0..count {
                let answers = &self.answers[i][..count];
                let speed = self.speeds[i] + answers.iter().zip(&changes).map(|(a, c)| a * c).sum::<f32>();
                let link = &self.links[i];
                let impulse = link.impulse + changes[i];
                found[i] = link.bounded(regimes[i], impulse);
                let next = link.next(regimes[i], impulse, speed);
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
    fn solve<const MOST: usize>(&mut self, regimes: &[Regime; MOST]) -> [f32; MOST] {
        let (count, matrix) = (self.count::<MOST>(), &mut self.matrix);
        let mut right = [0.0; MOST];
        for i in 0..count {
            let link = &self.links[i];
            let [own, per_speed, _] = link.law(regimes[i]);
            right[i] = link.missing(regimes[i], link.impulse, self.speeds[i]);
            for (entry, answer) in matrix[i].iter_mut().zip(&self.answers[i][..count]) {
                *entry = per_speed * answer;
            }
            matrix[i][i] += if own == 0.0 { RIGID_SHORTFALL * matrix[i][i] } else { own };
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

impl Vehicle {
    /// Solves clutch and couplings; leaves each wheel's shaft impulse.
    pub(crate) fn solve_shafts(&mut self) {
        if self.settle_shafts() {
            self.follow_blocks();
        }
    }

    /// Solves all rows once more for wheels as their blocks.
    #[cold]
    fn follow_blocks(&mut self) {
        self.shafts.settle_rows(&self.model, &mut self.rows, Wheels::AsBlocks);
    }

    /// The same for wheels that have no block; leaves their spin, too.
    pub(crate) fn roll_shafts(&mut self) {
        self.settle_shafts();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.coupled.spin = rows.spin_under(bank).0;
        }
    }

    /// Solves all rows for wheels alone; whether any but a clutch on wheels that grip carries something, and has to look at blocks.
    #[inline(always)]
    fn settle_shafts(&mut self) -> bool {
        let shafts = &mut self.shafts;
        if shafts.are_open() {
            return false;
        }
        if shafts.is_clutch() {
            // Where its wheels begin to slide, a clutch is solved as other rows are.
            let pass = |_, measured| shafts.clutch_pass(measured);
            if settle_clutches(self.model.banks(), &mut self.rows, pass) {
                return false;
            }
        }
        shafts.settle_rows(&self.model, &mut self.rows, Wheels::Alone);
        true
    }
}

impl<W: Corners> Rows<W> {
    /// As [`Rows::spin_under`] with both tyre rows, as the block solves them.
    ///
    /// With the driven momentum `d` and the tyre's answer `T` to its speed along, `I ω = d − R x` and `x' = T R / I d'`.
    fn spin_of_block(&mut self, bank: &WheelPack<W>, within: Within) -> (W, W) {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let tangent = self.solve_block(bank, within).tangent();
        let along = |k: usize| tangent.weights[k] * tangent.directions[k][0] * tangent.directions[k][0];
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let free = (one - radius * radius / inertia * (along(0) + along(1))).at_least(zero);
        (self.coupled.spin, (free / inertia).only(zero.less(self.coupled.spin.abs())))
    }
}
