//! Solution of clutch, motors and couplings over a step: their rows are built, solved before the wheel blocks
//! ([`ShaftSolver`]), and stored in the state.
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
use crate::state::DriveState;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::instruction_set::dispatch_simd;
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::wheel_groups::{ManyGroups, WheelGroups};

impl PedalDemand {
    /// Returns the torque of `motor` that the pedals demand, N m, positive towards the drive (the driving direction),
    /// and its derivative by the speed towards the drive, N m s. In neutral (direction 0) both are 0. `speed`: rotor
    /// speed, rad/s, positive forward. Limits by assists are left out.
    pub(crate) fn motor_torque(&self, motor: &Motor, speed: f32) -> (f32, f32) {
        let demand = if self.direction == 0.0 { 0.0 } else { motor.demand(self.throttle, self.brake) };
        motor.torque(speed * self.direction, demand)
    }
}

impl Shafts {
    /// Starts a step of `dt` s: stores `pedal_demand` and builds the rows of motors, then of couplings, without
    /// impulse. Row 0 stays free for the clutch if the model has an engine; the caller adds that row with
    /// [`Self::add_clutch_row`]. Clears the engine, the row count, the mark `limited_by` of limits by assists, and the
    /// mark of a tried warm start.
    #[inline(always)]
    pub(crate) fn begin_step(&mut self, pedal_demand: PedalDemand, model: &Model, dt: f32) {
        let parts = model.parts();
        (self.engine, self.row_count, self.dt, self.pedal_demand, self.limited_by) = (None, 0, dt, pedal_demand, None);
        self.was_warm_started = false;
        if parts.motors.is_empty() && parts.couplings.is_empty() {
            return;
        }
        let motors = parts.motors.iter().map(|motor| DriveConstraint::motor(motor, pedal_demand.direction, dt));
        let couplings = parts.couplings.iter().map(|coupling| DriveConstraint::coupling(coupling, dt));
        let other_rows = &mut self.constraints[usize::from(parts.powertrain.engine().is_some())..];
        for (slot, row) in other_rows.iter_mut().zip(motors.chain(couplings)) {
            *slot = row;
            self.row_count += 1;
        }
    }

    /// Stores the flywheel and adds the row of its clutch or converter as row 0. The row's impulse is its warm start;
    /// the caller applies it to the wheels.
    #[inline(always)]
    pub(crate) fn add_clutch_row(&mut self, flywheel: Flywheel, clutch: DriveConstraint) {
        (self.engine, self.constraints[0]) = (Some(flywheel), clutch);
        self.row_count += 1;
    }

    /// Stores the rotor speed of motor `k` at the start of the step, rad/s.
    pub(crate) fn set_rotor_speed(&mut self, k: usize, speed: f32) {
        self.motors[k].rotor_speed = speed;
    }

    /// Sets the impulses of motors and couplings to 0, and subtracts them from the shaft impulses of the wheels. Newton
    /// passes that start far off may settle at a wrong solution. The clutch keeps its impulse.
    pub(crate) fn clear_impulses(&mut self, model: &Model, rows: &mut [WheelRows]) {
        let [first_motor_row, _] = self.first_rows(model);
        for i in first_motor_row..self.row_count {
            self.set_row_impulse(model, rows, i, 0.0);
        }
    }

    /// Returns the index of the first motor's row and that of the first coupling's row.
    pub(crate) fn first_rows(&self, model: &Model) -> [usize; 2] {
        let first_motor_row = usize::from(self.engine.is_some());
        [first_motor_row, first_motor_row + model.parts().motors.len()]
    }

