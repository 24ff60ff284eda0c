//! Workspace of a batch of plain cars of one model: rows with one car per lane. Begins and ends a step; its stages are
//! in [`crate::step::batch::batch_step`].

use std::sync::Arc;

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assembly::drivetrain::traction_limits::converter;
use crate::drivetrain::rows::MAX_CONSTRAINTS;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisState, Probe};
use crate::step::batch::clutches::BatchEngines;
use crate::step::batch::lane_exchange::{BATCH_LANES, ChassisLanes, EndStateByCar, MotionLanes};
use crate::step_report::StepReport;
use crate::telemetry::signals::WheelLane;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::{Mat3, Vec3};
use skidpad_simd::lane::CarLanes;
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Speed in lanes whose results are not used (m/s), far above walking pace.
const PLACEHOLDER_SPEED_MPS: f32 = 100.0;

/// Workspace of a batch of plain cars of one model, by wheel.
#[derive(Clone, Debug)]
pub(crate) struct BatchWorkspace<W: CarLanes> {
    /// Model of all cars.
    pub model: Arc<Model>,
    /// Wheel packs, shared by all batches of the model: one for each lane of its groups.
    pub packs: Arc<[WheelPack<W>]>,
    /// Rows, one for each pack. Rows of lanes without a wheel stay constant and have no mass.
    pub rows: Box<[WheelRows<W>]>,
    /// Number of wheels of a car; the first packs and rows are theirs.
    pub wheel_count: usize,
    /// Number of rows between spins, from the first, whose speed is needed at the end of a step: motors, and a possible
    /// converter.
    speed_row_count: usize,
    /// Motion of the chassis at the start of the step.
    pub chassis: ChassisLanes<W>,
    /// Steering angles of the axle directions in the rows; see [`Vehicle::applied_steer_bits`].
    pub applied_steer_bits: [Option<u32>; BATCH_LANES],
    /// Engines and clutches of all cars, if the clutch is the only link between spins.
    pub engines: BatchEngines<W>,
    /// Impulse of each clutch at the start of the step, and its impulse on the shaft (N m s), if each car has its own
    /// engine.
    pub start_impulses: [[f32; 2]; BATCH_LANES],
    /// Whether each car has left the batch in this step.
    pub has_left_batch: [bool; BATCH_LANES],
    /// Number of remaining steps in which all cars are stepped one by one, and the number for the next time.
    pub backoff_steps: [u8; 2],
    /// Pose lag of the bodies (s); see [`ChassisState::pose_lag`].
    pub pose_lag: f32,
    /// Angular impulse that ABS has removed from the brakes (N m s).
    pub removed_brake_impulse: W,
}

