//! Driver inputs of a batch of cars: steering, pedals, engines and gears.

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assists::DriverDemand;
use crate::controls::{Controls, clamp_lanes_or_zero};
use crate::steering::rate_limited_angle;
use crate::step::batch::batch_step::BatchStep;
use crate::step::batch::clutches::DriverInputs;
use crate::step::batch::lane_exchange::{self, BATCH_LANES};
use crate::step::batch::workspace::BatchWorkspace;
use crate::vehicle::rows::StartState;
use skidpad_simd::lane::{CarLanes, F32x4};
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

impl<W: CarLanes> BatchStep<'_, W> {
    /// Begins the step of all cars that have not left the batch, and stores which these are in `has_begun`. The others
    /// are stepped alone later.
    ///
    /// Applies steering and pedals, copies the axle directions, reads the start states of the wheels, and sets the
    /// impulses of direct drive and brakes (with fading of hot discs). Returns the driving direction of each car
    /// without an engine: 1, −1, or 0 in neutral; 0 for cars with an engine and cars that have left the batch.
    #[inline(always)]
    pub(super) fn begin_cars<B: WheelGroups>(&mut self) -> [f32; BATCH_LANES] {
        self.has_begun = self.wheels.workspace.has_left_batch.map(|has_left_batch| !has_left_batch);
        if self.wheels.workspace.model.parts().assists.has_demand_changes() {
            self.steer_each_car();
        } else {
            self.steer();
        }
        self.update_axle_directions();
        let ([throttle, foot_brake, handbrake], mut directions, dt) = (self.pedals, [0.0; BATCH_LANES], self.wheels.dt);
        if !self.wheels.workspace.has_engine() {
            for (car, vehicle) in self.wheels.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
                directions[car] = vehicle.direction_without_engine(self.controls[car]);
            }
        }
        // Throttle with the sign of the driving direction, −1 to 1.
        let signed_throttle = throttle * W::from_lanes(directions);
        let wheels =
            lane_exchange::first_wheels(self.wheels.vehicles, B::wheel_count(self.wheels.workspace.wheel_count));
        for (wheel_index, (pack, rows)) in self.wheels.workspace.wheels::<B>().enumerate() {
            rows.start = StartState::read_cars(&wheels, wheel_index, !pack.laws.is_empty());
            let [motor_torque, mut brake_torque] = pack.pedal_torques([signed_throttle, foot_brake, handbrake]);
            if let Some(discs) = &pack.discs {
                brake_torque = brake_torque * discs.torque_factor(W::from_fn(|car| wheels[car][wheel_index].disc));
            }
            rows.set_drive_impulses(pack, [motor_torque, brake_torque], dt);
        }
        directions
    }

    /// Applies steering and pedals of all cars at once, without assists. Pedals are clamped to 0 to 1, the steering
    /// demand to the lock; numbers that are not finite count as 0. Stores the pedals, moves each steering within its
    /// rate, turns the wheels of cars whose step has begun, and clears their assist logs.
    #[inline(always)]
    fn steer(&mut self) {
        let steering = &self.wheels.workspace.model.parts().steering;
        let [throttle, brake, handbrake, steer] = W::transpose_to_lanes(|car| {
            let Controls { throttle, brake, handbrake, steer, .. } = *self.controls[car];
            F32x4::new([throttle, brake, handbrake, steer])
        });
        let clamp_pedal = |pedal: W| clamp_lanes_or_zero(pedal, W::splat(0.0), W::splat(1.0));
        self.pedals = [clamp_pedal(throttle), clamp_pedal(brake), clamp_pedal(handbrake)];
        // Largest angle, and angle at the start of the step (rad).
        let (lock, start_angle) = (W::splat(steering.lock), W::from_fn(|car| self.wheels.vehicles[car].state.steer));
        let steer_angles =
            rate_limited_angle(start_angle, clamp_lanes_or_zero(steer, -lock, lock), steering.rate * self.wheels.dt)
                .to_lanes();
        let has_log = !self.wheels.workspace.model.assists().is_empty();
        for (car, vehicle) in self.wheels.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
            vehicle.state.steer = steer_angles[car];
            vehicle.update_wheel_angles(self.controls[car], self.wheels.dt);
            if has_log {
                vehicle.clear_assist_log();
            }
        }
    }

    /// Applies steering and pedals car by car, for models whose assists change the driver's demand. Stores the pedals
    /// (0 for cars that have left the batch) and the complete demands.
    #[inline(never)]
    fn steer_each_car(&mut self) {
        let mut pedals = [[0.0; BATCH_LANES]; 3];
        for (car, vehicle) in self.wheels.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
            let demand = vehicle.apply_steering(self.controls[car], self.wheels.dt);
            (pedals[0][car], pedals[1][car], pedals[2][car]) = (demand.throttle, demand.brake, demand.handbrake);
            self.driver_demands[car] = Some(demand);
        }
        self.pedals = [W::from_lanes(pedals[0]), W::from_lanes(pedals[1]), W::from_lanes(pedals[2])];
    }

    /// Returns the demand of the driver of car `car`: that stored after assists, otherwise read from the controls.
    #[inline(always)]
    fn driver_demand(&self, car: usize) -> DriverDemand {
        self.driver_demands[car].unwrap_or_else(|| {
            DriverDemand::from_controls(self.controls[car], &self.wheels.workspace.model.parts().steering)
        })
    }

    /// Begins the rows between spins (clutch or converter, motors, couplings) and changes gears. Uses common engines in
    /// lanes if `BatchEngines::begin` can, otherwise builds the rows of each car. `directions` is the driving direction
    /// of each car without an engine.
    ///
    /// Then sets the shaft impulse of each wheel to that of clutch or converter at the start, if the model has an
    /// engine, and stores the rotor speeds of the motors in the vehicles.
    #[inline(always)]
    pub(super) fn begin_shaft_rows<B: WheelGroups>(&mut self, directions: [f32; BATCH_LANES]) {
        let (has_engine, dt) = (self.wheels.workspace.has_engine(), self.wheels.dt);
        let (packs, rows) = self.wheels.workspace.packs_and_rows::<B>();
        // Speed of the propeller shafts by their wheels (rad/s).
        let shaft_speed =
            if has_engine { shaft_row_speed(packs, rows, 0, |rows| rows.start.spin) } else { W::default() };
        let BatchWorkspace { engines, model, .. } = &mut *self.wheels.workspace;
        let drivers = DriverInputs { controls: self.controls, has_begun: &self.has_begun, throttle: self.pedals[0] };
        // Initial impulses on the propeller shafts (N m s).
        let shaft_impulse = engines.begin(model, self.wheels.vehicles, &drivers, shaft_speed, dt);
        let shaft_impulse = shaft_impulse.unwrap_or_else(|| self.begin_rows_per_car(directions, shaft_speed));
        if has_engine {
            for (pack, rows) in self.wheels.workspace.wheels::<B>() {
                rows.drive.shaft = pack.shaft_jacobian[0] * shaft_impulse;
            }
        }
        // Index of the first motor's row.
        let first_motor_row = usize::from(has_engine);
        for motor_index in 0..self.wheels.workspace.model.parts().motors.len() {
            let reduction = self.wheels.workspace.model.parts().motors[motor_index].reduction;
            let (packs, rows) = self.wheels.workspace.packs_and_rows::<B>();
            let rotor_speed = shaft_row_speed(packs, rows, first_motor_row + motor_index, |rows| rows.start.spin)
                * W::splat(reduction);
            for (vehicle, rotor_speed) in self.wheels.vehicles.iter_mut().zip(rotor_speed.to_lanes()) {
                vehicle.shafts.set_rotor_speed(motor_index, rotor_speed);
            }
        }
    }

    /// Builds the rows between spins car by car, for cars whose step has begun. `directions` is the driving direction
    /// of cars without an engine; `shaft_speed` is the speed of the shafts behind the engines (rad/s). Stores two
    /// impulses of each car in `start_impulses`: that of the first row, and that of clutch or converter on the shaft (N
    /// m s). Returns the latter; 0 for cars whose step has not begun.
    #[inline(always)]
    fn begin_rows_per_car(&mut self, directions: [f32; BATCH_LANES], shaft_speed: W) -> W {
        let dt = self.wheels.dt;
        self.wheels.workspace.start_impulses = [[0.0; 2]; BATCH_LANES];
        let full_load = self.full_load_torques();
        for car in 0..BATCH_LANES {
            if self.has_begun[car] {
                let (demand, speed_and_torque) = (self.driver_demand(car), [shaft_speed.car(car), full_load[car]]);
                let vehicle = &mut self.wheels.vehicles[car];
                let shaft_impulse =
                    vehicle.build_shaft_rows(self.controls[car], &demand, directions[car], speed_and_torque, dt);
                self.wheels.workspace.start_impulses[car] = [vehicle.shafts.constraints[0].impulse, shaft_impulse];
            }
        }
        W::from_fn(|car| self.wheels.workspace.start_impulses[car][1])
    }

    /// Returns the torques of the engines at full load and their present speed (N m); 0 without an engine.
    #[inline(always)]
    fn full_load_torques(&self) -> [f32; BATCH_LANES] {
        let Some(drive) = self.wheels.workspace.model.parts().powertrain.engine() else { return [0.0; BATCH_LANES] };
        drive
            .engine
            .torque
            .evaluate_lanes(W::from_fn(|car| self.wheels.vehicles[car].state.drive.engine_speed))
            .to_lanes()
    }

    /// Copies the axle directions from the vehicles into the lanes, unless the steering angles of all cars are, to the
    /// bit, those already copied. A car without such an angle (`None`: its wheels turn in this step) always causes a
    /// copy. Stores the bits of the angles.
    #[inline(always)]
    fn update_axle_directions(&mut self) {
        let mut is_current = true;
        for (copied_bits, vehicle) in self.wheels.workspace.applied_steer_bits.iter_mut().zip(&*self.wheels.vehicles) {
            is_current &= copied_bits.is_some() && *copied_bits == vehicle.applied_steer_bits;
            *copied_bits = vehicle.applied_steer_bits;
        }
        if !is_current {
            self.copy_axle_directions();
        }
    }

    /// Copies the axle directions (unit vectors to the left, vehicle frame) of all wheels from the vehicles into the
    /// lanes.
    #[inline(never)]
    fn copy_axle_directions(&mut self) {
        W::call_outlined(
            #[inline(always)]
            || {
                let (row_groups, _) = self.wheels.workspace.rows.as_chunks_mut::<4>();
                for (group_index, group_rows) in row_groups.iter_mut().enumerate() {
                    let axle = |car: usize| self.wheels.vehicles[car].rows[group_index].steering.axle;
                    let [x, y, z] = [
                        W::transpose_to_lanes(|car| axle(car).x),
                        W::transpose_to_lanes(|car| axle(car).y),
                        W::transpose_to_lanes(|car| axle(car).z),
                    ];
                    for (k, rows) in group_rows.iter_mut().enumerate() {
                        rows.steering.axle = Vec3Lanes::new(x[k], y[k], z[k]);
                    }
                }
            },
        );
    }
}