    /// Stores the results of the rows in `drive`: engine speed (rad/s), and the mean torques of clutch, motors and
    /// couplings over the step (N m). `wheel_speed(i)` returns the speed of the wheels on row `i` at the end of the
    /// step, weighted by the row's levers (Jacobian entries), rad/s. Without an engine, engine speed and clutch torque
    /// stay.
    ///
    /// Behind a clutch, the engine has lost the row's impulse over its inertia, and its dry friction. Before a
    /// converter it has the speed that balances the impeller. A motor's torque is the row's impulse plus the impulse
    /// that accelerated its rotor, over `dt`.
    #[inline(always)]
    pub(crate) fn write_back(&self, drive: &mut DriveState, model: &Model, wheel_speed: impl Fn(usize) -> f32) {
        let constraints = &self.constraints[..self.row_count];
        if let (Some(engine), Some(row)) = (&self.engine, constraints.first()) {
            let speed = match converter(model) {
                Some(converter) if row.is_converter => {
                    let impeller_speed = self.impeller_speed(converter, engine, wheel_speed(0) * row.ratio);
                    // Wheels that slide sideways may turn faster than the row took them to; that excess does not drive
                    // the engine.
                    if row.impulse > 0.0 { impeller_speed.min(engine.speed) } else { impeller_speed }
                }
                _ => engine.after_dry_drag(engine.speed - row.impulse * engine.inverse_inertia),
            };
            drive.engine_speed = speed;
            drive.clutch = row.impulse / self.dt;
        }
        let [first_motor_row, first_coupling_row] = self.first_rows(model);
        if first_motor_row == self.row_count {
            return;
        }
        for (k, (torque, motor)) in drive.motors.iter_mut().zip(&model.parts().motors).enumerate() {
            let row = &constraints[first_motor_row + k];
            // Change of the rotor speed, rad/s.
            let speed_gain = wheel_speed(first_motor_row + k) * row.ratio - self.motors[k].rotor_speed;
            *torque = (row.impulse + motor.inertia * speed_gain) / self.dt;
        }
        for (coupling_torque, row) in drive.couplings.iter_mut().zip(&constraints[first_coupling_row..]) {
            *coupling_torque = row.impulse / self.dt;
        }
    }

    /// Returns the impeller speed at the end of the step, rad/s, with the turbine at `turbine_speed` (rad/s): the
    /// engine's free speed, less dry friction, in balance with the converter's torque over the step.
    pub(crate) fn impeller_speed(&self, converter: &Converter, engine: &Flywheel, turbine_speed: f32) -> f32 {
        let free_speed = engine.speed - engine.dry_drag * engine.inverse_inertia;
        converter.impeller_speed(free_speed, self.dt * engine.inverse_inertia, turbine_speed)
    }

    /// Sets the impulse of row `i`, N m s, without clamping. Adds the change of its impulse on the wheels, times each
    /// wheel's lever (Jacobian entry), to the wheels' shaft impulses.
    #[inline(always)]
    pub(crate) fn set_row_impulse(&mut self, model: &Model, rows: &mut [WheelRows], i: usize, impulse: f32) {
        let change = self.constraints[i].set_impulse(impulse);
        for (group, rows) in model.wheel_packs().iter().zip(rows) {
            rows.drive.shaft += group.shaft_jacobian[i] * F32x4::splat(change);
        }
    }
}

impl Shafts {
    /// Solves the rows from the impulses of the last step, see [`WarmStart`], with wheels as blocks. Returns whether
    /// they converged; if not, restores the impulses from before the call. Dispatches to loops of constant length for
    /// up to [`MAX_UNROLLED_ROWS`] rows.
    #[inline(always)]
    fn solve_warm_started(&mut self, model: &Model, rows: &mut [WheelRows], last_step: LastStep<'_>) -> bool {
        match self.row_count {
            1 => self.solve_warm_started_rows::<1>(model, rows, last_step),
            2 => self.solve_warm_started_rows::<2>(model, rows, last_step),
            3 => self.solve_warm_started_rows::<3>(model, rows, last_step),
            MAX_UNROLLED_ROWS => self.solve_warm_started_rows::<MAX_UNROLLED_ROWS>(model, rows, last_step),
            _ => self.solve_warm_started_rows::<MAX_CONSTRAINTS>(model, rows, last_step),
        }
    }

    /// Solves the rows from the impulses of the last step, with wheels as blocks. `MAX_ROWS` is at least the number of
    /// rows; the compiler unrolls loops of this constant length. Returns whether the rows converged; if not, restores
    /// the impulses from before the call, from which the next method starts.
    #[inline(always)]
    fn solve_warm_started_rows<const MAX_ROWS: usize>(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        last_step: LastStep<'_>,
    ) -> bool {
        let mut initial_impulses = [0.0; MAX_ROWS];
        initial_impulses.iter_mut().zip(&self.constraints).for_each(|(impulse, row)| *impulse = row.impulse);
        let count_and_bounds = (self.row_count, self.impulse_bounds);
        let is_converged = solve_warm_started(
            model.wheel_packs(),
            rows,
            count_and_bounds,
            &mut WarmStart::<MAX_ROWS>::new(self, model, last_step),
        );
        // Only the first `row_count` initial impulses are used.
        if !is_converged {
            (0..self.row_count).for_each(|i| self.set_row_impulse(model, rows, i, initial_impulses[i]));
        }
        is_converged
    }

