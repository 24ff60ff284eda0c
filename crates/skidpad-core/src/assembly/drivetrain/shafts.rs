//! Solution of clutch, motors and couplings over a step: their rows are built, solved before the wheel blocks ([`ShaftSolver`]), and stored in
//! the state.
//!
//! Each wheel is represented by its inertia *and* the grip of its tyre, so no shaft stiffness limits the step.

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assembly::drivetrain::lone_clutch::solve_lone_clutches;
use crate::assembly::drivetrain::shaft_solver::{
    LastStep, MAX_UNROLLED_ROWS, ShaftSolver, WarmStart, WheelResponse, solve_warm_started,
};
use crate::assembly::drivetrain::traction_limits::converter;
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::launch_device::Converter;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::rows::{MAX_CONSTRAINTS, PedalDemand, Shafts};
use crate::model::Model;
use crate::simd::instruction_set::dispatch_simd;
use crate::simd::lane::{F32x4, Lane};
use crate::simd::wheel_groups::{ManyGroups, WheelGroups};
use crate::state::DriveState;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;

impl PedalDemand {
    /// Returns the torque of `motor` that the pedals demand, N m, positive towards the drive, and its derivative by the speed towards the drive, N m
    /// s. Without a driving direction the demand is 0. `speed`: rotor speed, rad/s, positive forward. Limits by assists are left out.
    pub(crate) fn motor_torque(&self, motor: &Motor, speed: f32) -> (f32, f32) {
        let demand = if self.direction == 0.0 { 0.0 } else { motor.demand(self.throttle, self.brake) };
        motor.torque(speed * self.direction, demand)
    }
}

impl Shafts {
    /// Starts a step of `dt` s: stores the pedal demand `pull` and builds the rows of motors and couplings, which carry no impulse. Row 0 stays free
    /// for the clutch if the model has an engine. Clears the engine, the limits of assists and the mark of a tried warm start.
    #[inline(always)]
    pub(crate) fn begin_step(&mut self, pull: PedalDemand, model: &Model, dt: f32) {
        let parts = model.parts();
        (self.engine, self.row_count, self.dt, self.pedal_demand, self.limited_by) = (None, 0, dt, pull, None);
        self.was_warm_started = false;
        if parts.motors.is_empty() && parts.couplings.is_empty() {
            return;
        }
        let motors = parts.motors.iter().map(|motor| DriveConstraint::motor(motor, pull.direction, dt));
        let couplings = parts.couplings.iter().map(|coupling| DriveConstraint::coupling(coupling, dt));
        let others = &mut self.constraints[usize::from(parts.powertrain.engine().is_some())..];
        for (to, row) in others.iter_mut().zip(motors.chain(couplings)) {
            *to = row;
            self.row_count += 1;
        }
    }

    /// Stores the flywheel and adds the row of its clutch or converter as row 0. The row's impulse is its warm start; the caller applies it to the
    /// wheels.
    #[inline(always)]
    pub(crate) fn add_clutch_row(&mut self, flywheel: Flywheel, clutch: DriveConstraint) {
        (self.engine, self.constraints[0]) = (Some(flywheel), clutch);
        self.row_count += 1;
    }

    /// Stores the rotor speed of motor `k` at the start of the step, rad/s.
    pub(crate) fn set_rotor_speed(&mut self, k: usize, speed: f32) {
        self.motors[k].rotor_speed = speed;
    }

    /// Sets the impulses of motors and couplings to 0 and removes them from the wheels. From impulses that are far off, Newton passes may settle at a
    /// wrong solution. The clutch keeps its impulse.
    pub(crate) fn clear_impulses(&mut self, model: &Model, rows: &mut [WheelRows]) {
        let [first, _] = self.first_rows(model);
        for i in first..self.row_count {
            self.set_row_impulse(model, rows, i, 0.0);
        }
    }

    /// Returns the index of the first motor's row and that of the first coupling's row.
    pub(crate) fn first_rows(&self, model: &Model) -> [usize; 2] {
        let motors = usize::from(self.engine.is_some());
        [motors, motors + model.parts().motors.len()]
    }

