//! Clutch, motors and couplings: rows between spins, solved together for the wheels in their surroundings.
//!
//! They are solved before the wheel blocks, each wheel standing in with its inertia *and* the grip of its tyre, so no
//! shaft stiffness limits the step. A row's law is `own · impulse + per_speed · speed = wish` within its bounds; beyond
//! them it slips. The wheels answer linearly until one begins or ceases to slide or to be held: one Newton step solves
//! all rows, another pass looks whether that has happened.

use super::Vehicle;
use super::orders::Orders;
use super::rows::Rows;
use crate::lane::{Four, Lane};
use crate::model::{Bank, Converter, Coupling, MAX_COUPLINGS, MAX_MOTORS, Model, Motor, Takeup};
use crate::state::DriveState;

/// The engine's row, the motors' and the couplings'.
const MOST_LINKS: usize = 1 + MAX_MOTORS + MAX_COUPLINGS;

/// Newton passes of a clutch alone, and of anything else.
const PASSES: [usize; 2] = [3, 8];

/// Change of the clutch's impulse, as a share of its capacity, so small that no wheel can have begun or ceased to slide
/// unnoticed; the Newton step itself is exact while none does.
const SETTLED_CLUTCH: f32 = 0.02;

/// Change of any other impulse that ends the passes: a share of it, or a torque, N m.
const SETTLED: [f32; 2] = [1e-3, 0.01];

/// Change of the turbine's speed at which its torque is looked up to find the slope, as a share of the speeds.
const CONVERTER_PROBE: f32 = 0.01;

/// Share by which a rigid row's step falls short, so that rows that say the same do not divide by nothing.
const RIGID_SHORTFALL: f32 = 1e-4;

/// One row between spins. Impulses in N m s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    /// Turns of the row per turn of the wheels on its levers.
    pub ratio: f32,
    /// Torque on the wheels per torque through the row, negative and positive: losses are taken in the direction the power
    /// flows.
    pub gives: [f32; 2],
    /// Its law while it holds.
    pub own: f32,
    pub per_speed: f32,
    pub wish: f32,
    /// Least and largest impulse that hold.
    pub bounds: [f32; 2],
    /// Impulse per speed that comes on top of a bound while it slips.
    pub viscous: f32,
    /// Change of the impulse that is none.
    pub settled: [f32; 2],
    pub impulse: f32,
    /// Whether it is a torque converter.
    pub fluid: bool,
    /// Largest impulse of the dry friction on the engine's side; 0 of any row but the clutch of a dead engine.
    pub dry_drag: f32,
}

/// Whether a row follows its law, or slips at its lower or upper bound. While the clutch of a dead engine holds, the
/// engine either stands or is turned, backwards or forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    Holds,
    Slips(usize),
    Stands,
    Turns(usize),
}

/// What drives the wheels when a row of `ratio` gives a negative and a positive torque with losses of `efficiency`.
fn gives(ratio: f32, efficiency: f32) -> [f32; 2] {
    [ratio / efficiency, ratio * efficiency]
}

/// Workspace of the drivetrain, rebuilt every step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shafts {
    pub(super) links: [Link; MOST_LINKS],
    count: usize,
    pub(super) dt: f32,
    pub(super) engine: Option<Flywheel>,
    pub(super) pull: Pull,
    /// Rotor speeds at the start of the step, rad/s.
    pub(super) rotors: [f32; MAX_MOTORS],
    /// What assists want of the motors; `None` where they have not been asked.
    pub(super) orders: Option<Orders>,
    /// Of the rows, rad/s, under the present impulses.
    speeds: [f32; MOST_LINKS],
    /// How row speeds answer row impulses.
    answers: [[f32; MOST_LINKS]; MOST_LINKS],
    /// Of the elimination; only the rows there are are ever written, which a small car would pay for.
    matrix: [[f32; MOST_LINKS]; MOST_LINKS],
}