    /// Solves all rows by Newton's method from their present impulses, with the wheels modelled as `wheel_response`. If
    /// they do not converge, limits the motors to their peak torques. Dispatches to loops of constant length for up to
    /// [`MAX_UNROLLED_ROWS`] rows.
    fn solve_with_response(&mut self, model: &Model, rows: &mut [WheelRows], wheel_response: WheelResponse) {
        match self.row_count {
            1 => self.solve_rows_with_response::<1>(model, rows, wheel_response),
            2 => self.solve_rows_with_response::<2>(model, rows, wheel_response),
            3 => self.solve_rows_with_response::<3>(model, rows, wheel_response),
            MAX_UNROLLED_ROWS => self.solve_rows_with_response::<MAX_UNROLLED_ROWS>(model, rows, wheel_response),
            _ => self.solve_rows_with_response::<MAX_CONSTRAINTS>(model, rows, wheel_response),
        }
    }

    /// Solves all rows from their present impulses, not from those of the last step: first with wheels by their
    /// longitudinal tyre row ([`WheelResponse::TyreRowOnly`]), then, from that result, with [`WheelResponse::Blocks`].
    #[inline(always)]
    pub(crate) fn solve_from_scratch(&mut self, model: &Model, rows: &mut [WheelRows]) {
        self.solve_with_response(model, rows, WheelResponse::TyreRowOnly);
        self.solve_with_response(model, rows, WheelResponse::Blocks);
    }

    /// Solves all rows by Newton's method from their present impulses, with the wheels modelled as `wheel_response`, by
    /// loops for `MAX_ROWS` rows. If they do not converge, limits the motors to their peak torques.
    #[inline(never)]
    fn solve_rows_with_response<const MAX_ROWS: usize>(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        wheel_response: WheelResponse,
    ) {
        let mut solver = ShaftSolver::<MAX_ROWS>::new(self);
        if !solver.solve_newton(model, rows, wheel_response) && !model.parts().motors.is_empty() {
            solver.bound_motors(model, rows, wheel_response);
        }
    }
}

impl Vehicle {
    /// Solves clutch, motors and couplings, and stores the shaft impulse of each wheel in `rows.drive.shaft`, N m s.
    /// First tries the cheap case: no row can carry an impulse, or a lone clutch on wheels that do not begin or cease
    /// to slide. All other cases use the full solver.
    #[inline(always)]
    pub(crate) fn solve_shafts<B: WheelGroups>(&mut self) {
        if !self.solve_lone_clutch::<B>() {
            self.solve_shaft_rows();
        }
    }

    /// Solves all rows with the wheels as blocks (spin and both tyre rows together). The first call of a step starts
    /// from the impulses of the last step, unless the only row is a clutch. If that does not converge, and in all other
    /// cases, solves the rows from their present impulses, first with the longitudinal tyre rows alone. Marks the warm
    /// start as tried.
    #[inline(never)]
    fn solve_shaft_rows(&mut self) {
        dispatch_simd(
            #[inline(always)]
            || {
                let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
                // Later calls of a step start from the present impulses.
                let is_first = !core::mem::replace(&mut shafts.was_warm_started, true);
                // Forward speed gained in the last step, m/s.
                let speed_gain = self.to_world.x_axis.dot(self.state.velocity - self.state.previous_velocity);
                let last_step = LastStep { drive: &self.state.drive, speed_gain };
                if !(is_first && !shafts.is_lone_clutch() && shafts.solve_warm_started(model, rows, last_step)) {
                    shafts.solve_from_scratch(model, rows);
                }
            },
        );
    }

    /// Stores the results of the rows in the state, see [`Shafts::write_back`], with the wheels' spins at the end of
    /// the step.
    #[inline(always)]
    pub(crate) fn store_shaft_results<B: WheelGroups>(&mut self) {
        let (groups, rows) = (B::slice(self.model.wheel_packs()), B::slice(&self.rows));
        let wheel_speed = |row| shaft_row_speed(groups, rows, row, |rows| rows.solution.spin);
        self.shafts.write_back(&mut self.state.drive, &self.model, wheel_speed);
    }

    /// Solves clutch, motors and couplings for wheels by their longitudinal tyre rows alone, without blocks. Stores the
    /// spins of the wheels in `rows.solution.spin`, rad/s.
    pub(crate) fn solve_rolling_shafts(&mut self) {
        if !self.solve_lone_clutch::<ManyGroups>() {
            self.shafts.solve_with_response(&self.model, &mut self.rows, WheelResponse::TyreRowOnly);
        }
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.solution.spin = rows.spin_and_response(group).0;
        }
    }

    /// Tries to solve the rows with the longitudinal tyre rows of the wheels alone. Returns true if no row can carry an
    /// impulse, or if the only row is a clutch that has converged within its few passes. Returns false if the full
    /// solver is needed; it starts from the impulses reached here.
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
