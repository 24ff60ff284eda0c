//! Engines and clutches of a batch of cars.

use crate::assembly::drivetrain::controls_to_torque::clutch_engagement;
use crate::assembly::drivetrain::lone_clutch::solve_lone_clutches;
use crate::controls::Controls;
use crate::drivetrain::constraints::{
    ClutchRow, DriveConstraint, Flywheel, holding_impulse, is_within_tolerance, shaft_impulse, torque_ratio,
};
use crate::drivetrain::crankshaft::EngineInput;
use crate::drivetrain::launch_device::{Clutch, LaunchDevice};
use crate::drivetrain::parameters::EngineDrive;
use crate::impulse_bounds::ImpulseBounds;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::step::batch::lane_exchange::{BATCH_LANES, NEUTRAL_ADDEND};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{CarLanes, F32x4};

/// Returns the engine and the clutch of `model` if the clutch is the only link between spins; `None` with motors,
/// couplings, a converter or no engine.
fn single_clutch(model: &Model) -> Option<(&EngineDrive, &Clutch)> {
    let parts = model.parts();
    let drive = parts.powertrain.engine()?;
    match &drive.launch_device {
        LaunchDevice::Clutch(clutch) if parts.motors.is_empty() && parts.couplings.is_empty() => Some((drive, clutch)),
        _ => None,
    }
}

/// Inputs of the drivers of a batch.
pub(crate) struct DriverInputs<'a, W> {
    /// Inputs of each driver.
    pub controls: &'a [&'a Controls; BATCH_LANES],
    /// Whether each car takes part in this step of the batch.
    pub has_begun: &'a [bool; BATCH_LANES],
    /// Throttle, 0 to 1.
    pub throttle: W,
}

/// Running engines of a batch of cars whose only link between spins is a clutch.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchEngines<W> {
    /// Whether this step uses these engines; otherwise each car has its own.
    pub are_batched: bool,
    /// Engine side of each clutch.
    flywheel: Flywheel<W>,
    /// Row of each clutch.
    clutch: ClutchRow<W>,
    /// Impulse of each clutch at the start of the step (N m s).
    start_impulses: W,
}

