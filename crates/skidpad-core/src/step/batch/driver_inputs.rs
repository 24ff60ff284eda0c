//! Driver inputs of a batch of cars: steering, pedals, engines and gears.

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assists::DriverDemand;
use crate::controls::{Controls, clamp_lanes_or_zero};
use crate::simd::lane::{CarLanes, F32x4};
use crate::simd::vectors::Vec3Lanes;
use crate::simd::wheel_groups::WheelGroups;
use crate::steering::rate_limited_angle;
use crate::step::batch::batch_step::BatchStep;
use crate::step::batch::clutches::DriverInputs;
use crate::step::batch::lane_exchange::{self, BATCH_LANES};
use crate::step::batch::workspace::BatchWorkspace;
use crate::vehicle::rows::StartState;

impl<W: CarLanes> BatchStep<'_, W> {
    /// Begins the step of all cars that have not left the batch: applies steering and pedals, copies the axle
    /// directions, reads the start states of the wheels, and sets the impulses of direct drive and brakes (with fading
    /// of hot discs). Returns the driving direction of each car without an engine: 1, −1, or 0 in neutral; 0 for cars
    /// with an engine.
    #[inline(always)]
    pub(super) fn apply_pedals<B: WheelGroups>(&mut self) -> [f32; BATCH_LANES] {
        self.has_begun = self.workspace.is_unbatched.map(|alone| !alone);
        if self.workspace.model.parts().assists.has_demand_changes() {
            self.steer_each_car();
        } else {
            self.steer();
        }
        self.update_axle_directions();
        // `foot`, `hand`: foot brake and handbrake.
        let ([throttle, foot, hand], mut towards, dt) = (self.pedals, [0.0; BATCH_LANES], self.dt);
        if !self.workspace.has_engine() {
            for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
                towards[car] = vehicle.direction_without_engine(self.controls[car]);
            }
        }
        // Throttle with the sign of the driving direction, −1 to 1.
        let pull = throttle * W::from_lanes(towards);
        let wheels = lane_exchange::first_wheels(self.vehicles, B::wheel_count(self.workspace.wheel_count));
        for (k, (bank, rows)) in self.workspace.wheels::<B>().enumerate() {
            rows.start = StartState::read_cars(&wheels, k, !bank.laws.is_empty());
            let [motor, mut brake] = bank.pedal_torques([pull, foot, hand]);
            if let Some(discs) = &bank.discs {
                brake = brake * discs.torque_factor(W::from_fn(|car| wheels[car][k].disc));
            }
            rows.set_drive_impulses(bank, [motor, brake], dt);
        }
        towards
    }

    /// Applies steering and pedals of all cars at once, without assists. Pedals are clamped to 0 to 1, the steering
    /// demand to the lock; numbers that are not finite count as 0. Stores the pedals, moves each steering within its
    /// rate, turns the wheels of cars whose step has begun, and clears their assist logs.
    #[inline(always)]
    fn steer(&mut self) {
        let steering = &self.workspace.model.parts().steering;
        let [throttle, brake, handbrake, steer] = W::transpose_to_lanes(|car| {
            let Controls { throttle, brake, handbrake, steer, .. } = *self.controls[car];
            F32x4::new([throttle, brake, handbrake, steer])
        });
        let pressed = |pedal: W| clamp_lanes_or_zero(pedal, W::splat(0.0), W::splat(1.0));
        self.pedals = [pressed(throttle), pressed(brake), pressed(handbrake)];
        // Largest angle, and angle at the start of the step (rad).
        let (lock, from) = (W::splat(steering.lock), W::from_fn(|car| self.vehicles[car].state.steer));
        let reached =
            rate_limited_angle(from, clamp_lanes_or_zero(steer, -lock, lock), steering.rate * self.dt).to_lanes();
        let has_log = !self.workspace.model.assists().is_empty();
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
            vehicle.state.steer = reached[car];
            vehicle.update_wheel_angles(self.controls[car]);
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
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.has_begun[*car]) {
            let demand = vehicle.apply_steering(self.controls[car], self.dt);
            (pedals[0][car], pedals[1][car], pedals[2][car]) = (demand.throttle, demand.brake, demand.handbrake);
            self.driver_demands[car] = Some(demand);
        }
        self.pedals = [W::from_lanes(pedals[0]), W::from_lanes(pedals[1]), W::from_lanes(pedals[2])];
    }

    /// Returns the demand of the driver of car `car`: that stored after assists, otherwise read from the controls.
    #[inline(always)]
    fn driver_demand(&self, car: usize) -> DriverDemand {
        self.driver_demands[car]
            .unwrap_or_else(|| DriverDemand::from_controls(self.controls[car], &self.workspace.model.parts().steering))
    }

    /// Begins the rows of engines, gears, and all other links between spins. `towards` is the driving direction of each
    /// car without an engine. Uses common engines in lanes if possible, otherwise each car's own rows. Sets the shaft
    /// impulse of each wheel to that of the engine at the start, and the rotor speeds of the motors.
    #[inline(always)]
    pub(super) fn begin_shaft_rows<B: WheelGroups>(&mut self, towards: [f32; BATCH_LANES]) {
        let (has_engine, dt) = (self.workspace.has_engine(), self.dt);
        let (packs, rows) = self.workspace.packs_and_rows::<B>();
        // Speed of the propeller shafts by their wheels (rad/s).
        let shaft = if has_engine { shaft_row_speed(packs, rows, 0, |rows| rows.start.spin) } else { W::default() };
        let BatchWorkspace { engines, model, .. } = &mut *self.workspace;
        let drivers = DriverInputs { controls: self.controls, has_begun: &self.has_begun, throttle: self.pedals[0] };
        // Initial impulses on the propeller shafts (N m s).
        let begun = engines.begin(model, self.vehicles, &drivers, shaft, dt);
        let begun = begun.unwrap_or_else(|| self.begin_rows_per_car(towards, shaft));
        if has_engine {
            for (bank, rows) in self.workspace.wheels::<B>() {
                rows.drive.shaft = bank.shaft_jacobian[0] * begun;
            }
        }
        // Index of the first motor's row.
        let first = usize::from(has_engine);
        for k in 0..self.workspace.model.parts().motors.len() {
            let reduction = self.workspace.model.parts().motors[k].reduction;
            let (packs, rows) = self.workspace.packs_and_rows::<B>();
            let speed = shaft_row_speed(packs, rows, first + k, |rows| rows.start.spin) * W::splat(reduction);
            for (vehicle, speed) in self.vehicles.iter_mut().zip(speed.to_lanes()) {
                vehicle.shafts.set_rotor_speed(k, speed);
            }
        }
    }

    /// Begins the rows between spins car by car, for cars whose step has begun. `towards` is the driving direction of
    /// cars without an engine; `shaft_speed` is the speed of the shafts behind the engines (rad/s). Stores the initial
    /// impulses of first row and shaft in `start_impulses`. Returns the initial impulses of clutches and converters on
    /// these shafts (N m s).
    #[inline(always)]
    fn begin_rows_per_car(&mut self, towards: [f32; BATCH_LANES], shaft_speed: W) -> W {
        let dt = self.dt;
        self.workspace.start_impulses = [[0.0; 2]; BATCH_LANES];
        let full_load = self.full_load_torques();
        for car in 0..BATCH_LANES {
            if self.has_begun[car] {
                let (asked, turned) = (self.driver_demand(car), [shaft_speed.car(car), full_load[car]]);
                let vehicle = &mut self.vehicles[car];
                let shaft = vehicle.build_shaft_rows(self.controls[car], &asked, towards[car], turned, dt);
                self.workspace.start_impulses[car] = [vehicle.shafts.constraints[0].impulse, shaft];
            }
        }
        W::from_fn(|car| self.workspace.start_impulses[car][1])
    }

    /// Returns the torques of the engines at full load and their present speed (N m); 0 without an engine.
    #[inline(always)]
    fn full_load_torques(&self) -> [f32; BATCH_LANES] {
        let Some(drive) = self.workspace.model.parts().powertrain.engine() else { return [0.0; BATCH_LANES] };
        drive.engine.torque.evaluate_lanes(W::from_fn(|car| self.vehicles[car].state.drive.engine_speed)).to_lanes()
    }

    /// Copies the axle directions from the vehicles into the lanes, unless the steering angles of all cars are, to the
    /// bit, those already copied. `None` (turning wheels) always copies. Remembers the angles.
    #[inline(always)]
    fn update_axle_directions(&mut self) {
        let mut are_turned = true;
        for (turned_to, vehicle) in self.workspace.applied_steer_bits.iter_mut().zip(&*self.vehicles) {
            are_turned &= turned_to.is_some() && *turned_to == vehicle.applied_steer_bits;
            *turned_to = vehicle.applied_steer_bits;
        }
        if !are_turned {
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
                let (four, _) = self.workspace.rows.as_chunks_mut::<4>();
                for (bank, four) in four.iter_mut().enumerate() {
                    let axle = |car: usize| self.vehicles[car].rows[bank].steering.axle;
                    let [x, y, z] = [
                        W::transpose_to_lanes(|i| axle(i).x),
                        W::transpose_to_lanes(|i| axle(i).y),
                        W::transpose_to_lanes(|i| axle(i).z),
                    ];
                    for (k, rows) in four.iter_mut().enumerate() {
                        rows.steering.axle = Vec3Lanes::new(x[k], y[k], z[k]);
                    }
                }
            },
        );
    }
}
