//! Solution of clutch, motors and couplings over a step: their rows are built, solved before the wheel blocks ([`Solving`]), and stored in
//! the state.
//!
//! Each wheel is represented by its inertia *and* the grip of its tyre, so no shaft stiffness limits the step.

use crate::banks::{Banks, Many};
use crate::drivetrain::assisted::converter;
use crate::drivetrain::clutch::settle_clutches;
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::converter::Converter;
use crate::drivetrain::drive::turning;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::rows::{MOST_CONSTRAINTS, PedalDemand, Shafts};
use crate::drivetrain::solving::{Carried, FEW, Going, Solving, Wheels, go_on};
use crate::instruction_set::widest;
use crate::lane::{Four, Lane};
use crate::model::Model;
use crate::state::DriveState;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;

impl PedalDemand {
    /// Returns the torque of `motor`, N m, positive towards the drive, and its derivative by the speed, N m s. `speed`: rotor speed, rad/s,
    /// positive forward.
    pub(crate) fn of(&self, motor: &Motor, speed: f32) -> (f32, f32) {
        let demand = if self.direction == 0.0 { 0.0 } else { motor.demand(self.throttle, self.brake) };
        motor.torque(speed * self.direction, demand)
    }
}

impl Shafts {
    /// Starts a step of `dt` s with rows of motors and couplings that carry no impulse. Clears the engine and the limits of assists.
    #[inline(always)]
    pub(crate) fn begin(&mut self, pull: PedalDemand, model: &Model, dt: f32) {
        let parts = model.parts();
        (self.engine, self.count, self.dt, self.pull, self.limited_by) = (None, 0, dt, pull, None);
        self.has_gone_on = false;
        if parts.motors.is_empty() && parts.couplings.is_empty() {
            return;
        }
        let motors = parts.motors.iter().map(|motor| DriveConstraint::motor(motor, pull.direction, dt));
        let couplings = parts.couplings.iter().map(|coupling| DriveConstraint::coupling(coupling, dt));
        let others = &mut self.constraints[usize::from(parts.powertrain.engine().is_some())..];
        for (to, row) in others.iter_mut().zip(motors.chain(couplings)) {
            *to = row;
            self.count += 1;
        }
    }

    /// Stores the flywheel and adds the row of its clutch or converter as row 0. The row's impulse is its warm start.
    #[inline(always)]
    pub(crate) fn engage(&mut self, flywheel: Flywheel, clutch: DriveConstraint) {
        (self.engine, self.constraints[0]) = (Some(flywheel), clutch);
        self.count += 1;
    }

    /// Stores the rotor speed of motor `k` at the start of the step, rad/s.
    pub(crate) fn turned(&mut self, k: usize, speed: f32) {
        self.motors[k].rotor = speed;
    }

    /// Sets the impulses of motors and couplings to 0. From impulses that are far off, Newton passes may settle at a wrong solution.
    pub(crate) fn clear_impulses(&mut self, model: &Model, rows: &mut [Rows]) {
        let [first, _] = self.first_rows(model);
        for i in first..self.count {
            self.carry(model, rows, i, 0.0);
        }
    }

    /// Returns the index of the first motor's row and that of the first coupling's row.
    pub(crate) fn first_rows(&self, model: &Model) -> [usize; 2] {
        let motors = usize::from(self.engine.is_some());
        [motors, motors + model.parts().motors.len()]
    }

    /// Stores engine speed and mean torques of clutch, motors and couplings in `drive`. `turns(i)`: wheel speed on row `i` by its levers, rad/s.
    #[inline(always)]
    pub(crate) fn write_back(&self, drive: &mut DriveState, model: &Model, turns: impl Fn(usize) -> f32) {
        let constraints = &self.constraints[..self.count];
        if let (Some(engine), Some(row)) = (&self.engine, constraints.first()) {
            let speed = match converter(model) {
                Some(converter) if row.is_converter => {
                    let found = self.impeller(converter, engine, turns(0) * row.ratio);
                    // Wheels that slide sideways may turn faster than the row took them to; that excess does not drive the engine.
                    if row.impulse > 0.0 { found.min(engine.speed) } else { found }
                }
                _ => engine.dragged(engine.speed - row.impulse * engine.inverse_inertia),
            };
            drive.engine_speed = speed;
            drive.clutch = row.impulse / self.dt;
        }
        let [motors, couplings] = self.first_rows(model);
        if motors == self.count {
            return;
        }
        for (k, (torque, motor)) in drive.motors.iter_mut().zip(&model.parts().motors).enumerate() {
            let row = &constraints[motors + k];
            let gained = turns(motors + k) * row.ratio - self.motors[k].rotor;
            *torque = (row.impulse + motor.inertia * gained) / self.dt;
        }
        for (carried, row) in drive.couplings.iter_mut().zip(&constraints[couplings..]) {
            *carried = row.impulse / self.dt;
        }
    }

    /// Returns the impeller speed at the end of the step with the turbine at `turbine`, rad/s.
    pub(crate) fn impeller(&self, converter: &Converter, engine: &Flywheel, turbine: f32) -> f32 {
        let free = engine.speed - engine.dry_drag * engine.inverse_inertia;
        converter.impeller_speed(free, self.dt * engine.inverse_inertia, turbine)
    }