/// What the pedals ask of the motors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pull {
    pub throttle: f32,
    pub brake: f32,
    /// 1 forward, −1 in reverse, 0 in neutral.
    pub towards: f32,
}

impl Pull {
    /// Torque of a `motor`, N m towards the drive, at a rotor speed of `speed` rad/s (positive forward), and how it changes
    /// with the speed.
    pub(super) fn of(&self, motor: &Motor, speed: f32) -> (f32, f32) {
        let demand = if self.towards == 0.0 { 0.0 } else { motor.demand(self.throttle, self.brake) };
        motor.torque(speed * self.towards, demand)
    }
}

/// The engine side of the clutch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flywheel {
    /// Before the clutch acts, rad/s.
    pub speed: f32,
    pub inverse_inertia: f32,
    /// Largest angular impulse of the dry friction of a dead engine, N m s.
    pub dry_drag: f32,
    /// As `speed`, with a closed throttle and with the driver's; only of cars with assists.
    pub bounds: [f32; 2],
}

impl Link {
    /// A clutch that carries up to `capacity` and carried `impulse` before.
    pub(super) fn clutch(flywheel: &Flywheel, ratio: f32, efficiency: f32, capacity: f32, impulse: f32) -> Self {
        Self {
            ratio,
            gives: gives(ratio, efficiency),
            own: flywheel.inverse_inertia,
            per_speed: 1.0,
            wish: flywheel.speed,
            bounds: [-capacity, capacity],
            viscous: 0.0,
            settled: [0.0, SETTLED_CLUTCH * capacity],
            impulse: impulse.clamp(-capacity, capacity),
            fluid: false,
            dry_drag: 0.0,
        }
    }

    /// This clutch with a dead engine behind it, which turned by `speed` rad/s and whose dry friction has up to `dry_drag`.
    ///
    /// With J the inertia and ω the speed of both while the clutch holds, `p = J (ω_f − ω) ∓ D` turning forwards and
    /// backwards, and anything between both at a standstill: as a brake on the flywheel. What turns a standing engine are the
    /// wheels.
    pub(super) fn of_dead_engine(mut self, speed: f32, efficiency: f32, dry_drag: f32, dt: f32) -> Self {
        let [against, along] = self.gives;
        if speed <= 0.0 {
            self.gives = [if speed < 0.0 { along } else { against }, self.ratio / efficiency];
        }
        let [relative, torque] = SETTLED;
        (self.dry_drag, self.settled) = (dry_drag, [relative, torque * dt]);
        self
    }

    /// A torque converter that gave `impulse` before; its law follows in every pass.
    pub(super) fn converter(ratio: f32, efficiency: f32, impulse: f32, dt: f32) -> Self {
        let [relative, torque] = SETTLED;
        Self {
            ratio,
            gives: gives(ratio, efficiency),
            own: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            settled: [relative, torque * dt],
            impulse,
            fluid: true,
            ..Self::default()
        }
    }

    /// A coupling that carries nothing yet.
    fn coupling(coupling: &Coupling, dt: f32) -> Self {
        let viscous = coupling.viscous * dt;
        let [relative, torque] = SETTLED;
        Self {
            ratio: 1.0,
            gives: [1.0; 2],
            per_speed: 1.0,
            bounds: [-coupling.friction * dt, coupling.friction * dt],
            viscous,
            settled: [relative, torque * dt],
            ..Self::default()
        }
    }

    /// A motor's rotor, which turns with its wheels; its law follows in every pass. In reverse it drives with negative torques.
    fn motor(motor: &Motor, towards: f32, dt: f32) -> Self {
        let [relative, torque] = SETTLED;
        Self {
            ratio: motor.reduction,
            gives: gives(motor.reduction, if towards < 0.0 { 1.0 / motor.efficiency } else { motor.efficiency }),
            own: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            settled: [relative, torque * dt],
            ..Self::default()
        }
    }