impl<W: CarLanes> BatchEngines<W> {
    /// Begins the step of the engines of `vehicles` in lanes, with the results of [`Vehicle::build_shaft_rows`].
    /// Changes the gears of cars whose step has begun, car by car. Then computes throttle opening, free engine speed
    /// (without the clutch) and clutch engagement in lanes, and builds the clutch rows. A clutch pedal replaces the
    /// automatic engagement; between gears the capacity is 0. `shaft_speed` is the speed of the shafts by their wheels
    /// (rad/s).
    ///
    /// Returns the initial impulses of the clutches on these shafts (N m s): those of the last step, clamped to the
    /// capacity; 0 for cars whose step has not begun. Returns `None` if each car needs rows of its own, because an
    /// engine of any car is dead or being started, or because the clutch is not the only row between spins.
    /// `are_batched` is then false, and no gear is changed.
    #[inline(always)]
    pub fn begin(
        &mut self,
        model: &Model,
        vehicles: &mut [Vehicle; BATCH_LANES],
        drivers: &DriverInputs<'_, W>,
        shaft_speed: W,
        dt: f32,
    ) -> Option<W> {
        self.are_batched = false;
        let (drive, clutch) = single_clutch(model)?;
        // Engine speeds at the start of the step (rad/s).
        let start_speed = W::from_fn(|car| vehicles[car].state.drive.engine_speed);
        let uses_starter =
            drivers.controls.iter().fold(false, |uses_starter, controls| uses_starter | controls.starter);
        if uses_starter || W::any(drive.engine.is_dead(start_speed)) {
            return None;
        }
        let (throttle_demand, shaft_speeds) = (drivers.throttle.to_lanes(), shaft_speed.to_lanes());
        // Throttle opening, gear ratio, clutch capacity (N m) and clutch torque in the last step (N m) of each car.
        let [mut throttle, mut ratio, mut capacity, mut clutch_torque] = [[0.0; BATCH_LANES]; 4];
        // Engagement by the clutch pedal, 0 to 1.
        let (mut pedals, mut has_pedal) = ([0.0; BATCH_LANES], [false; BATCH_LANES]);
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| drivers.has_begun[*car]) {
            let (state, controls, model_and_towed_mass) =
                (&mut vehicle.state, drivers.controls[car], (model, vehicle.towed_mass));
            state.change_gear(
                drive,
                model_and_towed_mass,
                [throttle_demand[car], shaft_speeds[car]],
                controls.gear,
                dt,
            );
            let state = &state.drive;
            throttle[car] = state.throttle_opening(&drive.engine, throttle_demand[car]);
            ratio[car] = drive.gearbox.ratio_at(state.gear, state.ratio);
            capacity[car] = if state.is_between_gears() { 0.0 } else { clutch.capacity };
            clutch_torque[car] = state.clutch;
            if let Some(pedal) = controls.clutch {
                (pedals[car], has_pedal[car]) = (clutch_engagement(pedal), true);
            }
        }
        let full_load = drive.engine.torque.evaluate_lanes(start_speed);
        let engine_input = EngineInput { throttle: W::from_lanes(throttle), full_load, starter: W::Mask::default() };
        let peak_torque = || W::splat(drive.engine.torque.max_value());
        let free_speed = drive.engine.free_engine_speed(start_speed, &engine_input, peak_torque, dt);
        let mut engagement = clutch.engagement(free_speed, &drive.engine, dt);
        if has_pedal.contains(&true) {
            engagement = W::from_fn(|car| if has_pedal[car] { pedals[car] } else { engagement.car(car) });
        }
        let step_length = W::splat(dt);
        // Capacity and impulse of the last step (N m s).
        let capacity_and_impulse =
            [W::from_lanes(capacity) * engagement * step_length, W::from_lanes(clutch_torque) * step_length];
        self.are_batched = true;
        self.flywheel = Flywheel::new(&drive.engine, [start_speed, free_speed], dt);
        self.clutch =
            ClutchRow::new(&self.flywheel, W::from_lanes(ratio), drive.gearbox.efficiency, capacity_and_impulse);
        self.start_impulses = self.clutch.impulse;
        Some(shaft_impulse(self.clutch.torque_ratios, self.start_impulses))
    }

    /// Returns the solver of the clutches of this step. It leaves out clutches without capacity, and those of cars that
    /// have left the batch (`has_left_batch`).
    #[inline(always)]
    pub fn clutches(&self, has_left_batch: &[bool; BATCH_LANES]) -> BatchClutches<'_, W> {
        let mut unconverged = W::splat(0.0).less(self.clutch.bounds[1]);
        if has_left_batch.contains(&true) {
            // Mask of the cars that stay in the batch.
            unconverged =
                unconverged & W::from_fn(|car| if has_left_batch[car] { 1.0 } else { 0.0 }).less(W::splat(1.0));
        }
        BatchClutches { row: self.clutch, engines: Some(self), unconverged }
    }

    /// Stores the `impulse` of each clutch (N m s).
    #[inline(always)]
    pub fn set_impulses(&mut self, impulse: W) {
        self.clutch.impulse = impulse;
    }

    /// Returns the speeds of the engines at the end of a step of `dt` s (rad/s), after clutch and dry friction, and the
    /// mean torques of the clutches (N m).
    #[inline(always)]
    pub fn end_speeds_and_torques(&self, dt: f32) -> [[f32; BATCH_LANES]; 2] {
        let (flywheel, impulse) = (&self.flywheel, self.clutch.impulse);
        let speed = flywheel.after_dry_drag(flywheel.speed - impulse * flywheel.inverse_inertia);
        [speed.to_lanes(), (impulse / W::splat(dt)).to_lanes()]
    }

    /// Returns the flywheel of car `car` in this step; `None` if each car has its own engine.
    pub fn flywheel(&self, car: usize) -> Option<Flywheel> {
        let Flywheel { start_speed, speed, inverse_inertia, dry_drag, speed_bounds } = self.flywheel;
        self.are_batched.then(|| Flywheel {
            start_speed: start_speed.car(car),
            speed: speed.car(car),
            inverse_inertia: inverse_inertia.car(car),
            dry_drag: dry_drag.car(car),
            speed_bounds: speed_bounds.map(|bound| bound.car(car)),
        })
    }

    /// Replaces the shafts of `vehicle`, which is stepped alone, by engine and clutch of car `car` as at the start of
    /// the step. Returns the initial impulse of the clutch on the shaft (N m s).
    pub fn copy_start_to_vehicle(&self, vehicle: &mut Vehicle, car: usize, dt: f32) -> f32 {
        self.copy_to_vehicle(vehicle, car, self.start_impulses.car(car), dt);
        let clutch = &vehicle.shafts.constraints[0];
        clutch.shaft_impulse(clutch.impulse)
    }

    /// Begins the shafts of `vehicle` anew with engine and clutch of car `car`, and the clutch `impulse` (N m s). The
    /// pedal demand on motors is 0, because the model has no motors. Does nothing if each car has its own engine.
    fn copy_to_vehicle(&self, vehicle: &mut Vehicle, car: usize, impulse: f32, dt: f32) {
        let Some(flywheel) = self.flywheel(car) else { return };
        let ClutchRow { ratio, torque_ratios, per_impulse, free_speed, bounds, tolerance, .. } = self.clutch;
        // Numbers of this car.
        let pair_of_car = |pair: [W; 2]| pair.map(|lanes| lanes.car(car));
        let row = ClutchRow {
            ratio: ratio.car(car),
            torque_ratios: pair_of_car(torque_ratios),
            per_impulse: per_impulse.car(car),
            free_speed: free_speed.car(car),
            bounds: pair_of_car(bounds),
            tolerance: pair_of_car(tolerance),
            impulse,
        };
        vehicle.shafts.begin_step(Default::default(), &vehicle.model, dt);
        vehicle.shafts.add_clutch_row(flywheel, row.into());
    }
}