    /// Sets the impulse of row `i`, N m s, and adds its change to the shaft impulses of the wheels.
    #[inline(always)]
    pub(crate) fn carry(&mut self, model: &Model, rows: &mut [Rows], i: usize, impulse: f32) {
        let change = self.constraints[i].carries(impulse);
        for (bank, rows) in model.banks().iter().zip(rows) {
            rows.drive.shaft += bank.levers[i] * Four::splat(change);
        }
    }
}

impl Shafts {
    /// Solves the rows from the impulses of the last step. Returns whether they converged; if not, restores the impulses from before.
    #[inline(always)]
    fn go_on(&mut self, model: &Model, rows: &mut [Rows], carried: Carried<'_>) -> bool {
        match self.count {
            1 => self.go_on_rows::<1>(model, rows, carried),
            2 => self.go_on_rows::<2>(model, rows, carried),
            3 => self.go_on_rows::<3>(model, rows, carried),
            FEW => self.go_on_rows::<FEW>(model, rows, carried),
            _ => self.go_on_rows::<MOST_CONSTRAINTS>(model, rows, carried),
        }
    }

    #[inline(always)]
    fn go_on_rows<const MOST: usize>(&mut self, model: &Model, rows: &mut [Rows], carried: Carried<'_>) -> bool {
        let mut begun = [0.0; MOST];
        begun.iter_mut().zip(&self.constraints).for_each(|(impulse, row)| *impulse = row.impulse);
        let all = (self.count, self.within);
        let goes_on = go_on(model.banks(), rows, all, &mut Going::<MOST>::of(self, model, carried));
        if !goes_on {
            (0..self.count).for_each(|i| self.carry(model, rows, i, begun[i]));
        }
        goes_on
    }

    /// Solves all rows with the wheels as `wheels`. If they do not converge, limits the motors to their peak torques.
    fn settle(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        match self.count {
            1 => self.settle_rows::<1>(model, rows, wheels),
            2 => self.settle_rows::<2>(model, rows, wheels),
            3 => self.settle_rows::<3>(model, rows, wheels),
            FEW => self.settle_rows::<FEW>(model, rows, wheels),
            _ => self.settle_rows::<MOST_CONSTRAINTS>(model, rows, wheels),
        }
    }

    /// Solves all rows with [`Wheels::Alone`] and, from that result, with [`Wheels::AsBlocks`].
    #[inline(always)]
    pub(crate) fn settle_anew(&mut self, model: &Model, rows: &mut [Rows]) {
        self.settle(model, rows, Wheels::Alone);
        self.settle(model, rows, Wheels::AsBlocks);
    }

    #[inline(never)]
    fn settle_rows<const MOST: usize>(&mut self, model: &Model, rows: &mut [Rows], wheels: Wheels) {
        let mut solving = Solving::<MOST>::of(self);
        if !solving.settle(model, rows, wheels) && !model.parts().motors.is_empty() {
            solving.bound_motors(model, rows, wheels);
        }
    }
}

impl Vehicle {
    /// Solves clutch, motors and couplings. Stores the shaft impulse of each wheel in `rows.drive.shaft`.
    #[inline(always)]
    pub(crate) fn solve_shafts<B: Banks>(&mut self) {
        if !self.settle_clutch::<B>() {
            self.solve_rows();
        }
    }

    /// Solves rows that are more than a lone clutch on gripping wheels, with the wheels as blocks. The first call of a step starts from the
    /// impulses of the last step. If these do not converge, the rows are solved for wheels alone first. A lone clutch always takes that path.
    #[inline(never)]
    fn solve_rows(&mut self) {
        widest(
            #[inline(always)]
            || {
                let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
                let is_first = !core::mem::replace(&mut shafts.has_gone_on, true);
                let gained = self.to_world.x_axis.dot(self.state.velocity - self.state.previous_velocity);
                let carried = Carried { drive: &self.state.drive, gained };
                if !(is_first && !shafts.is_clutch() && shafts.go_on(model, rows, carried)) {
                    shafts.settle_anew(model, rows);
                }
            },
        );
    }

    /// Stores the results of the rows in the state.
    #[inline(always)]
    pub(crate) fn end_shafts<B: Banks>(&mut self) {
        let (banks, rows) = (B::of(self.model.banks()), B::of(&self.rows));
        let turns = |row| turning(banks, rows, row, |rows| rows.coupled.spin);
        self.shafts.write_back(&mut self.state.drive, &self.model, turns);
    }

    /// Solves clutch, motors and couplings for wheels without blocks. Stores the spins of the wheels in `rows.coupled.spin`, rad/s.
    pub(crate) fn roll_shafts(&mut self) {
        if !self.settle_clutch::<Many>() {
            self.shafts.settle(&self.model, &mut self.rows, Wheels::Alone);
        }
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.coupled.spin = rows.spin_under(bank).0;
        }
    }

    /// Solves a lone clutch for wheels alone. Returns true if all rows are solved: no row carries an impulse, or the lone clutch has settled.
    #[inline(always)]
    fn settle_clutch<B: Banks>(&mut self) -> bool {
        let shafts = &mut self.shafts;
        if shafts.are_open() {
            return true;
        }
        // If its wheels begin to slide, a clutch is solved like the other rows.
        shafts.is_clutch()
            && settle_clutches(
                B::of(self.model.banks()),
                B::of_mut(&mut self.rows),
                #[inline(always)]
                |measured| shafts.clutch_pass(measured),
            )
    }
}