    /// Torque on the wheels per torque through the row, when that is `impulse`.
    pub(super) fn torque_ratio(&self, impulse: f32) -> f32 {
        self.gives[usize::from(impulse >= 0.0)]
    }

    /// What it is to the wheels when it has `impulse`.
    pub(super) fn at_wheels(&self, impulse: f32) -> f32 {
        self.torque_ratio(impulse) * impulse
    }

    /// `own`, `per_speed` and `wish` of the row.
    fn law(&self, regime: Regime) -> [f32; 3] {
        let drag = self.own * self.dry_drag;
        match regime {
            Regime::Holds => [self.own, self.per_speed, self.wish],
            Regime::Slips(bound) => [1.0, self.viscous, self.bounds[bound]],
            Regime::Stands => [0.0, 1.0, 0.0],
            Regime::Turns(0) => [self.own, self.per_speed, self.wish + drag],
            Regime::Turns(_) => [self.own, self.per_speed, self.wish - drag],
        }
    }

    /// What its law misses at an impulse and a speed; positive asks for more.
    fn missing(&self, regime: Regime, impulse: f32, speed: f32) -> f32 {
        let [own, per_speed, wish] = self.law(regime);
        wish - own * impulse - per_speed * speed
    }

    /// What the row is taken to do first.
    fn first(&self) -> Regime {
        if self.dry_drag > 0.0 { Regime::Stands } else { Regime::Holds }
    }

    /// How the row goes on with `impulse` at `speed`.
    fn next(&self, regime: Regime, impulse: f32, speed: f32) -> Regime {
        let [least, most] = self.bounds;
        match regime {
            Regime::Slips(bound) => {
                let held = match self.first() {
                    Regime::Stands => Regime::Turns(usize::from(speed >= 0.0)),
                    holds => holds,
                };
                let missing = self.missing(held, impulse, speed);
                let carries_less = if bound == 1 { missing < 0.0 } else { missing > 0.0 };
                if carries_less { held } else { regime }
            }
            _ if impulse > most => Regime::Slips(1),
            _ if impulse < least => Regime::Slips(0),
            Regime::Stands if self.missing(Regime::Turns(0), impulse, 0.0) < 0.0 => Regime::Turns(0),
            Regime::Stands if self.missing(Regime::Turns(1), impulse, 0.0) > 0.0 => Regime::Turns(1),
            Regime::Turns(0) if speed > 0.0 => Regime::Stands,
            Regime::Turns(1) if speed < 0.0 => Regime::Stands,
            same => same,
        }
    }

    /// `impulse` without its rounding at a bound.
    fn bounded(&self, regime: Regime, impulse: f32) -> f32 {
        match regime {
            Regime::Slips(bound) if self.viscous == 0.0 => self.bounds[bound],
            Regime::Slips(_) => impulse,
            _ => impulse.max(self.bounds[0]).min(self.bounds[1]),
        }
    }
}

impl Flywheel {
    /// What is left of its `speed` when its dry friction has acted, rad/s.
    fn dragged(&self, speed: f32) -> f32 {
        let lost = self.dry_drag * self.inverse_inertia;
        speed - speed.clamp(-lost, lost)
    }
}

impl Shafts {
    /// Begins a step: an engine's row, if there is one, before those of motors and couplings. Rows carry nothing yet but the
    /// clutch, which carries what it did.
    pub(super) fn begin(&mut self, engine: Option<(Flywheel, Link)>, pull: Pull, model: &Model, dt: f32) {
        let parts = model.parts();
        self.engine = engine.map(|(flywheel, _)| flywheel);
        let clutch = engine.map(|(_, clutch)| clutch);
        let motors = parts.motors.iter().map(|motor| Link::motor(motor, pull.towards, dt));
        let couplings = parts.couplings.iter().map(|coupling| Link::coupling(coupling, dt));
        (self.count, self.dt, self.pull, self.orders) = (0, dt, pull, None);
        for (to, link) in self.links.iter_mut().zip(clutch.into_iter().chain(motors).chain(couplings)) {
            *to = link;
            self.count += 1;
        }
    }