impl<W: CarLanes> BatchWorkspace<W> {
    /// Returns pack and rows of wheel `wheel` of car `lane` in the last step. Returns `None` for a car that was stepped
    /// alone or moved since, and for a number beyond the packs.
    pub fn wheel_rows(&self, lane: usize, wheel: usize) -> Option<WheelLane<'_, W>> {
        let (pack, rows) = (self.packs.get(wheel)?, self.rows.get(wheel)?);
        let [x, y, z] = [self.chassis.to_world.x, self.chassis.to_world.y, self.chassis.to_world.z];
        let to_world = Mat3::from_cols(x.lane(lane).into(), y.lane(lane).into(), z.lane(lane).into());
        // Links on the ground do not exist in a batch.
        (!self.has_left_batch[lane]).then_some(WheelLane { pack, rows, lane, to_world, link_impulse: Vec3::ZERO })
    }

    /// Creates the workspace for cars of `model`. Each wheel pack of four wheels becomes four packs with one wheel in
    /// all lanes.
    pub fn new(model: &Arc<Model>) -> Self {
        // One pack for each lane of a group, with the same wheel in all lanes.
        let packs_of_group = |group: &WheelPack| [0, 1, 2, 3].map(|lane| group.broadcast_lane(lane));
        Self::with_packs(Arc::clone(model), model.wheel_packs().iter().flat_map(packs_of_group).collect())
    }

    /// Creates the workspace of another batch of the model, with its own rows and the same packs.
    pub fn new_sharing_packs(&self) -> Self {
        Self::with_packs(Arc::clone(&self.model), Arc::clone(&self.packs))
    }

    /// Creates the workspace with `packs`. All cars count as stepped alone, so that there are no signals before the
    /// first step.
    fn with_packs(model: Arc<Model>, packs: Arc<[WheelPack<W>]>) -> Self {
        Self {
            wheel_count: model.wheels().len(),
            speed_row_count: count_speed_rows(&model),
            model,
            rows: packs.iter().map(|_| WheelRows::default()).collect(),
            packs,
            chassis: ChassisLanes::default(),
            applied_steer_bits: [None; BATCH_LANES],
            engines: BatchEngines::default(),
            start_impulses: [[0.0; 2]; BATCH_LANES],
            has_left_batch: [true; BATCH_LANES],
            // No separate step remains; the first attempt that fails causes one.
            backoff_steps: [0, 1],
            pose_lag: 0.0,
            removed_brake_impulse: W::default(),
        }
    }

    /// Returns true if the model has a combustion engine.
    pub fn has_engine(&self) -> bool {
        self.model.parts().powertrain.engine().is_some()
    }

    /// Returns true if the model has ABS.
    pub fn has_abs(&self) -> bool {
        self.model.parts().assists.abs.is_some()
    }

    /// Returns true if the cars are to be stepped one by one in this step, because too many left the batch in an
    /// earlier one.
    pub fn is_backing_off(&self) -> bool {
        self.backoff_steps[0] > 0
    }

    /// Counts down one step in which the cars are stepped one by one, to 0 at least.
    pub fn count_unbatched_step(&mut self) {
        self.backoff_steps[0] = self.backoff_steps[0].saturating_sub(1);
    }

    /// Returns true if any car was stepped alone in the last step.
    pub fn has_unbatched_cars(&self) -> bool {
        self.has_left_batch.contains(&true)
    }

    /// Discards the signals of the last step of car `lane`, by marking it as stepped alone.
    pub fn invalidate_signals(&mut self, lane: usize) {
        self.has_left_batch[lane] = true;
    }

    /// Returns the packs and the rows of the wheels of a car, each for all cars. Empty places of the groups are left
    /// out.
    #[inline(always)]
    pub fn wheels<B: WheelGroups>(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut WheelRows<W>)> {
        self.chassis_and_wheels::<B>().1
    }

    /// Returns the motion of the chassis, and the packs and rows of [`BatchWorkspace::wheels`].
    #[inline(always)]
    pub fn chassis_and_wheels<B: WheelGroups>(
        &mut self,
    ) -> (&ChassisLanes<W>, impl Iterator<Item = (&WheelPack<W>, &mut WheelRows<W>)>) {
        let wheel_count = B::wheel_count(self.wheel_count);
        (&self.chassis, self.packs[..wheel_count].iter().zip(&mut self.rows[..wheel_count]))
    }

    /// Returns the rows of all lanes of the groups, including those without a wheel.
    #[inline(always)]
    pub fn rows<B: WheelGroups>(&self) -> &[WheelRows<W>] {
        &self.rows[..B::wheel_count(self.rows.len())]
    }

    /// Returns the packs and the rows of all lanes of the groups, including those without a wheel.
    #[inline(always)]
    pub fn packs_and_rows<B: WheelGroups>(&mut self) -> (&[WheelPack<W>], &mut [WheelRows<W>]) {
        let pack_count = B::wheel_count(self.rows.len());
        (&self.packs[..pack_count], &mut self.rows[..pack_count])
    }

    /// Begins a step of `dt` s: reads the chassis motion of `bodies`, marks cars whose motion is not finite as leaving
    /// the batch, clears the marks of all others, and writes the probes of all wheels into `probes`. The first car has
    /// the number `first_car`.
    pub fn write_probes(
        &mut self,
        first_car: usize,
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        probes: &mut [Probe],
    ) {
        W::dispatch_simd(
            #[inline(always)]
            || {
                let are_finite;
                (self.chassis, are_finite) = ChassisLanes::read(bodies, dt);
                self.has_left_batch = are_finite.map(|is_finite| !is_finite);
                match self.wheel_count {
                    4 => self.write_all_probes::<SingleGroup>(first_car, bodies, dt, probes),
                    _ => self.write_all_probes::<ManyGroups>(first_car, bodies, dt, probes),
                }
            },
        );
    }

    /// Writes the probes of all wheels of the cars into `probes`, in the order car by car, wheel by wheel.
    #[inline(always)]
    fn write_all_probes<B: WheelGroups>(
        &self,
        first_car: usize,
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        probes: &mut [Probe],
    ) {
        let wheel_count = B::wheel_count(self.wheel_count);
        for (wheel_index, pack) in self.packs[..wheel_count].iter().enumerate() {
            self.chassis.write_probe(pack, [wheel_index, wheel_count], first_car, bodies, dt, probes);
        }
    }

    /// Finishes the step in the widest instruction set, see [`crate::step::batch::CarBatch::finish`]. `report_car`
    /// receives number and report of cars that were stepped alone or are not finite.
    pub fn finish(
        &self,
        vehicles: &mut [Vehicle; BATCH_LANES],
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        report_car: impl FnMut(usize, StepReport),
    ) {
        W::dispatch_simd(
            #[inline(always)]
            || match self.wheel_count {
                4 => self.finish_rows::<SingleGroup>(vehicles, bodies, dt, report_car),
                _ => self.finish_rows::<ManyGroups>(vehicles, bodies, dt, report_car),
            },
        );
    }

    /// Finishes the step: writes the motion of `bodies`, after `dt` s, and the results of the rows into the states of
    /// the `vehicles`.
    ///
    /// Cars that were stepped alone are finished by [`Vehicle::finish`]. Cars whose body is not finite keep their
    /// state. Both are reported to `report_car`. For all others: motion of the body, then wheel by wheel end states and
    /// disc temperatures in lanes, then engine speed and clutch torque, or the results of the rows between spins.
    #[inline(always)]
    fn finish_rows<B: WheelGroups>(
        &self,
        vehicles: &mut [Vehicle; BATCH_LANES],
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        mut report_car: impl FnMut(usize, StepReport),
    ) {
        let mut motion = MotionLanes::read(bodies);
        let mut is_batched = motion.are_finite(bodies);
        motion.resolve_angular_velocities(vehicles, dt);
        for (car, (vehicle, body)) in vehicles.iter_mut().zip(bodies).enumerate() {
            if self.has_left_batch[car] {
                is_batched[car] = false;
                report_car(car, vehicle.finish(body, dt));
            } else if is_batched[car] {
                vehicle.state.set_motion(body);
            } else {
                report_car(car, StepReport { not_finite: true, ..StepReport::default() });
            }
        }
        if !is_batched.contains(&true) {
            return;
        }
        // Chassis velocities at the end of the step, vehicle frames.
        let mut v_end = motion.twist(&self.chassis.to_vehicle);
        if is_batched.contains(&false) {
            // Other cars get a high speed, so that they do not trigger the special treatment of standing patches.
            let batched = W::from_fn(|car| if is_batched[car] { 1.0 } else { 0.0 });
            v_end.linear.x = W::select(W::splat(0.0).less(batched), v_end.linear.x, W::splat(PLACEHOLDER_SPEED_MPS));
        }
        let wheel_count = B::wheel_count(self.wheel_count);
        for (wheel_index, (pack, rows)) in self.packs[..wheel_count].iter().zip(&self.rows[..wheel_count]).enumerate() {
            let end_state = EndStateByCar::new(rows, &rows.end_state(pack, v_end, self.pose_lag, dt));
            for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| is_batched[*car]) {
                end_state.write(car, &mut vehicle.state.wheels[wheel_index]);
            }
            if let Some(discs) = &pack.discs {
                let start_temperatures = W::from_fn(|car| vehicles[car].state.wheels[wheel_index].disc);
                let end_temperatures = rows.disc_temperatures(discs, start_temperatures, dt).to_lanes();
                for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| is_batched[*car]) {
                    vehicle.state.wheels[wheel_index].disc = end_temperatures[car];
                }
            }
        }
        if self.engines.are_batched {
            let [speed, torque] = self.engines.end_speeds_and_torques(dt);
            for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| is_batched[*car]) {
                let drive = &mut vehicle.state.drive;
                (drive.engine_speed, drive.clutch) = (speed[car], torque[car]);
            }
            return;
        }
        let mut row_speeds = [[0.0; BATCH_LANES]; MAX_CONSTRAINTS];
        for (i, row_speed) in row_speeds.iter_mut().enumerate().take(self.speed_row_count) {
            *row_speed = shaft_row_speed(&self.packs, &self.rows, i, |rows| rows.solution.spin).to_lanes();
        }
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| is_batched[*car]) {
            vehicle.shafts.write_back(&mut vehicle.state.drive, &self.model, |i| row_speeds[i][car]);
        }
    }
}

/// Returns the number of rows between spins whose speed is needed at the end of a step, see
/// [`BatchWorkspace::speed_row_count`]: the engine's row (if any) and those of the motors; 0 without motors and
/// converter.
fn count_speed_rows(model: &Model) -> usize {
    let (motors, engine) = (model.parts().motors.len(), usize::from(model.parts().powertrain.engine().is_some()));
    if motors > 0 || converter(model).is_some() { engine + motors } else { 0 }
}