    /// Stores the results of the rows in `drive`: engine speed (rad/s), and the mean torques of clutch, motors and couplings over the step (N m).
    /// `turns(i)`: wheel speed on row `i` by its levers at the end, rad/s.
    ///
    /// Behind a clutch, the engine has lost the impulse over its inertia and its dry friction. Before a converter it has the speed that balances the
    /// impeller. A motor's torque is the row's impulse plus that which accelerated its rotor.
    #[inline(always)]
    pub(crate) fn write_back(&self, drive: &mut DriveState, model: &Model, turns: impl Fn(usize) -> f32) {
        let constraints = &self.constraints[..self.row_count];
        if let (Some(engine), Some(row)) = (&self.engine, constraints.first()) {
            let speed = match converter(model) {
                Some(converter) if row.is_converter => {
                    let found = self.impeller_speed(converter, engine, turns(0) * row.ratio);
                    // Wheels that slide sideways may turn faster than the row took them to; that excess does not drive the engine.
                    if row.impulse > 0.0 { found.min(engine.speed) } else { found }
                }
                _ => engine.after_dry_drag(engine.speed - row.impulse * engine.inverse_inertia),
            };
            drive.engine_speed = speed;
            drive.clutch = row.impulse / self.dt;
        }
        let [motors, couplings] = self.first_rows(model);
        if motors == self.row_count {
            return;
        }
        for (k, (torque, motor)) in drive.motors.iter_mut().zip(&model.parts().motors).enumerate() {
            let row = &constraints[motors + k];
            let gained = turns(motors + k) * row.ratio - self.motors[k].rotor_speed;
            *torque = (row.impulse + motor.inertia * gained) / self.dt;
        }
        for (carried, row) in drive.couplings.iter_mut().zip(&constraints[couplings..]) {
            *carried = row.impulse / self.dt;
        }
    }

    /// Returns the impeller speed at the end of the step with the turbine at `turbine` rad/s, in rad/s: the engine's free speed, less dry friction,
    /// in balance with the converter's torque over the step.
    pub(crate) fn impeller_speed(&self, converter: &Converter, engine: &Flywheel, turbine: f32) -> f32 {
        let free = engine.speed - engine.dry_drag * engine.inverse_inertia;
        converter.impeller_speed(free, self.dt * engine.inverse_inertia, turbine)
    }

    /// Sets the impulse of row `i`, N m s, without clamping, and adds its change on the wheels, times their levers, to the wheels' shaft impulses.
    #[inline(always)]
    pub(crate) fn set_row_impulse(&mut self, model: &Model, rows: &mut [WheelRows], i: usize, impulse: f32) {
        let change = self.constraints[i].set_impulse(impulse);
        for (bank, rows) in model.wheel_packs().iter().zip(rows) {
            rows.drive.shaft += bank.shaft_jacobian[i] * F32x4::splat(change);
        }
    }
}

impl Shafts {
    /// Solves the rows from the impulses of the last step, see [`WarmStart`]. Returns whether they converged; if not, restores the impulses from
    /// before. Dispatches to loops of constant length for up to [`MAX_UNROLLED_ROWS`] rows.
    #[inline(always)]
    fn solve_warm_started(&mut self, model: &Model, rows: &mut [WheelRows], carried: LastStep<'_>) -> bool {
        match self.row_count {
            1 => self.solve_warm_started_rows::<1>(model, rows, carried),
            2 => self.solve_warm_started_rows::<2>(model, rows, carried),
            3 => self.solve_warm_started_rows::<3>(model, rows, carried),
            MAX_UNROLLED_ROWS => self.solve_warm_started_rows::<MAX_UNROLLED_ROWS>(model, rows, carried),
            _ => self.solve_warm_started_rows::<MAX_CONSTRAINTS>(model, rows, carried),
        }
    }

    /// Solves the rows from the impulses of the last step with loops for `MOST` rows. Returns whether they converged; if not, restores the impulses
    /// from before.
    #[inline(always)]
    fn solve_warm_started_rows<const MOST: usize>(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        carried: LastStep<'_>,
    ) -> bool {
        let mut begun = [0.0; MOST];
        begun.iter_mut().zip(&self.constraints).for_each(|(impulse, row)| *impulse = row.impulse);
        let all = (self.row_count, self.within);
        let goes_on =
            solve_warm_started(model.wheel_packs(), rows, all, &mut WarmStart::<MOST>::new(self, model, carried));
        if !goes_on {
            (0..self.row_count).for_each(|i| self.set_row_impulse(model, rows, i, begun[i]));
        }
        goes_on
    }