    /// Tells how fast motor `k` turned when the step began, rad/s.
    pub(super) fn turned(&mut self, k: usize, speed: f32) {
        self.rotors[k] = speed;
    }

    /// Row of the first motor, and of the first coupling.
    pub(super) fn first_rows(&self, model: &Model) -> [usize; 2] {
        let motors = usize::from(self.engine.is_some());
        [motors, motors + model.parts().motors.len()]
    }

    pub(super) fn write_back(&self, drive: &mut DriveState, model: &Model, rows: &[Rows]) {
        let links = &self.links[..self.count];
        if let (Some(engine), Some(link)) = (&self.engine, links.first()) {
            let turns = || model.banks().iter().zip(rows).map(|(bank, rows)| (bank.levers[0] * rows.spin).sum());
            let speed = match converter(model) {
                Some(fluid) if link.fluid => self.impeller(fluid, engine, turns().sum::<f32>() * link.ratio),
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
            let turns = model.banks().iter().zip(rows).map(|(bank, rows)| (bank.levers[motors + k] * rows.spin).sum());
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
        if !self.links[0].fluid {
            return;
        }
        let speed = self.speeds[0];
        let torque = |speed: f32| fluid.torques(self.impeller(fluid, &engine, speed), speed)[1];
        let (here, beyond) = (torque(speed), speed + CONVERTER_PROBE * (speed.abs() + engine.speed));
        let slope = ((torque(beyond) - here) / (beyond - speed).max(f32::MIN_POSITIVE)).min(0.0);
        let link = &mut self.links[0];
        link.per_speed = -self.dt * slope;
        link.wish = self.dt * (here - slope * speed);
    }

    /// One Newton step of all rows; whether it changed little.
    fn pass(&mut self, model: &Model, rows: &mut [Rows]) -> bool {
        self.measure(model, rows);
        self.linearise_converter(model);
        self.linearise_motors(model);
        self.set_capacities(model);
        let found = self.step();
        let mut settled = true;
        for (i, &after) in found[..self.count].iter().enumerate() {
            let before = self.links[i].impulse;
            self.carry(model, rows, i, after);
            let [relative, absolute] = self.links[i].settled;
            settled &= (after - before).abs() <= relative * after.abs() + absolute;
        }
        settled
    }

    /// Lets row `i` carry `impulse`, and its wheels feel it.
    #[inline(always)]
    pub(super) fn carry(&mut self, model: &Model, rows: &mut [Rows], i: usize, impulse: f32) {
        let link = &mut self.links[i];
        let change = link.at_wheels(impulse) - link.at_wheels(link.impulse);
        for (bank, rows) in model.banks().iter().zip(rows) {
            rows.shaft += bank.levers[i] * Four::splat(change);
        }
        link.impulse = impulse;
    }

    /// Speeds of the rows, and how they answer each other.
    fn measure(&mut self, model: &Model, rows: &[Rows]) {
        for i in 0..self.count {
            self.speeds[i] = 0.0;
            self.answers[i][..self.count].fill(0.0);
        }
        for (bank, rows) in model.banks().iter().zip(rows) {
            let (spin, answer) = rows.spin_under(bank);
            for (i, &lever) in bank.levers.iter().enumerate().take(self.count) {
                self.speeds[i] += (lever * spin).sum();
                for (j, &other) in bank.levers.iter().enumerate().take(i + 1) {
                    self.answers[i][j] += (lever * other * answer).sum();
                }
            }
        }
        for i in 0..self.count {
            let link = &self.links[i];
            self.speeds[i] *= link.ratio;
            for j in 0..i {
                self.answers[j][i] = self.answers[i][j];
            }
        }
        for i in 0..self.count {
            for j in 0..self.count {
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
            let link = &mut self.links[first + k];
            link.per_speed = motor.inertia - dt * slope;
            link.wish = motor.inertia * self.rotors[k] + dt * (torque * pull.towards - slope * speed);
        }
    }

    /// Bounds of couplings that carry the more, the more is driven through them.
    fn set_capacities(&mut self, model: &Model) {
        let [_, first] = self.first_rows(model);
        for (k, coupling) in model.parts().couplings.iter().enumerate() {
            if coupling.bias == [1.0; 2] {
                continue;
            }
            let flow = &model.flows()[k];
            let through: f32 =
                self.links.iter().zip(&flow.through).map(|(link, part)| part * link.at_wheels(link.impulse)).sum();
            let [towards_first, towards_second] = coupling.capacity(through / self.dt, flow.first_share);
            self.links[first + k].bounds = [-towards_second * self.dt, towards_first * self.dt];
        }
    }

    /// Impulses that satisfy every row's law as the wheels now answer: rows change between holding and slipping until
    /// none has to.
    fn step(&mut self) -> [f32; MOST_LINKS] {
        let mut regimes = [Regime::Holds; MOST_LINKS];
        regimes[0] = self.links[0].first();
        let mut found = [0.0; MOST_LINKS];
        for _ in 0..2 * self.count + if regimes[0] == Regime::Stands { 3 } else { 1 } {
            let changes = self.solve(&regimes);
            let mut same = true;
            for i in 0..self.count {
                let answers = &self.answers[i][..self.count];
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
    fn solve(&mut self, regimes: &[Regime; MOST_LINKS]) -> [f32; MOST_LINKS] {
        let (count, matrix) = (self.count, &mut self.matrix);
        let mut right = [0.0; MOST_LINKS];
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

pub(super) fn converter(model: &Model) -> Option<&Converter> {
    match &model.parts().powertrain.engine()?.takeup {
        Takeup::Converter(converter) => Some(converter),
        Takeup::Clutch(_) => None,
    }
}

impl Vehicle {
    /// Solves clutch and couplings; leaves each wheel's shaft impulse.
    pub(super) fn solve_shafts(&mut self) {
        let shafts = &mut self.shafts;
        if shafts.links[..shafts.count].iter().all(|link| link.bounds == [0.0; 2] && link.viscous == 0.0) {
            return;
        }
        let simple = shafts.count == 1 && !shafts.links[0].fluid && shafts.links[0].dry_drag == 0.0;
        for _ in 0..PASSES[usize::from(!simple)] {
            if shafts.pass(&self.model, &mut self.rows) {
                return;
            }
        }
    }
}

impl Rows {
    /// Spin of the wheels under their present shaft impulse with their tyres gripping as they can, and how the spins
    /// answer a further impulse. The lateral row is left out: only the shaft's step uses this, the block is exact.
    #[inline(always)]
    fn spin_under(&self, bank: &Bank) -> (Four, Four) {
        let momentum = self.momentum + self.shaft;
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let own = Four::splat(1.0) + self.admittance[0] * self.around.compliance[0];
        let at_rest = (self.wish[0] - self.admittance[0] * self.around.speed[0]) / own;
        let per_spin = self.admittance[0] * radius / own;
        let limit = self.reach[0];
        let gripping = held_or_turning(momentum - radius * at_rest, self.hold, inertia + radius * per_spin);
        let tyre = at_rest + per_spin * gripping.0;
        let sliding = limit.less(tyre.abs());
        if !Four::any(sliding & bank.present()) {
            return gripping;
        }
        let slid = held_or_turning(momentum - radius * tyre.within(-limit, limit), self.hold, inertia);
        (Four::select(sliding, slid.0, gripping.0), Four::select(sliding, slid.1, gripping.1))
    }
}

fn held_or_turning(momentum: Four, hold: Four, inertia: Four) -> (Four, Four) {
    let turning = hold.less(momentum.abs());
    let spin = (momentum - hold.signed_by(momentum)) / inertia;
    (spin.only(turning), (Four::splat(1.0) / inertia).only(turning))
}