/// Clutches of a batch of cars during their solve.
pub(crate) struct BatchClutches<'a, W: CarLanes> {
    /// Row of each clutch.
    row: ClutchRow<W>,
    /// Engines of the clutches; `None` if each car has its own.
    engines: Option<&'a BatchEngines<W>>,
    /// Mask of the clutches that have not converged.
    unconverged: W::Mask,
}

impl<W: CarLanes> BatchClutches<'_, W> {
    /// Collects the first rows of `vehicles` into lanes. These rows must be clutches of the vehicles' own engines where
    /// the mask `unconverged` is set: the clutches to solve. Other lanes have no meaning.
    #[inline(always)]
    pub fn from_vehicles(vehicles: &[Vehicle; BATCH_LANES], unconverged: W::Mask) -> Self {
        // Clutch of a car.
        let row = |car: usize| &vehicles[car].shafts.constraints[0];
        let [ratio, reverse_ratio, forward_ratio, per_impulse] = W::transpose_to_lanes(|car| {
            let DriveConstraint { ratio, torque_ratios: [reverse_ratio, forward_ratio], per_impulse, .. } = *row(car);
            F32x4::new([ratio, reverse_ratio, forward_ratio, per_impulse])
        });
        let [free_speed, lower_bound, upper_bound, impulse] = W::transpose_to_lanes(|car| {
            let DriveConstraint { right_hand_side, bounds: [lower_bound, upper_bound], impulse, .. } = *row(car);
            F32x4::new([right_hand_side, lower_bound, upper_bound, impulse])
        });
        let tolerance = [W::from_fn(|car| row(car).tolerance[0]), W::from_fn(|car| row(car).tolerance[1])];
        let (torque_ratios, bounds) = ([reverse_ratio, forward_ratio], [lower_bound, upper_bound]);
        let row = ClutchRow { ratio, torque_ratios, per_impulse, free_speed, bounds, tolerance, impulse };
        Self { row, engines: None, unconverged }
    }

    /// Solves the clutches for the wheels of `packs` and `rows` in a step of `dt` s, with at most three Newton passes.
    /// Adds the changes to the shaft impulses of the wheels. Returns the impulses of the clutches (N m s), and the mask
    /// of the clutches that have not converged.
    #[inline(always)]
    pub fn solve(
        mut self,
        vehicles: &mut [Vehicle; BATCH_LANES],
        (packs, rows): (&[WheelPack<W>], &mut [WheelRows<W>]),
        dt: f32,
    ) -> (W, W::Mask) {
        if W::any(self.unconverged) {
            solve_lone_clutches(
                packs,
                rows,
                #[inline(always)]
                |measurement| self.solve_pass(vehicles, measurement, dt),
            );
        }
        (self.row.impulse, self.unconverged)
    }

    /// Performs one Newton pass on the clutches of `unconverged` in a step of `dt` s, and removes those whose impulse
    /// changes by less than the tolerance from this mask. `shaft_speed` is the speed of the shafts by their wheels
    /// (rad/s), `response` the change of this speed per impulse on the wheels (1/(kg m²)).
    ///
    /// Each of these clutches gets the impulse at which it holds, without slip. If this impulse is beyond its capacity,
    /// the clutch is solved alone by `solve_slipping_clutches`. All other clutches keep their impulse.
    ///
    /// Returns the changes of the impulses on the shafts (N m s; −0 for the other clutches), and whether all clutches
    /// have converged.
    #[inline(always)]
    fn solve_pass(
        &mut self,
        vehicles: &mut [Vehicle; BATCH_LANES],
        [shaft_speed, response]: [W; 2],
        dt: f32,
    ) -> (W, bool) {
        let row = &mut self.row;
        let impulse_before = row.impulse;
        let speed = shaft_speed * row.ratio;
        let response = response * (row.ratio * torque_ratio(row.torque_ratios, impulse_before));
        // Per impulse, per speed (1 for a clutch), and right side of the law.
        let row_law = [row.per_impulse, W::splat(1.0), row.free_speed];
        let (mut impulse_after, is_holding) = holding_impulse(row_law, row.bounds, impulse_before, [speed, response]);
        // Clutches that do not hold within their capacity.
        let slipping = self.unconverged & !is_holding;
        if W::any(slipping) {
            impulse_after = solve_slipping_clutches(
                vehicles,
                self.engines,
                slipping,
                [impulse_after, impulse_before, speed, response],
                dt,
            );
        }
        let change = shaft_impulse(row.torque_ratios, impulse_after) - shaft_impulse(row.torque_ratios, impulse_before);
        let change = W::select(self.unconverged, change, W::splat(NEUTRAL_ADDEND));
        row.impulse = W::select(self.unconverged, impulse_after, impulse_before);
        self.unconverged = self.unconverged
            & !is_within_tolerance(row.tolerance, [impulse_before, impulse_after], ImpulseBounds::ApproximateCone);
        (change, !W::any(self.unconverged))
    }
}