    /// Solves all rows by Newton's method with the wheels as `wheels`. If they do not converge, limits the motors to their peak torques. Dispatches
    /// to loops of constant length for up to [`MAX_UNROLLED_ROWS`] rows.
    fn solve_with_response(&mut self, model: &Model, rows: &mut [WheelRows], wheels: WheelResponse) {
        match self.row_count {
            1 => self.solve_rows_with_response::<1>(model, rows, wheels),
            2 => self.solve_rows_with_response::<2>(model, rows, wheels),
            3 => self.solve_rows_with_response::<3>(model, rows, wheels),
            MAX_UNROLLED_ROWS => self.solve_rows_with_response::<MAX_UNROLLED_ROWS>(model, rows, wheels),
            _ => self.solve_rows_with_response::<MAX_CONSTRAINTS>(model, rows, wheels),
        }
    }

    /// Solves all rows with [`WheelResponse::TyreRowOnly`] and, from that result, with [`WheelResponse::Blocks`], without a warm start of motors and
    /// couplings.
    #[inline(always)]
    pub(crate) fn solve_from_scratch(&mut self, model: &Model, rows: &mut [WheelRows]) {
        self.solve_with_response(model, rows, WheelResponse::TyreRowOnly);
        self.solve_with_response(model, rows, WheelResponse::Blocks);
    }

    /// Solves all rows with the wheels as `wheels`, by loops for `MOST` rows. If Newton's method fails, limits the motors to their peak torques.
    #[inline(never)]
    fn solve_rows_with_response<const MOST: usize>(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        wheels: WheelResponse,
    ) {
        let mut solving = ShaftSolver::<MOST>::new(self);
        if !solving.solve_newton(model, rows, wheels) && !model.parts().motors.is_empty() {
            solving.bound_motors(model, rows, wheels);
        }
    }
}

impl Vehicle {
    /// Solves clutch, motors and couplings. Stores the shaft impulse of each wheel in `rows.drive.shaft`, N m s. A lone clutch on wheels without
    /// change of sliding is tried first, as it is cheap; all other cases use the full solver.
    #[inline(always)]
    pub(crate) fn solve_shafts<B: WheelGroups>(&mut self) {
        if !self.solve_lone_clutch::<B>() {
            self.solve_shaft_rows();
        }
    }

    /// Solves rows that are more than a lone clutch on gripping wheels, with the wheels as blocks. The first call of a step starts from the impulses
    /// of the last step, unless the only row is a clutch. If these do not converge, and in all further calls, the rows are solved for wheels alone
    /// first and then for blocks.
    #[inline(never)]
    fn solve_shaft_rows(&mut self) {
        dispatch_simd(
            #[inline(always)]
            || {
                let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
                let is_first = !core::mem::replace(&mut shafts.was_warm_started, true);
                // Forward speed gained in the last step, m/s.
                let gained = self.to_world.x_axis.dot(self.state.velocity - self.state.previous_velocity);
                let carried = LastStep { drive: &self.state.drive, speed_gain: gained };
                if !(is_first && !shafts.is_lone_clutch() && shafts.solve_warm_started(model, rows, carried)) {
                    shafts.solve_from_scratch(model, rows);
                }
            },
        );
    }

    /// Stores the results of the rows in the state, see [`Shafts::write_back`], with the wheels' spins at the end of the step.
    #[inline(always)]
    pub(crate) fn store_shaft_results<B: WheelGroups>(&mut self) {
        let (banks, rows) = (B::slice(self.model.wheel_packs()), B::slice(&self.rows));
        let turns = |row| shaft_row_speed(banks, rows, row, |rows| rows.solution.spin);
        self.shafts.write_back(&mut self.state.drive, &self.model, turns);
    }

    /// Solves clutch, motors and couplings for wheels without blocks, by their longitudinal tyre rows alone. Stores the spins of the wheels in
    /// `rows.solution.spin`, rad/s.
    pub(crate) fn solve_rolling_shafts(&mut self) {
        if !self.solve_lone_clutch::<ManyGroups>() {
            self.shafts.solve_with_response(&self.model, &mut self.rows, WheelResponse::TyreRowOnly);
        }
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.solution.spin = rows.spin_and_response(bank).0;
        }
    }

    /// Solves a lone clutch for wheels alone. Returns true if all rows are solved: no row can carry an impulse, or the lone clutch has converged
    /// within its few passes. False: the full solver is needed, from the impulses as they are.
    #[inline(always)]
    fn solve_lone_clutch<B: WheelGroups>(&mut self) -> bool {
        let shafts = &mut self.shafts;
        if shafts.are_open() {
            return true;
        }
        // If its wheels begin to slide, a clutch is solved like the other rows.
        shafts.is_lone_clutch()
            && solve_lone_clutches(
                B::slice(self.model.wheel_packs()),
                B::slice_mut(&mut self.rows),
                #[inline(always)]
                |measured| shafts.iterate_clutch(measured),
            )
    }
}
