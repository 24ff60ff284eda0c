//! Driver inputs of a batch of cars: steering, pedals, engines and gears.

use crate::assists::DriverDemand;
use crate::banks::Banks;
use crate::controls::{Controls, all_bounded};
use crate::drivetrain::drive::turning;
use crate::lane::{Four, Octet};
use crate::steering::steered;
use crate::step::abreast::clutches::Drivers;
use crate::step::abreast::each::{self, ABREAST};
use crate::step::abreast::in_step::CarsInStep;
use crate::step::abreast::room::Room;
use crate::step::rows::Begun;
use crate::vectors::Vec3Lanes;

impl<W: Octet> CarsInStep<'_, W> {
    /// Applies steering and pedals, and begins the drive rows of the wheels. Returns the driving direction of each car
    /// without an engine: 1, −1, or 0 in neutral.
    #[inline(always)]
    pub(super) fn press_pedals<B: Banks>(&mut self) -> [f32; ABREAST] {
        self.begun = self.room.alone.map(|alone| !alone);
        if self.room.model.parts().assists.change_demand() {
            self.steer_one_by_one();
        } else {
            self.steer();
        }
        self.turn_axles();
        let ([throttle, foot, hand], mut towards, dt) = (self.pedals, [0.0; ABREAST], self.dt);
        if !self.room.has_engine() {
            for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
                towards[car] = vehicle.direction_without_engine(self.controls[car]);
            }
        }
        let pull = throttle * W::of_lanes(towards);
        let wheels = each::wheels_of(self.vehicles, B::wheels(self.room.wheels));
        for (k, (bank, rows)) in self.room.wheels::<B>().enumerate() {
            rows.begun = Begun::of_cars(&wheels, k, !bank.laws.is_empty());
            let [motor, mut brake] = bank.pedal_torques([pull, foot, hand]);
            if let Some(discs) = &bank.discs {
                brake = brake * discs.share_at(W::of_each(|car| wheels[car][k].disc));
            }
            rows.begin_drive(bank, [motor, brake], dt);
        }
        towards
    }

    /// Applies steering and pedals of all cars at once, clamped to their ranges.
    #[inline(always)]
    fn steer(&mut self) {
        let steering = &self.room.model.parts().steering;
        let [throttle, brake, handbrake, steer] = W::columns(|car| {
            let Controls { throttle, brake, handbrake, steer, .. } = *self.controls[car];
            Four::new([throttle, brake, handbrake, steer])
        });
        let pressed = |pedal: W| all_bounded(pedal, W::splat(0.0), W::splat(1.0));
        self.pedals = [pressed(throttle), pressed(brake), pressed(handbrake)];
        let (lock, from) = (W::splat(steering.lock), W::of_each(|car| self.vehicles[car].state.steer));
        let reached = steered(from, all_bounded(steer, -lock, lock), steering.rate * self.dt).in_lanes();
        let has_log = !self.room.model.assists().is_empty();
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
            vehicle.state.steer = reached[car];
            vehicle.turn_as_steered(self.controls[car]);
            if has_log {
                vehicle.clear_assist_log();
            }
        }
    }

    /// Applies steering and pedals car by car, for models whose assists change the driver's demand.
    #[inline(never)]
    fn steer_one_by_one(&mut self) {
        let mut pedals = [[0.0; ABREAST]; 3];
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
            let demand = vehicle.steer_as_asked(self.controls[car], self.dt);
            (pedals[0][car], pedals[1][car], pedals[2][car]) = (demand.throttle, demand.brake, demand.handbrake);
            self.asked[car] = Some(demand);
        }
        self.pedals = [W::of_lanes(pedals[0]), W::of_lanes(pedals[1]), W::of_lanes(pedals[2])];
    }

    /// Returns the demand of the driver of car `car`.
    #[inline(always)]
    fn asked(&self, car: usize) -> DriverDemand {
        self.asked[car].unwrap_or_else(|| DriverDemand::of(self.controls[car], &self.room.model.parts().steering))
    }

    /// Begins the rows of engines, gears, and all other links between spins.
    #[inline(always)]
    pub(super) fn drive_shafts<B: Banks>(&mut self, towards: [f32; ABREAST]) {
        let (has_engine, dt) = (self.room.has_engine(), self.dt);
        let (packs, rows) = self.room.lanes::<B>();
        let shaft = if has_engine { turning(packs, rows, 0, |rows| rows.begun.spin) } else { W::default() };
        let Room { engines, model, .. } = &mut *self.room;
        let drivers = Drivers { controls: self.controls, begun: &self.begun, throttle: self.pedals[0] };
        let begun = engines.begin(model, self.vehicles, &drivers, shaft, dt);
        let begun = begun.unwrap_or_else(|| self.begin_one_by_one(towards, shaft));
        if has_engine {
            for (bank, rows) in self.room.wheels::<B>() {
                rows.drive.shaft = bank.levers[0] * begun;
            }
        }
        let first = usize::from(has_engine);
        for k in 0..self.room.model.parts().motors.len() {
            let reduction = self.room.model.parts().motors[k].reduction;
            let (packs, rows) = self.room.lanes::<B>();
            let speed = turning(packs, rows, first + k, |rows| rows.begun.spin) * W::splat(reduction);
            for (vehicle, speed) in self.vehicles.iter_mut().zip(speed.in_lanes()) {
                vehicle.shafts.turned(k, speed);
            }
        }
    }

    /// Begins the rows between spins car by car. `shaft_speed` is the speed of the shafts behind the engines (rad/s).
    /// Returns the initial impulses of clutches and converters on these shafts (N m s).
    #[inline(always)]
    fn begin_one_by_one(&mut self, towards: [f32; ABREAST], shaft_speed: W) -> W {
        let dt = self.dt;
        self.room.began = [[0.0; 2]; ABREAST];
        let full_load = self.full_loads();
        for car in 0..ABREAST {
            if self.begun[car] {
                let (asked, turned) = (self.asked(car), [shaft_speed.car(car), full_load[car]]);
                let vehicle = &mut self.vehicles[car];
                let shaft = vehicle.begin_shafts(self.controls[car], &asked, towards[car], turned, dt);
                self.room.began[car] = [vehicle.shafts.constraints[0].impulse, shaft];
            }
        }
        W::of_each(|car| self.room.began[car][1])
    }

    /// Returns the torques of the engines at full load (N m).
    #[inline(always)]
    fn full_loads(&self) -> [f32; ABREAST] {
        let Some(drive) = self.room.model.parts().powertrain.engine() else { return [0.0; ABREAST] };
        drive.engine.torque.at_each(W::of_each(|car| self.vehicles[car].state.drive.engine_speed)).in_lanes()
    }

    /// Copies the axle directions from the vehicles, unless none has changed.
    #[inline(always)]
    fn turn_axles(&mut self) {
        let mut are_turned = true;
        for (turned_to, vehicle) in self.room.turned_to.iter_mut().zip(&*self.vehicles) {
            are_turned &= turned_to.is_some() && *turned_to == vehicle.turned_to;
            *turned_to = vehicle.turned_to;
        }
        if !are_turned {
            self.take_axles();
        }
    }

    /// Copies the axle directions of all wheels from the vehicles.
    #[inline(never)]
    fn take_axles(&mut self) {
        W::called(
            #[inline(always)]
            || {
                let (four, _) = self.room.rows.as_chunks_mut::<4>();
                for (bank, four) in four.iter_mut().enumerate() {
                    let axle = |car: usize| self.vehicles[car].rows[bank].steering.axle;
                    let [x, y, z] = [W::columns(|i| axle(i).x), W::columns(|i| axle(i).y), W::columns(|i| axle(i).z)];
                    for (k, rows) in four.iter_mut().enumerate() {
                        rows.steering.axle = Vec3Lanes::new(x[k], y[k], z[k]);
                    }
                }
            },
        );
    }
}