/// Returns the impulses of all clutches (N m s). The impulses `impulse_after` are kept, except for the clutches in
/// `slipping`, which are solved in their vehicle from `impulse_before`, at the row speed `speed` (rad/s) with its
/// change `response` per impulse (1/(kg m²)). `engines` are the engines of the batch; `None` if each vehicle has its
/// own. Overwrites the shafts of these vehicles.
#[cold]
#[inline(never)]
fn solve_slipping_clutches<W: CarLanes>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    engines: Option<&BatchEngines<W>>,
    slipping: W::Mask,
    [impulse_after, impulse_before, speed, response]: [W; 4],
    dt: f32,
) -> W {
    let bits = W::bits(slipping);
    let mut impulses = impulse_after.to_lanes();
    for (car, (vehicle, impulse)) in vehicles.iter_mut().zip(&mut impulses).enumerate() {
        if bits & (1 << car) != 0 {
            match engines {
                Some(engines) => engines.copy_to_vehicle(vehicle, car, impulse_before.car(car), dt),
                None => vehicle.shafts.constraints[0].impulse = impulse_before.car(car),
            }
            vehicle.shafts.impulse_bounds = ImpulseBounds::ApproximateCone;
            *impulse = vehicle.shafts.slipping_impulse(speed.car(car), response.car(car));
        }
    }
    W::from_lanes(impulses)
}
